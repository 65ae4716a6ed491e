"""Direct connections: who may send, and which connection is used."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections import Counter, defaultdict, deque
from typing import Any, Final

from sitestats._common.errors import ClientClosedError

from .exchange import Exchange, Route, connect, send_and_read
from .reading import Reading

_IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""


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
        self._process = os.getpid()
        self._lock = threading.Lock()
        # One that knows its owner: where Ctrl-C ends the wait for it, no other's ends.
        self._turn = threading.RLock()
        self._used = Counter[int]()
        """The places in use of each event loop, and of all threads."""
        self._waiting = defaultdict[int, deque[Any]](deque)
        self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()

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
        if self._process != os.getpid():
            # In a forked child: what it inherited is its parent's.
            self._begin()
        with self._lock:
            if self._used[exchange.group] < self._limit:
                self._used[exchange.group] += 1
            else:
                exchange.event = exchange.new_event()
                self._waiting[exchange.group].append(exchange.event)
        try:
            if exchange.event is not None:
                await exchange.wait_for_place()
            self._check_open()
        except BaseException:
            self.leave(exchange.group, exchange.event)
            raise

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

    async def exchange(self, data: bytes, route: Route, exchange: Exchange) -> Reading:
        """Send *data* by an idle connection or a new one, and read the response."""
        reading = Reading(exchange.request.method)
        with exchange.in_turn(self._turn):
            sock = self._take(fresh=exchange.request.fresh_connection)
            try:
                if sock is None:
                    sock = await connect(route, exchange)
                else:
                    exchange.use(sock)
                await send_and_read(sock, data, reading, exchange)
            finally:
                kept = exchange.close(keep=reading.is_reusable)
                with self._lock:
                    if kept is not None:
                        self._idle.append((kept, time.monotonic()))
                    if self._is_closed:
                        self._close_idle()
        return reading

    def _take(self, *, fresh: bool) -> socket.socket | None:
        """The idle connection that was used last; none where it is to be fresh.

        For a fresh one idle ones are closed, so that there are never too many.
        """
        oldest = time.monotonic() - _IDLE_SECONDS
        with self._lock:
            while self._idle:
                sock, since = self._idle.pop()
                if not fresh and since > oldest and _is_silent(sock):
                    return sock
                sock.close()
        return None

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


def _is_silent(sock: socket.socket) -> bool:
    """Whether the connection is open, and has no unread bytes."""
    try:
        sock.recv(1)
    except OSError as error:
        return isinstance(error, (BlockingIOError, ssl.SSLWantReadError))
    return False
