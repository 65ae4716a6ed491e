"""A bounded number of slots, each used by one call at a time.

A slot is whatever *make* returns; here it is a transport with one connection.
Calls wait for their turn in the order they came. The slot that was used last is
used next, so that what is not needed grows old and is closed. A slot whose use
did not end cleanly is closed and never used again: whatever it was doing when it
was left, it may be doing still.

Both pools keep their books in the same way, so the rules stand in `_Book` once.
Each turn adds and removes nobody but itself there, and every such step may be
done twice: an interrupt between any two of them leaves the books whole.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import anyio

from ._errors import ClientClosedError
from ._watchdog import ThreadGate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from ._watchdog import Stop

T = TypeVar("T")
R = TypeVar("R")

_LOOK_AGAIN: Final = 1.0
"""Seconds after which a waiting thread looks for itself whether it is its turn:
an interrupted thread may have died before it could tell."""


class NoTurnError(Exception):
    """The time was up before a slot was free."""


class _Gate(Protocol):
    def set(self) -> object: ...


class Turn(Generic[T]):
    """One use of a slot, from waiting for it to giving it back."""

    __slots__ = (
        "aborted",
        "clean",
        "fresh",
        "gate",
        "last",
        "queued",
        "slot",
        "spare",
        "stop",
        "waited",
    )

    def __init__(self, *, fresh: bool = False, stop: Stop | None = None) -> None:
        self.fresh = fresh
        """Whether it must be a slot that was never used before."""
        self.stop = stop
        """What may end the waiting from another thread."""
        self.slot: T | None = None
        """The slot while it is in use."""
        self.waited = 0.0
        """Seconds spent waiting for a slot."""
        self.last = False
        """Whether its slot must not be used again, however well this ends."""
        self.aborted = False
        self.clean = False
        self.gate: _Gate | None = None
        self.queued = False  # Whether it may be among those that wait.
        self.spare: list[T] = []

    def abort(self) -> None:
        """Wait for a slot no more; another thread may call this."""
        self.aborted = True
        if self.gate is not None:
            self.gate.set()


class _Book(Generic[T]):
    """Who uses a slot, who waits for one, and which slots are idle."""

    def __init__(self, limit: int, idle_seconds: float) -> None:
        self.limit = limit
        self.idle_seconds = idle_seconds
        self.closed = False
        self.using: set[Turn[T]] = set()
        self.waiting: deque[Turn[T]] = deque()
        self.idle: deque[tuple[T, float]] = deque()
        """Slots and since when; the one that was used last is at the right."""

    def enter(self, turn: Turn[T]) -> bool:
        """Whether *turn* may go; it belongs at the end of the queue if not."""
        if self.closed:
            raise ClientClosedError("this client was closed; make a new one")
        if len(self.using) >= self.limit or (
            self.waiting and self.waiting[0] is not turn
        ):
            return False
        self.using.add(turn)
        if turn.queued:
            self.waiting.popleft()
            turn.queued = False
            self.tell_next()
        self._choose(turn)
        return True

    # An interrupt comes after a call and never within such a line as the first of
    # these pairs, so a slot is at no moment nowhere.

    def _choose(self, turn: Turn[T]) -> None:
        oldest = time.monotonic() - self.idle_seconds
        while self.idle and self.idle[0][1] < oldest:
            self._retire_oldest(turn)
        if not turn.fresh:
            if self.idle:
                turn.slot = self.idle[-1][0]
                self.idle.pop()
        elif len(self.using) + len(self.idle) > self.limit:
            self._retire_oldest(turn)

    def _retire_oldest(self, turn: Turn[T]) -> None:
        turn.spare += [self.idle[0][0]]
        self.idle.popleft()

    def leave(self, turn: Turn[T]) -> None:
        """Take *turn* out, wherever it got to; what to close is in its spare."""
        now = time.monotonic()
        slot, turn.slot = turn.slot, None
        if slot is not None:
            if turn.clean and not self.closed:
                self.idle.append((slot, now))
            else:
                turn.spare.append(slot)
        self.using.discard(turn)
        if turn.queued:
            with suppress(ValueError):  # Looked for as little as can be: many may wait.
                self.waiting.remove(turn)
        self.tell_next()

    def tell_next(self) -> None:
        if self.waiting and len(self.using) < self.limit:
            gate = self.waiting[0].gate
            assert gate is not None
            gate.set()

    def close(self) -> None:
        """Refuse every further turn, those that wait for one too."""
        self.closed = True
        for turn in self.waiting:
            if turn.gate is not None:
                turn.gate.set()

    def take_idle(self) -> list[T]:
        """Every idle slot; they are the caller's to close."""
        slots = [slot for slot, _ in self.idle]
        self.idle.clear()
        return slots

    @property
    def has_slots(self) -> bool:
        return bool(self.idle or self.using)


