"""Wire values over httpx: connections, credentials, limits, and what went wrong.

Nothing else in the core imports httpx. Its transports are used without its
client, so there are no cookies, no redirects, no log of addresses and no
decoding without a limit.

A credential is in the clear in the headers of an ``httpx.Request`` alone, whose
repr does not show them. The frames below that send it do hold the bytes, and an
exception keeps its frames: so errors are made from the original's text and raised
without it.
"""

from __future__ import annotations

import importlib.metadata
import os
import socket
import ssl
import threading
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx

from ._errors import (
    ConfigurationError,
    ConnectionFailedError,
    RequestTimeoutError,
    ResponseError,
    ResponseTooLargeError,
    SiteStatsError,
)
from ._inflate import Body, CorruptError, TooLargeError
from ._pool import AsyncPool, NoTurnError, Pool, Turn
from ._watchdog import Watchdog
from ._wire import Credentials, HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ._settings import Secret, Settings

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""

_LONGEST_WAIT: Final = 30 * 86_400.0
"""Seconds. Sockets refuse to be given a limit of some centuries."""

_GRACE: Final = 1.0
"""Seconds for leaving the rest of a body alone."""

_MOST_PIECES_LEFT: Final = 100_000
_LONGEST_REASON: Final = 300


class _OverdueError(Exception):
    """The time was up before anything was sent."""


class _Call:
    """One request on its way, and the limits that it has."""

    __slots__ = ("aborted", "began", "request", "started", "timeout", "turn", "until")

    def __init__(
        self, request: HttpRequest, until: float, timeout: float, turn: Turn[Any]
    ) -> None:
        self.request = request
        self.until = until
        self.timeout = timeout
        self.turn = turn
        self.aborted = False
        """Whether its connection was shut down for taking too long."""
        self.began = False
        """Whether something may have left the machine."""
        self.started = time.monotonic()

    def left(self) -> float:
        """Seconds until the whole call's limit.

        Raises:
            _OverdueError: There are none.
        """
        left = self.until - time.monotonic()
        if left <= 0:
            raise _OverdueError
        return left


