"""Proxies: as an argument, or from the environment."""

from __future__ import annotations

import base64
import copy
import os
import pickle
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from loopback import AUTHORITY, Connection, Script, Server, contexts, polite, serve
from secret_search import everything_logged, shown_by
from sender_variants import ADD, GET, KEY, LONG, USER, open_sender, settings_for
from sitestats import AsyncClient, Client, HTTPTransport
from sitestats._common.errors import (
    ConfigurationError,
    ConnectionFailedError,
)
from sitestats._common.hostnames import BaseAddress
from sitestats._common.settings import proxy_from_environment
from sitestats._transport.proxies import Proxy
from sitestats._transport.sender import AsyncSender, Sender

PASSWORD = "p4ssw0rd"
BOOKS = "https://bücher.example"


def leads_to(server: Server) -> Script:
    """A proxy, for plain requests and for tunnels, to one *server*."""

    def script(connection: Connection) -> None:
        request = connection.request()
        with socket.create_connection(("127.0.0.1", server.port)) as onward:
            if request.startswith(b"CONNECT"):
                connection.send(b"HTTP/1.1 200 Go on\r\n\r\n")
                carry(connection, onward)
                return
            while request:
                method, _, rest = request.partition(b" http://stats.example")
                onward.sendall(method + b" " + rest)
                connection.send(onward.recv(65536))
                request = connection.request()

    return script


def carry(connection: Connection, onward: socket.socket) -> None:
    """Copy bytes in both directions until one side disconnects."""

    def back() -> None:
        with suppress(OSError):
            while data := onward.recv(65536):
                connection.send(data)

    thread = threading.Thread(target=back)
    thread.start()
    while data := connection.take():
        onward.sendall(data)
    onward.shutdown(socket.SHUT_RDWR)
    thread.join(LONG)


@contextmanager
def service(
    name: str = "stats.example",
) -> Iterator[tuple[Server, ssl.SSLContext]]:
    """A service behind TLS, and a context that trusts it."""
    behind, trusting = contexts(name)
    with serve(polite, behind) as server:
        yield server, trusting


@pytest.mark.parametrize("host", ["stats.example", "[2001:db8::1]:8080"])
def test_a_plain_request_goes_to_the_proxy(variant: str, host: str) -> None:
    """A plain request is sent to the proxy with its whole URL."""
    with (
        serve(polite) as server,
        serve(leads_to(server)) as proxy,
        open_sender(variant, f"http://{host}", proxy=proxy.address) as sender,
    ):
        for _ in range(2):
            assert sender.send().body == b'{"ok":true}'
    line, header, *_ = proxy.requests[0].decode().split("\r\n")
    assert line == f"GET http://{host}/example.com.json HTTP/1.1"
    assert header == f"Host: {host}"
    assert f"Api-Key: {KEY}".encode() in server.requests[0]
    assert proxy.connections == 1


