"""How one thread ends what other threads wait for."""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from typing import Final, Protocol


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
        self._event = InterruptSafeEvent()

    def stop(self) -> None:
        """Abort what is held, end every sleep, and let nothing more begin."""
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            self._event.set()
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
        if self._event.wait(seconds):
            # Once open it stays so, for the other threads.
            self._event.set()
            raise StoppedError


# --- an interrupt-safe event ------------------------------------------------------


class InterruptSafeEvent:
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


# --- the watchdog -----------------------------------------------------------------


LINGER: Final = 5.0
"""Seconds that the thread stays when there is nothing left to watch: starting
one for each of a series of calls would cost more than the watching."""


class Abortable(Protocol):
    """What can be ended from another thread."""

    def abort(self) -> None:
        """End it at once; never wait, never fail."""
        ...


class Watchdog:
    """Aborts what is still watched when its time is up.

    The thread starts with the first thing to watch and ends by itself.
    """

    def __init__(self) -> None:
        # Callers take the lock itself: Condition takes it in Python code, and an
        # interrupt that comes just then would leave it locked for ever.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._watched: dict[Abortable, float] = {}
        self._wakes = math.inf
        self._thread: threading.Thread | None = None
        self._closed = False

    def watch(self, what: Abortable, until: float) -> None:
        """Abort *what* when the monotonic clock shows *until*."""
        with self._lock:
            self._watched[what] = until
            if until < self._wakes:
                self._wakes = until
                if self._thread is None:
                    self._start()
                else:
                    self._changed.notify()

    def unwatch(self, what: Abortable) -> None:
        """Leave *what* alone: after this returns it is not aborted."""
        with self._lock:
            self._watched.pop(what, None)
            if self._closed and not self._watched:
                self._changed.notify()

    def close(self) -> None:
        """End the thread as soon as nothing is watched."""
        with self._lock:
            self._closed = True
            self._changed.notify()
            thread = None if self._watched else self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _start(self) -> None:
        thread = threading.Thread(
            target=self._run, name="sitestats-watchdog", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is shutting down: the limit of each read is left.
            self._wakes = math.inf
        else:
            self._thread = thread

    def _run(self) -> None:
        with self._lock:
            lingering = False
            while self._watched or not (lingering or self._closed):
                lingering = not self._watched
                now = time.monotonic()
                for what in [w for w, until in self._watched.items() if until <= now]:
                    del self._watched[what]
                    what.abort()
                self._wakes = min(self._watched.values(), default=math.inf)
                self._wakes = min(self._wakes, now + LINGER)
                self._changed.wait(self._wakes - now)
            self._wakes = math.inf
            self._thread = None
