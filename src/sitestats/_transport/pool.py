"""Connection pools for threads and for event loops: one request a connection.

A connection is whatever *make* returns; here it is a transport with a single
connection. Requests wait in the order in which they came. The connection that was
used last is used next, so that what is not needed grows old and is closed. One whose
use did not end cleanly is closed and never used again: whatever it was doing, it may
be doing still.

The rules of both pools stand in `_PoolState` once. Each lease adds and removes
nothing but itself there, and every such step may be done twice: an interrupt between
any two of them leaves the state consistent.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import anyio
import attrs

from sitestats._common.errors import ClientClosedError
from sitestats._common.thread_locks import run_locked

from .interrupt import InterruptSafeEvent
from .waiting import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from .interrupt import Stop


class Connection(Protocol):
    """What a pool has."""

    def is_open(self) -> bool:
        """Whether one that was used is worth keeping."""
        ...

    def close(self) -> None:
        """Close it at once."""
        ...


T = TypeVar("T", bound=Connection)
R = TypeVar("R")

_LOOK_AGAIN: Final = 1.0
"""Seconds after which a waiting thread checks for itself whether it is next:
an interrupted thread may have died before it could tell."""


@attrs.define(eq=False)
class Lease(Generic[T]):
    """One use of a connection, from waiting for it to giving it back."""

    fresh_connection: bool = False
    """Whether it must be a connection that was never used before."""
    stop: Stop | None = None
    """What may end the waiting from another thread."""
    connection: T | None = None
    """The connection while it is in use."""
    waited: float = 0.0
    """Seconds spent waiting for a connection."""
    clean: bool = False
    event: InterruptSafeEvent | anyio.Event | None = None
    queued: bool = False  # Whether it may be among those that wait.
    to_close: list[T] = attrs.field(factory=list[T])

    def close_retired(self) -> None:
        """Close the connections that nobody will use again."""
        while self.to_close:
            self.to_close[-1].close()
            self.to_close.pop()


class _PoolState(Generic[T]):
    """Who uses a connection, who waits for one, and which connections are idle."""

    def __init__(self, make: Callable[[], T], limit: int, idle_seconds: float) -> None:
        self.make = make
        self.limit = limit
        self.idle_seconds = idle_seconds
        self.closed = False
        self.using: set[Lease[T]] = set()
        self.waiting: deque[Lease[T]] = deque()
        self.idle: deque[tuple[T, float]] = deque()
        """Slots and since when; the one that was used last is at the right."""

    def enter(self, lease: Lease[T]) -> bool:
        """Whether *lease* may start now; otherwise it belongs in the queue."""
        if self.closed:
            raise ClientClosedError("this client was closed; make a new one")
        if len(self.using) >= self.limit or (
            self.waiting and self.waiting[0] is not lease
        ):
            return False
        self.using.add(lease)
        if lease.queued:
            self.waiting.popleft()
            lease.queued = False
            self.wake_next()
        self._choose(lease)
        return True

    # An interrupt comes after a call and never within such a line as the first of
    # these pairs, so no connection is ever lost.

    def _choose(self, lease: Lease[T]) -> None:
        oldest = time.monotonic() - self.idle_seconds
        while self.idle and self.idle[0][1] < oldest:
            self._retire_oldest(lease)
        if not lease.fresh_connection:
            if self.idle:
                lease.connection = self.idle[-1][0]
                self.idle.pop()
        elif len(self.using) + len(self.idle) > self.limit:
            self._retire_oldest(lease)

    def _retire_oldest(self, lease: Lease[T]) -> None:
        lease.to_close += [self.idle[0][0]]
        self.idle.popleft()

    def connection_of(self, lease: Lease[T]) -> T:
        """The connection of a lease that started, which may be a new one."""
        if lease.connection is None:
            lease.connection = self.make()
        return lease.connection

    def leave(self, lease: Lease[T]) -> None:
        """Take *lease* out, wherever it is; ``to_close`` has what is to be closed."""
        now = time.monotonic()
        connection, lease.connection = lease.connection, None
        if connection is not None:
            if lease.clean and not self.closed:
                self.idle.append((connection, now))
            else:
                lease.to_close.append(connection)
        self.using.discard(lease)
        if lease.queued:
            with suppress(ValueError):  # Looked for as little as can be: many may wait.
                self.waiting.remove(lease)
        self.wake_next()

    def wake_next(self) -> None:
        if self.waiting and len(self.using) < self.limit:
            event = self.waiting[0].event
            assert event is not None
            event.set()

    def close(self) -> None:
        """Refuse every further lease, those that wait for one too."""
        self.closed = True
        for lease in self.waiting:
            if lease.event is not None:
                lease.event.set()

    def take_idle(self) -> list[T]:
        """Every idle connection; they are the caller's to close."""
        connections = [connection for connection, _ in self.idle]
        self.idle.clear()
        return connections

    @property
    def has_connections(self) -> bool:
        return bool(self.idle or self.using)


