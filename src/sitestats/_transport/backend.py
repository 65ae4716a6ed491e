"""Network backends for httpcore: our streams, within the limits of the attempt.

httpcore reads and writes HTTP over whatever stream a backend connects. Ours knows what
httpcore's own does not: when the whole call must have ended, that another thread wants
it to stop, and whether bytes are left over behind a response.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import httpcore

from .framing import Framing
from .proxies import ProxyRefusedError
from .route import Route, secured
from .stream import NO_CONNECTION
from .waiting import SilenceError, run, run_async

if TYPE_CHECKING:
    import ssl

    from .slot import Slot
    from .stream import Stream
    from .waiting import Waiting

T = TypeVar("T")

_Kinds: TypeAlias = tuple[type[httpcore.TimeoutException], type[httpcore.NetworkError]]
_CONNECT: Final = (httpcore.ConnectTimeout, httpcore.ConnectError)
_READ: Final = (httpcore.ReadTimeout, httpcore.ReadError)
_WRITE: Final = (httpcore.WriteTimeout, httpcore.WriteError)


_FAILURES: Final = (SilenceError, ProxyRefusedError, OSError)


def _as_httpcore(error: BaseException, kinds: _Kinds, silence: str = "") -> Exception:
    """What httpcore's own backends would raise, with the text of ours.

    *silence* is the text where a wait was too long, if that was for something else.
    """
    timeout, failure = kinds
    if isinstance(error, SilenceError):
        return timeout(silence or str(error))
    if isinstance(error, ProxyRefusedError):
        return httpcore.ProxyError(str(error))
    return failure(str(error))


class _StreamBase:
    """What both kinds of streams have in common."""

    def __init__(self, slot: Slot, stream: Stream) -> None:
        self._slot = slot
        self._stream = slot.stream = stream
        self._framing = Framing()

    def _end(self) -> None:
        self._stream.close()
        if self._slot.stream is self._stream:
            self._slot.close()

    def _begin(self) -> None:
        """A request goes out: from now on it may have reached the service."""
        self._framing.begin()
        if self._slot.attempt is not None:
            self._slot.attempt.began = True

    def get_extra_info(self, info: str) -> Any:
        """Whether the stream ``is_readable``: then httpcore does not use it again."""
        if info == "is_readable":
            return not self._framing.is_over or self._stream.has_unread_bytes()
        return None


def _refuse(rest: bytes) -> None:
    """Have httpcore read the response, if there is one before all was sent."""
    if rest:
        raise ConnectionAbortedError("the request was not read to its end")


def _host(name: str | None) -> bytes:
    return (name or "").encode("ascii")


def _run(slot: Slot, waiting: Waiting[T], timeout: float | None) -> T:
    attempt = slot.attempt
    return run(
        waiting,
        until=math.inf if attempt is None else attempt.until,
        timeout=math.inf if timeout is None else timeout,
        stop=None if attempt is None else attempt.lease.stop,
    )


class BoundStream(_StreamBase, httpcore.NetworkStream):
    """A blocking stream of one connection."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            data = _run(self._slot, self._stream.receive(), timeout)
        except _FAILURES as error:
            raise _as_httpcore(error, _READ) from error
        self._framing.feed(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        self._begin()
        try:
            _refuse(_run(self._slot, self._stream.send(buffer), timeout))
        except _FAILURES as error:
            raise _as_httpcore(error, _WRITE) from error

    def close(self) -> None:
        self._end()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> BoundStream:
        tls = secured(self._stream, ssl_context, _host(server_hostname))
        try:
            stream = _run(self._slot, tls, timeout)
        except _FAILURES as error:
            raise _as_httpcore(error, _CONNECT, NO_CONNECTION) from error
        return BoundStream(self._slot, stream)


class Backend(httpcore.NetworkBackend):
    """Connects the blocking connection of a slot along a route."""

    def __init__(self, route: Route, slot: Slot, *, is_tls: bool) -> None:
        self._route = route
        self._slot = slot
        self._is_tls = is_tls

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> BoundStream:
        seconds = math.inf if timeout is None else timeout
        way = self._route.connect(
            _host(host), port, is_tls=self._is_tls, timeout=seconds
        )
        try:
            stream = _run(self._slot, way, timeout)
        except _FAILURES as error:
            raise _as_httpcore(error, _CONNECT, self._route.silence) from error
        return BoundStream(self._slot, stream)


# --- asyncio and trio -------------------------------------------------------------


async def _run_async(slot: Slot, waiting: Waiting[T], timeout: float | None) -> T:
    attempt = slot.attempt
    return await run_async(
        waiting,
        until=math.inf if attempt is None else attempt.until,
        timeout=math.inf if timeout is None else timeout,
    )


class AsyncBoundStream(_StreamBase, httpcore.AsyncNetworkStream):
    """An asynchronous stream of one connection."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            data = await _run_async(self._slot, self._stream.receive(), timeout)
        except _FAILURES as error:
            raise _as_httpcore(error, _READ) from error
        self._framing.feed(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        self._begin()
        try:
            _refuse(await _run_async(self._slot, self._stream.send(buffer), timeout))
        except _FAILURES as error:
            raise _as_httpcore(error, _WRITE) from error

    async def aclose(self) -> None:
        self._end()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> AsyncBoundStream:
        tls = secured(self._stream, ssl_context, _host(server_hostname))
        try:
            stream = await _run_async(self._slot, tls, timeout)
        except _FAILURES as error:
            raise _as_httpcore(error, _CONNECT, NO_CONNECTION) from error
        return AsyncBoundStream(self._slot, stream)


class AsyncBackend(httpcore.AsyncNetworkBackend):
    """Connects the asynchronous connection of a slot along a route."""

    def __init__(self, route: Route, slot: Slot, *, is_tls: bool) -> None:
        self._route = route
        self._slot = slot
        self._is_tls = is_tls

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> AsyncBoundStream:
        seconds = math.inf if timeout is None else timeout
        way = self._route.connect(
            _host(host), port, is_tls=self._is_tls, timeout=seconds
        )
        try:
            stream = await _run_async(self._slot, way, timeout)
        except _FAILURES as error:
            raise _as_httpcore(error, _CONNECT, self._route.silence) from error
        return AsyncBoundStream(self._slot, stream)
