"""Proxies: their addresses, and what has one connect (CONNECT, SOCKS5)."""

from __future__ import annotations

import base64
import re
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit

import httpcore

from sitestats._common.errors import ConfigurationError
from sitestats._common.hostnames import service_host
from sitestats._common.secret import Secret

if TYPE_CHECKING:
    from .stream import Stream
    from .waiting import Waiting

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_PORTS: Final = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_LONGEST_LOGIN: Final = 255
"""Bytes of the user, and of the password, that SOCKS has room for (RFC 1929)."""

_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: ([^\r\n]*))?\r?\n")
_HEAD: Final = re.compile(_STATUS.pattern + rb"(?:[^\r\n]+\r?\n)*\r?\n")
_LONGEST_HEAD: Final = 100 * 1024
"""Bytes of a proxy's response, as h11 has it."""


class Proxy:
    """A proxy's address. Its password is in plain text here alone."""

    # Slots keep it from whatever shows the attributes of objects.
    __slots__ = (
        *("_login", "authorization", "forwards", "host", "is_tls", "name", "port"),
    )

    def __init__(self, address: str) -> None:
        """Read the address of a proxy.

        Raises:
            ConfigurationError: It is none. The message never shows it, as it may hold
                a password.
        """
        parts = _split(address)
        if parts is None:
            raise ConfigurationError(
                "proxy is an address such as 'http://localhost:3128'; what was given, "
                "or what the environment has, is none (it is not shown here)"
            )
        host = service_host(_bracketed(parts.hostname or ""))
        self.host = host.encode("ascii")
        self.port = parts.port or _PORTS[parts.scheme]
        self.name = f"{parts.scheme}://{_bracketed(host)}:{self.port}"
        """The address without the login."""
        self.is_tls = parts.scheme == "https"
        self.forwards = parts.scheme in {"http", "https"}
        self._login = _bytes(parts.username), _bytes(parts.password)
        self.authorization: RawHeaders = []
        if any(self._login):
            value = b"Basic " + base64.b64encode(b":".join(self._login))
            self.authorization = [(b"Proxy-Authorization", value)]
        if not self.forwards and max(map(len, self._login)) > _LONGEST_LOGIN:
            raise ConfigurationError(
                "the user and the password of a SOCKS proxy have at most "
                f"{_LONGEST_LOGIN} bytes each, and one of these has more"
            )

    def secrets(self) -> list[Secret]:
        """What must not be shown, in each form in which the proxy gets it."""
        password = self._login[1]
        forms = {
            password.decode("utf-8", "surrogateescape"),
            # As headers are read.
            password.decode("latin-1"),
            quote(password),
            *(value.decode().removeprefix("Basic ") for _, value in self.authorization),
        }
        return [Secret(form) for form in forms if form]

    def connect(self, stream: Stream, host: bytes, port: int) -> Waiting[None]:
        """Have the proxy at the other end of *stream* connect to *host*.

        Raises:
            ProxyError: It did not; the message tells why.
        """
        if self.forwards:
            return _tunnel(stream, self.authorization, host, port)
        return _socks(stream, self._login, host, port)


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        service_host(_bracketed(parts.hostname or ""))
        usable = parts.scheme in _PORTS and parts.port != 0
    except ValueError:
        # Its text repeats the address, which may hold a password.
        return None
    return parts if usable else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _bytes(part: str | None) -> bytes:
    # A variable of the environment may hold bytes that are no UTF-8.
    return unquote_to_bytes((part or "").encode("utf-8", "surrogateescape"))


# --- HTTP -------------------------------------------------------------------------


def _tunnel(
    stream: Stream, authorization: RawHeaders, host: bytes, port: int
) -> Waiting[None]:
    authority = b"[%b]:%d" % (host, port) if b":" in host else b"%b:%d" % (host, port)
    headers = [(b"Host", authority), (b"Accept", b"*/*"), *authorization]
    lines = [b"CONNECT %b HTTP/1.1" % authority]
    lines += [b"%b: %b" % header for header in headers]
    yield from stream.send(b"\r\n".join([*lines, b"", b""]))
    received = b""
    while (head := _HEAD.match(received)) is None or head[1].startswith(b"1"):
        if head is not None:
            # An interim response, before the one that is meant.
            received = received[head.end() :]
            continue
        data = yield from stream.receive()
        received += data
        if b"\n" in received and _STATUS.match(received) is None:
            raise httpcore.ProxyError("its response to CONNECT is no HTTP")
        if not data or len(received) > _LONGEST_HEAD:
            raise httpcore.ProxyError("its response to CONNECT is not complete")
    if not head[1].startswith(b"2"):
        reason = (head[2] or b"").decode("latin-1")
        raise httpcore.ProxyError(f"{head[1].decode()} {reason}")
    if head.end() < len(received):
        raise httpcore.ProxyError("it sent data before the service could")


# --- SOCKS5 (RFC 1928, RFC 1929) --------------------------------------------------

_NO_LOGIN: Final = b"\x00"
_BY_PASSWORD: Final = b"\x02"
_REFUSALS: Final = (
    *("the proxy failed", "its rules do not allow it", "the network is unreachable"),
    *("the host is unreachable", "the connection was refused", "it took too long"),
    *("it can't connect for others", "it does not know this kind of address"),
)
"""What the replies from 1 on mean."""


def _socks(
    stream: Stream, login: tuple[bytes, bytes], host: bytes, port: int
) -> Waiting[None]:
    received = bytearray()

    def take(count: int) -> Waiting[bytes]:
        """The next bytes, however they are cut."""
        while len(received) < count:
            data = yield from stream.receive()
            if not data:
                raise httpcore.ProxyError("its reply is not complete")
            received.extend(data)
        taken = bytes(received[:count])
        del received[:count]
        return taken

    # The proxy looks a name up itself.
    method = _BY_PASSWORD if login[0] else _NO_LOGIN
    yield from stream.send(b"\x05\x01" + method)
    if (yield from take(2)) != b"\x05" + method:
        raise httpcore.ProxyError("it wants another way to log in")
    if login[0]:
        user, password = (bytes([len(part)]) + part for part in login)
        yield from stream.send(b"\x01" + user + password)
        if not (yield from take(2)).endswith(b"\x00"):
            raise httpcore.ProxyError("it refused the user or the password")
    yield from stream.send(b"\x05\x01\x00" + _address(host) + port.to_bytes(2))
    version, reply, _, kind = yield from take(4)
    if version != 5 or kind not in {1, 3, 4}:  # noqa: PLR2004 - as above
        raise httpcore.ProxyError("its reply is no SOCKS5")
    if reply:
        known = reply <= len(_REFUSALS)
        reason = _REFUSALS[reply - 1] if known else f"reply {reply}"
        raise httpcore.ProxyError(f"it could not connect: {reason}")
    length = {1: 4, 4: 16}.get(kind) or (yield from take(1))[0]
    yield from take(length + 2)
    if received:
        raise httpcore.ProxyError("it sent data before the service could")


def _address(host: bytes) -> bytes:
    for kind, family in ((b"\x01", socket.AF_INET), (b"\x04", socket.AF_INET6)):
        with suppress(OSError):
            return kind + socket.inet_pton(family, host.decode())
    return b"\x03" + bytes([len(host)]) + host
