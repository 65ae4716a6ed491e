"""Transports of httpx whose connections keep every limit: ``HTTPTransport``.

They are httpx's own, with another pool below: whatever patches or wraps
``httpx.HTTPTransport`` sees their requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpcore
import httpx

from sitestats._common.frames import forgetful
from sitestats._common.settings import checked_verify

from .route import Route
from .slot_pools import AsyncSlotPool, SlotPool

if TYPE_CHECKING:
    import os
    import ssl


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
        _send_by(self, SlotPool(Route(proxy, checked_verify(verify))))


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
        _send_by(self, AsyncSlotPool(Route(proxy, checked_verify(verify))))


def transport_along(route: Route) -> HTTPTransport:
    """A transport for the connections of a client."""
    transport = HTTPTransport.__new__(HTTPTransport)
    _send_by(transport, SlotPool(route))
    return transport


def async_transport_along(route: Route) -> AsyncHTTPTransport:
    """The same for an asynchronous client."""
    transport = AsyncHTTPTransport.__new__(AsyncHTTPTransport)
    _send_by(transport, AsyncSlotPool(route))
    return transport


# --- what is private in httpx -----------------------------------------------------

_HAS_POOL: Final = "_pool" in httpx.HTTPTransport.close.__code__.co_names
"""Whether httpx sends by what it calls its pool, the one private name in use. Without
it requests are sent all the same, unseen by what patches httpx."""


def _send_by(transport: Any, pool: SlotPool | AsyncSlotPool) -> None:
    transport._pool = pool  # noqa: SLF001 - see _HAS_POOL
    if _HAS_POOL:
        return
    if isinstance(pool, SlotPool):
        transport.handle_request = partial(_send, pool)
        transport.close = pool.close
    else:
        transport.handle_async_request = partial(_send_async, pool)
        transport.aclose = pool.aclose


def _send(pool: SlotPool, request: httpx.Request) -> httpx.Response:
    with _as_httpx():
        return _response(pool.handle_request(_request(request)))


async def _send_async(pool: AsyncSlotPool, request: httpx.Request) -> httpx.Response:
    with _as_httpx():
        return _response(await pool.handle_async_request(_request(request)))


def _request(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        request.method,
        httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        ),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _response(response: httpcore.Response) -> httpx.Response:
    return httpx.Response(
        response.status, headers=response.headers, stream=_Stream(response.stream)
    )


class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body, with the errors of httpx."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for piece in self._stream:
                yield piece

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextmanager
def _as_httpx() -> Generator[None]:
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.UnsupportedProtocol,
    ) as error:
        # Each has its twin of the same name.
        raise getattr(httpx, type(error).__name__)(str(error)) from error
