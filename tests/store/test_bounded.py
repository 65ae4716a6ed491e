"""Calls of a store of the user's: in a thread, and for a bounded time."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from sitestats._store.bounded import call_within

pytestmark = pytest.mark.standard_library


def fail() -> None:
    """Fail as a store may."""
    raise ZeroDivisionError


def test_what_a_call_gives_is_returned_or_raised() -> None:
    """A call in time returns its value and raises its error, and sees the context."""
    variable: ContextVar[int] = ContextVar("variable")
    variable.set(7)
    assert call_within(60, variable.get) == 7
    with pytest.raises(ZeroDivisionError):
        call_within(60, fail)


def test_a_call_that_takes_longer_is_left_alone() -> None:
    """A call that takes too long is an error, and goes on in its thread, which the end
    of a program does not wait for.
    """
    let_go, ended = threading.Event(), threading.Event()

    def work() -> None:
        let_go.wait(60)
        ended.set()

    with pytest.raises(TimeoutError, match=r"it took more than 0\.01 s"):
        call_within(0.01, work)
    let_go.set()
    assert ended.wait(60)
    assert call_within(60, lambda: threading.current_thread().daemon)
