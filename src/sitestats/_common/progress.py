"""Progress of long calls: a bar in a terminal or a notebook, lines in a log.

The bar is not tqdm's or rich's: it needs no dependency and no widgets.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final, TextIO, TypeAlias
from uuid import uuid4

from .errors import ConfigurationError
from .text import shown

ShowProgress: TypeAlias = Callable[[int, int | None], object]
"""Called with the number done and the total; None for an unknown total."""

Progress: TypeAlias = bool | ShowProgress | None
"""A bar (True), a function to call, or nothing."""

_WIDTH: Final = 16
"""Numbers of seven digits fit into 80 columns beside a bar this wide."""
_TOO_MANY: Final = 100
"""From this many seconds on, minutes are easier to read, and then hours."""
_SECONDS: Final = 0.5
"""How often a bar is drawn; it is enough to see that it moves."""


class _Pace:
    """How much is done, how fast that goes, and how long the rest takes.

    The rate is that of at least the last half of the time, so that a beginning which
    costs nothing, such as responses from a store, is soon forgotten.
    """

    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what, self._clock, self._began = what, clock, clock()
        self.done, self.seconds = 0, 0.0
        self.total: int | None = None
        self._since = self._newer = (0.0, 0)

    def count(self, done: int, total: int | None) -> None:
        self.done, self.total = done, total
        self.seconds = self._clock() - self._began
        if self.seconds > 2 * self._newer[0]:
            self._since, self._newer = self._newer, (self.seconds, done)

    def text(self) -> str:
        """The numbers, and after the first second the rate and the time left."""
        since, before = self._since
        text = f"{self.done:,} {self._what} so far"
        if self.total is not None:
            text = f"{self.done:,} of {self.total:,} {self._what}"
        # The rate of less time is chance.
        if self.seconds < 1 or self.done <= before:
            return text
        if self.done == self.total:
            return f"{text} in {_duration(self.seconds)}"
        rate = (self.done - before) / (self.seconds - since)
        text = f"{text}, {_frequency(rate)}"
        if self.total is None:
            return text
        return f"{text}, {_duration(max(0, self.total - self.done) / rate)} left"

    def bar(self) -> str:
        """The text behind a bar, where there is a total."""
        if self.total is None:
            return self.text()
        filled = min(self.done * _WIDTH // max(self.total, 1), _WIDTH)
        return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.text()}"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1), ("min", 60)):
        if seconds / size < _TOO_MANY:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 3600:,.1f} h"


def _frequency(rate: float) -> str:
    for unit, factor in (("a second", 1), ("a minute", 60)):
        if rate * factor >= 1:
            return f"{float(f'{rate * factor:.2g}'):,g} {unit}"
    return f"{rate * 3600:.2g} an hour"


def check_progress(progress: object) -> Progress:
    """*progress* as it is.

    Raises:
        ConfigurationError: It is neither a bool nor a function, nor None.
    """
    if progress is None or isinstance(progress, bool) or callable(progress):
        return progress
    raise ConfigurationError(
        "progress is True, or a function that takes (done, total), not "
        f"{shown(progress)}"
    )


def showing(
    progress: Progress,
    what: str,
    *,
    clock: Callable[[], float] = time.monotonic,
    seconds: float = 10,
) -> AbstractContextManager[ShowProgress | None]:
    """The function to call with the progress: the caller's, a bar's, or None.

    Args:
        progress: What the caller gave.
        what: What is counted, such as ``websites``.
        clock: A clock that never goes back, in seconds.
        seconds: How often a log gets a line.

    Raises:
        ConfigurationError: *progress* is none of these.
    """
    if progress is not True:
        check_progress(progress)
        return nullcontext(progress or None)
    pace, stream = _Pace(what, clock), sys.stderr
    # A kernel says so in its configuration; IPython in a terminal does not.
    module: Any = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    if shell is not None and "IPKernelApp" in shell.config:
        return _in_notebook(pace, shell)
    # It is None where it was closed before Python began.
    if getattr(stream, "closed", True):
        return nullcontext()
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return _in_terminal(pace, stream)
    return _in_log(pace, stream, seconds)


@contextmanager
def _in_terminal(pace: _Pace, stream: TextIO) -> Generator[ShowProgress]:
    """Redraw a line, and erase it at the end, for what is printed then."""
    written = 0

    def draw(text: str) -> None:
        nonlocal written
        room = 79
        with suppress(OSError, ValueError):
            # It is 0 where nobody has set it.
            room = (os.get_terminal_size(stream.fileno()).columns or 80) - 1
        _write(stream, f"\r{text[:room].ljust(min(written, room))}")
        written = len(text)

    try:
        yield _every(pace, lambda: draw(pace.bar()), _SECONDS)
    finally:
        if written:
            # Ctrl-C leaves ^C behind the text.
            written += 2
            draw("")
            _write(stream, "\r")


@contextmanager
def _in_notebook(pace: _Pace, shell: Any) -> Generator[ShowProgress]:
    """Replace one output, so that a saved notebook has the last state alone."""
    transient, is_update = {"display_id": uuid4().hex}, False

    def draw() -> None:
        nonlocal is_update
        shell.display_pub.publish(
            {"text/plain": pace.bar()}, transient=transient, update=is_update
        )
        is_update = True

    try:
        yield _every(pace, draw, _SECONDS)
    finally:
        if is_update:
            draw()


@contextmanager
def _in_log(pace: _Pace, stream: TextIO, seconds: float) -> Generator[ShowProgress]:
    """Write a line each time that *seconds* have passed, and one at the end."""
    written = ""

    def write() -> None:
        nonlocal written
        written = pace.text()
        _write(stream, f"sitestats: {written}\n")

    try:
        yield _every(pace, write, seconds, due=seconds)
    finally:
        if written and written != pace.text():
            write()


def _every(
    pace: _Pace, draw: Callable[[], None], seconds: float, due: float = 0.0
) -> ShowProgress:
    """Draw where *seconds* have passed since the last time."""

    def show(done: int, total: int | None) -> None:
        nonlocal due
        pace.count(done, total)
        if pace.seconds >= due:
            due = pace.seconds + seconds
            draw()

    return show


def _write(stream: TextIO, text: str) -> None:
    # A call does not fail because nobody reads its progress.
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
