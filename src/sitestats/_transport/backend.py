"""Network backends for httpcore: our streams, within the limits of the attempt.

httpcore reads and writes HTTP over whatever stream a backend connects. Ours knows what
httpcore's own does not: when the whole call must have ended, that another thread wants
it to stop, and whether bytes are left over behind a response.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

import httpcore

from .framing import Framing
from .proxies import ProxyRefusedError
from .route import Route, secured
from .waiting import SilenceError, run, run_async

if TYPE_CHECKING:
    import ssl

    from .slot import Slot
    from .stream import Stream
    from .waiting import Waiting

T = TypeVar("T")

_CONNECT: Final = (httpcore.ConnectTimeout, httpcore.ConnectError)
_READ: Final = (httpcore.ReadTimeout, httpcore.ReadError)
_WRITE: Final = (httpcore.WriteTimeout, httpcore.WriteError)


def _as_httpcore(
    waiting: Waiting[T],
    kinds: tuple[type[httpcore.TimeoutException], type[httpcore.NetworkError]],
) -> Waiting[T]:
    """Fail as httpcore's own backends do, with the text and the cause of ours."""
    timeout, failure = kinds
    try:
        return (yield from waiting)
    except SilenceError as error:
        raise timeout(str(error)) from error
    except ProxyRefusedError as error:
        raise httpcore.ProxyError(str(error)) from error
    except OSError as error:
        raise failure(str(error)) from error


class _Bound:
    """What both kinds of streams have in common."""

    def __init__(self, slot: Slot, stream: Stream) -> None:
        self._slot = slot
        self._stream = slot.stream = stream
        self._framing = Framing()

    def _receiving(self) -> Waiting[bytes]:
        data = yield from _as_httpcore(self._stream.receive(), _READ)
        self._framing.feed(data)
        return data

    def _sending(self, data: bytes) -> Waiting[None]:
        self._framing.begin()
        if self._slot.attempt is not None:
            # From now on it may have reached the service.
            self._slot.attempt.began = True
        if (yield from _as_httpcore(self._stream.send(data), _WRITE)):
            # Then httpcore reads the response.
            raise httpcore.WriteError("the request was not read to its end")

    def _securing(self, context: ssl.SSLContext, host: str | None) -> Waiting[Stream]:
        name = (host or "").encode("ascii")
        return _as_httpcore(secured(self._stream, context, name), _CONNECT)

    def _close(self) -> None:
        self._stream.close()
        if self._slot.stream is self._stream:
            self._slot.close()

    def get_extra_info(self, info: str) -> Any:
        """Whether the stream ``is_readable``: then httpcore does not use it again."""
        if info == "is_readable":
            return not self._framing.is_over or self._stream.has_unread_bytes()
        return None


class _Connecting:
    """What both kinds of backends have in common."""

    def __init__(self, route: Route, slot: Slot, *, is_tls: bool) -> None:
        self._route = route
        self._slot = slot
        self._is_tls = is_tls

    def _connecting(
        self, host: str, port: int, timeout: float | None
    ) -> Waiting[Stream]:
        seconds = math.inf if timeout is None else timeout
        way = self._route.connect(
            host.encode("ascii"), port, is_tls=self._is_tls, timeout=seconds
        )
        return _as_httpcore(way, _CONNECT)


# --- blocking ---------------------------------------------------------------------


def _run(slot: Slot, waiting: Waiting[T], timeout: float | None) -> T:
    attempt = slot.attempt
    return run(
        waiting,
        until=math.inf if attempt is None else attempt.until,
        timeout=math.inf if timeout is None else timeout,
        stop=None if attempt is None else attempt.lease.stop,
    )


class BoundStream(_Bound, httpcore.NetworkStream):
    """A blocking stream of one connection."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return _run(self._slot, self._receiving(), timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if buffer:
            _run(self._slot, self._sending(buffer), timeout)

    def close(self) -> None:
        self._close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> BoundStream:
        securing = self._securing(ssl_context, server_hostname)
        return BoundStream(self._slot, _run(self._slot, securing, timeout))


class Backend(_Connecting, httpcore.NetworkBackend):
    """Connects the blocking connection of a slot along a route."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> BoundStream:
        connecting = self._connecting(host, port, timeout)
        return BoundStream(self._slot, _run(self._slot, connecting, timeout))


# --- asyncio and trio -------------------------------------------------------------


async def _run_async(slot: Slot, waiting: Waiting[T], timeout: float | None) -> T:
    attempt = slot.attempt
    return await run_async(
        waiting,
        until=math.inf if attempt is None else attempt.until,
        timeout=math.inf if timeout is None else timeout,
    )


class AsyncBoundStream(_Bound, httpcore.AsyncNetworkStream):
    """An asynchronous stream of one connection."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await _run_async(self._slot, self._receiving(), timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if buffer:
            await _run_async(self._slot, self._sending(buffer), timeout)

    async def aclose(self) -> None:
        self._close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> AsyncBoundStream:
        securing = self._securing(ssl_context, server_hostname)
        stream = await _run_async(self._slot, securing, timeout)
        return AsyncBoundStream(self._slot, stream)


class AsyncBackend(_Connecting, httpcore.AsyncNetworkBackend):
    """Connects the asynchronous connection of a slot along a route."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> AsyncBoundStream:
        connecting = self._connecting(host, port, timeout)
        stream = await _run_async(self._slot, connecting, timeout)
        return AsyncBoundStream(self._slot, stream)