class _LockedBook(_Book[T]):
    """The book of one process, for its threads."""

    def __init__(
        self, limit: int, idle_seconds: float, inherited: _LockedBook[T] | None
    ) -> None:
        super().__init__(limit, idle_seconds)
        self.lock = threading.Lock()
        self.process = os.getpid()
        # A forked child must not use its parent's connections, nor close them,
        # nor take a lock that a thread of its parent's held. Kept, they can't be
        # closed by the garbage collection either.
        self.inherited = inherited
        self.closed = inherited is not None and inherited.closed


class Pool(Generic[T]):
    """Slots for the threads of a process; a forked child gets its own."""

    def __init__(
        self,
        make: Callable[[], T],
        close: Callable[[T], None],
        *,
        limit: int,
        idle_seconds: float,
    ) -> None:
        self._make = make
        self._close = close
        self._book = _LockedBook[T](limit, idle_seconds, None)

    def _here(self) -> _LockedBook[T]:
        book = self._book
        if book.process != os.getpid():
            book = self._book = _LockedBook(book.limit, book.idle_seconds, book)
        return book

    def use(self, turn: Turn[T], work: Callable[[T], R], *, until: float) -> R:
        """Wait for a slot, and return what *work* returns for it.

        Raises:
            NoTurnError: No slot was free when the monotonic clock showed *until*.
            ClientClosedError: The pool was closed.
        """
        book = self._here()
        try:
            self._enter(book, turn, until)
            slot = turn.slot
            if slot is None:
                slot = turn.slot = self._make()
            result = work(slot)
            turn.clean = not turn.last
            return result
        finally:
            try:
                self._leave(book, turn)
            except KeyboardInterrupt:
                self._leave(book, turn)
                raise

    def _enter(self, book: _LockedBook[T], turn: Turn[T], until: float) -> None:
        gate = None
        with book.lock:
            if not book.enter(turn):
                turn.gate = gate = ThreadGate()
                turn.queued = True
                book.waiting.append(turn)
        if gate is not None:
            self._wait(book, turn, gate, until)
        self._close_spare(turn)

    @staticmethod
    def _wait(
        book: _LockedBook[T], turn: Turn[T], gate: ThreadGate, until: float
    ) -> None:
        started = time.monotonic()
        try:
            if turn.stop is not None:
                turn.stop.hold(turn)
            while (left := until - time.monotonic()) > 0 and not turn.aborted:
                gate.wait(min(left, _LOOK_AGAIN))
                with book.lock:
                    if book.enter(turn):
                        return
            raise NoTurnError
        finally:
            if turn.stop is not None:
                turn.stop.release(turn)
            turn.waited = time.monotonic() - started

    def _leave(self, book: _LockedBook[T], turn: Turn[T]) -> None:
        with book.lock:
            book.leave(turn)
        self._close_spare(turn)

    def _close_spare(self, turn: Turn[T]) -> None:
        while turn.spare:
            self._close(turn.spare[-1])
            turn.spare.pop()

    def close(self) -> None:
        """Close what is idle now, and what is in use as soon as it is left."""
        book = self._here()
        with book.lock:
            book.close()
            idle = book.take_idle()
        for slot in idle:
            self._close(slot)

    @property
    def is_open(self) -> bool:
        """Whether there is a slot that closing would close."""
        book = self._here()
        return not book.closed and book.has_slots