@pytest.mark.parametrize("host", ["stats.example", "[2001:db8::1]"])
def test_a_tunnel_leads_to_a_service_behind_tls(variant: str, host: str) -> None:
    """In a tunnel the proxy sees host and port, and nothing of the request."""
    with (
        service(host.strip("[]")) as (server, trusting),
        serve(leads_to(server)) as proxy,
        open_sender(
            variant, f"https://{host}", proxy=proxy.address, verify=trusting
        ) as sender,
    ):
        for _ in range(2):
            assert sender.send().status == 200
    assert len(proxy.requests) == 1
    assert proxy.requests[0].startswith(f"CONNECT {host}:443 HTTP/1.1\r\n".encode())
    assert KEY.encode() not in proxy.requests[0]
    assert f"Api-Key: {KEY}".encode() in server.requests[0]


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The authority of the proxies, in the environment."""
    path = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@pytest.mark.usefixtures("trusted")
def test_a_proxy_behind_tls(variant: str) -> None:
    """The certificate of a proxy is checked by the authorities of the environment."""
    behind, _ = contexts("localhost")
    with (
        serve(polite) as server,
        serve(leads_to(server), behind) as proxy,
        open_sender(variant, "http://stats.example", proxy=proxy.address) as sender,
    ):
        assert sender.send().status == 200
    assert len(proxy.requests) == 1


def test_a_password_goes_to_the_proxy_alone(variant: str) -> None:
    """A proxy's password is in the tunnel's request, and in none to the service."""
    secret = base64.b64encode(f"user:{PASSWORD}".encode())
    with service() as (server, trusting), serve(leads_to(server)) as proxy:
        address = f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}"
        with open_sender(
            variant, "https://stats.example", proxy=address, verify=trusting
        ) as sender:
            assert sender.send().status == 200
            assert PASSWORD not in repr(sender.sender)
    assert b"Proxy-Authorization: Basic " + secret in proxy.requests[0]
    assert secret not in server.requests[0]


def test_a_proxy_that_refuses(variant: str) -> None:
    """The error of a proxy that refuses has its status, and that nothing was sent."""

    def refuse(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with serve(refuse) as proxy:
        address = f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}"
        with (
            open_sender(variant, "https://stats.example", proxy=address) as sender,
            pytest.raises(ConnectionFailedError, match="407 Proxy Auth") as caught,
        ):
            sender.send(ADD)
    assert not caught.value.maybe_sent
    assert PASSWORD not in str(caught.value)


def repeats(connection: Connection) -> None:
    """Refuse, and repeat the login in every form."""
    request = connection.request()
    login = request.partition(b"Authorization: Basic ")[2].split(b"\r\n")[0]
    plain = base64.b64decode(login) + b" " + login
    head = b"HTTP/1.1 407 Who is %b\r\nContent-Length: %d\r\nX-Login: %b\r\n\r\n%b"
    connection.send(head % (plain, len(plain), plain, plain))


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "password", [PASSWORD, "p%C3%A4ss%2Fw0rd-long", "p%FFssw0rd-l"]
)
def test_a_password_that_a_proxy_repeats(
    variant: str, scheme: str, password: str
) -> None:
    """What a proxy repeats of its login, in a reason, a header or a body, is redacted:
    whatever bytes it has.
    """
    with serve(repeats) as proxy, everything_logged() as lines:
        address = f"http://user:{password}@127.0.0.1:{proxy.port}"
        with open_sender(variant, f"{scheme}://stats.example", proxy=address) as sender:
            try:
                shown = repr(sender.send(ADD))
            except ConnectionFailedError as error:
                shown = shown_by(error)
    plain = unquote_to_bytes(password)
    login = base64.b64encode(b"user:" + plain).decode()
    text = plain.decode("utf-8", "replace")
    forms = {password, text, repr(text)[1:-1], login} - {""}
    long = {form for form in forms if scheme == "https" or len(form) >= 12}
    for one in (shown, *lines):
        assert not any(form in one for form in long)


def test_a_proxy_of_bytes_that_are_no_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address in the environment with any bytes is taken, or refused unseen."""
    address = os.fsdecode(b"http://user:p\xffssword@127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", address)
    keys = {"api_key": KEY, "user_id": USER}
    client = Client("http://stats.example", retries=0, **keys)
    with client, pytest.raises(ConnectionFailedError) as caught:
        client.request("GET", "/")
    assert "ssword" not in shown_by(caught.value)


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("http://BÜCHER.example", b"xn--bcher-kva.example"),
        # By IDNA 2003 it would be strasse.example.
        ("http://straße.example", b"xn--strae-oqa.example"),
        ("socks5://[::1]:9", b"::1"),
        ("http://127.0.0.1", b"127.0.0.1"),
    ],
)
def test_the_host_of_a_proxy(given: str, host: bytes) -> None:
    """The host of a proxy is read as that of the service is."""
    assert Proxy(given).host == host


@pytest.mark.parametrize(
    "address",
    [
        f"ftp://{PASSWORD}@x",
        f"//{PASSWORD}",
        PASSWORD,
        "",
        "http://",
    ],
)
@pytest.mark.parametrize("kind", [Sender, AsyncSender])
def test_what_is_no_proxy_is_refused_at_once(
    kind: type[Sender | AsyncSender], address: str
) -> None:
    """A wrong proxy is refused when it is set, without repeating a password."""
    with pytest.raises(ConfigurationError, match="proxy is an address") as caught:
        kind(settings_for("https://stats.example", proxy=address))
    assert PASSWORD not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(ConfigurationError) as caught:
        HTTPTransport(proxy=address)
    assert PASSWORD not in shown_by(caught.value)


@pytest.mark.parametrize(
    "login", [f"{'u' * 256}:p", f"u:{'é' * 128}"], ids=["user", "password"]
)
def test_a_socks_login_that_is_too_long(login: str) -> None:
    """A login that SOCKS has no room for is refused when the client is made."""
    address = f"socks5://{login}@localhost"
    with pytest.raises(ConfigurationError, match="at most 255 bytes each"):
        Sender(settings_for("https://stats.example", proxy=address))


# The environment ------------------------------------------------------------

VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without proxy variables."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("variables", "base", "proxy"),
    [
        ({}, "https://a.example", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://a.example", "http://p:1"),
        ({"https_proxy": "http://p:1"}, "https://a.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://a.example", None),
        ({"http_proxy": "http://p:1"}, "http://a.example", "http://p:1"),
        ({"ALL_PROXY": "http://p:1"}, "http://a.example", "http://p:1"),
        (
            {"https_proxy": "http://p:1", "all_proxy": "x"},
            "https://a.example",
            "http://p:1",
        ),
        ({"https_proxy": "p:1"}, "https://a.example", "http://p:1"),
        ({"https_proxy": ""}, "https://a.example", None),
        ({"https_proxy": "p:1", "no_proxy": "a.example"}, "https://a.example", None),
        ({"https_proxy": "p:1", "no_proxy": ".example"}, "https://a.example", None),
        ({"https_proxy": "p:1", "no_proxy": "*"}, "https://a.example", None),
        (
            {"https_proxy": "p:1", "no_proxy": "a.example"},
            "https://a.example:8443",
            None,
        ),
        (
            {"https_proxy": "p:1", "no_proxy": "b.example"},
            "https://a.example",
            "http://p:1",
        ),
        ({"https_proxy": "p:1", "no_proxy": "127.0.0.1"}, "https://127.0.0.1:9", None),
        ({"https_proxy": "p:1", "no_proxy": "[::1]"}, "https://[::1]", None),
        ({"https_proxy": "p:1", "no_proxy": "::1"}, "https://[::1]", None),
        ({"https_proxy": "p:1", "no_proxy": "[::1]"}, "https://[::1]:9", None),
        ({"https_proxy": "p:1", "no_proxy": "[::2]"}, "https://[::1]", "http://p:1"),
        ({"https_proxy": "p:1", "no_proxy": "bücher.example"}, BOOKS, None),
        ({"https_proxy": "p:1", "no_proxy": ".bücher.example"}, f"{BOOKS}:9", None),
        ({"https_proxy": "p:1", "no_proxy": "xn--bcher-kva.example"}, BOOKS, None),
    ],
)
def test_what_the_environment_names(
    environment: pytest.MonkeyPatch,
    variables: dict[str, str],
    base: str,
    proxy: str | None,
) -> None:
    """The environment's proxy is chosen by scheme, for all, and not for exceptions."""
    for name, value in variables.items():
        environment.setenv(name, value)
    assert proxy_from_environment(BaseAddress.parse(base)) == proxy


def test_a_client_takes_the_proxy_of_the_environment(
    environment: pytest.MonkeyPatch,
) -> None:
    """Left out, the proxy is the environment's; None is no proxy."""
    keys = {"api_key": KEY, "user_id": USER}
    with serve(polite) as server, serve(leads_to(server)) as proxy:
        environment.setenv("HTTP_PROXY", proxy.address)
        with Client("http://stats.example", **keys) as client:
            assert client.request("GET", "/api/custom") == {"ok": True}
        with (
            Client("http://stats.example", **keys, proxy=None, retries=0) as client,
            pytest.raises(ConnectionFailedError, match="Name or service not known"),
        ):
            client.request("GET", "/api/custom")
    assert len(proxy.requests) == 1


def test_the_senders_do_not_look_into_the_environment(
    variant: str, environment: pytest.MonkeyPatch
) -> None:
    """A sender uses the proxy of its settings only."""
    environment.setenv("ALL_PROXY", "http://127.0.0.1:9")
    environment.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        assert sender.send(GET).status == 200


# Pickles --------------------------------------------------------------------

WITH_PASSWORD = f"http://user:{PASSWORD}@127.0.0.1:3128"
BASE = "https://stats.example"


@pytest.mark.parametrize("cls", [Client, AsyncClient])
@pytest.mark.parametrize(
    "proxy", [WITH_PASSWORD, "socks5://token@localhost", "https://:x@localhost"]
)
def test_a_password_of_an_argument_is_not_pickled(cls: type, proxy: str) -> None:
    """A client whose proxy= has a user or a password can't be pickled or copied."""
    client = cls(BASE, proxy=proxy)
    for action in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(ConfigurationError, match="set HTTPS_PROXY") as caught:
            action(client)
        assert PASSWORD not in shown_by(caught.value)


@pytest.mark.parametrize("make", [Client, Client.from_env, AsyncClient.from_env])
def test_a_proxy_of_the_environment_is_read_again(
    environment: pytest.MonkeyPatch, make: Callable[[str], Any]
) -> None:
    """A proxy that the environment names is in no pickle; each process has its own."""
    environment.setenv("HTTPS_PROXY", WITH_PASSWORD)
    client = make(BASE)
    assert client._settings.proxy == WITH_PASSWORD
    data = pickle.dumps(client)
    assert PASSWORD.encode() not in data
    assert pickle.loads(data)._settings.proxy == WITH_PASSWORD
    environment.setenv("HTTPS_PROXY", "http://127.0.0.1:8080")
    assert pickle.loads(data)._settings.proxy == "http://127.0.0.1:8080"
    environment.delenv("HTTPS_PROXY")
    assert pickle.loads(data)._settings.proxy is None