class Dialect:
    """How wire values are said to httpx, and what its answers and errors mean."""

    def __init__(self, settings: Settings, *, own_transports: bool) -> None:
        self._settings = settings
        self._own_transports = own_transports
        self._address = str(settings.base)
        base = httpx.URL(self._address)
        self._origin = (base.raw_scheme, base.raw_host, base.port)
        self._shown_origin = f"{base.scheme}://{base.netloc.decode('ascii')}"
        self._host = base.netloc
        self._proxy = _proxy(settings) if own_transports else None
        self._tls: ssl.SSLContext | None = None
        self._tls_locks: dict[int, threading.Lock] = {}

    def transport_options(self) -> dict[str, Any]:
        """What a transport with a single connection is made with."""
        return {
            "verify": self._tls_context(),
            "trust_env": False,
            "proxy": self._proxy,
            "limits": httpx.Limits(
                max_connections=1,
                max_keepalive_connections=1,
                keepalive_expiry=IDLE_SECONDS,
            ),
        }

    def _tls_context(self) -> ssl.SSLContext:
        # One for all connections: reading the certificates takes some 25 ms. The
        # lock keeps fifty threads that start at once from each reading them; one
        # for each process, as a fork copies a lock that is held.
        with self._tls_locks.setdefault(os.getpid(), threading.Lock()):
            if self._tls is None:
                self._tls = _tls_context(self._settings)
                if self._proxy is not None and self._proxy.url.scheme == "https":
                    self._proxy.ssl_context = self._tls
            return self._tls

    def outgoing(
        self, request: HttpRequest, extensions: dict[str, Any]
    ) -> httpx.Request:
        """*request* as httpx sends it, with the credentials that it wants.

        Raises:
            ConfigurationError: Its address leads away from the base address.
        """
        url = httpx.URL(self._address + request.target)
        if (
            not request.path.startswith("/")
            or (url.raw_scheme, url.raw_host, url.port) != self._origin
            or url.userinfo
        ):
            raise ConfigurationError(
                f"the path {request.path!r} leads away from the base address "
                f"{self._address}: nothing was sent"
            )
        return httpx.Request(
            request.method,
            url,
            headers=self._headers(request),
            stream=httpx.ByteStream(request.body),
            extensions=extensions,
        )

    def _headers(self, request: HttpRequest) -> list[tuple[bytes, bytes]]:
        headers = [
            (b"Host", self._host),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"gzip"),
            (b"User-Agent", _user_agent()),
        ]
        if request.content_type is not None:
            headers.append((b"Content-Type", request.content_type.encode("ascii")))
        if request.body or request.method not in {"GET", "HEAD"}:
            headers.append((b"Content-Length", b"%d" % len(request.body)))
        settings = self._settings
        if request.credentials is not Credentials.NONE and settings.api_key:
            headers.append((b"Api-Key", settings.api_key.reveal().encode("ascii")))
        if request.credentials is Credentials.KEY_AND_USER and settings.user_id:
            headers.append((b"User-Id", settings.user_id.reveal().encode("ascii")))
        return headers

    def body(self, request: HttpRequest, headers: dict[str, str]) -> Body:
        """Where the body behind *headers* is to be collected.

        Raises:
            TooLargeError: It says itself that it is over the limit.
            CorruptError: It is in an encoding that was not asked for.
        """
        encoding = headers.get("content-encoding", "")
        body = Body(encoding, limit=self._settings.max_response_bytes)
        if request.method != "HEAD":
            body.expect(headers.get("content-length"))
        return body

    def failure(
        self, call: _Call, error: Exception, *, overdue: bool = False
    ) -> Exception | None:
        """The error to raise instead of *error*, or None for *error* as it is.

        *overdue* says that the call was ended from outside for taking too long.
        """
        if isinstance(error, (NoTurnError, _OverdueError)):
            return self.overdue(call, maybe_sent=False)
        if isinstance(error, (TooLargeError, CorruptError)):
            return self._refusal(call.request, error)
        if not self._own_transports and not _is_a_fault(error):
            return None
        if isinstance(error, (AssertionError, MemoryError)):
            # Mocks below this module fail a test by an AssertionError.
            return error.with_traceback(None)
        maybe_sent = not isinstance(error, _NEVER_SENT)
        if overdue or time.monotonic() >= call.until:
            return self.overdue(call, maybe_sent=maybe_sent)
        return self._fault(call, error, maybe_sent=maybe_sent)

    def _refusal(
        self, request: HttpRequest, error: TooLargeError | CorruptError
    ) -> ResponseError:
        if isinstance(error, CorruptError):
            return ResponseError(
                f"the body of the answer to {request} can't be read: {error}",
                request=request,
            )
        return ResponseTooLargeError(
            f"the answer to {request} is larger than max_response_bytes, "
            f"{self._settings.max_response_bytes:,} bytes; it was not read on",
            request=request,
        )

    def _fault(
        self, call: _Call, error: Exception, *, maybe_sent: bool
    ) -> RequestTimeoutError | ConnectionFailedError:
        if isinstance(error, httpx.TimeoutException):
            return RequestTimeoutError(
                f"{self._silence(error)} within timeout, {call.timeout:g} s",
                request=call.request,
                maybe_sent=maybe_sent,
            )
        what = "the connection to" if maybe_sent else "could not connect to"
        failed = " failed" if maybe_sent else ""
        return ConnectionFailedError(
            f"{what} {self._shown_origin}{failed}: {self._reason(error)}",
            request=call.request,
            maybe_sent=maybe_sent,
        )

    def overdue(self, call: _Call, *, maybe_sent: bool) -> RequestTimeoutError:
        """The error for a call that used up the time of all its tries."""
        took = time.monotonic() - call.started
        message = (
            f"no whole answer to {call.request} before total_timeout: this try ended "
            f"after {took:.3g} s"
        )
        if call.turn.waited:
            message += (
                f", {call.turn.waited:.3g} s of them spent waiting for one of "
                f"{self._settings.max_connections} connections to be free"
            )
        return RequestTimeoutError(message, request=call.request, maybe_sent=maybe_sent)

    def _silence(self, error: httpx.TimeoutException) -> str:
        match error:
            case httpx.ConnectTimeout():
                return f"no connection to {self._shown_origin}"
            case httpx.WriteTimeout():
                return f"{self._shown_origin} did not take the request"
            case httpx.PoolTimeout():
                return "no free connection in the transport"
            case _:
                return f"{self._shown_origin} sent nothing"

    def _reason(self, error: BaseException) -> str:
        """The first words that *error* or what caused it has, without secrets."""
        cause: BaseException | None = error
        text = ""
        while cause is not None and not text:
            text = str(cause)
            cause = cause.__cause__ or cause.__context__
        for secret in (self._settings.api_key, self._settings.user_id):
            if secret is not None:
                text = _without(text, secret)
        if len(text) > _LONGEST_REASON:
            text = f"{text[:_LONGEST_REASON]}…"
        return text or type(error).__name__


