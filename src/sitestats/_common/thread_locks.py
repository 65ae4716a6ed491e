"""Locks between threads that neither Ctrl-C nor a fork leaves taken."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

_FORK_SECONDS: Final = 2.0
"""How long a fork waits for a library."""

P = ParamSpec("P")
T = TypeVar("T")


def run_locked(
    lock: threading.RLock, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call *action* while *lock* is taken, and return what it returns.

    A ``with`` statement does not do: since Python 3.14 an interrupt can come between
    ``__enter__`` and the block, and then nobody releases the lock. The action must not
    take the same lock again: its inner call may release it for both.
    """
    try:
        lock.acquire()
        return action(*args, **kwargs)
    finally:
        # No function of Python, as an interrupt may come when one begins.
        try:  # noqa: SIM105 - so is suppress
            lock.release()
        except RuntimeError:
            # The interrupt came before the lock was taken: it knows its owner.
            pass


class ForkSafeLock:
    """A lock that a forked child has anew, as a fork copies one that is taken."""

    __slots__ = ("_locks",)

    def __init__(self) -> None:
        self._locks: dict[int, threading.RLock] = {}

    def run(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call *action* while the lock is taken, and return what it returns."""
        lock = self._locks.setdefault(os.getpid(), threading.RLock())
        return run_locked(lock, action, *args, **kwargs)


class LibraryLock:
    """A lock around a library in C, which has locks of its own.

    A fork would copy those while a thread has them. So it waits for that thread, and
    where that takes too long, the library can't be used in the child.
    """

    def __init__(self, library: str, *, seconds: float) -> None:
        self._library = library
        self._seconds = seconds
        self._lock = threading.RLock()
        self._is_lost = False
        self._forking = threading.local()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork_in_parent,
                after_in_child=self._after_fork_in_child,
            )

    def run(self, action: Callable[[], T]) -> T:
        """Call *action* while the lock is taken, and return what it returns.

        Raises:
            OSError: Other threads use the library for too long, or used it when this
                process was forked.
        """
        lock = self._lock
        if self._is_lost:
            raise OSError(f"this process was forked while {self._library} was in use")
        try:
            if not lock.acquire(timeout=self._seconds):
                raise TimeoutError(f"other threads use {self._library} for too long")
            return action()
        finally:
            # As above; it is not this thread's if the time was up.
            try:  # noqa: SIM105 - so is suppress
                lock.release()
            except RuntimeError:
                pass

    def _before_fork(self) -> None:
        self._forking.has_lock = self._lock.acquire(timeout=_FORK_SECONDS)

    def _after_fork_in_parent(self) -> None:
        if self._forking.has_lock:
            self._lock.release()

    def _after_fork_in_child(self) -> None:
        self._is_lost = self._is_lost or not self._forking.has_lock
        self._lock = threading.RLock()
