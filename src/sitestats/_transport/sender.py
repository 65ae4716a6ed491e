"""Send requests by httpx, within limits; the client of httpx is ours, or the user's.

With a client of the user's, ``total_timeout`` of a blocking call is checked between the
pieces of a body, but not within its head; an awaited one ends by a cancel scope.

The headers of a request hold credentials in plain text, and so do the frames below
that send it. An exception keeps its frames: so errors are made from the original's
text and raised without it.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sitestats._base.forks import HeldAcrossForks
from sitestats._base.loops import running_loop
from sitestats._configuration.secrets import secrets_in
from sitestats._wire.messages import HttpResponse

from .bodies import MOST_BYTES, SUCCESS, CorruptError, TooLargeError, decompressed
from .failures import Failures
from .httpx_client import EXTENSION, NOTHING, Outgoing, library_of
from .pool import Pool
from .redaction import Redactor, redact_logs
from .sockets import ALL_THREADS, AwaitedExchange, Exchange, run_blocking

if sys.platform == "emscripten":
    from .fetch import own_client, proxy_of, proxy_secrets
else:
    from .direct import own_client, proxy_of, proxy_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager

    from sitestats._configuration.settings import Settings
    from sitestats._wire.messages import HttpRequest

    Ending = Callable[[Callable[[], object]], AbstractContextManager[None]]


_UNWATCHED: Final = nullcontext()


class Sender(HeldAcrossForks):
    """Sends requests, blocking, or awaited under asyncio or trio; threads may share a
    blocking one, tasks and event loops an awaited one.
    """

    def __init__(
        self, settings: Settings, http_client: Any, *, is_awaited: bool
    ) -> None:
        """Send by a client of httpx that is given, or else by our own."""
        self._is_awaited = is_awaited
        self._kind = AwaitedExchange if is_awaited else Exchange
        self.pool = Pool(settings.max_connections)
        self._library: Any = library_of(http_client, is_awaited=is_awaited)
        # A client of the user's has its own proxies alone.
        proxy = proxy_of(settings)
        # Otherwise our own pool connects, and keeps the limits.
        self._httpx_connects = http_client is not None or proxy is not None
        self._is_watched = self._httpx_connects and (is_awaited or proxy is not None)
        self._make_client = partial(
            own_client, settings, self.pool, proxy, is_awaited=is_awaited
        )
        self._client = http_client or self._make_client()
        self._has_pool_of_httpx = http_client is None and proxy is not None
        # A client of an emulator has the emulator's clock, which a test may have set.
        self.clock: Callable[[], float] | None = getattr(
            http_client, "emulator_clock", None
        )
        others = *secrets_in(settings.headers), *proxy_secrets(proxy)
        self._redactor = Redactor((settings.api_key, settings.user_id, *others))
        self.redact = self._redactor.text
        redact_logs(self._redactor)
        self._failures = Failures(
            settings, self._redactor, self._library, self._client, proxy
        )
        self._outgoing = Outgoing(settings, self._library, http_client)
        super().__init__()

    def _after_fork_in_child(self) -> None:
        if self._has_pool_of_httpx:
            # Its pool, and the lock of that, may be in use by a thread of the parent.
            self._client = self._make_client()

    run_blocking = staticmethod(run_blocking)

    async def send(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,  # noqa: ASYNC109 - for each wait
        ending: Ending | None = None,
    ) -> HttpResponse:
        """Send *request*, and return the whole response, whatever its status.

        Args:
            request: Sent to the base address, with the credentials it wants.
            until: What the monotonic clock shows when the call must have ended,
                waiting for a connection included.
            timeout: Seconds for connecting and for each read.
            ending: Has another thread call its argument, which ends a blocking call.

        Raises:
            RequestTimeoutError: One of the two limits was reached.
            ConnectionFailedError: No whole response arrived.
            ResponseTooLargeError: It is larger than 64 MiB.
            InvalidResponseError: It can't be decompressed.
            ClientClosedError: This was closed.
        """
        exchange = self._kind(request, until, timeout)
        if ending is None:
            return await self._send(exchange)
        with ending(exchange.end):
            return await self._send(exchange)

    async def _send(self, exchange: Exchange) -> HttpResponse:
        try:
            try:
                await self.pool.enter(exchange)
                with exchange.watched() if self._is_watched else _UNWATCHED:
                    return await self._sent(exchange)
            finally:
                # This comes first, as Ctrl-C may come before any call.
                exchange.is_over = True
                self.pool.leave(exchange)
        except BaseException as error:
            failure = self._failures.of(exchange, error)
            if failure is None:
                # The traceback keeps its lines, for whoever looks for the mistake.
                traceback.clear_frames(error.__traceback__)
                raise
        # pyright can't know that no context above swallows an error.
        try:
            raise failure  # pyright: ignore[reportGeneralTypeIssues, reportPossiblyUnboundVariable]
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure  # pyright: ignore[reportPossiblyUnboundVariable]

    async def _sent(self, exchange: Exchange) -> HttpResponse:
        extensions: dict[str, Any] = {EXTENSION: exchange}
        # The request counts as sent now, unless our own connecting knows better.
        exchange.phase = "response"
        if self._httpx_connects:
            extensions["timeout"] = self._library.Timeout(exchange.left()).as_dict()
            if self._is_watched and not self._is_awaited:
                extensions["trace"] = exchange.trace
        request, auth = self._outgoing.of(exchange.request, extensions)
        try:
            response: Any = self._client.send(
                request, auth=auth, stream=True, follow_redirects=False
            )
            if self._is_awaited:
                response = await response
        except self._library.HTTPStatusError as error:
            # A hook of the user's raised this, but here the status decides.
            response = error.response
        status: int = response.status_code
        response.headers.encoding = "latin-1"
        headers: dict[str, str] = dict(response.headers.items())
        headers.pop("set-cookie", None)
        body = response.extensions.get(EXTENSION)
        try:
            if body is None:
                body = await self._body(response, headers, exchange)
            if encoding := headers.get("content-encoding"):
                body = decompressed(body, encoding)
        except (CorruptError, TooLargeError):
            if status in SUCCESS:
                raise
            # The status of an error response says enough.
            body = b""
        # The stream refers to the response: dropping it breaks a reference cycle.
        response.stream = NOTHING
        return HttpResponse(
            status, headers, body, datetime.now(UTC), redactor=self._redactor
        )

    async def _body(
        self, response: Any, headers: dict[str, str], exchange: Exchange
    ) -> bytes:
        """The body, which httpx has read, or reads now."""
        if response.is_closed:
            # A mock or a hook has decompressed the body, or left it unread.
            headers.pop("content-encoding", None)
            with suppress(RuntimeError):
                return bytes(response.content)
            return b""
        body = bytearray()
        parts = response.aiter_raw() if self._is_awaited else _each(response.iter_raw())
        try:
            async for piece in parts:
                body += piece
                if len(body) > MOST_BYTES:
                    raise TooLargeError
                if not self._is_awaited:
                    # An awaited call would leave httpx's generators to trio: it warns.
                    exchange.left()
        finally:
            closing = response.aclose() if self._is_awaited else response.close()
            if self._is_awaited:
                await closing
        return bytes(body)

    def close(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self.pool.close(running_loop() if self._is_awaited else ALL_THREADS)


async def _each(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
