"""The limits of one exchange, and how it waits within them: blocking, or awaited.

What sends and reads is written once, with ``async``: a blocking exchange waits where an
awaited one lets others go on, so ``run`` brings its coroutine to the end at once.
"""

from __future__ import annotations

import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, ClassVar, Final, TypeVar

import anyio
import attrs
from anyio import wait_readable, wait_writable  # at once: calls import nothing

from sitestats._common.wire import HttpRequest

from .stop import Stop

T = TypeVar("T")
Ready = Callable[[socket.socket], Awaitable[None]]

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
    stop: Stop = attrs.field(factory=Stop)
    group: int = 0
    """Those that have this number share places: all threads, or an event loop."""
    started: float = attrs.field(factory=time.monotonic)
    waited: float = 0.0
    """Seconds spent waiting for a place."""
    step: str = "tcp"
    """What is under way: "name", "tcp", "tls", "proxy", or "response" once something
    may have left the machine."""
    is_last: bool = False
    """Whether the wait under way ends the whole call."""
    _sockets: list[socket.socket] = attrs.field(factory=list[socket.socket])

    def left(self, most: float | None = None) -> float:
        """The seconds that the next wait may take: the timeout, or *most*.

        Raises:
            TimeoutError: The time for the whole call is up.
            StoppedError: Another thread has stopped it.
        """
        self.stop.check()
        left = self.until - time.monotonic()
        most = self.timeout if most is None else most
        self.is_last = left <= most
        if left <= 0:
            raise TimeoutError
        return min(left, most, _LONGEST)

    async def do(
        self, sock: socket.socket, _ready: Ready, call: Callable[..., T], *args: object
    ) -> T:
        """Call what waits for *sock*."""
        sock.settimeout(self.left())
        return call(*args)

    async def connect(
        self, sock: socket.socket, address: Any, most: float | None
    ) -> None:
        """Connect, or give up after the timeout, or *most* seconds."""
        self.use(sock)
        sock.settimeout(self.left(most))
        sock.connect(address)

    async def wait_for(self, event: Any) -> None:
        """Wait for a place, for as long as the whole call may take."""
        self.stop.add(event.set)
        is_set = event.wait(self.left(math.inf))
        self.stop.discard(event.set)
        self.stop.check()
        if not is_set:
            raise TimeoutError

    def use(self, sock: socket.socket) -> None:
        """Let a stop end what waits for *sock*."""
        self._sockets.append(sock)
        self.stop.add(self._shut)

    def release(self) -> None:
        """Let its connection be used by others."""
        self.stop.discard(self._shut)

    def _shut(self) -> None:
        for sock in self._sockets:
            with suppress(OSError):
                # Not that of an SSLSocket, which would go on without TLS.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    @contextmanager
    def watched(self) -> Generator[Any]:
        """Keep the limit where httpx connects and reads."""
        # It gives each read the whole timeout, so drops could fall for ever: a thread
        # shuts the connection when the time is up.
        timer = threading.Timer(self.left(math.inf), self._shut)
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
    # A thread has one event loop at a time.
    group: int = attrs.field(factory=threading.get_ident)

    async def do(
        self, sock: socket.socket, ready: Ready, call: Callable[..., T], *args: object
    ) -> T:
        """Call *call* as soon as the socket is ready for it."""
        # TLS may have bytes already; elsewhere there are seldom any.
        waits = ready is wait_readable and not isinstance(sock, ssl.SSLSocket)
        while True:
            if waits:
                with anyio.move_on_after(self.left()) as scope:
                    await ready(sock)
                if scope.cancelled_caught:
                    raise TimeoutError
            waits = True
            try:
                return call(*args)
            except ssl.SSLWantReadError:
                ready = wait_readable
            except ssl.SSLWantWriteError:
                ready = wait_writable
            except BlockingIOError:
                pass

    async def connect(
        self, sock: socket.socket, address: Any, most: float | None
    ) -> None:
        """Connect, or give up after the timeout, or *most* seconds."""
        sock.setblocking(False)  # noqa: FBT003 - its only argument
        with suppress(BlockingIOError):
            # Not connect_ex: what guards tests against the network patches this one.
            sock.connect(address)
        with anyio.fail_after(self.left(most)):
            await wait_writable(sock)
        if number := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(number, os.strerror(number))

    async def wait_for(self, event: Any) -> None:
        """Wait for a place, for as long as the whole call may take."""
        with anyio.fail_after(self.left(math.inf)):
            await event.wait()

    @contextmanager
    def watched(self) -> Generator[Any]:
        """Keep the limit, whatever waits."""
        with anyio.fail_after(self.left(math.inf)):
            yield


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
