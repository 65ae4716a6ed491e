"""Progress of long calls: a bar in a terminal or a notebook, lines in a log.

The bar is not tqdm's or rich's: it needs no dependency and no widgets.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeAlias, cast
from uuid import uuid4

from sitestats._base.errors import ConfigurationError
from sitestats._base.text import shown

ShowProgress: TypeAlias = Callable[[int, int | None], object]
"""Called with the number done and the total; None for an unknown total."""

Progress: TypeAlias = bool | ShowProgress | None
"""A bar (True), a function to call, or nothing."""

_WIDTH: Final = 16
"""Numbers of seven digits fit into 80 columns beside a bar this wide."""


class _Bar:
    """How much is done, how fast that goes, and how long the rest takes.

    The rate covers at least the last half of the time, so that a beginning which
    costs nothing, such as responses from a store, is soon forgotten.
    """

    every = 0.5
    """How many seconds pass between two drawings; it is enough to see that it moves."""
    first = 0.0
    """How many seconds pass before the first one."""

    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what, self._clock, self._began = what, clock, clock()
        self._done, self._total, self._seconds = 0, cast("int | None", None), 0.0
        self._since = self._newer = (0.0, 0)
        self._due, self._drawn = self.first, ""

    def draw(self, text: str) -> None:
        """Show *text*."""

    def __enter__(self) -> ShowProgress:
        return self._count

    def __exit__(self, *_: object) -> None:
        """Show the end, where something was shown."""
        self._seconds = self._clock() - self._began
        if self._drawn and self._drawn != self.text():
            self.draw(self.text())

    def _count(self, done: int, total: int | None) -> None:
        self._seconds = self._clock() - self._began
        if not self._done:
            # A wait before the first one is not part of the rate.
            self._since = self._newer = (self._seconds, done)
        self._done, self._total = done, total
        if self._seconds > 2 * self._newer[0]:
            self._since, self._newer = self._newer, (self._seconds, done)
        if self._seconds >= self._due:
            self._due = self._seconds + self.every
            text = self.text()
            self.draw(text)
            self._drawn = text

    def text(self) -> str:
        """A bar where there is a total, and the numbers."""
        if self._total is None:
            return self.numbers()
        filled = min(self._done * _WIDTH // max(self._total, 1), _WIDTH)
        return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.numbers()}"

    def numbers(self) -> str:
        """The numbers, and after the first second the rate and the time left."""
        (since, before), total = self._since, self._total
        text = f"{self._done:,} {self._what} so far"
        if total is not None:
            text = f"{self._done:,} of {total:,} {self._what}"
        # A rate that was measured for a shorter time would be chance.
        if self._seconds < 1 or self._done <= before:
            return text
        if self._done == total:
            return f"{text} in {_duration(self._seconds)}"
        rate = (self._done - before) / (self._seconds - since)
        text += f", {float(f'{rate:.2g}'):,g} a second"
        if total is None:
            return text
        return f"{text}, {_duration(max(0, total - self._done) / rate)} left"


class _Terminal(_Bar):
    """Redraws a line, and erases it at the end, for what is printed then."""

    _width = 0

    def draw(self, text: str) -> None:
        # This module and its imports would take a tenth of our own import.
        from shutil import get_terminal_size

        # Some terminals wrap a line that fills them.
        room = get_terminal_size().columns - 1
        _write(f"\r{text[:room].ljust(min(self._width, room))}")
        self._width = len(text)

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            # Ctrl-C leaves ^C after the text.
            self._width += 2
            self.draw("")
            _write("\r")


class _Notebook(_Bar):
    """Replaces one output, so that a saved notebook has the last state alone."""

    def __init__(self, what: str, clock: Callable[[], float], shell: Any) -> None:
        super().__init__(what, clock)
        self._publish = partial(
            shell.display_pub.publish, transient={"display_id": uuid4().hex}
        )

    def draw(self, text: str) -> None:
        self._publish({"text/plain": text}, update=bool(self._drawn))


class _Log(_Bar):
    """Writes a line each ten seconds, and one at the end."""

    first = every = 10.0
    text = _Bar.numbers

    def draw(self, text: str) -> None:
        _write(f"sitestats: {text}\n")


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def showing(
    progress: Progress, what: str, *, clock: Callable[[], float] = time.monotonic
) -> AbstractContextManager[ShowProgress | None]:
    """The function to call with the progress: the caller's, a bar's, or None.

    Args:
        progress: What the caller gave.
        what: What is counted, such as ``websites``.
        clock: A clock that never goes back, in seconds.

    Raises:
        ConfigurationError: *progress* is neither a bool nor a function, nor None.
    """
    if progress is not True:
        if not (progress is None or progress is False or callable(progress)):
            raise ConfigurationError(
                "progress is True, or a function that takes (done, total), not "
                f"{shown(progress)}"
            )
        return nullcontext(progress or None)
    # A kernel says so in its configuration; IPython in a terminal does not.
    module: Any = sys.modules.get("IPython")
    shell = module and module.get_ipython()
    if shell and "IPKernelApp" in shell.config:
        return _Notebook(what, clock, shell)
    # It is None where it was closed before Python began.
    if getattr(sys.stderr, "closed", True):
        return nullcontext()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return _Terminal(what, clock)
    return _Log(what, clock)


def _write(text: str) -> None:
    # A call does not fail because nobody reads its progress.
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
