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

import os
import ssl
import threading
import time
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx

from sitestats._common.errors import ConfigurationError, SiteStatsError
from sitestats._common.wire import HttpRequest, HttpResponse

from .attempt import Attempt, OverdueError
from .body import CorruptError, TooLargeError
from .connection import AsyncPooledConnection, PooledConnection
from .headers import Redactor, RequestHeaders, response_headers
from .httpx_private import AsyncIter, has_leftover_bytes, joined
from .interrupt import Watchdog
from .pool import AsyncPool, Pool, PoolTimeoutError
from .tls import trusting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sitestats._common.settings import Settings

    from .interrupt import Stop

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""

_GRACE: Final = 1.0
"""Seconds for leaving the rest of a body alone."""

_MOST_PIECES_LEFT: Final = 20_000
"""More than httpx has read in advance: that is 64 KiB, of at least 6 bytes each."""


class HttpxAdapter:
    """How wire values are said to httpx, and what its answers mean."""

    def __init__(self, settings: Settings, *, own_transports: bool) -> None:
        self._settings = settings
        self._address = str(settings.base)
        self._base = base = httpx.URL(self._address)
        self._origin = (base.raw_scheme, base.raw_host, base.port)
        self._headers = RequestHeaders(settings, base.netloc)
        self.redactor = Redactor((settings.api_key, settings.user_id))
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
                self._tls = self._make_tls_context()
            return self._tls

    def _make_tls_context(self) -> ssl.SSLContext:
        over_tls = self._proxy is not None and self._proxy.url.scheme == "https"
        if self._settings.base.scheme == "http" and not over_tls:
            # It trusts nobody and takes no time; a transport wants one all the same.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context = trusting(self._settings.verify, httpx.create_ssl_context)
        if self._proxy is not None and over_tls:
            self._proxy.ssl_context = context
        return context

    def outgoing(
        self, request: HttpRequest, extensions: dict[str, Any]
    ) -> httpx.Request:
        """*request* as httpx sends it, with the credentials that it wants.

        Raises:
            ConfigurationError: Its address leads away from the base address.
        """
        target = request.target
        url = joined(self._base, self._settings.base.prefix, target)
        url = url or httpx.URL(self._address + target)
        if (
            not request.path.startswith("/")
            or (url.raw_scheme, url.raw_host, url.port) != self._origin
            or url.userinfo
        ):
            raise ConfigurationError(
                f"the path {request.path!r} leads away from the base address "
                f"{self._address}: nothing was sent"
            )
        outgoing = httpx.Request(
            request.method,
            url,
            headers=self._headers.of(request),
            stream=_Body(request.body),
            extensions=extensions,
        )
        # So that a user's own transport can look at its content.
        outgoing.read()
        return outgoing


