"""Interrupt other threads: what they wait for, and an event that Ctrl-C can't break."""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from socket import socket


class StoppedError(BaseException):
    """Another thread has stopped this one.

    Not an ``Exception``, so that nothing takes it for a failure to retry.
    """


class Stop:
    """Shared by threads that another thread may stop, once and for all."""

    def __init__(self) -> None:
        # Only who uses get_many has to load it.
        from socket import socketpair

        wakes, waker = socketpair()
        self.wakes: socket = wakes
        """Can be read from once this is stopped: for waits for other sockets."""
        self._waker: socket = waker
        self._held: set[InterruptSafeEvent] = set()
        self._stopped = False
        self._event = InterruptSafeEvent()
        # Where nobody calls close: then the last thread that uses it has ended.
        weakref.finalize(self, wakes.close)
        weakref.finalize(self, waker.close)

    # Without a lock: each line is one step, whatever comes between two of them.

    def stop(self) -> None:
        """Open what is held, end every sleep, and let nothing more begin."""
        self._stopped = True
        self._event.set()
        self._waker.close()
        for event in self._held.copy():
            event.set()

    def hold(self, event: InterruptSafeEvent) -> None:
        """Let *event* be opened by a stop from now on, until it is released.

        Raises:
            StoppedError: It is too late to begin.
        """
        # In this order, so that either this sees the stop or the stop sees this.
        self._held.add(event)
        self.check()

    def release(self, event: InterruptSafeEvent) -> None:
        """Leave *event* alone, but for a stop under way; it may not be held."""
        self._held.discard(event)

    def check(self) -> None:
        """Go on, unless this is stopped.

        Raises:
            StoppedError: It is.
        """
        if self._stopped:
            raise StoppedError

    def close(self) -> None:
        """Free its sockets, once no thread uses it any more.

        Earlier, a thread that is about to wake up would look at whichever file has
        got the socket's number by then, and go on waiting.
        """
        self._waker.close()
        self.wakes.close()

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
