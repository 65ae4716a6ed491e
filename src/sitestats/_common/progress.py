"""Progress of long calls: a callback, or a progress bar.

The bar is not tqdm's or rich's: it needs no dependency, no thread and no widgets,
and looks the same in a terminal and in a notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, TextIO, TypeAlias

from .errors import ConfigurationError
from .text import shown

ShowProgress: TypeAlias = Callable[[int, int | None], object]
"""Called with the number done and the total; None for an unknown total."""

Progress: TypeAlias = bool | ShowProgress | None
"""A bar (True), a function to call, or nothing."""

_WIDTH: Final = 30
_STEPS_OF_A_LOG: Final = 10


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


@contextmanager
def showing(
    progress: Progress, what: str, detail: Callable[[], str] | None = None
) -> Generator[ShowProgress | None]:
    """The function to call with the progress: the caller's, a bar's, or None.

    A bar also shows what *detail* returns, after the numbers.

    Raises:
        ConfigurationError: *progress* is none of these.
    """
    progress = check_progress(progress)
    if progress is True:
        bar = _Bar(what, detail)
        try:
            yield bar.show
        finally:
            bar.end()
    else:
        yield progress or None


class _Bar:
    """Redraws one line of a terminal, or one output of a notebook; elsewhere it
    writes a few lines.
    """

    def __init__(self, what: str, detail: Callable[[], str] | None) -> None:
        self._stream: TextIO = sys.stderr
        self._what = what
        self._detail = detail or str
        # With a detail, a line has to fit into 80 columns too.
        self._width = _WIDTH if detail is None else _WIDTH // 3
        self._written = 0
        self._notebook = _notebook()
        self._redraws = self._notebook is not None or self._stream.isatty()
        # In a log the first line comes with the first step.
        self._last: int | None = None if self._redraws else 0

    def show(self, done: int, total: int | None) -> None:
        # Redrawn only when the visible text changes: no clock is needed.
        if total is None:
            step = _leading(done, digits=2 if self._redraws else 1)
        else:
            steps = 100 if self._redraws else _STEPS_OF_A_LOG
            step = done * steps // max(total, 1)
        if step == self._last:
            return
        is_first, self._last = self._last is None, step
        if total is None:
            text = f"{self._what} {done:,}"
        else:
            text = f"{self._what} {done:,} of {total:,}"
            if self._redraws:
                filled = self._width * done // max(total, 1)
                text = f"[{'#' * filled}{'.' * (self._width - filled)}] {text}"
        if detail := self._detail():
            text = f"{text}, {detail}"
        if self._notebook is not None:
            self._notebook(text, is_first)
            return
        # What a longer line left is written over.
        self._written, before = len(text), self._written
        if self._redraws:
            text = text.ljust(before)
        self._stream.write(f"\r{text}" if self._redraws else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        if self._redraws and self._last is not None and self._notebook is None:
            self._stream.write("\n")


def _leading(number: int, *, digits: int) -> int:
    """*number* with all but its first *digits* made 0.

    >>> _leading(98_765, digits=2), _leading(7, digits=2)
    (98000, 7)
    """
    unit: int = 10 ** max(0, len(str(number)) - digits)
    return number // unit * unit


def _notebook() -> Callable[[str, bool], None] | None:
    """What shows a text in a notebook, None outside of one.

    The first text becomes an output of the cell, which the others replace. So a saved
    notebook has the last one. What is written to a stream would all be kept.
    """
    # A kernel says so in its configuration; IPython in a terminal does not.
    module: Any = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    if shell is None or "IPKernelApp" not in shell.config:
        return None
    # Which a kernel has imported, and which would cost others 25 ms.
    from uuid import uuid4

    transient = {"display_id": uuid4().hex}

    def show(text: str, is_first: bool) -> None:  # noqa: FBT001 - of two calls
        shell.display_pub.publish(
            {"text/plain": text}, transient=transient, update=not is_first
        )

    return show
