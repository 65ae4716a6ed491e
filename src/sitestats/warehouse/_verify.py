"""Whether the tables have what was read: by website and day, in rows and totals."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import attrs

from sitestats._base.text import counted

from ._days import DAY, DAYS, MONTHS, Coverage, covering, days_between

if TYPE_CHECKING:
    from ._days import Sums
    from ._stored import Found

_NOTHING: Final[Sums] = (0,)


@attrs.frozen(order=True)
class Difference:
    """A table that does not have what was read of a website's day."""

    hostname: str
    """The website."""
    day: dt.date
    """The day, or the first day of the month."""
    table: str
    """The table, such as ``"pages"``."""
    read: tuple[int, ...]
    """How many rows were read, and the sums of their counts: page views and visitors of
    days, page views of lists, and how often events happened. 0 rows were not read. Of a
    month, the page views of its days, which it has at least."""
    found: tuple[int, ...]
    """What the table has."""

    def __str__(self) -> str:
        return (
            f"{self.hostname}: {self.day}: {self.table} has {_text(self.found)}, but "
            f"should have {_text(self.read)}"
        )


def _text(sums: Sums) -> str:
    rows, *counts = sums
    numbers = " and ".join(f"{count:,}" for count in counts)
    text = counted(rows, "row")
    return f"{text} of {numbers}" if rows and numbers else text


@attrs.frozen(repr=False)
class Verification:
    """The comparison of the tables with what was read."""

    days: int
    """How many days of websites were compared."""
    differences: tuple[Difference, ...]
    """Each table of each day that differs, by websites and days."""

    @property
    def refresh(self) -> tuple[str, ...]:
        """What to pass as ``refresh``, so that an update reads again what differs."""
        periods = list[str]()
        for name, group in groupby(self.differences, lambda each: each.hostname):
            days = {each.day for each in group}
            for first, last in covering(days, with_gaps=False):
                until = "" if first == last else f"..{last}"
                periods.append(f"{name}:{first}{until}")
        return tuple(periods)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as values of JSON."""
        return {
            "days": self.days,
            "differences": [
                {**attrs.asdict(each), "day": str(each.day)}
                for each in self.differences
            ],
            "refresh": [*self.refresh],
        }

    def __repr__(self) -> str:
        return f"<Verification: {len(self.differences):,} differences>"


def compared(
    coverage: Mapping[str, Coverage],
    readings: Mapping[str, Found],
    tables: Iterable[tuple[str, Found]],
    months: Found,
    since: dt.date,
) -> Verification:
    """Compare *tables* with the *readings* of them, from the day *since* on; and both
    with the *coverage*, by which each day has been read, and the *months* of days.
    """
    differences = set[Difference]()
    for name, site in coverage.items():
        skipped = {*site.failed, *site.held}
        read = readings[DAYS].get(name, {})
        for day in days_between(max(site.read_from, since), site.reached):
            if day not in read and day not in skipped:
                differences.add(Difference(name, day, DAYS, (1,), _NOTHING))
    for table, found in tables:
        differences.update(_of_table(table, readings[table], found, since))
    for name, site in coverage.items():
        least = _of_months(readings[DAYS].get(name, {}))
        for month in _months(site, since):
            there = months.get(name, {}).get(month) or _NOTHING
            expected = (1, least[month])
            if there[0] != 1 or there < expected:
                differences.add(Difference(name, month, MONTHS, expected, there))
    number = sum(day >= since for days in readings[DAYS].values() for day in days)
    return Verification(number, tuple(sorted(differences)))


def _of_table(
    table: str, read: Found, found: Found, since: dt.date
) -> Iterator[Difference]:
    for name in read.keys() | found.keys():
        expected, there = read.get(name, {}), found.get(name, {})
        for day in expected.keys() | there.keys():
            one = expected.get(day, _NOTHING)
            other = there.get(day, _NOTHING)
            # An empty list has no row, and so no sum.
            if one is None or other is None or not (one[0] or other[0]):
                continue
            if day >= since and one != other:
                yield Difference(name, day, table, one, other)


def _of_months(days: Mapping[dt.date, Sums | None]) -> Counter[dt.date]:
    """The page views of *days* in each month."""
    views = Counter[dt.date]()
    for day, sums in days.items():
        views[day.replace(day=1)] += sums[1] if sums else 0
    return views


def _months(site: Coverage, since: dt.date) -> list[dt.date]:
    """The first days of the months that a website must have a row of."""
    if site.through is None or MONTHS not in site.lists:
        return []
    # Other months are still to be read.
    last = site.reached if site.months_from is None else site.months_from - DAY
    days = days_between(max(site.read_from, since), last)
    return sorted({day.replace(day=1) for day in days})
