"""A bar of progress that needs nothing but a place to write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TextIO, TypeAlias

from ._errors import ConfigurationError
from ._wording import shown

ShowProgress: TypeAlias = Callable[[int, int | None], object]
"""Called with how many are done, and of how many; None where that is not known."""

_WIDTH: Final = 30
_STEPS_OF_A_LOG: Final = 10


@contextmanager
def showing(
    progress: bool | ShowProgress | None,  # noqa: FBT001 - the public argument's type
    what: str,
) -> Generator[ShowProgress | None]:
    """What to call with the progress: the caller's function, a bar, or None.

    Raises:
        ConfigurationError: *progress* is none of these.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _Bar(sys.stderr, what)
        try:
            yield bar.show
        finally:
            bar.end()
    elif callable(progress):
        yield progress
    else:
        raise ConfigurationError(
            "progress is True, or a function that takes (done, total), not "
            f"{shown(progress)}"
        )


class _Bar:
    """Redraws one line of a terminal; elsewhere it writes a few lines."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream = stream
        self._what = what
        self._redraws = stream.isatty()
        # In a log the first line comes with the first step.
        self._last: int | None = None if self._redraws else 0

    def show(self, done: int, total: int | None) -> None:
        steps = 100 if self._redraws else _STEPS_OF_A_LOG
        # As often as something changes to the eye: no clock is needed.
        step = done if total is None else done * steps // max(total, 1)
        if step == self._last:
            return
        self._last = step
        if total is None:
            text = f"{self._what} {done:,}"
        else:
            text = f"{self._what} {done:,} of {total:,}"
            if self._redraws:
                filled = _WIDTH * done // max(total, 1)
                text = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {text}"
        self._stream.write(f"\r{text}" if self._redraws else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        if self._redraws and self._last is not None:
            self._stream.write("\n")
