"""Routes to a host: direct, or through a proxy; and whose certificates count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import httpcore

from .proxies import Proxy
from .stream import TlsStream, connect
from .tls import Certificates
from .waiting import NoConnectionError

if TYPE_CHECKING:
    import ssl

    from sitestats._common.secret import Secret
    from sitestats._common.settings import Settings

    from .proxies import RawHeaders
    from .stream import Stream
    from .tls import Verify
    from .waiting import Waiting


class Route:
    """How connections are made: through which proxy, and whose certificates count."""

    # Slots keep a proxy's password from whatever shows the attributes of objects.
    __slots__ = ("_proxy", "_source", "_tls", "_tls_of_proxy")

    def __init__(self, proxy: str | None, verify: Verify, source: str = "") -> None:
        """Take a route; *source* tells where the proxy is from, for an error."""
        self._proxy = None if proxy is None else Proxy(proxy)
        self._source = source
        self._tls = Certificates(verify)
        # Those that are for the service are none of a proxy's business.
        self._tls_of_proxy = Certificates(True)  # noqa: FBT003 - as above

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The route of a client."""
        source = ""
        if "proxy" in settings.from_environment:
            source = f" ({settings.base.scheme.upper()}_PROXY or ALL_PROXY)"
        return cls(settings.proxy, settings.verify, source)

    def tls_context(self) -> ssl.SSLContext:
        """The context of all connections; its certificates are read when it is needed.

        Raises:
            ConfigurationError: They can't be read.
        """
        return self._tls.context()

    def secrets(self) -> list[Secret]:
        """What must not be shown."""
        return [] if self._proxy is None else self._proxy.secrets()

    @property
    def forwarding(self) -> RawHeaders | None:
        """What a proxy that forwards plain requests wants besides the whole address.

        It is None where no proxy forwards: none is there, or it makes a tunnel.
        """
        proxy = self._proxy
        return proxy.authorization if proxy is not None and proxy.forwards else None

    def connect(
        self, host: bytes, port: int, *, is_tls: bool, timeout: float
    ) -> Waiting[Stream]:
        """Connect to *host*, within *timeout* seconds for each connection.

        TLS to the host itself, if any, is left to the caller.

        Raises:
            ProxyError: The proxy could not be reached, or did not connect.
        """
        proxy = self._proxy
        if proxy is None:
            return (yield from connect(host, port, timeout=timeout))
        # First: if the certificates can't be read, nothing is tried.
        context = self._tls_of_proxy.context() if proxy.is_tls else None
        stream: Stream | None = None
        try:
            stream = yield from connect(proxy.host, proxy.port, timeout=timeout)
            if context is not None:
                stream = yield from secured(stream, context, proxy.host)
            if is_tls or not proxy.forwards:
                yield from proxy.connect(stream, host, port)
        except BaseException as error:
            if stream is not None:
                stream.close()
            name = f"the proxy {proxy.name}{self._source}"
            if isinstance(error, httpcore.TimeoutException):
                raise NoConnectionError("proxy", f"no way by {name} to") from error
            if isinstance(error, (httpcore.ProxyError, OSError)):
                raise httpcore.ProxyError(f"{name}: {error}") from error
            raise
        return stream


def secured(stream: Stream, context: ssl.SSLContext, host: bytes) -> Waiting[Stream]:
    """TLS over *stream*, once the certificate of *host* was checked."""
    tls = TlsStream(stream, context, host)
    try:
        yield from tls.handshake()
    except BaseException as error:
        stream.close()
        if isinstance(error, httpcore.TimeoutException):
            raise NoConnectionError("tls") from error
        raise
    return tls
