"""Direct connections: who may send, which connection is used, how one is made.

A connection is a socket, with or without TLS. It belongs to no event loop.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections import Counter, defaultdict, deque
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any, Final

from anyio import wait_readable, wait_writable

from sitestats._common.errors import ClientClosedError

from .limits import Exchange
from .reading import Reading

_NEXT_ADDRESS: Final = 1.0
"""Seconds until the next address of a host is tried."""
_IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""
_READ_SIZE: Final = 64 * 1024
_NOT_READ: Final = (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError)
"""The other side closed before it had read a request; it may have responded."""


async def look_up(host: str, port: int, exchange: Exchange) -> list[Any]:
    """The addresses of *host*, as ``getaddrinfo`` has them.

    A look-up can't be interrupted, so its thread is left alone when the time is up. It
    is none of an event loop's: those are few, and a program ends only with them.
    """

    def addresses(flags: int = 0) -> list[Any]:
        # As bytes: the name is encoded already.
        name, kind = host.encode("ascii"), socket.SOCK_STREAM
        return [*socket.getaddrinfo(name, port, type=kind, flags=flags)]

    found = Future[list[Any]]()

    def work() -> None:
        try:
            found.set_result(addresses())
        except OSError as error:
            found.set_exception(error)
        finish.close()

    # Numbers need no look-up.
    with suppress(OSError):
        return addresses(socket.AI_NUMERICHOST)
    exchange.step = "name"
    done, finish = socket.socketpair()
    with done:
        exchange.use(done)
        threading.Thread(target=work, name="sitestats-resolve", daemon=True).start()
        done.setblocking(False)  # noqa: FBT003 - its only argument
        await exchange.do(done, wait_readable, done.recv, 1)
    exchange.left()
    return found.result()


async def connect(
    host: str, port: int, context: ssl.SSLContext | None, exchange: Exchange
) -> socket.socket:
    """Connect to one of the addresses of *host*, with TLS where there is a *context*.

    Raises:
        OSError: It failed, or took too long; ``exchange.step`` tells at what.
    """
    sock = await _connect_tcp(await look_up(host, port, exchange), exchange)
    if context is None:
        return sock
    exchange.step = "tls"
    # An end without that of TLS is anybody's, and may cut a body short.
    with ExitStack() as unless_connected:
        secured = context.wrap_socket(
            sock,
            server_hostname=host,
            do_handshake_on_connect=False,
            suppress_ragged_eofs=False,
        )
        unless_connected.enter_context(secured)
        exchange.use(secured)
        await exchange.do(secured, wait_readable, secured.do_handshake)
        unless_connected.pop_all()
    return secured


async def _connect_tcp(addresses: list[Any], exchange: Exchange) -> socket.socket:
    exchange.step = "tcp"
    for number, (family, kind, protocol, _, address) in enumerate(addresses, 1):
        is_last = number == len(addresses)
        with (
            suppress(*() if is_last else (OSError,)),
            ExitStack() as unless_connected,
        ):
            sock = unless_connected.enter_context(socket.socket(family, kind, protocol))
            await exchange.connect(sock, address, None if is_last else _NEXT_ADDRESS)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            unless_connected.pop_all()
            return sock
    raise OSError("the host has no address")


async def send_and_read(
    sock: socket.socket, data: bytes, reading: Reading, exchange: Exchange
) -> None:
    """Send *data*, and read until the response is over."""
    exchange.step = "response"
    with suppress(*_NOT_READ):
        while data:
            data = data[await exchange.do(sock, wait_writable, sock.send, data) :]
    while not reading.is_over:
        reading.feed(await exchange.do(sock, wait_readable, sock.recv, _READ_SIZE))


def is_stale(sock: socket.socket) -> bool:
    """Whether bytes arrived that nobody read, or the other side has closed."""
    sock.settimeout(0)
    try:
        sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        pass
    return True


# --- the pool ---------------------------------------------------------------------


class Pool:
    """At most *limit* requests at a time, who waits longest first; idle connections.

    The tasks of an event loop share its places, as all threads do without one: an event
    of one loop can't be set from another. An idle connection may be used by any.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_closed = False
        self._idle: deque[tuple[socket.socket, float]] = deque()
        self._begin()

    def _begin(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        self._used = Counter[int]()
        """The places in use of each event loop, and of all threads."""
        self._waiting = defaultdict[int, deque[Any]](deque)
        self._close_idle()

    def __del__(self) -> None:
        # Whoever never closed a client is warned of that, once.
        self._close_idle()

    # --- places -------------------------------------------------------------------

    async def enter(self, exchange: Exchange) -> None:
        """Wait for a place.

        Raises:
            TimeoutError: The time for the whole call was up.
            ClientClosedError: The pool was closed.
        """
        event = self._enter(exchange)
        if event is None:
            return
        try:
            await exchange.wait_for(event)
            self._check_open()
        except BaseException:
            self.leave(exchange.group, event)
            raise
        finally:
            exchange.waited = time.monotonic() - exchange.started

    def _enter(self, exchange: Exchange) -> Any:
        """None where a place is free, or an event to wait for."""
        if self._process != os.getpid():
            # In a forked child: what it inherited is its parent's.
            self._begin()
        with self._lock:
            self._check_open()
            if self._used[exchange.group] < self._limit:
                self._used[exchange.group] += 1
                return None
            event = exchange.new_event()
            self._waiting[exchange.group].append(event)
            return event

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClientClosedError("This client was closed: make a new one.")

    def leave(self, group: int = 0, event: Any = None) -> None:
        """Hand a place to who waits longest, or end the waiting for an *event*."""
        with self._lock:
            waiting = self._waiting[group]
            if event in waiting:
                waiting.remove(event)
            elif waiting:
                waiting.popleft().set()
            else:
                self._used[group] -= 1

    # --- connections --------------------------------------------------------------

    def take(self, *, fresh: bool) -> socket.socket | None:
        """An idle connection, the one that was used last; none where it is to be fresh.

        For a fresh one an idle one is closed, so that there are never too many.
        """
        oldest = time.monotonic() - _IDLE_SECONDS
        with self._lock:
            while self._idle:
                sock, since = self._idle.pop()
                if not fresh and since > oldest and not is_stale(sock):
                    return sock
                sock.close()
                if fresh:
                    break
        return None

    def put_back(self, sock: socket.socket | None, *, is_clean: bool) -> None:
        """Keep a connection for another request, or close it."""
        if sock is None:
            return
        now = time.monotonic()
        with self._lock:
            while self._idle and self._idle[0][1] < now - _IDLE_SECONDS:
                self._idle.popleft()[0].close()
            if is_clean and not self._is_closed:
                self._idle.append((sock, now))
            else:
                sock.close()

    @property
    def is_open(self) -> bool:
        """Whether there is a connection that closing would close."""
        return bool(self._idle)

    def close(self, group: int = 0) -> None:
        """Close what is idle now, and what is in use as soon as it is left."""
        self._is_closed = True
        # Whoever waits is woken by the one before.
        self.leave(group)
        with self._lock:
            self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()