def test_a_proxy_without_a_password_is_pickled(environment: pytest.MonkeyPatch) -> None:
    """A proxy= that holds no credential goes along, and so does proxy=None."""
    environment.setenv("HTTPS_PROXY", WITH_PASSWORD)
    for proxy in ("http://127.0.0.1:3128", None):
        client = Client(BASE, proxy=proxy)
        assert pickle.loads(pickle.dumps(client))._settings.proxy == proxy


@pytest.mark.usefixtures("trusted")
def test_tls_within_tls(variant: str) -> None:
    """A service behind TLS is reached through a proxy behind TLS."""
    behind, _ = contexts("localhost")
    with (
        service() as (server, trusting),
        serve(leads_to(server), behind) as proxy,
        open_sender(
            variant, "https://stats.example", proxy=proxy.address, verify=trusting
        ) as sender,
    ):
        for _ in range(2):
            assert sender.send().body == b'{"ok":true}'
    assert proxy.connections == 1


def socks_to(
    service: Server, method: bytes, reply: bytes, *, in_pieces: bool = False
) -> Callable[..., None]:
    """A SOCKS5 proxy that wants *method* of authentication, and then says *reply*."""
    pause = 0.005 if in_pieces else 0.0

    def say(connection: Connection, data: bytes) -> None:
        for piece in [data[i : i + 1] for i in range(len(data))] if pause else [data]:
            connection.send(piece)
            time.sleep(pause)

    def script(connection: Connection) -> None:
        assert connection.take() == b"\x05\x01" + method
        say(connection, b"\x05" + method)
        if method == b"\x02":
            assert connection.take() == b"\x01\x02me\x04pass"
            say(connection, b"\x01\x00")
        # The proxy looks the name up.
        assert connection.take() == b"\x05\x01\x00\x03\x0dstats.example\x00\x50"
        # Its own address follows: as IPv4, or a name with its length before it.
        own = b"\x03\x05a.exa" if in_pieces else b"\x01\x00\x00\x00\x00"
        say(connection, b"\x05" + reply + b"\x00" + own + b"\x00\x00")
        with socket.create_connection(("127.0.0.1", service.port)) as onward:
            while data := connection.take():
                onward.sendall(data)
                connection.send(onward.recv(65536))

    return script


@pytest.mark.parametrize(
    ("user", "method"), [("", b"\x00"), ("me:pass@", b"\x02")], ids=["open", "login"]
)
@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "in pieces"])
def test_a_socks_proxy_leads_to_the_service(
    variant: str,
    user: str,
    method: bytes,
    in_pieces: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A SOCKS5 proxy carries requests, with and without a user and password, however
    its replies are cut.
    """
    with (
        serve(polite) as service,
        serve(socks_to(service, method, b"\x00", in_pieces=in_pieces)) as proxy,
        open_sender(
            variant,
            "http://stats.example",
            proxy=f"socks5://{user}127.0.0.1:{proxy.port}",
        ) as sender,
    ):
        for _ in range(2):
            assert sender.send().body == b'{"ok":true}'
    assert proxy.connections == 1


def test_a_socks_proxy_that_refuses(variant: str) -> None:
    """What a SOCKS proxy refuses is a failed connection; nothing was sent."""
    with (
        serve(polite) as service,
        serve(socks_to(service, b"\x00", b"\x05")) as proxy,
        open_sender(
            variant, "http://stats.example", proxy=f"socks5://127.0.0.1:{proxy.port}"
        ) as sender,
        pytest.raises(ConnectionFailedError, match="could not connect") as caught,
    ):
        sender.send()
    assert not caught.value.maybe_sent


@pytest.mark.parametrize("reply", [b"HTTP/1.1 400 Bad\r\n\r\n", b"\x05", b""])
def test_a_garbled_socks_reply_is_a_failed_connection(
    variant: str, reply: bytes
) -> None:
    """Whatever a SOCKS proxy says first, the error is ours and names the proxy."""

    def script(connection: Connection) -> None:
        connection.take()
        connection.send(reply)

    with (
        serve(script) as proxy,
        open_sender(
            variant, "http://stats.example", proxy=f"socks5://127.0.0.1:{proxy.port}"
        ) as sender,
        pytest.raises(ConnectionFailedError, match="the proxy socks5://127") as caught,
    ):
        sender.send()
    assert not caught.value.maybe_sent
