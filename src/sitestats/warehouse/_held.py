"""Which days of a website are there, and which lists of each: runs of days alike."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

DAY: Final = dt.timedelta(days=1)
NO_LISTS: Final[frozenset[str]] = frozenset()

Period: TypeAlias = tuple[dt.date, dt.date]
"""The first and the last day."""


class Run(NamedTuple):
    """Days in a row of which the same is there."""

    first: dt.date
    last: dt.date
    lists: frozenset[str] = NO_LISTS


class Held:
    """The days that are there. A website has thousands, in few runs."""

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._runs = [*runs]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, in the order of their days."""
        return tuple(self._runs)

    def lists_of(self, day: dt.date) -> frozenset[str] | None:
        """What is there of *day*; None where nothing is, not even its totals."""
        place = bisect_right(self._runs, day, key=_first_day) - 1
        if place < 0 or self._runs[place].last < day:
            return None
        return self._runs[place].lists

    def put(self, day: dt.date, lists: frozenset[str] | None) -> None:
        """Replace what is there of *day*; None removes it."""
        end = bisect_right(self._runs, day, key=_first_day) + 1
        begin = max(0, end - 3)
        pieces = [] if lists is None else [Run(day, day, lists)]
        for run in self._runs[begin:end]:
            pieces.append(Run(run.first, min(run.last, day - DAY), run.lists))
            pieces.append(Run(max(run.first, day + DAY), run.last, run.lists))
        merged: list[Run] = []
        for piece in sorted(piece for piece in pieces if piece.first <= piece.last):
            before = merged[-1] if merged else None
            if before and (before.last + DAY, before.lists) == (piece[0], piece.lists):
                merged[-1] = before._replace(last=piece.last)
            else:
                merged.append(piece)
        self._runs[begin:end] = merged

    def lacking(
        self, first: dt.date, last: dt.date, lists: frozenset[str] = NO_LISTS
    ) -> Iterator[Period]:
        """The parts of a period of which not all *lists* are there."""
        for run in self._runs:
            if first > last:
                return
            if run.last < first or not lists <= run.lists:
                continue
            if run.first > first:
                yield first, min(last, run.first - DAY)
            first = max(first, run.last + DAY)
        if first <= last:
            yield first, last


def without(periods: Iterable[Period], others: Iterable[Period]) -> list[Period]:
    """What is left of *periods* but for the days of *others*."""
    holes = Held(Run(*other) for other in sorted(others))
    return [part for period in periods for part in holes.lacking(*period)]


def covering(periods: Iterable[Period], longest: int) -> list[Period]:
    """The fewest periods of at most *longest* days that have all these days."""
    found: list[Period] = []
    for first, last in sorted(periods):
        day = first
        while day <= last:
            if not found or day >= found[-1][0] + longest * DAY:
                found.append((day, day))
            begin, end = found[-1]
            end = max(end, min(last, begin + (longest - 1) * DAY))
            found[-1] = (begin, end)
            day = end + DAY
    return found


def count_days(periods: Iterable[Period]) -> int:
    """How many days the periods have, which share none."""
    return sum((last - first).days + 1 for first, last in periods)


def days_of(period: Period) -> Iterator[dt.date]:
    """The days of *period*, in their order."""
    day, last = period
    while day <= last:
        yield day
        day += DAY


def one_by_one(days: Iterable[dt.date]) -> list[Period]:
    """A period for each day."""
    return [(day, day) for day in days]


def _first_day(run: Run) -> dt.date:
    return run.first
