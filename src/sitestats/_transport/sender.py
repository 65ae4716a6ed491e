"""Send requests by httpx over pooled connections, within limits.

The client of httpx is ours, over a transport of ours or of the user's, or one of the
user's own. With a transport that is not ours, ``total_timeout`` of a blocking call is
checked between the pieces of a body; an awaited one ends by a cancel scope.

The headers of a request hold credentials in plain text, and so do the frames below
that send it. An exception keeps its frames: so errors are made from the original's
text and raised without it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import anyio
import httpx

from sitestats._common.custom_headers import secrets_in
from sitestats._common.errors import ConfigurationError
from sitestats._common.tracebacks import clear_frames

from .attempt import Attempt
from .backend import Slot
from .body import Body
from .http_transport import AsyncHTTPTransport, HTTPTransport, send_along
from .logs import redact_logs
from .outgoing import Outgoing
from .pool import AsyncPool, Lease, Pool
from .redaction import Redactor
from .route import Route
from .slot_pools import IDLE_SECONDS
from .user_transport import check_given
from .waiting import OutOfTimeError

if TYPE_CHECKING:
    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse

    from .interrupt import Stop

PoolT = TypeVar("PoolT", bound=Pool[Slot] | AsyncPool[Slot])

_GRACE: Final = 1.0
"""Seconds for leaving the rest of a body alone."""

_MOST_PIECES_LEFT: Final = 20_000
"""More than httpx has read in advance: that is 64 KiB, of at least 6 bytes each."""

_WITHOUT_BODY: Final = {204, 304}
"""With these a length is that of a body that would come with another status."""

_NOTHING: Final = httpx.ByteStream(b"")


class _NoCookies(httpx.Cookies):
    """A jar that takes none, as no request is sent with one."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


class _Client(httpx.Client):
    cookies: Any = _NoCookies()


class _AsyncClient(httpx.AsyncClient):
    cookies: Any = _NoCookies()


