"""What a thread waits at until another one opens it."""

from __future__ import annotations

import threading
from contextlib import suppress


class ThreadGate:
    """An event without a lock that an interrupt can keep.

    ``threading.Event`` takes its lock in Python code, and an interrupt that
    comes just then leaves it locked for ever.
    """

    def __init__(self) -> None:
        self._shut = threading.Lock()
        self._shut.acquire()

    def set(self) -> None:
        """Open it; it may be open already."""
        with suppress(RuntimeError):
            self._shut.release()

    def wait(self, seconds: float) -> bool:
        """Wait until it is open, and shut it again; False when the time was up."""
        return self._shut.acquire(timeout=min(seconds, threading.TIMEOUT_MAX))
