"""End from one thread what others wait for; apart, since it needs no socket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


class StoppedError(BaseException):
    """Another thread has stopped this one.

    Not an ``Exception``, so that nothing takes it for a failure to retry.
    """


class Stop:
    """Shared by threads that another thread may stop, once and for all."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._ends: set[Callable[[], object]] = set()

    def stop(self) -> None:
        """End what is under way, and let nothing more begin."""
        self._stopped.set()
        # What is added from now on sees that, and what is over does not care.
        for end in [*self._ends]:
            end()

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Generator[None]:
        """Have a stop call *end*, which makes the block fail.

        Raises:
            StoppedError: It did, or was stopped before.
        """
        self._ends.add(end)
        try:
            self._check()
            yield
        except Exception:
            self._check()
            raise
        finally:
            self._ends.discard(end)

    def sleep(self, seconds: float) -> None:
        """Wait for *seconds*.

        Raises:
            StoppedError: It was stopped before that.
        """
        self._stopped.wait(min(seconds, threading.TIMEOUT_MAX))
        self._check()

    def _check(self) -> None:
        if self._stopped.is_set():
            raise StoppedError