class _ThreadedState(_PoolState[T]):
    """The state of a pool in one process, for its threads."""

    inherited: _ThreadedState[T] | None = None
    """A forked child must not use its parent's connections, nor close them, nor take a
    lock that a thread of its parent's held. Kept, they can't be closed by the garbage
    collection either."""

    def __init__(self, make: Callable[[], T], limit: int, idle_seconds: float) -> None:
        super().__init__(make, limit, idle_seconds)
        self.lock = threading.RLock()
        self.process = os.getpid()

    def inherit(self) -> _ThreadedState[T]:
        """That of a forked child."""
        state = _ThreadedState(self.make, self.limit, self.idle_seconds)
        state.inherited, state.closed = self, self.closed
        return state

    def enter_or_queue(self, lease: Lease[T]) -> InterruptSafeEvent | None:
        """The event to wait for, or None where *lease* may start now."""
        if self.enter(lease):
            return None
        lease.event = event = InterruptSafeEvent()
        lease.queued = True
        self.waiting.append(lease)
        return event


class Pool(Generic[T]):
    """Slots for the threads of a process; a forked child gets its own."""

    def __init__(
        self, make: Callable[[], T], *, limit: int, idle_seconds: float
    ) -> None:
        self._state = _ThreadedState(make, limit, idle_seconds)

    def _here(self) -> _ThreadedState[T]:
        if self._state.process != os.getpid():
            self._state = self._state.inherit()
        return self._state

    def use(self, lease: Lease[T], work: Callable[[T], R], *, until: float) -> R:
        """Wait for a connection, and return what *work* returns for it.

        Raises:
            OutOfTimeError: No connection was free by *until* (monotonic clock).
            ClientClosedError: The pool was closed.
        """
        state = self._here()
        try:
            self._enter(state, lease, until)
            connection = state.connection_of(lease)
            result = work(connection)
            lease.clean = connection.is_open()
            return result
        finally:
            try:
                self._leave(state, lease)
            except KeyboardInterrupt:
                self._leave(state, lease)
                raise

    def _enter(self, state: _ThreadedState[T], lease: Lease[T], until: float) -> None:
        event = run_locked(state.lock, state.enter_or_queue, lease)
        if event is not None:
            self._wait(state, lease, event, until)
        if lease.to_close:
            lease.close_retired()

    @staticmethod
    def _wait(
        state: _ThreadedState[T],
        lease: Lease[T],
        event: InterruptSafeEvent,
        until: float,
    ) -> None:
        started = time.monotonic()
        try:
            if lease.stop is not None:
                lease.stop.hold(event)
            while (left := until - time.monotonic()) > 0:
                event.wait(min(left, _LOOK_AGAIN))
                if lease.stop is not None:
                    lease.stop.check()
                if run_locked(state.lock, state.enter, lease):
                    return
            raise OutOfTimeError
        finally:
            if lease.stop is not None:
                lease.stop.release(event)
            lease.waited = time.monotonic() - started

    def _leave(self, state: _ThreadedState[T], lease: Lease[T]) -> None:
        run_locked(state.lock, state.leave, lease)
        if lease.to_close:
            lease.close_retired()

    def close(self) -> None:
        """Close what is idle now, and what is in use as soon as it is left."""
        state = self._here()
        run_locked(state.lock, state.close)
        # Without the lock, since nothing enters any more.
        for connection in state.take_idle():
            connection.close()

    @property
    def is_open(self) -> bool:
        """Whether there is a connection that closing would close."""
        state = self._here()
        return not state.closed and state.has_connections


