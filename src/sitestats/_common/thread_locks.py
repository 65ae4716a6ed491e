"""Locks between threads that neither Ctrl-C nor a fork leaves taken."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

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
