"""Stopping other threads: sleeps end, held events open, nothing begins."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from sitestats._transport.interrupt import InterruptSafeEvent, Stop, StoppedError


@pytest.fixture
def made() -> Iterator[Callable[[], Stop]]:
    """A function that makes stops, which are closed after the test."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Stop()))


def test_a_sleep_ends_at_once(made: Callable[[], Stop]) -> None:
    """stop() wakes every thread that sleeps, and raises StoppedError there."""
    stop = made()
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


def test_a_sleep_without_a_stop(made: Callable[[], Stop]) -> None:
    """Without stop() a sleep has its full length."""
    began = time.monotonic()
    made().sleep(0.02)
    assert time.monotonic() - began >= 0.02


def test_held_events_open(made: Callable[[], Stop]) -> None:
    """stop() opens what is held, and leaves what was released."""
    stop = made()
    held, released = InterruptSafeEvent(), InterruptSafeEvent()
    stop.hold(held)
    stop.hold(released)
    stop.release(released)
    stop.stop()
    assert held.wait(0)
    assert not released.wait(0)


def test_nothing_begins_after_stop(made: Callable[[], Stop]) -> None:
    """After stop() nothing can be held, and every sleep raises."""
    stop = made()
    stop.stop()
    with pytest.raises(StoppedError):
        stop.hold(InterruptSafeEvent())
    for _ in range(2):
        with pytest.raises(StoppedError):
            stop.sleep(0)


def test_stopped_is_no_exception() -> None:
    """No ``except Exception`` catches StoppedError, so nothing is retried after it."""
    assert not issubclass(StoppedError, Exception)


def test_its_sockets_are_closed_with_the_last_thread() -> None:
    """A stop that nobody closed frees its sockets when nothing uses it any more."""
    stop = Stop()
    wakes, waker = stop.wakes, stop._waker
    del stop
    gc.collect()
    assert (wakes.fileno(), waker.fileno()) == (-1, -1)
