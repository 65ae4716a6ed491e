"""Transports of httpx whose connections keep every limit: ``HTTPTransport``.

They are httpx's own, with another pool below: whatever patches or wraps
``httpx.HTTPTransport`` sees their requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

import httpcore
import httpx

from sitestats._common.errors import ConfigurationError
from sitestats._common.settings import checked_verify
from sitestats._common.tracebacks import forgetful

from .route import Route
from .slot_pools import AsyncSlotPool, SlotPool

if TYPE_CHECKING:
    import os
    import ssl

_TransportT = TypeVar("_TransportT", "HTTPTransport", "AsyncHTTPTransport")


class _LimitedTransport:
    """What both transports are made with."""

    @forgetful
    def __init__(
        self,
        *,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext = True,
        proxy: str | None = None,
    ) -> None:
        # For the pool that is replaced: to read certificates takes time for 100 calls.
        super().__init__(verify=False)  # type: ignore[call-arg]  # of httpx's
        send_along(cast("HTTPTransport", self), Route(proxy, checked_verify(verify)))


class HTTPTransport(_LimitedTransport, httpx.HTTPTransport):
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


class AsyncHTTPTransport(_LimitedTransport, httpx.AsyncHTTPTransport):
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


def send_along(transport: _TransportT, route: Route) -> _TransportT:
    """Have *transport* send along *route*.

    Its own methods run, since what traces or mocks httpx patches those. So the pool
    below is another one; what httpx calls it is private, and does not matter here.

    Raises:
        ConfigurationError: This version of httpx has none. To send nevertheless would
            be worse: unseen by a mock that a test relies on, or without limits.
    """
    for name, value in vars(transport).copy().items():
        if isinstance(value, (httpcore.ConnectionPool, httpcore.AsyncConnectionPool)):
            is_blocking = isinstance(transport, HTTPTransport)
            pool = SlotPool(route) if is_blocking else AsyncSlotPool(route)
            setattr(transport, name, pool)
            return transport
    raise ConfigurationError(
        f"httpx {httpx.__version__} sends in a way that this version of sitestats does "
        "not know: install another version of one of them"
    )
