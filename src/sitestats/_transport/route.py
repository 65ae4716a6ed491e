"""Routes to a host: direct, or through an HTTP or SOCKS proxy."""

from __future__ import annotations

import base64
import os
import re
import ssl
import threading
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from sitestats._common.errors import ConfigurationError

from .stream import TlsStream, connect
from .tls import make_context

if TYPE_CHECKING:
    from .headers import RawHeaders
    from .stream import Stream
    from .waiting import Waiting

_PORTS: Final = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: ([^\r\n]*))?\r?\n")
_HEAD: Final = re.compile(_STATUS.pattern + rb"(?:[^\r\n]+\r?\n)*\r?\n")
_LONGEST_HEAD: Final = 100 * 1024
"""Bytes of a proxy's response, as h11 has it."""


class ProxyRefusedError(Exception):
    """The proxy did not connect; the message tells why."""


class Route:
    """How connections are made: through which proxy, and whose certificates count."""

    # Slots keep a proxy's password from whatever shows the attributes of objects.
    __slots__ = ("_proxy", "_tls", "_tls_locks", "_verify")

    def __init__(self, proxy: str | None, verify: bool | str | ssl.SSLContext) -> None:  # noqa: FBT001 - the constructors' argument
        self._proxy = None if proxy is None else Proxy.parse(proxy)
        self._verify = verify
        self._tls: ssl.SSLContext | None = None
        self._tls_locks: dict[int, threading.Lock] = {}

    def tls_context(self) -> ssl.SSLContext:
        """The context of all connections; its certificates are read when it is needed.

        Raises:
            ConfigurationError: They can't be read.
        """
        # Reading them takes some 25 ms. The lock keeps fifty threads that start at
        # once from each reading them; one for each process, as a fork copies a lock
        # that is held.
        with self._tls_locks.setdefault(os.getpid(), threading.Lock()):
            if self._tls is None:
                self._tls = make_context(self._verify)
            return self._tls

    def forwarding(self, *, is_tls: bool) -> RawHeaders | None:
        """What a proxy that forwards a request wants besides the whole address.

        It is None where no proxy forwards: none is there, or it makes a tunnel.
        """
        proxy = self._proxy
        forwards = proxy is not None and proxy.forwards and not is_tls
        return proxy.authorization if proxy is not None and forwards else None

    def connect(
        self, host: bytes, port: int, *, is_tls: bool, timeout: float
    ) -> Waiting[Stream]:
        """Connect to *host*, within *timeout* seconds for each connection.

        TLS to the host itself, if any, is left to the caller.
        """
        proxy = self._proxy
        if proxy is None:
            return (yield from connect(host, port, timeout=timeout))
        if proxy.is_tls:
            # First: if the certificates can't be read, nothing is tried.
            self.tls_context()
        stream: Stream = yield from connect(proxy.host, proxy.port, timeout=timeout)
        try:
            if proxy.is_tls:
                stream = yield from secured(stream, self.tls_context(), proxy.host)
            if not proxy.forwards:
                yield from _socks(stream, proxy, host, port)
            elif is_tls:
                yield from _tunnel(stream, proxy, host, port)
        except BaseException:
            stream.close()
            raise
        return stream


def secured(stream: Stream, context: ssl.SSLContext, host: bytes) -> Waiting[Stream]:
    """TLS over *stream*, once the certificate of *host* was checked."""
    tls = TlsStream(stream, context, host)
    try:
        yield from tls.handshake()
    except BaseException:
        stream.close()
        raise
    return tls


