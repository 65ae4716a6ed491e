"""Transports of httpx whose connections keep every limit: ``HTTPTransport``.

They are httpx's own, with another pool below: whatever patches or wraps
``httpx.HTTPTransport`` sees their requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import httpcore
import httpx

from sitestats._common.frames import forgetful
from sitestats._common.settings import checked_verify

from .backend import AsyncBackend, Backend, Slot
from .route import Route

if TYPE_CHECKING:
    import os
    import ssl

EXTENSION: Final = "sitestats"
"""The name in the extensions of a request; the value is its slot."""

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""


def _taken(request: httpcore.Request) -> Slot | None:
    """The slot that an attempt of ours has taken for *request*."""
    slot: Slot | None = request.extensions.get(EXTENSION)
    if slot is None or slot.attempt is None:
        return None
    # From here on the stream knows.
    slot.attempt.began = False
    return slot


def _connection(slot: Slot, origin: httpcore.Origin, new: Any) -> Any:
    """The connection of *slot*, or a *new* one where it can't be used again."""
    old = slot.connection
    if (
        old is None
        or not old.is_available()
        or old.has_expired()
        or not old.can_handle_request(origin)
    ):
        slot.close()
        slot.connection = new(origin, slot)
    return slot.connection


def _forward(route: Route, request: httpcore.Request) -> None:
    """Give *request* the form that a forwarding proxy wants, if there is one."""
    headers = route.forwarding(is_tls=request.url.scheme == b"https")
    if headers is not None:
        url = request.url
        host = b"[%b]" % url.host if b":" in url.host else url.host
        port = b"" if url.port is None else b":%d" % url.port
        target = b"%b://%b%b%b" % (url.scheme, host, port, url.target)
        request.url = httpcore.URL(
            scheme=url.scheme, host=url.host, port=url.port, target=target
        )
        request.headers = [*request.headers, *headers]


def _route(proxy: str | None, verify: object) -> Route:
    return Route(proxy, checked_verify(verify))


class _Pool(httpcore.ConnectionPool):
    """What the base class of the transport sends by.

    A request with a slot goes over the connection there. Any other is one that a user's
    client sends besides: it takes a connection of httpcore's own pool.
    """

    def __init__(self, route: Route) -> None:
        super().__init__(keepalive_expiry=IDLE_SECONDS)
        self._route = route

    def create_connection(self, origin: httpcore.Origin) -> httpcore.HTTPConnection:
        """A connection that its first request opens."""
        return self._new(origin, Slot())

    def _new(self, origin: httpcore.Origin, slot: Slot) -> httpcore.HTTPConnection:
        is_tls = origin.scheme == b"https"
        return httpcore.HTTPConnection(
            origin,
            ssl_context=self._route.tls_context() if is_tls else None,
            network_backend=Backend(self._route, slot, is_tls=is_tls),
        )

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        _forward(self._route, request)
        slot = _taken(request)
        if slot is None:
            return super().handle_request(request)
        connection = _connection(slot, request.url.origin, self._new)
        response: httpcore.Response = connection.handle_request(request)
        return response


class HTTPTransport(httpx.HTTPTransport):
    """A transport of httpx that keeps every limit of a ``Client``.

    Give it to a client of httpx that you make yourself, for hooks, authentication or
    mounts of your own, and give that to ``Client`` as ``http_client``. Then a call
    ends by its ``total_timeout``, whatever the network does, as it does without a
    client of your own. Requests that you send yourself have the timeouts of httpx.

    Args:
        verify: As for ``Client``.
        proxy: A proxy's address; None goes without. The environment is not read.

    Raises:
        ConfigurationError: A value is wrong.

    Example:
        >>> import httpx
        >>> with httpx.Client(transport=HTTPTransport()) as http_client:
        ...     client = Client("https://analytics.example", http_client=http_client)
    """

    @forgetful
    def __init__(
        self,
        *,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext = True,
        proxy: str | None = None,
    ) -> None:
        # The base class would read certificates, which takes as long as 100 requests.
        self._pool = _Pool(_route(proxy, verify))

    @classmethod
    def along(cls, route: Route) -> Self:
        """A transport for the connections of a client."""
        transport = cls.__new__(cls)
        transport._pool = _Pool(route)  # noqa: SLF001 - one of this class
        return transport


# --- asyncio and trio -------------------------------------------------------------


class _AsyncPool(httpcore.AsyncConnectionPool):
    """The same, awaited."""

    def __init__(self, route: Route) -> None:
        super().__init__(keepalive_expiry=IDLE_SECONDS)
        self._route = route

    def create_connection(
        self, origin: httpcore.Origin
    ) -> httpcore.AsyncHTTPConnection:
        """A connection that its first request opens."""
        return self._new(origin, Slot())

    def _new(self, origin: httpcore.Origin, slot: Slot) -> httpcore.AsyncHTTPConnection:
        is_tls = origin.scheme == b"https"
        return httpcore.AsyncHTTPConnection(
            origin,
            ssl_context=self._route.tls_context() if is_tls else None,
            network_backend=AsyncBackend(self._route, slot, is_tls=is_tls),
        )

    async def handle_async_request(
        self, request: httpcore.Request
    ) -> httpcore.Response:
        _forward(self._route, request)
        slot = _taken(request)
        if slot is None:
            return await super().handle_async_request(request)
        connection = _connection(slot, request.url.origin, self._new)
        response: httpcore.Response = await connection.handle_async_request(request)
        return response


class AsyncHTTPTransport(httpx.AsyncHTTPTransport):
    """A transport of httpx that keeps every limit of an ``AsyncClient``.

    As ``HTTPTransport``, for an ``httpx.AsyncClient``.

    Args:
        verify: As for ``AsyncClient``.
        proxy: A proxy's address; None goes without. The environment is not read.

    Raises:
        ConfigurationError: A value is wrong.

    Example:
        >>> import httpx
        >>> async def main() -> AsyncClient:
        ...     async with httpx.AsyncClient(transport=AsyncHTTPTransport()) as mine:
        ...         return AsyncClient("https://analytics.example", http_client=mine)
        >>> asyncio.run(main())
        AsyncClient('https://analytics.example')
    """

    @forgetful
    def __init__(
        self,
        *,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext = True,
        proxy: str | None = None,
    ) -> None:
        self._pool = _AsyncPool(_route(proxy, verify))

    @classmethod
    def along(cls, route: Route) -> Self:
        """A transport for the connections of a client."""
        transport = cls.__new__(cls)
        transport._pool = _AsyncPool(route)  # noqa: SLF001 - one of this class
        return transport
