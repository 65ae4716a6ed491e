"""Send requests by httpx, within limits; the client of httpx is ours, or the user's.

With a client of the user's, ``total_timeout`` of a blocking call is checked between the
pieces of a body; an awaited one ends by a cancel scope.

The headers of a request hold credentials in plain text, and so do the frames below
that send it. An exception keeps its frames: so errors are made from the original's
text and raised without it.
"""

from __future__ import annotations

import threading
from contextlib import closing, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final, cast

from sitestats._common.secret import secrets_in

from .connections import Pool
from .failures import Failures
from .httpx_client import (
    EXTENSION,
    NOTHING,
    Outgoing,
    library_of,
    own_client,
    proxy_secrets,
)
from .limits import MOST_BYTES, AwaitedExchange, Exchange, run
from .reading import CorruptError, TooLargeError, decompressed
from .redaction import Redactor, redact_logs
from .stop import Stop

if TYPE_CHECKING:
    from types import FrameType

    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse


_OPTIONS: Final = {"stream": True, "follow_redirects": False}


class _SenderBase:
    """What both senders have in common."""

    _is_awaited: bool

    def __init__(self, settings: Settings, http_client: Any = None) -> None:
        """Send by a client of httpx that is given, or else by our own."""
        self._settings = settings
        self._pool = Pool(settings.max_connections)
        self.is_given: bool = http_client is not None
        # Whether httpx connects, and not our own pool.
        self._is_far = self.is_given or settings.proxy is not None
        awaited = self._is_awaited
        self._is_watched = self._is_far and (awaited or not self.is_given)
        library: Any = library_of(http_client, is_awaited=awaited)
        self._client = http_client or own_client(
            settings, self._pool, is_awaited=awaited
        )
        own = settings.api_key, settings.user_id, *secrets_in(settings.headers)
        proxy = [] if self.is_given else proxy_secrets(settings)
        self._redactor = Redactor((*own, *proxy))
        redact_logs(self._redactor)
        self._failures = Failures(settings, self._redactor, library)
        self._outgoing = Outgoing(settings, library, http_client)
        self._hook_error: type[Exception] = library.HTTPStatusError

    async def _send(self, exchange: Exchange) -> HttpResponse:
        try:
            await self._pool.enter(exchange)
            try:
                with exchange.watched() if self._is_watched else nullcontext():
                    return await self._sent(exchange)
            finally:
                self._pool.leave(exchange.group)
        except BaseException as error:
            exchange.stop.check()
            failure = self._failures.of(exchange, error)
            if failure is None:
                _clear_frames(error)
                raise
        # pyright can't know that no context above swallows an error.
        try:
            raise failure  # pyright: ignore[reportGeneralTypeIssues, reportPossiblyUnboundVariable]
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure  # pyright: ignore[reportPossiblyUnboundVariable]

    async def _sent(self, exchange: Exchange) -> HttpResponse:
        request, auth = self._outgoing.of(exchange)
        if self._is_far:
            # Something may leave the machine at once.
            exchange.step = "response"
        try:
            response: Any = self._client.send(request, auth=auth, **_OPTIONS)
            if self._is_awaited:
                response = await response
        except self._hook_error as error:
            # By a hook of the user's: here the status decides.
            response = cast("Any", error).response
        body, is_raw = response.extensions.get(EXTENSION), True
        if body is None:
            is_raw = not response.is_closed
            body = await self._body(response, exchange)
        return self._received(response, body, is_raw=is_raw)

    def _received(self, response: Any, body: bytes, *, is_raw: bool) -> HttpResponse:
        """*response* with its *body*, which is decompressed first where it is raw."""
        # The stream has the response, and so on in a circle.
        response.stream = NOTHING
        headers: dict[str, str] = {}
        # As httpx has them, in half the time: it looks for their encoding each time.
        for name, value in response.headers.raw:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        headers.pop("set-cookie", None)
        if is_raw:
            try:
                body = decompressed(body, headers.get("content-encoding", ""))
            except CorruptError:
                if response.is_success:
                    raise
                # The status of an error says enough.
                body = b""
        return self._redactor.response(response.status_code, headers, body)

    async def _body(self, response: Any, exchange: Exchange) -> bytes:
        """The body that httpx has read, or reads."""
        if response.is_closed:
            # By a mock or a hook, which may have left it unread.
            with suppress(RuntimeError):
                return bytes(response.content)
            return b""
        whole = bytearray()

        def add(piece: bytes) -> None:
            whole.extend(piece)
            if len(whole) > MOST_BYTES:
                raise TooLargeError
            exchange.left()

        if not self._is_awaited:
            with closing(response):
                for piece in response.iter_raw():
                    add(piece)
            return bytes(whole)
        try:
            async for piece in response.aiter_raw():
                add(piece)
        finally:
            await response.aclose()
        return bytes(whole)

    @property
    def is_open(self) -> bool:
        """Whether closing this would close a connection."""
        return self._pool.is_open


class Sender(_SenderBase):
    """Sends requests, blocking; threads may share it."""

    _is_awaited = False

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
            ResponseTooLargeError: It is larger than 64 MiB.
            ResponseError: It can't be decompressed.
            ClientClosedError: This was closed.
        """
        return run(self._send(Exchange(request, until, timeout, stop or Stop())))

    def close(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self._pool.close()


class AsyncSender(_SenderBase):
    """Sends requests under asyncio or trio; tasks and event loops may share it."""

    _is_awaited = True

    async def send(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,  # noqa: ASYNC109 - for each wait
    ) -> HttpResponse:
        """Send *request*, and return the whole response, whatever its status.

        The arguments and the errors are those of `Sender.send`.
        """
        return await self._send(AwaitedExchange(request, until, timeout))

    async def aclose(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self._pool.close(threading.get_ident())


def _clear_frames(error: BaseException) -> None:
    """Take the variables from the frames of *error*, which may hold a credential; the
    lines stay, for whoever looks for the mistake.
    """
    # Only who sees an exception has to load it.
    import traceback

    ours: set[FrameType] = set()
    link: BaseException | None = error
    while link is not None:
        begin = link.__traceback__
        # What was raised outside, and is being handled there, may have frames that
        # are not over: to clear those would end them.
        if begin is None or (ours and begin.tb_frame not in ours):
            return
        ours |= {frame for frame, _ in traceback.walk_tb(begin)}
        traceback.clear_frames(begin)
        link = link.__cause__ or link.__context__
