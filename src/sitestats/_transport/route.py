"""Routes to the service: direct, or through an HTTP or SOCKS proxy."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

import h11

from sitestats._common.errors import ConfigurationError

from .http1 import receive_head
from .stream import TlsStream, connect

if TYPE_CHECKING:
    from sitestats._common.settings import Settings

    from .headers import RawHeaders
    from .stream import Stream
    from .waiting import Waiting

_PORTS: Final = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class ProxyRefusedError(Exception):
    """The proxy did not connect; the message tells why."""


class Route:
    """How a connection reaches the base address, TLS included."""

    # Slots keep a proxy's password from whatever shows the attributes of objects.
    __slots__ = (
        "_authority",
        "_host",
        "_is_tls",
        "_port",
        "_proxy",
        "_tls_context",
        "headers",
        "prefix",
    )

    def __init__(
        self, settings: Settings, tls_context: Callable[[], ssl.SSLContext]
    ) -> None:
        scheme, host, self._port = settings.base.origin
        # As bytes, since text would be encoded again for each connection.
        self._host = host.encode("ascii")
        self._authority = f"{_bracketed(host)}:{self._port}"
        self._is_tls = scheme == "https"
        self._tls_context = tls_context
        self._proxy = None if settings.proxy is None else Proxy.parse(settings.proxy)
        forwards = self._proxy is not None and self._proxy.forwards
        base = f"{scheme}://{settings.base.authority}"
        is_forwarded = forwards and not self._is_tls
        self.prefix = f"{base if is_forwarded else ''}{settings.base.prefix}"
        """What stands before the target of a request: a forwarding proxy wants the
        whole address."""
        self.headers: RawHeaders = []
        """What a forwarding proxy wants besides."""
        if is_forwarded and self._proxy is not None:
            self.headers = self._proxy.authorization

    def connect(self, timeout: float) -> Waiting[Stream]:
        """Connect, within *timeout* seconds for each connection."""
        proxy = self._proxy
        if self._is_tls or (proxy is not None and proxy.is_tls):
            # First: if the certificates can't be read, nothing is tried.
            self._tls_context()
        if proxy is None:
            stream: Stream = yield from connect(self._host, self._port, timeout=timeout)
        else:
            stream = yield from connect(proxy.host, proxy.port, timeout=timeout)
        try:
            if proxy is not None:
                if proxy.is_tls:
                    stream = yield from self._secured(stream, proxy.host)
                if not proxy.forwards:
                    yield from _socks(stream, proxy, self._host, self._port)
                elif self._is_tls:
                    yield from _tunnel(stream, proxy, self._authority)
            if self._is_tls:
                stream = yield from self._secured(stream, self._host)
        except BaseException:
            stream.close()
            raise
        return stream

    def _secured(self, stream: Stream, host: bytes) -> Waiting[Stream]:
        secured = TlsStream(stream, self._tls_context(), host)
        yield from secured.handshake()
        return secured


class Proxy:
    """A proxy's address. Its password is in plain text here alone."""

    # As above.
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


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _tunnel(stream: Stream, proxy: Proxy, authority: str) -> Waiting[None]:
    """Have an HTTP proxy connect to *authority*."""
    http = h11.Connection(h11.CLIENT)
    request = h11.Request(
        method="CONNECT",
        target=authority,
        headers=[
            (b"Host", authority.encode("ascii")),
            (b"Accept", b"*/*"),
            *proxy.authorization,
        ],
    )
    data = (http.send(request) or b"") + (http.send(h11.EndOfMessage()) or b"")
    yield from stream.send(data)
    response = yield from receive_head(http, stream)
    if not 200 <= response.status_code < 300:  # noqa: PLR2004 - success
        reason = response.reason.decode("ascii", "replace")
        raise ProxyRefusedError(f"{response.status_code} {reason}")
    if http.trailing_data[0]:
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
