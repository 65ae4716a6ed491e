"""Progress of long calls: a bar in a terminal or a notebook, lines in a log.

The bar is not tqdm's or rich's: it needs no dependency and no widgets.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TextIO, TypeAlias

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
_ROUND: Final = 10
"""From this number on, a decimal says nothing."""


def check_progress(progress: object) -> Progress:
    """*progress* as it is.

    Raises:
        ConfigurationError: It is neither a bool nor a function, nor None.
    """
    if progress is None or isinstance(progress, bool) or callable(progress):
        return progress
    raise ConfigurationError(
        f"progress is True, or a function that takes (done, total), not "
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
    progress = check_progress(progress)
    if progress is not True:
        return nullcontext(progress or None)
    pace, stream = Pace(what, clock), sys.stderr
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


class Pace:
    """How much is done, how fast that goes, and how long the rest takes.

    The rate is that of at least the last half of the time, so that a beginning which
    costs nothing, such as responses from a store, is soon forgotten.
    """

    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what = what
        self._clock = clock
        self._began = clock()
        # A pair, because the thread of a log reads it while it changes.
        self._state: tuple[int, int | None] = (0, None)
        self._since = self._newer = (0.0, 0)

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return self._clock() - self._began

    @property
    def percent(self) -> int | None:
        """How much of the total is done; None without a total."""
        done, total = self._state
        return None if total is None else done * 100 // max(total, 1)

    def count(self, done: int, total: int | None) -> None:
        """Record how much is done."""
        self._state = (done, total)
        if (seconds := self.seconds) > 2 * self._newer[0]:
            self._since, self._newer = self._newer, (seconds, done)

    def text(self) -> str:
        """The numbers, and after the first second the rate and the time left."""
        (done, total), (since, before) = self._state, self._since
        seconds = self.seconds
        if total is None:
            text = f"{done:,} {self._what} so far"
        else:
            text = f"{done:,} of {total:,} {self._what}"
        # The rate of less time is chance.
        if seconds < 1 or done <= before:
            return text
        if done == total:
            return f"{text} in {duration(seconds)}"
        rate = (done - before) / (seconds - since)
        text = f"{text}, {frequency(rate)}"
        if total is None:
            return text
        return f"{text}, {duration(max(0, total - done) / rate)} left"

    def bar(self) -> str:
        """The text behind a bar, where there is a total."""
        if self.percent is None:
            return self.text()
        filled = min(self.percent, 100) * _WIDTH // 100
        return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.text()}"


def duration(seconds: float) -> str:
    """*seconds* as a person would say it.

    >>> duration(42), duration(600), duration(7200)
    ('42 s', '10 min', '2.0 h')
    """
    if seconds < _TOO_MANY:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < _TOO_MANY else f"{minutes / 60:,.1f} h"


def frequency(rate: float) -> str:
    """How often something happens, as a person would say it, of *rate* in a second.

    >>> frequency(1234.5), frequency(1.25), frequency(0.2), frequency(0.001)
    ('1,234 a second', '1.2 a second', '12 a minute', '3.6 an hour')
    """
    unit = "second"
    if rate < 1:
        rate, unit = rate * 60, "minute"
    if rate < 1:
        rate, unit = rate * 60, "hour"
    number = f"{rate:,.0f}" if rate >= _ROUND else f"{rate:.2g}"
    return f"{number} {'an' if unit == 'hour' else 'a'} {unit}"


# --- where it is shown ------------------------------------------------------------


@contextmanager
def _in_terminal(pace: Pace, stream: TextIO) -> Generator[ShowProgress]:
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
        yield _redrawing(pace, draw)
    finally:
        if written:
            # Ctrl-C leaves ^C behind the text.
            written += 2
            draw("")
            _write(stream, "\r")


@contextmanager
def _in_notebook(pace: Pace, shell: Any) -> Generator[ShowProgress]:
    """Replace one output, so that a saved notebook has the last state alone.

    What is written to a stream would all be stored.
    """
    # A kernel has imported it, and others would wait 25 ms for it.
    from uuid import uuid4

    transient, is_update = {"display_id": uuid4().hex}, False

    def draw(text: str) -> None:
        nonlocal is_update
        shell.display_pub.publish(
            {"text/plain": text}, transient=transient, update=is_update
        )
        is_update = True

    try:
        yield _redrawing(pace, draw)
    finally:
        if is_update:
            draw(pace.bar())


def _redrawing(pace: Pace, draw: Callable[[str], None]) -> ShowProgress:
    """Draw a bar as often as one sees a difference."""
    percent: int | None = -1
    due = 0.0

    def show(done: int, total: int | None) -> None:
        nonlocal percent, due
        pace.count(done, total)
        if pace.percent != percent or pace.seconds >= due:
            percent, due = pace.percent, pace.seconds + 0.5
            draw(pace.bar())

    return show


@contextmanager
def _in_log(pace: Pace, stream: TextIO, seconds: float) -> Generator[ShowProgress]:
    """Write a line each time that *seconds* have passed, also while nothing is done:
    a run that says nothing for an hour looks as if it hung.

    Where there was a line, the last one says how it ended.
    """
    # A queue has no lock that an interrupt or a fork could leave taken.
    ended: SimpleQueue[None] = SimpleQueue()
    text = ""

    def write() -> None:
        nonlocal text
        while True:
            try:
                return ended.get(timeout=seconds)
            except Empty:
                text = pace.text()
                _write(stream, f"sitestats: {text}\n")

    thread = threading.Thread(target=write, name="sitestats-progress", daemon=True)
    try:
        thread.start()
        yield pace.count
    finally:
        ended.put(None)
        # It is not after a fork, nor when an interrupt came while it started.
        if thread.is_alive():
            thread.join()
        if text and text != pace.text():
            _write(stream, f"sitestats: {pace.text()}\n")


def _write(stream: TextIO, text: str) -> None:
    # A call does not fail because nobody reads its progress.
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
