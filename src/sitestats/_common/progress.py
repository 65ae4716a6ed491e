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
from typing import Any, TextIO, TypeAlias

from .errors import ConfigurationError
from .pace import Pace
from .text import shown

ShowProgress: TypeAlias = Callable[[int, int | None], object]
"""Called with the number done and the total; None for an unknown total."""

Progress: TypeAlias = bool | ShowProgress | None
"""A bar (True), a function to call, or nothing."""


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