class Proxy:
    """A proxy's address. Its password is in plain text here alone."""

    # As those of a route.
    __slots__ = (
        "_password",
        "_user",
        "authorization",
        "forwards",
        "host",
        "is_tls",
        "port",
    )

    def __init__(self, parts: SplitResult) -> None:
        self.host = (parts.hostname or "").encode("idna")
        self.port = parts.port or _PORTS[parts.scheme]
        self.is_tls = parts.scheme == "https"
        self.forwards = parts.scheme in {"http", "https"}
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self.authorization: RawHeaders = []
        if self._user or self._password:
            both = f"{self._user}:{self._password}".encode()
            value = b"Basic " + base64.b64encode(both)
            self.authorization = [(b"Proxy-Authorization", value)]

    @classmethod
    def parse(cls, address: str) -> Proxy:
        """The proxy at *address*.

        Raises:
            ConfigurationError: It is no address of a proxy, or a library is missing.
        """
        parts = _split(address)
        if parts is None:
            raise ConfigurationError(
                "proxy is an address such as 'http://localhost:3128'; what was given, "
                "or what the environment has, is none (it is not shown here)"
            )
        if parts.scheme.startswith("socks") and find_spec("socksio") is None:
            raise ConfigurationError(
                "a SOCKS proxy needs another library: pip install 'httpx[socks]'"
            )
        return cls(parts)

    def credentials(self) -> tuple[bytes, bytes] | None:
        """The user and the password, for SOCKS."""
        if not self._user:
            return None
        return self._user.encode(), self._password.encode()


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").encode("idna")
        usable = parts.scheme in _PORTS and bool(host) and parts.port != 0
    except ValueError:
        # Its text repeats the address, which may hold a password.
        return None
    return parts if usable else None


def _tunnel(stream: Stream, proxy: Proxy, host: bytes, port: int) -> Waiting[None]:
    """Have an HTTP proxy connect to *host*."""
    authority = b"[%b]:%d" % (host, port) if b":" in host else b"%b:%d" % (host, port)
    headers = [(b"Host", authority), (b"Accept", b"*/*"), *proxy.authorization]
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
            raise ProxyRefusedError("the proxy's response to CONNECT is no HTTP")
        if not data or len(received) > _LONGEST_HEAD:
            raise ProxyRefusedError("the proxy's response to CONNECT is not complete")
    if not head[1].startswith(b"2"):
        reason = (head[2] or b"").decode("ascii", "replace")
        raise ProxyRefusedError(f"{head[1].decode()} {reason}")
    if head.end() < len(received):
        raise ProxyRefusedError("the proxy sent data before the service could")


def _socks(stream: Stream, proxy: Proxy, host: bytes, port: int) -> Waiting[None]:
    """Have a SOCKS5 proxy connect to *host*, whose name it looks up itself."""
    # It has no types.
    socks5: Any = import_module("socksio.socks5")
    socks = socks5.SOCKS5Connection()
    credentials = proxy.credentials()
    methods = socks5.SOCKS5AuthMethod
    method = methods.USERNAME_PASSWORD if credentials else methods.NO_AUTH_REQUIRED
    reply = yield from _socks_step(
        stream, socks, socks5.SOCKS5AuthMethodsRequest([method])
    )
    if reply.method != method:
        raise ProxyRefusedError("the SOCKS proxy wants another way to log in")
    if credentials is not None:
        login = socks5.SOCKS5UsernamePasswordRequest(*credentials)
        reply = yield from _socks_step(stream, socks, login)
        if not reply.success:
            raise ProxyRefusedError("the SOCKS proxy refused the user or password")
    command = socks5.SOCKS5CommandRequest.from_address(
        socks5.SOCKS5Command.CONNECT, (host, port)
    )
    reply = yield from _socks_step(stream, socks, command)
    if reply.reply_code != socks5.SOCKS5ReplyCode.SUCCEEDED:
        raise ProxyRefusedError(
            f"the SOCKS proxy could not connect: {reply.reply_code}"
        )


def _socks_step(stream: Stream, socks: Any, request: Any) -> Waiting[Any]:
    socks.send(request)
    yield from stream.send(socks.data_to_send())
    data = yield from stream.receive()
    try:
        return socks.receive_data(data)
    except Exception as error:  # noqa: BLE001 - what a garbled reply makes of it
        reason = f"{type(error).__name__}: {error}"
    raise ProxyRefusedError(f"the SOCKS proxy's reply can't be read ({reason})")
