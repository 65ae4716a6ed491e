"""Which days of a website are there, and which lists of each, in few stretches."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

DAY: Final = dt.timedelta(days=1)
NO_LISTS: Final[frozenset[str]] = frozenset()

Period: TypeAlias = tuple[dt.date, dt.date]
"""The first and the last day."""


class Stretch(NamedTuple):
    """Days in a row of which the same is there."""

    first: dt.date
    last: dt.date
    lists: frozenset[str] = NO_LISTS


class Held:
    """The days that are there. A website has thousands, in few stretches."""

    def __init__(self, parts: Iterable[Stretch] = ()) -> None:
        self._parts = [*parts]

    @property
    def parts(self) -> tuple[Stretch, ...]:
        """The stretches, in the order of their days."""
        return tuple(self._parts)

    def lists_of(self, day: dt.date) -> frozenset[str] | None:
        """What is there of *day*; None where nothing is, not even its totals."""
        place = bisect_right(self._parts, day, key=_first_day) - 1
        if place < 0 or self._parts[place].last < day:
            return None
        return self._parts[place].lists

    def put(self, day: dt.date, lists: frozenset[str] | None) -> None:
        """Replace what is there of *day*; None removes it."""
        end = bisect_right(self._parts, day, key=_first_day) + 1
        begin = max(0, end - 3)
        pieces = [] if lists is None else [Stretch(day, day, lists)]
        for part in self._parts[begin:end]:
            pieces.append(Stretch(part.first, min(part.last, day - DAY), part.lists))
            pieces.append(Stretch(max(part.first, day + DAY), part.last, part.lists))
        merged: list[Stretch] = []
        for piece in sorted(piece for piece in pieces if piece.first <= piece.last):
            before = merged[-1] if merged else None
            if before and (before.last + DAY, before.lists) == (piece[0], piece.lists):
                merged[-1] = before._replace(last=piece.last)
            else:
                merged.append(piece)
        self._parts[begin:end] = merged

    def lacking(
        self, first: dt.date, last: dt.date, lists: frozenset[str] = NO_LISTS
    ) -> Iterator[Period]:
        """The parts of a period of which not all *lists* are there."""
        for part in self._parts:
            if first > last:
                return
            if part.last < first or not lists <= part.lists:
                continue
            if part.first > first:
                yield first, min(last, part.first - DAY)
            first = max(first, part.last + DAY)
        if first <= last:
            yield first, last


def without(periods: Iterable[Period], others: Iterable[Period]) -> list[Period]:
    """What is left of *periods* but for the days of *others*."""
    holes = Held(Stretch(*other) for other in sorted(others))
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


def _first_day(part: Stretch) -> dt.date:
    return part.first
