"""Send requests over pooled connections: limits, credentials, and what went wrong.

The headers of a request hold credentials in plain text, and so do the frames below
that send it. An exception keeps its frames: so errors are made from the original's
text and raised without it.
"""

from __future__ import annotations

import os
import ssl
import threading
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import anyio
import h11

from sitestats._common.custom_headers import secrets_in
from sitestats._common.errors import ConfigurationError, SiteStatsError

from .attempt import Attempt
from .headers import RequestHeaders
from .http1 import Connection, DisconnectedError
from .pool import AsyncPool, Lease, Pool
from .redaction import Redactor
from .route import ProxyRefusedError, Route
from .tls import make_context
from .waiting import SilenceError, run, run_async

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse

    from .interrupt import Stop
    from .user_transport import (
        AsyncUserTransport,  # noqa: F401 - what the senders are generic in
        Carrier,
        UserTransport,  # noqa: F401 - as above
    )

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""

_FAULTS: Final = (OSError, h11.ProtocolError, DisconnectedError, ProxyRefusedError)
"""What a connection fails with. Anything else is a mistake, and comes out as it is."""


class Service:
    """The service, as both senders reach it: its headers, its route, its limits."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.redactor = Redactor(
            (settings.api_key, settings.user_id, *secrets_in(settings.headers))
        )
        self.headers = RequestHeaders(settings, settings.base.authority.encode("ascii"))
        self._route = Route(settings, self._tls_context)
        self._tls: ssl.SSLContext | None = None
        self._tls_locks: dict[int, threading.Lock] = {}

    def _tls_context(self) -> ssl.SSLContext:
        # One for all connections: reading the certificates takes some 25 ms. The
        # lock keeps fifty threads that start at once from each reading them; one
        # for each process, as a fork copies a lock that is held.
        with self._tls_locks.setdefault(os.getpid(), threading.Lock()):
            if self._tls is None:
                self._tls = make_context(self.settings.verify)
            return self._tls

    def new_connection(self) -> Connection:
        """A connection that its first request opens."""
        return Connection(self._route, self.headers)

    def attempt(
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
                f"{self.settings.base}: nothing was sent"
            )
        return Attempt(
            request,
            self.settings,
            self.redactor,
            Lease(fresh=request.fresh_connection, stop=stop),
            until=until,
            timeout=timeout,
        )


PoolT = TypeVar("PoolT", bound=Pool[Connection] | AsyncPool[Connection])
CarrierT = TypeVar("CarrierT", bound="Carrier")


class _SenderBase(Generic[PoolT, CarrierT]):
    """What both senders have in common."""

    def __init__(self, settings: Settings, pool: Callable[..., PoolT]) -> None:
        self._service = Service(settings)
        self._given: CarrierT | None = None
        """A transport of the user's own."""
        self._pool = pool(
            self._service.new_connection,
            Connection.close,
            limit=settings.max_connections,
            idle_seconds=IDLE_SECONDS,
        )

    def _failure(self, attempt: Attempt, error: BaseException) -> Exception | None:
        """The error to raise instead of *error*, or None for *error* as it is."""
        if isinstance(error, SiteStatsError):
            return None
        if self._given is not None and isinstance(error, Exception):
            return self._given.failure(attempt, error)
        if isinstance(error, SilenceError):
            what = str(error) if attempt.began else "no connection to"
            return attempt.timeout_error(what)
        if isinstance(error, _FAULTS):
            return attempt.connection_error(error)
        failure = attempt.limit_error(error)
        if failure is None:
            attempt.drop_frames(error)
        return failure

    @property
    def is_open(self) -> bool:
        """Whether closing this would close a connection."""
        return self._given is None and self._pool.is_open


class Sender(_SenderBase[Pool[Connection], "UserTransport"]):
    """Sends requests, blocking; threads may share it."""

    def __init__(
        self, settings: Settings, transport: httpx.BaseTransport | None = None
    ) -> None:
        super().__init__(settings, Pool)
        if transport is not None:
            from .user_transport import UserTransport

            self._given = UserTransport(self._service, transport)

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
        attempt = self._service.attempt(
            request, until=until, timeout=timeout, stop=stop
        )
        try:
            work = partial(self._exchange, attempt)
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

    def _exchange(self, attempt: Attempt, connection: Connection) -> HttpResponse:
        if self._given is not None:
            return self._given.exchange(attempt)
        received = run(
            connection.exchange(attempt),
            until=attempt.until,
            timeout=attempt.timeout,
            stop=attempt.lease.stop,
        )
        return self._service.redactor.response(*received)

    def close(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self._pool.close()


class AsyncSender(_SenderBase[AsyncPool[Connection], "AsyncUserTransport"]):
    """Sends requests under asyncio or trio; tasks and event loops may share it."""

    def __init__(
        self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        super().__init__(settings, AsyncPool)
        if transport is not None:
            from .user_transport import AsyncUserTransport

            self._given = AsyncUserTransport(self._service, transport)

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
        attempt = self._service.attempt(request, until=until, timeout=timeout)
        failure: Exception | None = None
        deadline = anyio.current_time() + until - attempt.started
        with anyio.CancelScope(deadline=deadline):
            try:
                work = partial(self._exchange, attempt)
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

    async def _exchange(self, attempt: Attempt, connection: Connection) -> HttpResponse:
        if self._given is not None:
            return await self._given.exchange(attempt)
        received = await run_async(
            connection.exchange(attempt), until=attempt.until, timeout=attempt.timeout
        )
        return self._service.redactor.response(*received)

    async def aclose(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        await self._pool.aclose()