_NEVER_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
"""With these the request did not leave the machine: there was no connection."""

_FAULTS: Final = (
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    OSError,
    EOFError,
    StopIteration,
    StopAsyncIteration,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)


def _is_a_fault(error: BaseException) -> bool:
    """Whether a user's own transport means by *error* that the network failed.

    Any other is a mistake in its code, whose traceback is needed.
    """
    # Python wraps a StopIteration that leaves a generator or a coroutine.
    cause = error.__cause__ if isinstance(error, RuntimeError) else None
    return isinstance(error, _FAULTS) or isinstance(
        cause, (StopIteration, StopAsyncIteration)
    )


def _without(text: str, secret: Secret) -> str:
    return text.replace(secret.reveal(), "…")


@cache
def _user_agent() -> bytes:
    return f"sitestats/{importlib.metadata.version('sitestats')}".encode("ascii")


def _proxy(settings: Settings) -> httpx.Proxy | None:
    if settings.proxy is None:
        return None
    try:
        return httpx.Proxy(settings.proxy)
    except (ValueError, httpx.InvalidURL):
        # Its text repeats the address, which may hold a password.
        problem = "proxy is an address such as 'http://localhost:3128'"
    raise ConfigurationError(problem)


def _tls_context(settings: Settings) -> ssl.SSLContext:
    verify = settings.verify
    if isinstance(verify, ssl.SSLContext):
        return verify
    if settings.base.scheme == "http" and "https:" not in (settings.proxy or ""):
        # It trusts nobody and takes no time; a transport wants one all the same.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if isinstance(verify, bool):
            return httpx.create_ssl_context(verify=verify)
        if Path(verify).is_dir():
            return ssl.create_default_context(capath=verify)
        return ssl.create_default_context(cafile=verify)
    except OSError as error:
        problem = (
            f"the certificates to verify the service by can't be read: {error}; see "
            "verify=, SSL_CERT_FILE and SSL_CERT_DIR"
        )
    raise ConfigurationError(problem)


def _headers(response: httpx.Response) -> dict[str, str]:
    """The headers with lower-case names; cookies are not kept."""
    raw = response.headers.raw
    headers = {
        name.lower().decode("latin-1"): value.decode("latin-1") for name, value in raw
    }
    if len(headers) != len(raw):
        headers = dict(response.headers.items())
    headers.pop("set-cookie", None)
    return headers


def _limits(timeout: float, left: float) -> dict[str, float]:
    # Sockets refuse a limit of some centuries.
    seconds = min(timeout, left, _LONGEST_WAIT)
    return {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}


