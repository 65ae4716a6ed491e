"""Locks between threads: interrupts at each place, waiting for another, forks."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType

import pytest

from children import exit_code
from interrupts import at_each_place, works_in_another_thread
from sitestats._common import thread_locks
from sitestats._common.thread_locks import ForkSafeLock, LibraryLock, run_locked

LONG = 30.0
"""Seconds that pass only when a test fails."""


def test_one_thread_at_a_time() -> None:
    """Of threads that count by reading, waiting and writing, none loses a step."""
    lock, count = ForkSafeLock(), 0

    def step(more: int) -> int:
        nonlocal count
        before = count
        time.sleep(0.0001)
        count = before + more
        return count

    with ThreadPoolExecutor(8) as pool:
        steps = set(pool.map(lambda _: lock.run(step, 1), range(200)))
    assert steps == set(range(1, 201))


def test_an_error_releases_the_lock() -> None:
    """What the action raises leaves the lock free, and is raised as it is."""
    lock = ForkSafeLock()
    with pytest.raises(ZeroDivisionError):
        lock.run(divmod, 1, 0)
    assert works_in_another_thread(partial(lock.run, int), seconds=LONG)


@pytest.mark.parametrize("lock", [ForkSafeLock(), LibraryLock("a library", seconds=1)])
def test_an_interrupt_at_any_place_releases_the_lock(
    lock: ForkSafeLock | LibraryLock,
) -> None:
    """Wherever an interrupt comes, the lock is free afterwards for other threads, also
    while its traceback is there yet.
    """
    places = 0
    for interrupt in at_each_place(lambda file: file == thread_locks.__file__):
        with interrupt:
            lock.run(int)
        places += 1
        works = works_in_another_thread(partial(lock.run, int), seconds=LONG)
        assert works, places
    assert places > 3


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_an_interrupt_while_waiting_releases_nothing_of_others() -> None:
    """A thread that is interrupted while it waits leaves the lock to who has it."""
    lock, inner = threading.RLock(), []
    has_it, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        has_it.set()
        may_end.wait(LONG)
        inner.append("ends")

    def press(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    holder = threading.Thread(target=run_locked, args=(lock, hold))
    holder.start()
    assert has_it.wait(LONG)
    before = signal.signal(signal.SIGALRM, press)
    try:
        # Within the block, as it may come before the waiting has begun.
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - see above
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            run_locked(lock, inner.append, "too early")
    finally:
        signal.signal(signal.SIGALRM, before)
    is_taken = not lock.acquire(blocking=False)
    may_end.set()
    holder.join(LONG)
    run_locked(lock, inner.append, "afterwards")
    assert is_taken
    assert inner == ["ends", "afterwards"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_a_lock_of_its_own() -> None:
    """A child that was forked while another thread has the lock can take it."""
    lock = ForkSafeLock()
    has_it, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        has_it.set()
        may_end.wait(LONG)

    holder = threading.Thread(target=lock.run, args=(hold,))
    holder.start()
    assert has_it.wait(LONG)
    code = exit_code(partial(lock.run, int))
    may_end.set()
    holder.join(LONG)
    assert code == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("is_in_time", [True, False])
def test_a_fork_waits_for_a_library(
    monkeypatch: pytest.MonkeyPatch, *, is_in_time: bool
) -> None:
    """A fork waits until no thread uses a library; where that takes too long, to use it
    is an error in the child. It goes on in the parent in both cases.
    """
    monkeypatch.setattr(thread_locks, "_FORK_SECONDS", LONG if is_in_time else 0.01)
    lock = LibraryLock("a library", seconds=LONG)
    has_it, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        has_it.set()
        may_end.wait(0.1 if is_in_time else LONG)

    holder = threading.Thread(target=lock.run, args=(hold,))
    holder.start()
    assert has_it.wait(LONG)
    code = exit_code(partial(lock.run, int))
    may_end.set()
    holder.join(LONG)
    assert code == (not is_in_time)
    assert works_in_another_thread(partial(lock.run, int), seconds=LONG)


def test_who_waits_too_long_for_a_library_gets_an_error() -> None:
    """A thread that another one keeps waiting gets an error, and takes nothing away."""
    lock = LibraryLock("a library", seconds=0.01)
    has_it, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        has_it.set()
        may_end.wait(LONG)

    holder = threading.Thread(target=lock.run, args=(hold,))
    holder.start()
    assert has_it.wait(LONG)
    for _ in range(2):
        with pytest.raises(TimeoutError, match="other threads use a library"):
            lock.run(int)
    may_end.set()
    holder.join(LONG)
    assert works_in_another_thread(partial(lock.run, int), seconds=LONG)
