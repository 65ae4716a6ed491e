"""End from one thread what others wait for; apart, since it needs no socket."""

from __future__ import annotations

import threading
from collections.abc import Callable


class StoppedError(BaseException):
    """Another thread has stopped this one.

    Not an ``Exception``, so that nothing takes it for a failure to retry.
    """


class Stop:
    """Shared by threads that another thread may stop, once and for all."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._wakes: set[Callable[[], object]] = set()

    def stop(self) -> None:
        """End what is under way, and let nothing more begin."""
        with self._lock:
            self._stopped.set()
            for wake in self._wakes:
                wake()

    def check(self) -> None:
        """Go on, unless this is stopped.

        Raises:
            StoppedError: It is.
        """
        if self._stopped.is_set():
            raise StoppedError

    def sleep(self, seconds: float) -> None:
        """Wait for *seconds*.

        Raises:
            StoppedError: The time was not up yet.
        """
        if self._stopped.wait(min(seconds, threading.TIMEOUT_MAX)):
            raise StoppedError

    def add(self, wake: Callable[[], object]) -> None:
        """Have a stop call *wake*, until it is discarded."""
        with self._lock:
            self._wakes.add(wake)
            self.check()

    def discard(self, wake: Callable[[], object]) -> None:
        """Not any more; a stop under way has called it by then."""
        with self._lock:
            self._wakes.discard(wake)
