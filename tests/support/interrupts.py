"""Interrupts at chosen places: Ctrl-C at the n-th place where Python may raise it."""

from __future__ import annotations

import itertools
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Self


class Interrupt:
    """Raises KeyboardInterrupt at the *n*-th place where Python may.

    Python checks for signals when a function begins and after each call, which is
    when it calls a profiler. That includes a lock's ``__enter__`` where Python does
    (from 3.14 on). What ends before was not interrupted, and has some *left*.
    """

    def __init__(self, n: int, *, within: Callable[[str], bool]) -> None:
        self.left = n
        self.error: BaseException | None = None
        """What was raised, with its traceback, as a notebook has the last one."""
        self._within = within

    def __enter__(self) -> Self:
        self._own = sys._getframe(1).f_code.co_filename
        self._before = sys.getprofile()
        sys.setprofile(self._look)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Catch the interrupt."""
        sys.setprofile(self._before)
        self.error = error
        return kind is KeyboardInterrupt and not self.left

    def _look(self, frame: FrameType, event: str, arg: object) -> None:
        file = frame.f_code.co_filename
        # An interrupt in a handler of logging leaves its lock taken. pytest's handlers
        # serve all tests: a thread that logs in a later one would wait for ever.
        if event == "c_call" or file in (self._own, __file__, logging.__file__):
            return
        if self.left and self._within(file):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt


def at_each_place(
    within: Callable[[str], bool], *, stride: int = 1
) -> Iterator[Interrupt]:
    """Interrupts at one place after the other, until one has some left."""
    for place in itertools.count(1, stride):
        interrupt = Interrupt(place, within=within)
        yield interrupt
        if interrupt.left:
            return


def works_in_another_thread(action: Callable[[], object], *, seconds: float) -> bool:
    """Whether *action* comes to its end there, and waits for no lock."""
    done = threading.Event()

    def work() -> None:
        action()
        done.set()

    threading.Thread(target=work, daemon=True).start()
    return done.wait(seconds)
