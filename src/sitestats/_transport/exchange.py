"""Exchanges: a request through a client of httpx, and its response, within limits.

The client is ours, over a transport of ours or of the user's, or one of the user's own.
With a transport that is not ours, ``total_timeout`` of a blocking call is checked
between the pieces of a body; an awaited one ends by the caller's cancel scope.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx

from sitestats._common.errors import ClientClosedError, QueryError
from sitestats._common.problems import Problem

from .attempt import chain
from .body import Body
from .given import check_given
from .headers import RequestHeaders, response_headers
from .slot_pools import EXTENSION
from .waiting import OutOfTimeError, SilenceError

if TYPE_CHECKING:
    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse

    from .attempt import Attempt
    from .headers import RawHeaders
    from .redaction import Redactor
    from .slot import Slot

_GRACE: Final = 1.0
"""Seconds for leaving the rest of a body alone."""

_MOST_PIECES_LEFT: Final = 20_000
"""More than httpx has read in advance: that is 64 KiB, of at least 6 bytes each."""

_LONGEST: Final = 30 * 86_400.0
"""Seconds: sockets refuse to be given a limit of some centuries."""

_LONGEST_STORED: Final = 2_000
"""Characters of an address that is worth storing."""

_NEVER_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
"""With these the request did not leave the machine: there was no connection."""

_SILENCES: Final = {
    httpx.ConnectTimeout: "no connection to",
    httpx.WriteTimeout: "nothing could be sent to",
    httpx.PoolTimeout: "no free connection in the transport to",
    httpx.TimeoutException: "nothing came from",
}
"""What was waited for in vain."""

_FAULTS: Final = (
    OSError,
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    EOFError,
    StopIteration,
    StopAsyncIteration,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)
"""By these a transport means that the network failed."""


class _NoCookies(httpx.Cookies):
    """A jar that takes none, as no request is sent with one."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


_NO_COOKIES: Final = _NoCookies()


class _Client(httpx.Client):
    cookies: Any = property(lambda _: _NO_COOKIES, lambda _client, _cookies: None)


class _AsyncClient(httpx.AsyncClient):
    cookies: Any = property(lambda _: _NO_COOKIES, lambda _client, _cookies: None)


_NO_AUTH: Final = httpx.Auth()
_NOTHING: Final = httpx.ByteStream(b"")


def failure_of(attempt: Attempt, error: BaseException) -> Exception | None:
    """The error to raise instead of *error*, or None for *error* as it is.

    That is an interrupt, or a mistake, whose author needs the traceback.
    """
    limit = attempt.limit_error(error)
    if limit is not None:
        return limit
    # Python wraps a StopIteration that leaves a generator or a coroutine.
    cause = error.__cause__ if isinstance(error, RuntimeError) else None
    if not isinstance(error, _FAULTS) and not isinstance(
        cause, (StopIteration, StopAsyncIteration)
    ):
        return None
    attempt.began = not isinstance(error, _NEVER_SENT)
    if time.monotonic() >= attempt.until:
        return attempt.total_timeout_error()
    for kind, what in _SILENCES.items():
        if isinstance(error, kind):
            # Ours knows more, such as the proxy.
            is_ours = any(isinstance(link, SilenceError) for link in chain(error))
            return attempt.timeout_error(str(error) if is_ours else what)
    return attempt.connection_error(error)


def _url(base: str, target: str) -> httpx.URL:
    address = f"{base}{target}"
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        reason = str(error)
    # Not from the transport, and so nothing that a retry could mend.
    raise QueryError(
        [
            Problem(
                f"the request's address has {len(address):,} characters and httpx, "
                f"which sends it, refuses it: {reason}",
                where="query",
            )
        ]
    )


_stored_url: Final = lru_cache(maxsize=1024)(_url)
"""To read an address takes as long as a tenth of a call."""


class _Content(httpx.ByteStream):
    """A request's body, without a generator: trio warns of one left in its middle."""

    def __init__(self, content: bytes) -> None:
        # No piece at all where there is no content: each is written by itself.
        self._pieces = (content,) if content else ()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Pieces(iter(self._pieces))  # type: ignore[return-value]  # as far as needed