class _SenderBase(Generic[PoolT]):
    """What both senders have in common."""

    _pool_kind: Any
    _transport_kind: Any
    _client_kind: Any

    def __init__(
        self, settings: Settings, transport: Any = None, http_client: Any = None
    ) -> None:
        """Send by a transport or a client that is given, or else along a route."""
        route = Route.of(settings)
        self._settings = settings
        self.is_given: bool = transport is not None or http_client is not None
        if self.is_given:
            is_awaited = self._client_kind is _AsyncClient
            check_given(transport, http_client, asynchronous=is_awaited)
        else:
            transport = send_along(self._transport_kind(), route)
        self._client = http_client or self._client_kind(
            transport=transport, trust_env=False
        )
        own = settings.api_key, settings.user_id, *secrets_in(settings.headers)
        self._redactor = Redactor((*own, *route.secrets()))
        redact_logs(self._redactor)
        self._outgoing = Outgoing(settings, http_client)
        self._pool: PoolT = self._pool_kind(
            Slot, limit=settings.max_connections, idle_seconds=IDLE_SECONDS
        )

    def _attempt(
        self, request: HttpRequest, until: float, timeout: float, stop: Stop | None
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
        lease = Lease[Any](fresh_connection=request.fresh_connection, stop=stop)
        return Attempt(request, self._settings, self._redactor, lease, until, timeout)

    @property
    def is_open(self) -> bool:
        """Whether closing this would close a connection."""
        return self._pool.is_open


class Sender(_SenderBase[Pool[Slot]]):
    """Sends requests, blocking; threads may share it."""

    _pool_kind, _transport_kind, _client_kind = Pool, HTTPTransport, _Client

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
        attempt = self._attempt(request, until, timeout, stop)
        try:
            work = partial(self._exchange, attempt)
            return self._pool.use(attempt.lease, work, until=until)
        except BaseException as error:
            failure = attempt.failure(error)
            if failure is None:
                clear_frames(error)
                raise
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    def _exchange(self, attempt: Attempt, _slot: Slot) -> HttpResponse:
        """Send the request of *attempt*, and collect the response."""
        request, options = self._outgoing.of(attempt)
        try:
            response = self._client.send(request, **options)
        except httpx.HTTPStatusError as error:
            # By a hook of the user's: here the status decides.
            response = error.response
        stream: Any = response.stream
        try:
            headers, body, read = _begun(attempt, response)
            for piece in stream if read is None else read:
                body.feed(piece)
                if time.monotonic() >= attempt.until:
                    raise OutOfTimeError
            status, whole = response.status_code, body.finish()
            return self._redactor.response(status, headers, whole)
        finally:
            stream.close()
            # Its stream has the response, and so on in a circle.
            response.stream = _NOTHING

    def close(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self._pool.close()


class AsyncSender(_SenderBase[AsyncPool[Slot]]):
    """Sends requests under asyncio or trio; tasks and event loops may share it."""

    _pool_kind = AsyncPool
    _transport_kind, _client_kind = AsyncHTTPTransport, _AsyncClient

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
        attempt = self._attempt(request, until, timeout, None)
        failure: Exception | None = None
        deadline = anyio.current_time() + until - attempt.started
        with anyio.CancelScope(deadline=deadline):
            try:
                work = partial(self._exchange, attempt)
                return await self._pool.use(attempt.lease, work)
            except BaseException as error:
                failure = attempt.failure(error)
                if failure is None:
                    clear_frames(error)
                    raise
        if failure is None:
            failure = attempt.total_timeout_error()
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    async def _exchange(self, attempt: Attempt, _slot: Slot) -> HttpResponse:
        """Send the request of *attempt*, and collect the response."""
        request, options = self._outgoing.of(attempt)
        try:
            response = await self._client.send(request, **options)
        except httpx.HTTPStatusError as error:
            response = error.response
        stream: Any = response.stream
        pieces, is_whole = aiter(stream), False
        try:
            headers, body, read = _begun(attempt, response)
            for piece in read or ():
                body.feed(piece)
            if read is None:
                async for piece in pieces:
                    body.feed(piece)
            is_whole = True
            status, whole = response.status_code, body.finish()
            return self._redactor.response(status, headers, whole)
        finally:
            await (stream.aclose() if is_whole else _leave(stream, pieces))
            response.stream = _NOTHING

    async def aclose(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        await self._pool.aclose()


def _begun(
    attempt: Attempt, response: httpx.Response
) -> tuple[dict[str, str], Body, list[bytes] | None]:
    """The headers and the body of *response*, and what was read of it already."""
    method, status = attempt.request.method, response.status_code
    headers = dict(response.headers.items())
    headers.pop("set-cookie", None)
    encoding, length = (
        headers.get("content-encoding", ""),
        headers.get("content-length"),
    )
    if method == "HEAD" or status in _WITHOUT_BODY:
        encoding, length = "", None
    read = None
    if response.is_closed:
        # A mock or a hook has read it, and undone its encoding; or left it unread.
        encoding, read = "", list[bytes]()
        with suppress(httpx.ResponseNotRead):
            read.append(response.content)
    body = Body(
        encoding,
        limit=attempt.settings.max_response_bytes,
        length=length,
        is_needed=response.is_success,
    )
    return headers, body, read


async def _leave(stream: httpx.AsyncByteStream, pieces: Any) -> None:
    """Leave the rest of a body unread.

    Asynchronous generators that are left in their middle are closed by the garbage
    collection, too late for the connection, and trio warns of it. So they are
    brought to their end: once the stream is closed it is near.
    """
    with anyio.move_on_after(_GRACE, shield=True), suppress(Exception):
        await stream.aclose()
        for _ in range(_MOST_PIECES_LEFT):
            await anext(pieces)
        # One of a user's own may have no end.
        await pieces.aclose()
