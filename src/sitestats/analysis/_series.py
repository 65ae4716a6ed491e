"""Time series of a histogram, to draw: when each count is, and means of longer units.

All times are local and without a zone, since matplotlib would convert them to UTC.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from statistics import fmean, median_low
from typing import Any, Final

import attrs

from ._labels import NOT_OVER, marks

DAY: Final = dt.timedelta(days=1)
_HALF_AN_HOUR: Final = dt.timedelta(minutes=30)
_MONTH: Final = 27 * DAY
"""The next longer unit than a week is at least as long."""
_GAP: Final = 1.5
"""Steps between two points that are not neighbours: months differ by a tenth."""


@attrs.frozen
class Point:
    """The counts of one hour, day, week…, or the means of several ones."""

    when: dt.datetime
    pageviews: float
    visitors: float
    mark: str = ""
    """Why the counts are not those of a whole unit; empty if they are."""


@attrs.frozen
class Series:
    """Points in ascending order."""

    points: Sequence[Point]
    step: dt.timedelta
    """The time from one point to the next."""
    unit: str = ""
    """What each count is of, such as ``"hour"``; empty where that is not known."""
    mean_of: str = ""
    """What each point is the mean of, such as ``"day"``; empty for plain counts."""

    def shifted(self, by: dt.timedelta) -> Series:
        """The same at other times."""
        return self._at(point.when + by for point in self.points)

    def in_place_of(self, other: Series) -> Series:
        """The same with the n-th point at the time of the n-th of *other*.

        Months are as many days apart as they are long, so two periods of them are
        side by side in no other way.
        """
        whens = [point.when for point in other.points[: len(self.points)]]
        while len(whens) < len(self.points):
            whens.append(whens[-1] + other.step if whens else self.points[0].when)
        return self._at(whens)

    def _at(self, whens: Iterable[dt.datetime]) -> Series:
        pairs = zip(self.points, whens, strict=True)
        return attrs.evolve(self, points=[attrs.evolve(p, when=w) for p, w in pairs])

    @property
    def is_by_number(self) -> bool:
        """Whether the units differ in length, as months do."""
        return self.step >= _MONTH

    def begun(self) -> Series:
        """The same without what has not begun: what follows the first point that is not
        over. Its zeros would look like a fall, and make every mean too low.
        """
        open_ones = (n for n, one in enumerate(self.points) if NOT_OVER in one.mark)
        first = next(open_ones, len(self.points))
        return attrs.evolve(self, points=self.points[: first + 1])

    def runs(self) -> Iterator[Sequence[Point]]:
        """The points in parts between which some are missing."""
        run: list[Point] = []
        for point in self.points:
            if run and point.when - run[-1].when > _GAP * self.step:
                yield run
                run = []
            run.append(point)
        if run:
            yield run

    def coarser(self, most: int) -> Series:
        """Means of the shortest unit with which there are at most *most* points.

        Counts of visitors can't be added up, since a visitor of two hours is one
        visitor of the day. The mean of a day's hours is right for both counts. What
        is not over yet is left out of a mean, where there is something else.
        """
        if len(self.points) <= most:
            return self
        begun = coarser = self.begun()
        if len(begun.points) <= most:
            return begun
        for name, unit_of in _UNITS:
            coarser = begun._means(name, unit_of)  # noqa: SLF001 - one of this class
            if len(coarser.points) <= most:
                break
        return coarser

    def _means(self, name: str, unit_of: Callable[[dt.datetime], object]) -> Series:
        grouped = groupby(self.points, lambda point: unit_of(point.when))
        points = [_mean([*group]) for _, group in grouped]
        return Series(points, _step(points), self.unit, name)


_UNITS: Final[Sequence[tuple[str, Callable[[dt.datetime], object]]]] = (
    ("day", lambda when: when.date()),
    ("week", lambda when: when.isocalendar()[:2]),
    ("month", lambda when: (when.year, when.month)),
    ("year", lambda when: when.year),
)
_LENGTHS: Final = (
    ("hour", dt.timedelta(hours=1)),
    ("day", DAY),
    ("week", 7 * DAY),
    ("month", 31 * DAY),
    ("year", 366 * DAY),
)


def series_of(entries: Iterable[Any]) -> Series:
    """The entries of a histogram as a series; those without a day are left out."""
    placed = [entry for entry in entries if entry.get("date") is not None]
    points = [
        Point(
            _begin(entry),
            entry.get("pageviews") or 0,
            entry.get("visitors") or 0,
            marks(
                partial=bool(entry.get("partial")), clipped=bool(entry.get("clipped"))
            ),
        )
        for entry in placed
    ]
    if len(points) == 1:
        # A day, a month and a year have the same entries.
        unit = next(
            (name for name in ("hour", "week") if placed[0].get(name) is not None), ""
        )
        return Series(points, dict(_LENGTHS)[unit or "day"], unit)
    step = _step(points)
    unit = next((name for name, longest in _LENGTHS if step <= longest), "")
    return Series(points, step, unit if points else "")


def _begin(entry: Any) -> dt.datetime:
    start: dt.datetime | None = entry.get("start")
    if start is not None:
        # The hour that is repeated would hide the first one.
        return start.replace(tzinfo=None, fold=0) + start.fold * _HALF_AN_HOUR
    return dt.datetime.combine(entry.get("date"), dt.time(entry.get("hour") or 0))


def _step(points: Sequence[Point]) -> dt.timedelta:
    # A repeated hour begins when the first one does, and a week that the period cuts
    # may begin later than its Monday: neither is the rule.
    gaps = [b.when - a.when for a, b in pairwise(points) if b.when > a.when]
    return median_low(gaps) if gaps else DAY


def _mean(points: Sequence[Point]) -> Point:
    whole = [point for point in points if not point.mark] or points
    first, last = points[0].when, points[-1].when
    return Point(
        first + (last - first) / 2,
        fmean(point.pageviews for point in whole),
        fmean(point.visitors for point in whole),
        next((point.mark for point in points if point.mark), ""),
    )