class _Slot:
    """A transport, and the socket of its connection to end it by."""

    __slots__ = (
        "_ending",
        "_handshaking",
        "is_shared",
        "overdue",
        "transport",
        "watchdog",
    )

    def __init__(
        self, transport: httpx.BaseTransport, watchdog: Watchdog, *, is_shared: bool
    ) -> None:
        self.transport = transport
        self.watchdog = watchdog
        self.is_shared = is_shared
        self.overdue = False
        self._ending: socket.socket | None = None
        self._handshaking: socket.socket | None = None

    def begin(self) -> None:
        """Get ready for the next request."""
        self.overdue = False
        if self.is_shared:
            # The next request may ride on another connection.
            self._ending = None

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Learn of a new connection, from httpx's ``trace`` extension."""
        # A connection that is used again has no such event.
        if "connect_tcp.complete" in event:
            self.follow(info["return_value"])
        elif "start_tls" in event:
            if event.endswith("started"):
                # Wrapping a socket takes it over before it shakes hands, which a
                # server can do a byte at a time: the copy is still there to end it.
                self._handshaking = self._ending and self._ending.dup()
            else:
                self._close_handshaking()
            if event.endswith("complete"):
                self.follow(info["return_value"])

    def follow(self, stream: Any) -> None:
        """Take note of the socket of *stream*, httpx's own."""
        self._ending = stream.get_extra_info("socket")
        if self.overdue:
            self.abort()

    def follow_response(self, response: httpx.Response) -> None:
        """Take note of the socket that *response* comes from, where it has one."""
        stream = response.extensions.get("network_stream")
        if stream is not None:
            self.follow(stream)

    def abort(self) -> None:
        """Shut the connection down; a read that waits for it returns at once."""
        self.overdue = True
        for sock in (self._ending, self._handshaking):
            if sock is not None:
                with suppress(OSError):
                    # The method of a TLS socket would drop its TLS object, which
                    # another thread is reading from.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _close_handshaking(self) -> None:
        if self._handshaking is not None:
            self._handshaking.close()
            self._handshaking = None

    def close(self) -> None:
        """Close the connection; a transport that we were given stays open."""
        self._close_handshaking()
        if not self.is_shared:
            with suppress(Exception):
                self.transport.close()


