"""Send requests over pooled connections: limits, credentials, and what went wrong.

The headers of a request hold credentials in plain text, and so do the frames below
that send it. An exception keeps its frames: so errors are made from the original's
text and raised without it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

from sitestats._common.custom_headers import secrets_in
from sitestats._common.errors import ConfigurationError, SiteStatsError
from sitestats._common.frames import clear_frames

from .attempt import Attempt
from .exchange import AsyncExchange, Exchange, failure_of
from .http_transport import async_transport_along, transport_along
from .logs import redact_logs
from .pool import AsyncPool, Lease, Pool
from .redaction import Redactor
from .route import Route
from .slot import IDLE_SECONDS, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse

    from .interrupt import Stop

PoolT = TypeVar("PoolT", bound=Pool[Slot] | AsyncPool[Slot])


class _SenderBase(Generic[PoolT]):
    """What both senders have in common."""

    is_given: bool
    """Whether it sends by a transport or a client that the user gave."""

    def __init__(
        self, settings: Settings, pool: Callable[..., PoolT], route: Route
    ) -> None:
        self._settings = settings
        own = settings.api_key, settings.user_id, *secrets_in(settings.headers)
        self._redactor = Redactor((*own, *route.secrets()))
        redact_logs(self._redactor)
        self._pool = pool(
            Slot,
            Slot.close,
            is_open=Slot.is_open,
            limit=settings.max_connections,
            idle_seconds=IDLE_SECONDS,
        )

    def _attempt(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,
        stop: Stop | None = None,
    ) -> Attempt:
        """An attempt to send *request*.

        Raises:
            ConfigurationError: Its path is not below the base address.
        """
        if not request.path.startswith("/"):
            raise ConfigurationError(
                f"the path {request.path!r} leads away from the base address "
                f"{self._settings.base}: nothing was sent"
            )
        return Attempt(
            request,
            self._settings,
            self._redactor,
            Lease(fresh=request.fresh_connection, stop=stop),
            until=until,
            timeout=timeout,
        )

    @staticmethod
    def _failure(attempt: Attempt, error: BaseException) -> Exception | None:
        """The error to raise instead of *error*, or None for *error* as it is."""
        if not isinstance(error, SiteStatsError):
            failure = failure_of(attempt, error)
            if failure is not None:
                return failure
        clear_frames(error)
        return None

    @property
    def is_open(self) -> bool:
        """Whether closing this would close a connection."""
        return self._pool.is_open


class Sender(_SenderBase[Pool[Slot]]):
    """Sends requests, blocking; threads may share it."""

    def __init__(
        self,
        settings: Settings,
        transport: httpx.BaseTransport | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        route = Route.of(settings)
        super().__init__(settings, Pool, route)
        self.is_given: bool = transport is not None or http_client is not None
        if not self.is_given:
            transport = transport_along(route)
        self._exchange = Exchange(settings, self._redactor, transport, http_client)

    def send(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,
        stop: Stop | None = None,
    ) -> HttpResponse:
        """Send *request*, and return the whole response, whatever its status.

        Args:
            request: Sent to the base address, with the credentials it wants.
            until: What the monotonic clock shows when the call must have ended,
                waiting for a connection included.
            timeout: Seconds for connecting and for each read.
            stop: What another thread may end the call by.

        Raises:
            RequestTimeoutError: One of the two limits was reached.
            ConnectionFailedError: No whole response arrived.
            ResponseTooLargeError: It is larger than ``max_response_bytes``.
            ResponseError: It can't be decompressed.
            ClientClosedError: This was closed.
        """
        attempt = self._attempt(request, until=until, timeout=timeout, stop=stop)
        try:
            work = partial(self._exchange.run, attempt)
            return self._pool.use(attempt.lease, work, until=until)
        except BaseException as error:
            failure = self._failure(attempt, error)
            if failure is None:
                raise
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    def close(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self._pool.close()


class AsyncSender(_SenderBase[AsyncPool[Slot]]):
    """Sends requests under asyncio or trio; tasks and event loops may share it."""

    def __init__(
        self,
        settings: Settings,
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        route = Route.of(settings)
        super().__init__(settings, AsyncPool, route)
        self.is_given: bool = transport is not None or http_client is not None
        if not self.is_given:
            transport = async_transport_along(route)
        self._exchange = AsyncExchange(settings, self._redactor, transport, http_client)

    async def send(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,  # noqa: ASYNC109 - for each read; the whole has a scope
    ) -> HttpResponse:
        """Send *request*, and return the whole response, whatever its status.

        The arguments and the errors are those of `Sender.send`.
        """
        attempt = self._attempt(request, until=until, timeout=timeout)
        failure: Exception | None = None
        deadline = anyio.current_time() + until - attempt.started
        with anyio.CancelScope(deadline=deadline):
            try:
                work = partial(self._exchange.run, attempt)
                return await self._pool.use(attempt.lease, work)
            except BaseException as error:
                failure = self._failure(attempt, error)
                if failure is None:
                    raise
        if failure is None:
            failure = attempt.total_timeout_error()
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    async def aclose(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        await self._pool.aclose()
