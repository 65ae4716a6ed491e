"""Call a store of the user's in a thread, so that it can't hold a call up for long."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def call_within(seconds: float, action: Callable[[], T]) -> T:
    """What *action* returns or raises within *seconds*.

    Raises:
        TimeoutError: It takes longer. It goes on in a thread, which nothing waits for.
    """
    # A queue in C: neither an interrupt nor a fork leaves its lock taken.
    outcomes: SimpleQueue[T | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put(action())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            outcomes.put(error)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        outcome = outcomes.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"it took more than {seconds:.3g} s") from None
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
