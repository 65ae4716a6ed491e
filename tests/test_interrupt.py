"""Ending waits and requests from another thread: Stop and Watchdog."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator

import pytest
from attrs import define

from sitestats._transport import interrupt
from sitestats._transport.interrupt import Stop, StoppedError, Watchdog

LONG = 30.0
"""Seconds that pass only when a test fails."""


class Watched:
    """An object that can be aborted."""

    def __init__(self) -> None:
        self.aborted = threading.Event()

    def abort(self) -> None:
        self.aborted.set()


def threads() -> list[threading.Thread]:
    """The threads of all watchdogs."""
    return [t for t in threading.enumerate() if t.name == "sitestats-watchdog"]


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    """A watchdog whose thread must be gone in the end."""
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()
    assert threads() == []


def soon() -> float:
    """A moment in the near future."""
    return time.monotonic() + 0.05


def test_no_thread_without_anything_to_watch(watchdog: Watchdog) -> None:
    """A client that was never used has no watchdog thread."""
    assert threads() == []


def test_an_overdue_request_is_aborted(watchdog: Watchdog) -> None:
    """A request is aborted when its limit passes."""
    watched = Watched()
    watchdog.watch(watched, soon())
    assert watched.aborted.wait(LONG)


def test_a_request_in_time_is_not_aborted(watchdog: Watchdog) -> None:
    """A request that ended within its limit is not aborted."""
    done, watched = Watched(), Watched()
    until = soon()
    watchdog.watch(done, until)
    watchdog.watch(watched, until)
    watchdog.unwatch(done)
    assert watched.aborted.wait(LONG)
    assert not done.aborted.is_set()


def test_a_shorter_limit_wakes_the_thread(watchdog: Watchdog) -> None:
    """A request with a shorter limit than the first is aborted in time."""
    patient, watched = Watched(), Watched()
    watchdog.watch(patient, time.monotonic() + LONG)
    watchdog.watch(watched, soon())
    assert watched.aborted.wait(LONG)
    assert len(threads()) == 1
    watchdog.unwatch(patient)
    assert not patient.aborted.is_set()


def test_no_limit_is_no_limit(watchdog: Watchdog) -> None:
    """A request without a limit is never aborted."""
    watched = Watched()
    watchdog.watch(watched, math.inf)
    watchdog.unwatch(watched)
    assert threads() == []


def test_the_thread_ends_by_itself(
    watchdog: Watchdog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idle thread ends, and is started again when it is needed."""
    monkeypatch.setattr(interrupt, "LINGER", 0.01)
    for _ in range(2):
        watched = Watched()
        watchdog.watch(watched, soon())
        (thread,) = threads()
        thread.join(LONG)
        assert watched.aborted.is_set()
        assert threads() == []


def test_nothing_is_left_after_close() -> None:
    """Closing ends the thread at once, however long it would have waited."""
    watchdog = Watchdog()
    watched = Watched()
    watchdog.watch(watched, time.monotonic() + LONG)
    watchdog.unwatch(watched)
    assert len(threads()) == 1
    watchdog.close()
    assert threads() == []


def test_closing_keeps_the_limits_of_requests() -> None:
    """A request in progress keeps its limit when the client is closed."""
    watchdog = Watchdog()
    watched, other = Watched(), Watched()
    watchdog.watch(watched, time.monotonic() + 0.1)
    watchdog.watch(other, time.monotonic() + LONG)
    watchdog.close()
    assert watched.aborted.wait(LONG)
    (thread,) = threads()
    watchdog.unwatch(other)
    thread.join(LONG)
    assert threads() == []


def test_requests_work_when_no_thread_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Requests work when no thread can start, as when the interpreter exits."""

    def refuse(self: threading.Thread) -> None:
        message = "can't start new thread at interpreter shutdown"
        raise RuntimeError(message)

    watchdog = Watchdog()
    watched = Watched()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        watchdog.watch(watched, soon())
    watchdog.unwatch(watched)
    watchdog.watch(watched, soon())
    assert watched.aborted.wait(LONG)
    watchdog.close()


# --- Stop ----------------------------------------------------------------------------


@define(eq=False)
class Held:
    """Counts how often it was aborted."""

    aborted: int = 0

    def abort(self) -> None:
        self.aborted += 1


def test_a_sleep_ends_at_once() -> None:
    """stop() wakes every thread that sleeps, and raises StoppedError there."""
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


def test_a_sleep_without_a_stop() -> None:
    """Without stop() a sleep has its full length."""
    began = time.monotonic()
    Stop().sleep(0.02)
    assert time.monotonic() - began >= 0.02


def test_held_objects_are_aborted_once() -> None:
    """stop() aborts what is held once, and leaves what was released."""
    stop = Stop()
    held, released = Held(), Held()
    stop.hold(held)
    stop.hold(released)
    stop.release(released)
    stop.stop()
    stop.stop()
    assert (held.aborted, released.aborted) == (1, 0)


def test_nothing_begins_after_stop() -> None:
    """After stop() nothing can be held, and every sleep raises."""
    stop = Stop()
    stop.stop()
    with pytest.raises(StoppedError):
        stop.hold(Held())
    for _ in range(2):
        with pytest.raises(StoppedError):
            stop.sleep(0)


def test_stopped_is_no_exception() -> None:
    """No ``except Exception`` catches StoppedError, so nothing is retried after it."""
    assert not issubclass(StoppedError, Exception)