class Sender:
    """Sends requests, blocking; threads may share it."""

    def __init__(
        self, settings: Settings, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._dialect = Dialect(settings, own_transports=transport is None)
        self._given = transport
        self._watchdogs: dict[int, Watchdog] = {}
        self._pool = Pool(
            self._make,
            _Slot.close,
            limit=settings.max_connections,
            idle_seconds=IDLE_SECONDS,
        )

    def _make(self) -> _Slot:
        # A thread does not outlive a fork, so each process has its own.
        watchdog = self._watchdogs.setdefault(os.getpid(), Watchdog())
        if self._given is not None:
            return _Slot(self._given, watchdog, is_shared=True)
        transport = httpx.HTTPTransport(**self._dialect.transport_options())
        return _Slot(transport, watchdog, is_shared=False)

    def send(
        self, request: HttpRequest, *, until: float, timeout: float
    ) -> HttpResponse:
        """Send *request*, and return the whole answer, whatever its status.

        Args:
            request: Sent to the base address, with the credentials it wants.
            until: What the monotonic clock shows when the call must have ended,
                waiting for a connection included.
            timeout: Seconds for connecting and for each read.

        Raises:
            RequestTimeoutError: One of the two limits was reached.
            ConnectionFailedError: No whole answer arrived.
            ResponseTooLargeError: It is larger than ``max_response_bytes``.
            ResponseError: It can't be decompressed.
            ClientClosedError: This was closed.
        """
        turn = Turn[_Slot](fresh=request.fresh_connection)
        call = _Call(request, until, timeout, turn)
        try:
            return self._pool.use(turn, partial(self._exchange, call), until=until)
        except SiteStatsError:
            raise
        except Exception as error:
            failure = self._dialect.failure(call, error, overdue=call.aborted)
            if failure is None:
                raise
        except BaseException as interrupt:
            # Whatever it is, it goes on: but the frames below hold the key.
            interrupt.with_traceback(None)
            raise
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    def _exchange(self, call: _Call, slot: _Slot) -> HttpResponse:
        dialect, request = self._dialect, call.request
        limits = _limits(call.timeout, call.left())
        extensions = {"timeout": limits, "trace": slot.trace}
        outgoing = dialect.outgoing(request, extensions)
        slot.begin()
        slot.watchdog.watch(slot, call.until)
        try:
            response = slot.transport.handle_request(outgoing)
            stream = response.stream
            assert isinstance(stream, httpx.SyncByteStream)
            try:
                if slot.is_shared:
                    slot.follow_response(response)
                headers = _headers(response)
                body = dialect.body(request, headers)
                for piece in stream:
                    body.feed(piece)
                return HttpResponse(response.status_code, headers, body.finish())
            finally:
                stream.close()
        finally:
            slot.watchdog.unwatch(slot)
            call.aborted = slot.overdue

    def close(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        self._pool.close()
        watchdog = self._watchdogs.get(os.getpid())
        if watchdog is not None:
            watchdog.close()

    @property
    def is_open(self) -> bool:
        """Whether closing this would close a connection."""
        return self._pool.is_open


class AsyncSender:
    """Sends requests under asyncio or trio; tasks and event loops may share it."""

    def __init__(
        self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._dialect = Dialect(settings, own_transports=transport is None)
        self._given = transport
        self._pool = AsyncPool(
            self._make,
            self._close_transport,
            limit=settings.max_connections,
            idle_seconds=IDLE_SECONDS,
        )

    def _make(self) -> httpx.AsyncBaseTransport:
        if self._given is not None:
            return self._given
        return httpx.AsyncHTTPTransport(**self._dialect.transport_options())

    async def _close_transport(self, transport: httpx.AsyncBaseTransport) -> None:
        if transport is not self._given:
            with suppress(Exception):
                await transport.aclose()

    async def send(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,  # noqa: ASYNC109 - for each read; the whole has a scope
    ) -> HttpResponse:
        """Send *request*, and return the whole answer, whatever its status.

        The arguments and the errors are those of `Sender.send`.
        """
        turn = Turn[httpx.AsyncBaseTransport](fresh=request.fresh_connection)
        call = _Call(request, until, timeout, turn)
        failure: Exception | None = None
        deadline = anyio.current_time() + until - call.started
        with anyio.CancelScope(deadline=deadline):
            try:
                return await self._pool.use(turn, partial(self._exchange, call))
            except SiteStatsError:
                raise
            except Exception as error:
                failure = self._dialect.failure(call, error)
                if failure is None:
                    raise
            except BaseException as interrupt:
                # Whatever it is, it goes on: but the frames below hold the key.
                interrupt.with_traceback(None)
                raise
        if failure is None:
            failure = self._dialect.overdue(call, maybe_sent=call.began)
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    async def _exchange(
        self, call: _Call, transport: httpx.AsyncBaseTransport
    ) -> HttpResponse:
        dialect, request = self._dialect, call.request
        limits = _limits(call.timeout, call.left())
        outgoing = dialect.outgoing(request, {"timeout": limits})
        call.began = True
        response = await transport.handle_async_request(outgoing)
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        pieces = aiter(stream)
        whole = False
        try:
            headers = _headers(response)
            body = dialect.body(request, headers)
            async for piece in pieces:
                body.feed(piece)
            whole = True
            return HttpResponse(response.status_code, headers, body.finish())
        finally:
            if whole:
                await stream.aclose()
            else:
                await _leave(stream, pieces)

    async def aclose(self) -> None:
        """Close the connections; what is in flight may come to its end first."""
        await self._pool.aclose()

    @property
    def is_open(self) -> bool:
        """Whether closing this would close a connection."""
        return self._pool.is_open


async def _leave(stream: httpx.AsyncByteStream, pieces: AsyncIterator[bytes]) -> None:
    """Leave the rest of a body unread.

    Asynchronous generators that are left in their middle are closed by the garbage
    collection, too late for the connection, and trio warns of it. So they are
    brought to their end: once the stream is closed it is near.
    """
    with anyio.move_on_after(_GRACE, shield=True), suppress(Exception):
        await stream.aclose()
        for _ in range(_MOST_PIECES_LEFT):
            await anext(pieces)
