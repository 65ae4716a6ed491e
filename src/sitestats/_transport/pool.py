"""Who may send, who waits for that, and the connections that are idle."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict, deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

import attrs

from sitestats._common.errors import ClientClosedError

from .connecting import is_stale

if TYPE_CHECKING:
    from socket import socket

    from .limits import Exchange

_IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""


@attrs.define
class _Places:
    """The places of one event loop, or of all threads."""

    free: int
    waiting: deque[Any] = attrs.field(factory=deque[Any])


class Pool:
    """At most *limit* requests at a time, who waits longest first; idle connections.

    The tasks of an event loop share its places, as all threads do without one: an event
    of one loop can't be set from another. An idle connection may be used by any.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_closed = False
        self._idle: deque[tuple[socket, float]] = deque()
        self.begin()
        _POOLS.add(self)

    def begin(self) -> None:
        """Begin anew, in a forked child: what it inherited is its parent's."""
        self._lock = threading.Lock()
        self._places = defaultdict[int, _Places](partial(_Places, self._limit))
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
        with self._lock:
            self._check_open()
            places = self._places[exchange.group]
            if not places.free:
                places.waiting.append(exchange.new_event())
                return places.waiting[-1]
            places.free -= 1
            return None

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClientClosedError("This client was closed: make a new one.")

    def leave(self, group: int = 0, event: Any = None) -> None:
        """Hand a place to who waits longest, or end the waiting for an *event*."""
        with self._lock:
            places = self._places[group]
            if event in places.waiting:
                places.waiting.remove(event)
            elif places.waiting:
                places.waiting.popleft().set()
            else:
                places.free += 1

    # --- connections --------------------------------------------------------------

    def take(self, *, fresh: bool) -> socket | None:
        """An idle connection, the one that was used last; none where it is to be fresh.

        For a fresh one an idle one is closed, so that there are never too many.
        """
        oldest = time.monotonic() - _IDLE_SECONDS
        while self._idle:
            try:
                sock, since = self._idle.pop()
            except IndexError:  # by another thread
                break
            if not fresh and since > oldest and not is_stale(sock):
                return sock
            sock.close()
            if fresh:
                break
        return None

    def put_back(self, sock: socket | None, *, is_clean: bool) -> None:
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


_POOLS: Final = WeakSet[Pool]()


def _begin_anew() -> None:
    for pool in [*_POOLS]:
        pool.begin()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin_anew)