class _LoopState(_PoolState[T]):
    """The state of a pool in one event loop, for its tasks."""

    closing: AsyncGenerator[None, None] | None = None


class AsyncPool(Generic[T]):
    """Slots for the tasks of an event loop; each loop gets its own.

    Connections belong to the loop that opened them. A loop that ends by
    ``asyncio.run`` or ``trio.run`` closes the idle ones of its own.
    """

    def __init__(
        self, make: Callable[[], T], *, limit: int, idle_seconds: float
    ) -> None:
        self._new_state = partial(_LoopState[T], make, limit, idle_seconds)
        self._closed = False
        self._states: dict[object, _LoopState[T]] = {}
        self._process = os.getpid()
        # See _ThreadedState: a forked child leaves its parent's alone.
        self._inherited: list[dict[object, _LoopState[T]]] = []

    async def use(self, lease: Lease[T], work: Callable[[T], Awaitable[R]]) -> R:
        """Wait for a connection, and return what *work* returns for it.

        It waits for ever: a limit is the caller's, by a cancel scope around it.

        Raises:
            ClientClosedError: The pool was closed.
        """
        state = self._here()
        if state.closing is None:
            state.closing = self._close_with_the_loop(state)
            await anext(state.closing)
        try:
            if not state.enter(lease):
                await self._wait(state, lease)
            if lease.to_close:
                lease.close_retired()
            connection = state.connection_of(lease)
            result = await work(connection)
            lease.clean = connection.is_open()
            return result
        finally:
            state.leave(lease)
            if lease.to_close:
                lease.close_retired()

    @staticmethod
    async def _wait(state: _LoopState[T], lease: Lease[T]) -> None:
        started = time.monotonic()
        lease.event = event = anyio.Event()
        lease.queued = True
        state.waiting.append(lease)
        try:
            while True:
                await event.wait()
                lease.event = event = anyio.Event()
                if state.enter(lease):
                    return
        finally:
            lease.waited = time.monotonic() - started

    async def _close_with_the_loop(
        self, state: _LoopState[T]
    ) -> AsyncGenerator[None, None]:
        # asyncio.run and trio.run close the asynchronous generators that were
        # begun in them: the one moment at which the connections of a loop that
        # is about to end can still be closed.
        try:
            yield
        finally:
            state.closing = None
            for connection in state.take_idle():
                connection.close()

    def _here(self) -> _LoopState[T]:
        if self._process != os.getpid():
            self._inherited.append(self._states)
            self._states, self._process = {}, os.getpid()
        loop = _running_loop()
        state = self._states.get(loop)
        if state is None:
            for other in list(self._states):
                if _has_ended(other):
                    self._states.pop(other, None)
            state = self._states[loop] = self._new_state()
            state.closed = self._closed
        return state

    async def aclose(self) -> None:
        """Close what is idle now, and what is in use as soon as it is left.

        What is idle in another running loop is closed when that loop ends, as
        nobody else can do it.
        """
        self._closed = True
        here = self._here()
        here.close()
        for state in list(self._states.values()):
            state.closed = True
        if here.closing is not None:
            await here.closing.aclose()

    @property
    def is_open(self) -> bool:
        """Whether there is a connection that closing would close."""
        return not self._closed and any(
            state.has_connections and not _has_ended(loop)
            for loop, state in list(self._states.items())
        )


def _running_loop() -> object:
    # trio is asked first: as a guest it runs within a loop of asyncio's. If it
    # was never imported, nothing runs on it.
    trio: Any = sys.modules.get("trio")
    if trio is not None:
        with suppress(RuntimeError):
            token: object = trio.lowlevel.current_trio_token()
            return token
    # Whoever has no loop need not load it.
    import asyncio

    return asyncio.get_running_loop()


def _has_ended(loop: Any) -> bool:
    import asyncio

    if isinstance(loop, asyncio.AbstractEventLoop):
        return loop.is_closed()
    try:
        loop.run_sync_soon(int)
    except sys.modules["trio"].RunFinishedError:
        return True
    return False