class _Body(httpx.ByteStream):
    """A request's body, without a generator: trio warns of one left in its middle."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return AsyncIter(iter(self))


_NEVER_SENT: Final = (
    PoolTimeoutError,
    OverdueError,
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
    PoolTimeoutError,
    OverdueError,
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


def _failure(
    attempt: Attempt, error: Exception, *, own_transport: bool
) -> Exception | None:
    """The error to raise instead of *error*, or None for *error* as it is."""
    if isinstance(error, (TooLargeError, CorruptError)):
        return attempt.body_error(error)
    if not own_transport and not _is_a_fault(error):
        return None
    if isinstance(error, (AssertionError, MemoryError)):
        # Mocks below this module fail a test by an AssertionError.
        attempt.drop_frames(error)
        return error
    maybe_sent = not isinstance(error, _NEVER_SENT)
    if attempt.overdue or time.monotonic() >= attempt.until:
        return attempt.total_timeout_error(maybe_sent=maybe_sent)
    for kind, what in _SILENCES.items():
        if isinstance(error, kind):
            return attempt.timeout_error(what, maybe_sent=maybe_sent)
    return attempt.connection_error(error, maybe_sent=maybe_sent)


def _is_a_fault(error: BaseException) -> bool:
    """Whether a user's own transport means by *error* that the network failed.

    Any other is a mistake in its code, whose traceback is needed.
    """
    # Python wraps a StopIteration that leaves a generator or a coroutine.
    cause = error.__cause__ if isinstance(error, RuntimeError) else None
    return isinstance(error, _FAULTS) or isinstance(
        cause, (StopIteration, StopAsyncIteration)
    )


def _proxy(settings: Settings) -> httpx.Proxy | None:
    if settings.proxy is None:
        return None
    try:
        proxy = httpx.Proxy(settings.proxy)
    except (ValueError, httpx.InvalidURL):
        # Its text repeats the address, which may hold a password.
        proxy = None
    if proxy is None or not proxy.url.host:
        raise ConfigurationError(
            "proxy is an address such as 'http://localhost:3128'; what was given, or "
            "what the environment has, is none (it is not shown here)"
        )
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigurationError(
            "a SOCKS proxy needs another library: pip install 'httpx[socks]'"
        )
    return proxy


class Sender:
    """Sends requests, blocking; threads may share it."""

    def __init__(
        self, settings: Settings, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._settings = settings
        self._adapter = HttpxAdapter(settings, own_transports=transport is None)
        self._given = transport
        self._watchdogs: dict[int, Watchdog] = {}
        self._pool = Pool(
            self._make,
            PooledConnection[httpx.BaseTransport].close,
            limit=settings.max_connections,
            idle_seconds=IDLE_SECONDS,
        )

    def _make(self) -> PooledConnection[httpx.BaseTransport]:
        # A thread does not outlive a fork, so each process has its own.
        watchdog = self._watchdogs.setdefault(os.getpid(), Watchdog())
        if self._given is not None:
            return PooledConnection(self._given, watchdog, is_shared=True)
        transport = httpx.HTTPTransport(**self._adapter.transport_options())
        return PooledConnection(transport, watchdog, is_shared=False)

    def send(
        self,
        request: HttpRequest,
        *,
        until: float,
        timeout: float,
        stop: Stop | None = None,
    ) -> HttpResponse:
        """Send *request*, and return the whole answer, whatever its status.

        Args:
            request: Sent to the base address, with the credentials it wants.
            until: What the monotonic clock shows when the call must have ended,
                waiting for a connection included.
            timeout: Seconds for connecting and for each read.
            stop: What another thread may end the call by.

        Raises:
            RequestTimeoutError: One of the two limits was reached.
            ConnectionFailedError: No whole answer arrived.
            ResponseTooLargeError: It is larger than ``max_response_bytes``.
            ResponseError: It can't be decompressed.
            ClientClosedError: This was closed.
        """
        attempt = Attempt(
            request,
            self._settings,
            self._adapter.redactor,
            until=until,
            timeout=timeout,
            stop=stop,
        )
        try:
            return self._pool.use(
                attempt.lease, partial(self._exchange, attempt), until=until
            )
        except SiteStatsError:
            raise
        except Exception as error:
            failure = _failure(attempt, error, own_transport=self._given is None)
            if failure is None:
                raise
        except BaseException as interrupt:
            attempt.drop_frames(interrupt)
            raise
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    def _exchange(
        self, attempt: Attempt, connection: PooledConnection[httpx.BaseTransport]
    ) -> HttpResponse:
        extensions = {"timeout": attempt.limits(), "trace": connection.trace}
        outgoing = self._adapter.outgoing(attempt.request, extensions)
        try:
            connection.begin(attempt.until, attempt.lease.stop, outgoing.extensions)
            response = connection.transport.handle_request(outgoing)
            stream = response.stream
            assert isinstance(stream, httpx.SyncByteStream)
            try:
                if connection.is_shared:
                    connection.follow(response.extensions.get("network_stream"))
                headers = response_headers(response.headers.raw)
                body = attempt.body(response.status_code, headers)
                for piece in stream:
                    body.feed(piece)
                if connection.overdue:
                    # A body without a length ends where its connection does.
                    raise EOFError
                if has_leftover_bytes(connection.transport):
                    attempt.do_not_reuse()
                return self._adapter.redactor.response(
                    response.status_code, headers, body.finish(), time.time()
                )
            finally:
                stream.close()
        finally:
            attempt.overdue = connection.end()

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
        self._settings = settings
        self._adapter = HttpxAdapter(settings, own_transports=transport is None)
        self._given = transport
        self._pool = AsyncPool(
            self._make,
            AsyncPooledConnection[httpx.AsyncBaseTransport].aclose,
            limit=settings.max_connections,
            idle_seconds=IDLE_SECONDS,
        )

    def _make(self) -> AsyncPooledConnection[httpx.AsyncBaseTransport]:
        if self._given is not None:
            return AsyncPooledConnection(self._given, is_shared=True)
        transport = httpx.AsyncHTTPTransport(**self._adapter.transport_options())
        return AsyncPooledConnection(transport, is_shared=False)

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
        attempt = Attempt(
            request,
            self._settings,
            self._adapter.redactor,
            until=until,
            timeout=timeout,
        )
        failure: Exception | None = None
        deadline = anyio.current_time() + until - attempt.started
        with anyio.CancelScope(deadline=deadline):
            try:
                return await self._pool.use(
                    attempt.lease, partial(self._exchange, attempt)
                )
            except SiteStatsError:
                raise
            except Exception as error:
                failure = _failure(attempt, error, own_transport=self._given is None)
                if failure is None:
                    raise
            except BaseException as interrupt:
                attempt.drop_frames(interrupt)
                raise
        if failure is None:
            failure = attempt.total_timeout_error(maybe_sent=attempt.began)
        try:
            raise failure
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del failure

    async def _exchange(
        self,
        attempt: Attempt,
        connection: AsyncPooledConnection[httpx.AsyncBaseTransport],
    ) -> HttpResponse:
        extensions: dict[str, Any] = {"timeout": attempt.limits()}
        if self._settings.base.scheme == "https":
            extensions["trace"] = connection.trace
        outgoing = self._adapter.outgoing(attempt.request, extensions)
        try:
            response = await connection.transport.handle_async_request(outgoing)
        finally:
            attempt.began = not connection.is_connecting
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        pieces = aiter(stream)
        whole = False
        try:
            headers = response_headers(response.headers.raw)
            body = attempt.body(response.status_code, headers)
            async for piece in pieces:
                body.feed(piece)
            whole = True
            if has_leftover_bytes(connection.transport):
                attempt.do_not_reuse()
            return self._adapter.redactor.response(
                response.status_code, headers, body.finish(), time.time()
            )
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
