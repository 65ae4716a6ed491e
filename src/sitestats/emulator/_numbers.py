"""Compute the numbers of a Stats response from the columns of a website."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import chain, compress, repeat, starmap
from statistics import median
from typing import Any, Final

import attrs

from ._loading import INVALID, TYPES, Columns
from ._parameters import LISTS, METADATA, Match, Query
from ._periods import Bucket, buckets, day_of, micros
from ._rows import Rows

_MOST_EVENTS: Final = 1000
"""The most events of a response (section 4.3)."""
_WITH_NULL: Final = frozenset({"referrers", "countries"})
"""The lists that can have an entry for page views without a value."""

AGENT: Final = {
    "browser_name": "browser_name",
    "browser_version": "browser_version",
    "os_name": "os_name",
    "os_version": "os_version",
    "device_type": "type",
}
"""The columns of an agent in versions 1 and 2, with their names in a response."""
_SHORTEST: Final = 5
"""The fewest seconds on a page that count."""


@attrs.frozen
class Count:
    """Page views and visitors of one group, and their median time on page."""

    pageviews: int = 0
    visitors: int = 0
    seconds_on_page: float | None = None


class Selection:
    """The rows of a table that a query selects, in no order."""

    def __init__(self, table: Columns, query: Query) -> None:
        start, end = micros(query.period.start), micros(query.period.end)
        times = table.get("ts", [])
        self._table = table
        self._places: Collection[int] = range(
            bisect_left(times, start), bisect_left(times, end)
        )
        for matches in chain(query.filters, starmap(_metadata, query.metadata.items())):
            self._places = self._fitting(matches)

    def column(self, name: str) -> list[Any]:
        """The cells of a column."""
        places, cells = self._places, self._table.get(name)
        if cells is None:
            return list(repeat(None, len(places)))
        if isinstance(places, range):
            return cells[places.start : places.stop]
        return [*map(cells.__getitem__, places)]

    def _fitting(self, matches: list[Match]) -> set[int]:
        """The places with a value for which one of *matches* is true."""
        places: set[int] = set()
        for column in {match.column for match in matches} & self._table.keys():
            cells = self.column(column)
            # Most values are repeated.
            values = {
                value
                for value in {*cells} - {None}
                if any(match.fits(value) for match in matches if match.column == column)
            }
            places.update(compress(self._places, map(values.__contains__, cells)))
        return places


def _metadata(key: str, value: str) -> list[Match]:
    """Compare with each stored type that *value* can be, always with text."""
    found: list[Match] = []
    for kind, (form, column) in TYPES.items():
        with suppress(*INVALID):
            if re.fullmatch(form, value, re.DOTALL):
                stored = column.convert(value)
                found.append(Match(f"{METADATA}{key}_{kind}", "exact", stored))
    return found


class Numbers:
    """The numbers that a query requests about a website, in no version's form."""

    def __init__(
        self,
        rows: Rows,
        hostname: str,
        query: Query,
        *,
        null_entries: bool,
        visitors_return: bool,
    ) -> None:
        tables = rows.tables
        self._query = query
        self._null_entries = null_entries
        self._events = tables.get((hostname, False), {})
        self._views = Selection(tables.get((hostname, True), {}), query)
        self._unique = self._views.column("is_unique")
        self._days: list[date] | None = None
        """The day of each page view, if visitors return on other days."""
        if visitors_return:
            zone = query.period.zone
            self._days = [day_of(time, zone) for time in self._views.column("ts")]
        medians = "seconds_on_page" in query.fields
        self._seconds = self._views.column("duration") if medians else []

    def total(self) -> Count:
        """The totals."""
        number = len(self._unique)
        return self._count(range(number), self._visitors(repeat("", number))[""])

    def histogram(self) -> list[tuple[Bucket, Count]]:
        """Every entry, including those without visits."""
        entries = [*buckets(self._query.period, self._query.interval)]
        starts = [micros(bucket.start) for bucket in entries]
        numbers = [*map(partial(bisect_right, starts), self._views.column("ts"))]
        views, visitors = Counter(numbers), self._visitors(numbers)
        return [
            (bucket, Count(views[number], visitors[number]))
            for number, bucket in enumerate(entries, 1)
        ]

    def entries(self, name: str) -> list[tuple[str | None, Count]]:
        """A list, ordered by page views, visitors and value."""
        column = self._views.column(LISTS[name])
        with_null = self._null_entries and name in _WITH_NULL
        visitors = self._visitors(column)
        views: dict[str | None, list[int]] = defaultdict(list)
        for place, value in enumerate(column):
            views[value].append(place)
        ordered = sorted(
            (value for value in views if with_null or value is not None),
            key=lambda value: (-len(views[value]), -visitors[value], *_last(value)),
        )
        return [
            (value, self._count(views[value], visitors[value]))
            for value in ordered[: self._query.limit]
        ]

    def _visitors(self, groups: Iterable[Any]) -> Counter[Any]:
        """The visitors of each group of page views.

        If visitors return, the visitors of each day are among the visitors of the
        busiest day.
        """
        if self._days is None:
            return Counter(compress(groups, self._unique))
        by_day = Counter(compress(zip(groups, self._days, strict=True), self._unique))
        most: Counter[Any] = Counter()
        for (group, _), number in by_day.items():
            most[group] = max(most[group], number)
        return most

    def _count(self, views: Sequence[int], visitors: int) -> Count:
        seconds = map(self._seconds.__getitem__, views if self._seconds else ())
        timed = [duration for duration in seconds if duration >= _SHORTEST]
        return Count(len(views), visitors, median(timed) if timed else None)

    def events(self, names: list[str]) -> list[tuple[str, int]]:
        """Count each event (section 4.3)."""
        totals = Counter(Selection(self._events, self._query).column("datapoint"))
        if names == ["*"]:
            ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
            return ordered[:_MOST_EVENTS]
        return [(name, totals[name]) for name in names]

    def agents(self) -> list[tuple[Any, ...]]:
        """For versions 1 and 2: each count, and the columns of ``AGENT``."""
        totals = Counter(zip(*map(self._views.column, AGENT), strict=True))
        ordered = sorted(totals, key=lambda agent: (-totals[agent], *map(_last, agent)))
        return [(totals[agent], *agent) for agent in ordered[: self._query.limit]]


def _last(value: str | None) -> tuple[bool, str]:
    """The key of an order with None at the end."""
    return value is None, value or ""
