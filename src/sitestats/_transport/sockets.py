"""One request on its way: how it connects, sends and reads within its limits.

All of it is written once, with ``async``. A blocking exchange waits where an awaited
one lets others go on, so ``run_blocking`` brings its coroutine to the end at once. A
connection is a socket, with or without TLS. It never blocks, and belongs to no event
loop.

Ctrl-C may raise ``KeyboardInterrupt`` in the main thread between any two calls.
"""

from __future__ import annotations

import _thread
import math
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

import anyio
import attrs
from anyio import wait_readable, wait_writable  # at once: calls import nothing

from sitestats._base.loops import running_loop
from sitestats._wire.messages import HttpRequest

if TYPE_CHECKING:
    from .reading import Reading

T = TypeVar("T")
Route = tuple[str, int, ssl.SSLContext | None]
"""The host and port to connect to, and what verifies them by TLS."""
ALL_THREADS: Final = threading
"""Who shares the places of a blocking client: something that lives as long as they."""


class _Event(SimpleQueue[None]):
    """An event, all of it in C. Ctrl-C can come within ``threading.Event``, which then
    keeps its lock for ever, or wakes nobody.
    """

    def set(self) -> None:
        """Wake the waiting thread or task; a second call does no harm."""
        self.put(None)


@attrs.define(eq=False, repr=False)
class Exchange:
    """A request and its response, exchanged in a thread."""

    new_event: ClassVar[Any] = _Event
    request: HttpRequest
    until: float
    """What the monotonic clock shows when the call must have ended."""
    timeout: float
    """Seconds for connecting, and for each wait."""
    queue: dict[Exchange, None] = attrs.field(factory=dict["Exchange", None])
    """The exchanges that share places with it, and itself."""
    is_over: bool = False
    """Whether it needs no place any more."""
    event: Any = None
    """The event that ends its wait for a place; None if it did not have to wait."""
    phase: str = "tcp"
    """What is under way: "name", "tcp", "tls", "proxy", or "response" once something
    may have left the machine."""
    sockets: list[socket.socket] = attrs.field(factory=list[socket.socket])
    """The sockets that are closed with the exchange."""
    group: Any = ALL_THREADS
    """Who shares places with it: all threads, or the tasks of its event loop."""

    def left(self, most: float | None = None) -> float:
        """The seconds that the next wait may take: the timeout, or *most*.

        Raises:
            TimeoutError: The time for the whole call is up.
        """
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        # The limit is a day at most: a socket refuses several weeks.
        return min(left, self.timeout if most is None else most, 86_400)

    def end(self) -> None:
        """End the wait of this exchange, from another thread."""
        self.until = -math.inf
        if self.event is not None:
            self.event.set()
        for sock in self.sockets:
            with suppress(OSError):
                # The method of an SSLSocket would go on without TLS.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self, *, keep: bool = False) -> socket.socket | None:
        """Close its sockets, but for the last one if another exchange may use it."""
        sockets, self.sockets = self.sockets, []
        # After the line above, end() does not find the socket that is kept.
        kept = sockets.pop() if keep and self.until > -math.inf else None
        for sock in sockets:
            sock.close()
        return kept

    async def wait_for_place(self) -> Any:
        """Wait for the event, for as long as the whole call may take."""
        with suppress(Empty):
            return self.event.get(timeout=self.left(math.inf))
        raise TimeoutError

    async def wait(self, sock: Any, ready: Any, most: float | None = None) -> None:
        """Wait until the socket is *ready*, for the timeout or *most* seconds."""
        if not _is_ready(sock, to_read=ready is wait_readable, within=self.left(most)):
            raise TimeoutError

    async def reach(self, sock: Any, address: Any, most: float | None) -> None:
        """Connect *sock*, or give up after the timeout, or *most* seconds."""
        sock.settimeout(0)
        with suppress(BlockingIOError):
            # Not connect_ex: libraries that keep tests off the network patch connect.
            sock.connect(address)
        await self.wait(sock, wait_writable, most)
        if number := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(number, os.strerror(number))

    async def do(
        self, sock: Any, ready: Any, call: Callable[..., T], /, *args: Any
    ) -> T:
        """Call *call* as soon as the socket is ready for it, within the timeout."""
        # TLS may have bytes for each call, so that none waits.
        self.left()
        waits = ready is wait_readable and not isinstance(sock, ssl.SSLSocket)
        while True:
            if waits:
                await self.wait(sock, ready)
            waits = True
            try:
                return call(*args)
            except ssl.SSLWantReadError:
                ready = wait_readable
            except ssl.SSLWantWriteError:
                ready = wait_writable
            except BlockingIOError:
                pass

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keep the limit where httpx connects and reads."""
        # httpx gives each read the whole timeout, so slow bytes could arrive for ever:
        # a thread shuts the connection when the time is up.
        timer = threading.Timer(self.left(math.inf), self.end)
        timer.daemon = True
        # If the system refuses a further thread, each read has its own limit alone.
        with suppress(RuntimeError):
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.close()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Take the connection that httpcore makes: its extension "trace"."""
        if event.endswith("connect_tcp.started"):
            addresses = run_blocking(_look_up(info["host"], info["port"], self))
            # It connects to what it finds here, and would look the name up itself.
            info["host"] = addresses[0][4][0]
            if len(addresses) > 1:
                # It tries one address alone: the first that takes a connection.
                with run_blocking(_connect_tcp(addresses, self)) as sock:
                    info["host"] = sock.getpeername()[0]
            # What httpx raises tells whether something was sent by then.
            self.phase = "response"
        elif event.endswith("connect_tcp.complete"):
            # The copy has another descriptor, since TLS will take this one over.
            self.sockets.append(info["return_value"].get_extra_info("socket").dup())
            self.left()