class _Pieces:
    """The pieces of a body, awaited."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    async def __anext__(self) -> bytes:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration


class _ExchangeBase:
    """What both kinds of exchanges have in common."""

    def __init__(
        self,
        settings: Settings,
        redactor: Redactor,
        given: httpx.Client | httpx.AsyncClient | None,
    ) -> None:
        self._redactor = redactor
        self._base = str(settings.base)
        self._headers = RequestHeaders(settings)
        self._given = given

    def _outgoing(self, attempt: Attempt, slot: Slot) -> httpx.Request:
        """The request of *attempt* as httpx has it, with credentials.

        Raises:
            QueryError: Its address is none that httpx takes.
            OutOfTimeError: No time is left.
        """
        left = attempt.until - time.monotonic()
        if left <= 0:
            raise OutOfTimeError
        seconds = min(attempt.timeout, left, _LONGEST)
        request = attempt.request
        url = _stored_url if len(request.target) <= _LONGEST_STORED else _url
        outgoing = httpx.Request(
            request.method,
            url(self._base, request.target),
            headers=self._headers_of(request),
            stream=_Content(request.body),
            extensions={
                "timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds),
                EXTENSION: slot,
            },
        )
        # So that hooks and transports can look at its content.
        outgoing.read()
        attempt.began = True
        return outgoing

    def _headers_of(self, request: HttpRequest) -> httpx.Headers | RawHeaders:
        if self._given is not None:
            if self._given.is_closed:
                raise ClientClosedError("http_client was closed; make a new client")
            headers = self._given.headers.copy()
            headers.update(self._headers.of(request))
            return headers
        return self._headers.of(request)

    def _auth(self, attempt: Attempt) -> Any:
        """How the request authenticates besides its key.

        A write goes out once, and a scheme that waits for a challenge sends it twice.
        """
        is_read = attempt.request.method in {"GET", "HEAD"}
        given = self._given is not None and is_read
        return httpx.USE_CLIENT_DEFAULT if given else _NO_AUTH


class Exchange(_ExchangeBase):
    """Exchanges over a blocking client."""

    def __init__(
        self,
        settings: Settings,
        redactor: Redactor,
        transport: httpx.BaseTransport | None,
        http_client: httpx.Client | None,
    ) -> None:
        super().__init__(settings, redactor, http_client)
        check_given(transport, http_client, asynchronous=False)
        self._client = http_client or _Client(transport=transport, trust_env=False)

    def run(self, attempt: Attempt, slot: Slot) -> HttpResponse:
        """Send the request of *attempt*, and collect the response."""
        outgoing = self._outgoing(attempt, slot)
        slot.attempt = attempt
        try:
            try:
                response = self._client.send(
                    outgoing,
                    stream=True,
                    auth=self._auth(attempt),
                    follow_redirects=False,
                )
            except httpx.HTTPStatusError as error:
                # By a hook of the user's: here the status decides.
                response = error.response
            stream = response.stream
            assert isinstance(stream, httpx.SyncByteStream)
            try:
                headers, body, read = _begun(attempt, response)
                for piece in stream if read is None else read:
                    body.feed(piece)
                    if time.monotonic() >= attempt.until:
                        raise OutOfTimeError
                return self._redactor.response(
                    response.status_code, headers, body.finish()
                )
            finally:
                stream.close()
                # Its stream has the response, and so on in a circle.
                response.stream = _NOTHING
        finally:
            slot.attempt = None


class AsyncExchange(_ExchangeBase):
    """Exchanges over an asynchronous client."""

    def __init__(
        self,
        settings: Settings,
        redactor: Redactor,
        transport: httpx.AsyncBaseTransport | None,
        http_client: httpx.AsyncClient | None,
    ) -> None:
        super().__init__(settings, redactor, http_client)
        check_given(transport, http_client, asynchronous=True)
        self._client = http_client or _AsyncClient(transport=transport, trust_env=False)

    async def run(self, attempt: Attempt, slot: Slot) -> HttpResponse:
        """Send the request of *attempt*, and collect the response."""
        outgoing = self._outgoing(attempt, slot)
        slot.attempt = attempt
        try:
            try:
                response = await self._client.send(
                    outgoing,
                    stream=True,
                    auth=self._auth(attempt),
                    follow_redirects=False,
                )
            except httpx.HTTPStatusError as error:
                # By a hook of the user's: here the status decides.
                response = error.response
            stream = response.stream
            assert isinstance(stream, httpx.AsyncByteStream)
            pieces = aiter(stream)
            whole = False
            try:
                headers, body, read = _begun(attempt, response)
                for piece in read or ():
                    body.feed(piece)
                if read is None:
                    async for piece in pieces:
                        body.feed(piece)
                whole = True
                return self._redactor.response(
                    response.status_code, headers, body.finish()
                )
            finally:
                if whole:
                    await stream.aclose()
                else:
                    await _leave(stream, pieces)
                response.stream = _NOTHING
        finally:
            slot.attempt = None


def _begun(
    attempt: Attempt, response: httpx.Response
) -> tuple[dict[str, str], Body, list[bytes] | None]:
    """The headers and the body of *response*, and what was read of it already."""
    headers = response_headers(response.headers.raw)
    encoding, read = headers.get("content-encoding", ""), None
    if response.is_closed:
        # A mock or a hook has read it, and undone its encoding; or left it unread.
        encoding, read = "", list[bytes]()
        with suppress(httpx.ResponseNotRead):
            read.append(response.content)
    body = Body.of(
        attempt.request.method,
        response.status_code,
        encoding,
        headers.get("content-length"),
        limit=attempt.settings.max_response_bytes,
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
