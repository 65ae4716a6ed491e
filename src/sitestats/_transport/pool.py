"""Direct connections: who may send, and which connection is used."""

from __future__ import annotations

import socket
import ssl
import time
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from sitestats._base.errors import ClientClosedError
from sitestats._base.forks import HeldAcrossForks

from .sockets import Exchange, Route, connect, send_and_read

if TYPE_CHECKING:
    from .reading import Reading

_IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""


class Pool(HeldAcrossForks):
    """At most *limit* requests at a time, who waits longest first; idle connections.

    The tasks of an event loop share its places, as all threads do without one: an event
    of one loop can't be set from another. An idle connection may be used by any.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_closed = False
        self._idle: deque[tuple[socket.socket, float]] = deque()
        self._queues = WeakKeyDictionary[Any, dict[Exchange, None]]()
        """The exchanges of each group as they arrived: the first ones have a place."""
        super().__init__()

    def _after_fork_in_child(self) -> None:
        # The connections belong to the parent, and so do the requests.
        self._queues = WeakKeyDictionary[Any, dict[Exchange, None]]()
        self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()

    # --- places -------------------------------------------------------------------

    async def enter(self, exchange: Exchange) -> None:
        """Wait for a place.

        Raises:
            TimeoutError: The time for the whole call was up.
            ClientClosedError: The pool was closed.
        """
        with self._lock:
            queue = exchange.queue = self._queues.setdefault(exchange.group, {})
            if is_full := len(queue) >= self._limit:
                exchange.event = exchange.new_event()
            queue[exchange] = None
            if is_full:
                self._wake(queue)
        if exchange.event is not None:
            await exchange.wait_for_place()
        if self._is_closed:
            raise ClientClosedError("This client was closed: make a new one.")

    def leave(self, exchange: Exchange) -> None:
        """Leave the place, or stop waiting for a place."""
        with self._lock:
            exchange.queue.pop(exchange, None)
            self._wake(exchange.queue)

    def _wake(self, queue: dict[Exchange, None]) -> None:
        """Wake all who have a place; when the pool is closed, wake all others, too."""
        if len(queue) >= self._limit or self._is_closed:
            # Ctrl-C may have kept one from leaving, or from waking others.
            for exchange in [one for one in islice(queue, self._limit) if one.is_over]:
                del queue[exchange]
            for exchange in [*islice(queue, None if self._is_closed else self._limit)]:
                if exchange.event is not None:
                    exchange.event.set()

    # --- connections --------------------------------------------------------------

    async def send(
        self, data: bytes, route: Route, reading: Reading, exchange: Exchange
    ) -> None:
        """Send *data* by an idle connection or a new one, and read the response."""
        sock = self._take(new=exchange.request.new_connection)
        try:
            if sock is None:
                sock = await connect(route, exchange)
            else:
                exchange.sockets.append(sock)
            await send_and_read(sock, data, reading, exchange)
        finally:
            kept = exchange.close(keep=reading.is_reusable)
            with self._lock:
                if kept is not None:
                    self._idle.append((kept, time.monotonic()))
                self._close_old()
                if self._is_closed:
                    self._close_idle()

    def _take(self, *, new: bool) -> socket.socket | None:
        """The idle connection that was used last, or None where a new one is needed.

        For a new one the idle ones are closed, so that there are never too many.
        """
        with self._lock:
            self._close_old()
            while self._idle:
                sock, _ = self._idle.pop()
                if not new and _is_silent(sock):
                    return sock
                sock.close()
        return None

    def _close_old(self) -> None:
        """Close what nobody used for long: it is at the left end, since the connection
        that was used last is taken first.
        """
        now = time.monotonic()
        # A test may set the clock back: then nobody knows how old a connection is.
        while self._idle and not 0 <= now - self._idle[0][1] < _IDLE_SECONDS:
            self._idle.popleft()[0].close()

    def close(self, group: Any) -> None:
        """Close idle connections now, and those in use as soon as they are left."""
        self._is_closed = True
        with self._lock:
            self._wake(self._queues.get(group, {}))
            self._close_idle()

    def drop(self) -> bool:
        """Close what nobody will use any more, and tell whether there was something.

        Nobody has it, so nobody waits and no thread uses it; at the interpreter's end
        its lock may be gone.
        """
        had_some = bool(self._idle)
        self._is_closed = True
        self._close_idle()
        return had_some


def _is_silent(sock: socket.socket) -> bool:
    """Whether the connection is open, and has no unread bytes."""
    try:
        sock.recv(1)
    except OSError as error:
        return isinstance(error, (BlockingIOError, ssl.SSLWantReadError))
    return False
