"""Requests over a transport of the user's own, which is one of httpx.

It carries requests in place of connections: for tests, logs and caches. Its limits are
its own: ``total_timeout`` is checked between the pieces of a body, and for an
asynchronous one by the caller's cancel scope.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx

from sitestats._common.errors import ConfigurationError, QueryError
from sitestats._common.problems import Problem

from .body import body_of
from .headers import response_headers
from .waiting import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from sitestats._common.wire import HttpResponse

    from .attempt import Attempt
    from .sender import Service

_GRACE: Final = 1.0
"""Seconds for leaving the rest of a body alone."""

_MOST_PIECES_LEFT: Final = 20_000
"""More than httpx has read in advance: that is 64 KiB, of at least 6 bytes each."""

_LONGEST: Final = 30 * 86_400.0
"""Seconds: sockets refuse to be given a limit of some centuries."""

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


def _check(transport: object, *, asynchronous: bool) -> None:
    """Refuse what carries no requests, when the client is made.

    A transport is known by its method: a wrapper may be of any class.
    """
    needed, other = "handle_request", "handle_async_request"
    kind, example = "a Client", "httpx.HTTPTransport()"
    if asynchronous:
        needed, other = other, needed
        kind, example = "an AsyncClient", "httpx.AsyncHTTPTransport()"
    of_class = isinstance(transport, type)
    if not of_class and callable(getattr(transport, needed, None)):
        return
    name = type(transport).__name__
    if isinstance(transport, (httpx.Client, httpx.AsyncClient)):
        advice = f"an httpx.{name} is none: give the transport that it was made with"
    elif of_class:
        advice = "a class is none: give an instance of it"
    elif callable(getattr(transport, other, None)):
        user = "a Client" if asynchronous else "an AsyncClient"
        advice = f"the {name} is one for {user}"
    else:
        advice = f"a value of type {name} is none"
    raise ConfigurationError(
        f"transport is a transport of httpx, for {kind} such as {example}; {advice}"
    )


class Carrier:
    """What both kinds of transports have in common."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._origin = httpx.URL(str(service.settings.base)).copy_with(raw_path=b"/")

    @staticmethod
    def failure(attempt: Attempt, error: Exception) -> Exception | None:
        """The error to raise instead of *error*, or None for *error* as it is.

        That is a mistake in the transport, whose author needs the traceback.
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
                return attempt.timeout_error(what)
        return attempt.connection_error(error)

    def _outgoing(self, attempt: Attempt) -> httpx.Request:
        """The request of *attempt* as httpx has it, with credentials.

        Raises:
            ConfigurationError: Its address leads away from the base address.
            QueryError: Its address is none that httpx takes.
            OutOfTimeError: No time is left.
        """
        left = attempt.until - time.monotonic()
        if left <= 0:
            raise OutOfTimeError
        seconds = min(attempt.timeout, left, _LONGEST)
        request, base = attempt.request, self._service.settings.base
        url = _url(f"{base}{request.target}")
        if url.copy_with(raw_path=b"/", fragment=None) != self._origin:
            raise ConfigurationError(
                f"the path {request.path!r} leads away from the base address {base}: "
                "nothing was sent"
            )
        outgoing = httpx.Request(
            request.method,
            url,
            headers=self._service.headers.of(request),
            stream=_Content(request.body),
            extensions={
                "timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds)
            },
        )
        # So that the transport can look at its content.
        outgoing.read()
        return outgoing


def _url(address: str) -> httpx.URL:
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        reason = str(error)
    # Not from the transport, and so nothing that a retry could mend.
    raise QueryError(
        [
            Problem(
                f"the request's address has {len(address):,} characters and httpx, "
                f"which carries it to a transport of your own, refuses it: {reason}",
                where="query",
            )
        ]
    )


class UserTransport(Carrier):
    """Requests over a transport of httpx's."""

    def __init__(self, service: Service, transport: httpx.BaseTransport) -> None:
        _check(transport, asynchronous=False)
        super().__init__(service)
        self._transport = transport

    def exchange(self, attempt: Attempt) -> HttpResponse:
        """Send the request of *attempt*, and collect the response."""
        outgoing = self._outgoing(attempt)
        attempt.began = True
        response = self._transport.handle_request(outgoing)
        stream = response.stream
        assert isinstance(stream, httpx.SyncByteStream)
        try:
            headers = response_headers(response.headers.raw)
            body = body_of(attempt, response.status_code, headers)
            for piece in stream:
                body.feed(piece)
                if time.monotonic() >= attempt.until:
                    raise OutOfTimeError
            return self._service.redactor.response(
                response.status_code, headers, body.finish()
            )
        finally:
            stream.close()


class AsyncUserTransport(Carrier):
    """Requests over an asynchronous transport of httpx's."""

    def __init__(self, service: Service, transport: httpx.AsyncBaseTransport) -> None:
        _check(transport, asynchronous=True)
        super().__init__(service)
        self._transport = transport

    async def exchange(self, attempt: Attempt) -> HttpResponse:
        """Send the request of *attempt*, and collect the response."""
        outgoing = self._outgoing(attempt)
        attempt.began = True
        response = await self._transport.handle_async_request(outgoing)
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        pieces = aiter(stream)
        whole = False
        try:
            headers = response_headers(response.headers.raw)
            body = body_of(attempt, response.status_code, headers)
            async for piece in pieces:
                body.feed(piece)
            whole = True
            return self._service.redactor.response(
                response.status_code, headers, body.finish()
            )
        finally:
            if whole:
                await stream.aclose()
            else:
                await _leave(stream, pieces)


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


class _Content(httpx.ByteStream):
    """A request's body, without a generator: trio warns of one left in its middle."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Pieces(iter(self))


class _Pieces:
    """The pieces of a body, awaited."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> _Pieces:
        return self

    async def __anext__(self) -> bytes:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration
