#!/usr/bin/env bash
# Makes the certificates of the fault server anew; they are valid for 100 years,
# the expired one aside. The keys open nothing but a server on loopback.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

authority() { # name
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout "$work/$1.key" -out "$1.pem" -days 36500 \
    -subj "/CN=sitestats tests: $1" \
    -addext "basicConstraints=critical,CA:TRUE" \
    -addext "keyUsage=critical,keyCertSign,cRLSign" 2>/dev/null
}

server() { # name, authority, alternative name, first day, last day
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout "$work/$1.key" -out "$work/$1.csr" -subj "/CN=$1" 2>/dev/null
  : >"$work/index"
  cat >"$work/$1.cnf" <<END
[ca]
default_ca = here
[here]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = extensions
[any]
commonName = supplied
[extensions]
subjectAltName = $3
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
authorityKeyIdentifier = keyid
subjectKeyIdentifier = hash
END
  openssl ca -batch -notext -config "$work/$1.cnf" -in "$work/$1.csr" \
    -cert "$2.pem" -keyfile "$work/$2.key" -out "$work/$1.crt" \
    -startdate "$4" -enddate "$5" 2>/dev/null
  cat "$work/$1.key" "$work/$1.crt" >"$1.pem"
}

authority authority
authority stranger
server good authority IP:127.0.0.1,DNS:localhost 20250101000000Z 21200101000000Z
server elsewhere authority DNS:elsewhere.example 20250101000000Z 21200101000000Z
server foreign stranger IP:127.0.0.1,DNS:localhost 20250101000000Z 21200101000000Z
server expired authority IP:127.0.0.1,DNS:localhost 20200101000000Z 20200201000000Z
rm stranger.pem