@attrs.define(eq=False, repr=False)
class AwaitedExchange(Exchange):
    """The same in a task of asyncio or trio."""

    new_event: ClassVar[Any] = anyio.Event
    group: Any = attrs.field(factory=running_loop)
    _calls: int = 0

    async def wait_for_place(self) -> None:
        """Wait for the event, for as long as the whole call may take."""
        with self.watched():
            await self.event.wait()

    async def wait(self, sock: Any, ready: Any, most: float | None = None) -> None:
        """Wait until the socket is *ready*, for the timeout or *most* seconds."""
        with anyio.fail_after(self.left(most)):
            await ready(sock)

    async def do(self, *args: Any) -> Any:
        """Call a function as ``Exchange.do``, and let other tasks have a turn."""
        self._calls += 1
        if self._calls % 16 == 0:
            await anyio.sleep(0)  # noqa: ASYNC115 - checkpoint takes another import
        return await super().do(*args)

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keep the limit, whatever the task waits for."""
        with anyio.fail_after(self.left(math.inf)):
            yield


def _is_ready(sock: socket.socket, *, to_read: bool, within: float) -> bool:
    """Whether *sock* is ready after so many seconds at most."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sock, select.POLLIN if to_read else select.POLLOUT)
        return bool(poll.poll(within * 1_000))
    reads, writes = ([sock], []) if to_read else ([], [sock])
    # A connection that failed is in the third list.
    return any(select.select(reads, writes, writes, within))


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that only blocks, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    raise AssertionError("what only blocks has awaited something")


async def _look_up(host: str, port: int, exchange: Exchange) -> list[Any]:
    """The addresses of *host*, as ``getaddrinfo`` has them.

    A look-up can't be interrupted, so its thread is left alone when the time is up. The
    threads of an event loop are few, and a program ends only with them.
    """

    def work() -> None:
        try:
            addresses.set_result(look_up())
        except BaseException as error:  # noqa: BLE001 - raised by result()
            addresses.set_exception(error)
        # A byte is sent, since a child that was forked meanwhile keeps the end open.
        with finish, suppress(OSError):
            finish.send(b"!")

    # The name is given as bytes, since it is encoded already.
    look_up = partial(
        socket.getaddrinfo, host.encode("ascii"), port, type=socket.SOCK_STREAM
    )
    # An IP address needs no look-up, and so no thread.
    with suppress(OSError):
        return look_up(flags=socket.AI_NUMERICHOST)
    exchange.phase = "name"
    addresses = Future[list[Any]]()
    done, finish = socket.socketpair()
    exchange.sockets.append(done)
    try:
        # A threading.Thread would wait for a threading.Event until it runs.
        _thread.start_new_thread(work, ())
    except RuntimeError:
        # The system refuses a further thread, so nothing limits the look-up.
        work()
    await exchange.do(done, wait_readable, done.recv, 1)
    # An exchange that was ended did not wait for the thread.
    exchange.left()
    return addresses.result()


async def connect(route: Route, exchange: Exchange) -> socket.socket:
    """Connect to one of the addresses of a host.

    Raises:
        OSError: It failed, or took too long; ``exchange.phase`` tells at what.
    """
    host, port, context = route
    sock = await _connect_tcp(await _look_up(host, port, exchange), exchange)
    if context is None:
        return sock
    exchange.phase = "tls"
    # Anybody can end a connection without the end of TLS, and cut a body short.
    options: Any = {"server_hostname": host, "suppress_ragged_eofs": False}
    secured = context.wrap_socket(sock, do_handshake_on_connect=False, **options)
    exchange.sockets.append(secured)
    await exchange.do(secured, wait_readable, secured.do_handshake)
    return secured


async def _connect_tcp(addresses: list[Any], exchange: Exchange) -> socket.socket:
    exchange.phase = "tcp"
    while addresses:
        family, kind, protocol, _, address = addresses.pop(0)
        # The error of the last address is raised.
        ignored = (OSError,) if addresses else ()
        with suppress(*ignored):
            sock = socket.socket(family, kind, protocol)
            exchange.sockets.append(sock)
            # After a second the next address is tried.
            await exchange.reach(sock, address, 1 if addresses else None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise OSError("the host has no address")


async def send_and_read(
    sock: socket.socket, data: bytes, reading: Reading, exchange: Exchange
) -> None:
    """Send *data*, and read until the response is over."""
    exchange.phase = "response"
    while data:
        data = data[await exchange.do(sock, wait_writable, sock.send, data) :]
    while not reading.is_over:
        reading.feed(await exchange.do(sock, wait_readable, sock.recv, 64 * 1024))
