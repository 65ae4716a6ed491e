"""The limits of one exchange, how it waits within them, and what else ends it.

What sends and reads is written once, with ``async``: a blocking exchange waits where an
awaited one lets others go on, so ``run`` brings its coroutine to the end at once.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import anyio
import attrs
from anyio import wait_readable, wait_writable  # at once: calls import nothing

from sitestats._common.wire import HttpRequest

from .stop import Stop

T = TypeVar("T")
Ready: TypeAlias = Callable[[socket.socket], Awaitable[None]]
"""Waits until a socket can be read from, or written to."""

MOST_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of a response, on the wire and decompressed."""
_LONGEST: Final = 86_400.0
"""The most seconds of one wait: a socket refuses to wait for some weeks."""


@attrs.define(eq=False, repr=False)
class Exchange:
    """One request on its way to its response, in a thread."""

    new_event: ClassVar[Any] = threading.Event
    request: HttpRequest
    until: float
    """What the monotonic clock shows when the call must have ended."""
    timeout: float
    """Seconds for connecting, and for each wait."""
    stop: Stop | None = None
    started: float = attrs.field(factory=time.monotonic)
    waited: float = 0.0
    """Seconds spent waiting for a place."""
    step: str = "tcp"
    """What is under way: "name", "tcp", "tls", "proxy", or "response" once something
    may have left the machine."""
    is_last: bool = False
    """Whether the wait under way ends the whole call."""
    _sockets: list[socket.socket] = attrs.field(factory=list[socket.socket])

    @property
    def group(self) -> int:
        """Those that have this number share places: all threads, or an event loop."""
        return 0

    def left(self) -> float:
        """The seconds that the next wait may take.

        Raises:
            TimeoutError: The time for the whole call is up.
            StoppedError: Another thread has stopped it.
        """
        if self.stop is not None:
            self.stop.check()
        left = self.until - time.monotonic()
        self.is_last = left <= self.timeout
        if left <= 0:
            raise TimeoutError
        return min(left, self.timeout, _LONGEST)

    async def do(
        self, sock: socket.socket, _ready: Ready, call: Callable[..., T], *args: object
    ) -> T:
        """Call what waits for *sock*."""
        sock.settimeout(self.left())
        return call(*args)

    async def connect(self, sock: socket.socket, address: Any, most: float) -> None:
        """Connect within *most* seconds, if that is less than is left."""
        self.use(sock)
        sock.settimeout(min(self.left(), most))
        sock.connect(address)

    async def wait_for(self, event: Any) -> None:
        """Wait for a place, for as long as the whole call may take."""
        if self.stop is not None:
            self.stop.add(event.set)
        self.is_last = not event.wait(min(self.until - self.started, _LONGEST))
        if self.stop is not None:
            self.stop.discard(event.set)
            self.stop.check()
        if self.is_last:
            raise TimeoutError

    def use(self, sock: socket.socket) -> None:
        """Let a stop end what waits for *sock*."""
        if self.stop is not None:
            self._sockets.append(sock)
            self.stop.add(self._shut)

    def release(self) -> None:
        """Let its connection be used by others."""
        if self.stop is not None:
            self.stop.discard(self._shut)

    def _shut(self) -> None:
        for sock in self._sockets:
            with suppress(OSError):
                # Not that of an SSLSocket, which would go on without TLS.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Shut the connection when the time is up, where httpx connects.

        It gives each read the whole timeout, so drops could fall for ever.
        """
        self.stop = self.stop or Stop()
        timer = threading.Timer(min(self.until - self.started, _LONGEST), self._shut)
        timer.daemon = True
        token = CURRENT.set(self)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            CURRENT.reset(token)
            self.release()
            for sock in self._sockets:
                sock.close()


@attrs.define(eq=False, repr=False)
class AwaitedExchange(Exchange):
    """The same in a task of asyncio or trio. Its sockets never block."""

    new_event: ClassVar[Any] = anyio.Event
    _scope: Any = None
    _offset: float = 0.0
    """How far the clock of the event loop is ahead of the monotonic one."""

    @property
    def group(self) -> int:
        """The thread, which has one event loop at a time."""
        return threading.get_ident()

    def begin_scope(self) -> anyio.CancelScope:
        """What ends the call; the deadline is that of the next wait."""
        self._offset = anyio.current_time() - time.monotonic()
        scope = anyio.CancelScope(deadline=self._offset + self.until)
        self._scope, self.is_last = scope, True
        return scope

    def extend(self) -> None:
        """Let the next wait take its own time."""
        self._scope.deadline = self._offset + time.monotonic() + self.left()

    async def do(
        self, sock: socket.socket, ready: Ready, call: Callable[..., T], *args: object
    ) -> T:
        """Call *call* as soon as the socket is ready for it."""
        self.extend()
        if ready is wait_readable and not isinstance(sock, ssl.SSLSocket):
            # TLS may have bytes already; elsewhere there are seldom any.
            await ready(sock)
        while True:
            try:
                return call(*args)
            except ssl.SSLWantReadError:
                wanted: Ready = wait_readable
            except ssl.SSLWantWriteError:
                wanted = wait_writable
            except BlockingIOError:
                wanted = ready
            await wanted(sock)

    async def connect(self, sock: socket.socket, address: Any, most: float) -> None:
        """Connect within *most* seconds, if that is less than is left."""
        self.extend()
        sock.setblocking(False)  # noqa: FBT003 - its only argument
        with anyio.fail_after(most):
            # Not connect_ex: what guards tests against the network patches this one.
            with suppress(BlockingIOError):
                sock.connect(address)
            await wait_writable(sock)
        if number := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(number, os.strerror(number))

    async def wait_for(self, event: Any) -> None:
        """Wait for a place, for as long as the whole call may take."""
        await event.wait()


CURRENT: Final[ContextVar[Exchange]] = ContextVar("sitestats_exchange")
"""The exchange that httpx connects for."""


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that only blocks."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        coroutine.close()
    raise AssertionError("it let others go on")
