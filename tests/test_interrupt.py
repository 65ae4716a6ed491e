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
    """Something that can be aborted."""

    def __init__(self) -> None:
        self.aborted = threading.Event()

    def abort(self) -> None:
        self.aborted.set()


def threads() -> list[threading.Thread]:
    """Every watchdog's thread."""
    return [t for t in threading.enumerate() if t.name == "sitestats-watchdog"]


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    """A watchdog that leaves nothing behind."""
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()
    assert threads() == []


def soon() -> float:
    """A moment that is almost there."""
    return time.monotonic() + 0.05


def test_no_thread_without_anything_to_watch(watchdog: Watchdog) -> None:
    """A client that was made and never used has no thread."""
    assert threads() == []


def test_what_is_overdue_is_aborted(watchdog: Watchdog) -> None:
    """The time passes, and it is aborted."""
    watched = Watched()
    watchdog.watch(watched, soon())
    assert watched.aborted.wait(LONG)


def test_what_was_left_in_time_is_not_aborted(watchdog: Watchdog) -> None:
    """Of two with the same limit, the one that was done first is left alone."""
    done, watched = Watched(), Watched()
    until = soon()
    watchdog.watch(done, until)
    watchdog.watch(watched, until)
    watchdog.unwatch(done)
    assert watched.aborted.wait(LONG)
    assert not done.aborted.is_set()


def test_a_shorter_limit_wakes_the_thread(watchdog: Watchdog) -> None:
    """One thread watches all, and the one that came last may be the first to go."""
    patient, watched = Watched(), Watched()
    watchdog.watch(patient, time.monotonic() + LONG)
    watchdog.watch(watched, soon())
    assert watched.aborted.wait(LONG)
    assert len(threads()) == 1
    watchdog.unwatch(patient)
    assert not patient.aborted.is_set()


def test_no_limit_is_no_limit(watchdog: Watchdog) -> None:
    """What may take for ever is watched in vain."""
    watched = Watched()
    watchdog.watch(watched, math.inf)
    watchdog.unwatch(watched)
    assert threads() == []


def test_the_thread_ends_by_itself(
    watchdog: Watchdog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idle for a while, it goes, and comes again when it is needed."""
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


def test_closing_leaves_what_is_watched_watched() -> None:
    """What is in flight when the client is closed keeps its limit."""
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


def test_without_a_thread_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the interpreter shuts down no thread can start: requests go on."""

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
    held, released = Held(), Held()
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
        stop.hold(Held())
    for _ in range(2):
        with pytest.raises(StoppedError):
            stop.sleep(0)


def test_it_is_no_exception_to_try_again_after() -> None:
    """No ``except Exception`` on the way takes it for a failure."""
    assert not issubclass(StoppedError, Exception)
