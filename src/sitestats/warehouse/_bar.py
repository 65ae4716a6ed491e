"""Progress of a warehouse's update: days, websites, and an estimate of the time."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sitestats._common.progress import Progress, ShowProgress, showing

if TYPE_CHECKING:
    from ._days import Days

_MANY: Final = 100
"""From so many seconds on, minutes say as much."""


class Bar:
    """Counts the days of all loads of an update."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._loads = 0
        self.done = 0
        """How many days were requested."""
        self._days: Days | None = None
        self._show: ShowProgress | None = None

    @contextmanager
    def showing(self, progress: Progress, days: Days) -> Generator[None]:
        """Show the days of one load."""
        if self._began is None:
            self._began = time.monotonic()
        self._days = days
        with showing(progress, "days", self._detail) as self._show:
            yield
        self._loads += 1

    def show(self, under_way: int) -> None:
        """Count one more, while so many are under way."""
        self.done += 1
        if self._show is not None and self._days is not None:
            self._show(self.done, self.done + under_way + self._days.left)

    def _detail(self) -> str:
        assert self._days is not None
        assert self._began is not None
        left = self._days.left
        if not left:
            return ""
        websites = sum(bool(site.left) for site in self._days.websites.values())
        # The first load's own time is not known yet.
        about = "about" if self._loads else "at least"
        seconds = (time.monotonic() - self._began) / self.done * left
        noun = "website" if websites == 1 else "websites"
        return f"{websites:,} {noun} to go, {about} {_duration(seconds)}"


def _duration(seconds: float) -> str:
    """*seconds* as a person would say it.

    >>> _duration(42), _duration(600), _duration(7200)
    ('42 s', '10 min', '2.0 h')
    """
    if seconds < _MANY:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < _MANY else f"{minutes / 60:.1f} h"
