"""One thread ends what others wait for."""

from __future__ import annotations

import threading
import time

import pytest
from attrs import define

from sitestats._transport.interrupt import Stop, StoppedError


@define(eq=False)
class Something:
    """What can be aborted."""

    aborted: int = 0

    def abort(self) -> None:
        self.aborted += 1


def test_a_sleep_ends_at_once() -> None:
    """Threads that sleep for a day are woken, all of them, and told to stop."""
    stop = Stop()
    ended: list[str] = []

    def work() -> None:
        try:
            stop.sleep(86_400)
        except StoppedError:
            ended.append("stopped")

    threads = [threading.Thread(target=work, daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    stop.stop()
    for thread in threads:
        thread.join(30)
    assert ended == ["stopped"] * 5


def test_a_sleep_that_nobody_ends() -> None:
    """Without a stop a sleep is as long as it was meant to be."""
    began = time.monotonic()
    Stop().sleep(0.02)
    assert time.monotonic() - began >= 0.02


def test_what_is_held_is_aborted_once() -> None:
    """Stopping aborts what is held, and what was released is left alone."""
    stop = Stop()
    held, released = Something(), Something()
    stop.hold(held)
    stop.hold(released)
    stop.release(released)
    stop.stop()
    stop.stop()
    assert (held.aborted, released.aborted) == (1, 0)


def test_nothing_begins_after_the_end() -> None:
    """After stopping nothing can be held any more, and every sleep fails."""
    stop = Stop()
    stop.stop()
    with pytest.raises(StoppedError):
        stop.hold(Something())
    for _ in range(2):
        with pytest.raises(StoppedError):
            stop.sleep(0)


def test_it_is_no_exception_to_try_again_after() -> None:
    """No ``except Exception`` on the way takes it for a failure."""
    assert not issubclass(StoppedError, Exception)