class _LoopBook(_Book[T]):
    """The book of one event loop, for its tasks."""

    closing: AsyncGenerator[None, None] | None = None


class AsyncPool(Generic[T]):
    """Slots for the tasks of an event loop; each loop gets its own.

    Connections belong to the loop that opened them. A loop that ends by
    ``asyncio.run`` or ``trio.run`` closes the idle ones of its own.
    """

    def __init__(
        self,
        make: Callable[[], T],
        close: Callable[[T], Awaitable[None]],
        *,
        limit: int,
        idle_seconds: float,
    ) -> None:
        self._make = make
        self._close = close
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._closed = False
        self._books: dict[object, _LoopBook[T]] = {}
        self._process = os.getpid()
        # See _LockedBook: a forked child leaves its parent's alone.
        self._inherited: list[dict[object, _LoopBook[T]]] = []

    async def use(self, turn: Turn[T], work: Callable[[T], Awaitable[R]]) -> R:
        """Wait for a slot, and return what *work* returns for it.

        It waits for ever: a limit is the caller's, by a cancel scope around it.

        Raises:
            ClientClosedError: The pool was closed.
        """
        book = self._here()
        if book.closing is None:
            book.closing = self._close_with_the_loop(book)
            await anext(book.closing)
        try:
            if not book.enter(turn):
                await self._wait(book, turn)
            if turn.spare:
                await self._close_spare(turn)
            slot = turn.slot
            if slot is None:
                slot = turn.slot = self._make()
            result = await work(slot)
            turn.clean = not turn.last
            return result
        finally:
            book.leave(turn)
            if turn.spare:
                await self._close_spare(turn)

    @staticmethod
    async def _wait(book: _LoopBook[T], turn: Turn[T]) -> None:
        started = time.monotonic()
        turn.gate = gate = anyio.Event()
        turn.queued = True
        book.waiting.append(turn)
        try:
            while True:
                await gate.wait()
                turn.gate = gate = anyio.Event()
                if book.enter(turn):
                    return
        finally:
            turn.waited = time.monotonic() - started

    async def _close_spare(self, turn: Turn[T]) -> None:
        # Unshielded, a cancelled task would leave its connection open.
        with anyio.CancelScope(shield=True):
            while turn.spare:
                await self._close(turn.spare.pop())

    async def _close_with_the_loop(
        self, book: _LoopBook[T]
    ) -> AsyncGenerator[None, None]:
        # asyncio.run and trio.run close the asynchronous generators that were
        # begun in them: the one moment at which the connections of a loop that
        # is about to end can still be closed.
        try:
            yield
        finally:
            book.closing = None
            with anyio.CancelScope(shield=True):
                for slot in book.take_idle():
                    await self._close(slot)

    def _here(self) -> _LoopBook[T]:
        if self._process != os.getpid():
            self._inherited.append(self._books)
            self._books, self._process = {}, os.getpid()
        loop = _running_loop()
        book = self._books.get(loop)
        if book is None:
            for other in list(self._books):
                if _has_ended(other):
                    self._books.pop(other, None)
            book = self._books[loop] = _LoopBook(self._limit, self._idle_seconds)
            book.closed = self._closed
        return book

    async def aclose(self) -> None:
        """Close what is idle now, and what is in use as soon as it is left.

        What is idle in another running loop is closed when that loop ends, as
        nobody else can do it.
        """
        self._closed = True
        here = self._here()
        here.close()
        for book in list(self._books.values()):
            book.closed = True
        if here.closing is not None:
            await here.closing.aclose()

    @property
    def is_open(self) -> bool:
        """Whether there is a slot that closing would close."""
        return not self._closed and any(
            book.has_slots and not _has_ended(loop)
            for loop, book in list(self._books.items())
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
        loop.run_sync_soon(_nothing)
    except sys.modules["trio"].RunFinishedError:
        return True
    return False


def _nothing() -> None:
    pass
