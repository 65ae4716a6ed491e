"""How one thread ends what other threads wait for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ._gate import ThreadGate

if TYPE_CHECKING:
    from ._watchdog import Abortable


class StoppedError(BaseException):
    """The thread was told to stop.

    Not an ``Exception``, so that nothing takes it for a failure to try again.
    """


class Stop:
    """Shared by threads that another thread may stop, once and for all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[Abortable] = set()
        self._stopped = False
        self._gate = ThreadGate()

    def stop(self) -> None:
        """Abort what is held, end every sleep, and let nothing more begin."""
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            self._gate.set()
            for what in self._held:
                what.abort()

    def hold(self, what: Abortable) -> None:
        """Let *what* be aborted from now on.

        Raises:
            StoppedError: It is too late to begin.
        """
        with self._lock:
            if self._stopped:
                raise StoppedError
            self._held.add(what)

    def release(self, what: Abortable) -> None:
        """Leave *what* alone: after this returns it is not aborted."""
        with self._lock:
            self._held.discard(what)

    def sleep(self, seconds: float) -> None:
        """Wait for *seconds*.

        Raises:
            StoppedError: The time was not up yet.
        """
        if self._gate.wait(seconds):
            # Once open it stays so, for the other threads.
            self._gate.set()
            raise StoppedError
