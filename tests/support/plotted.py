"""Histograms and results to draw, and what is drawn of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from sitestats import Entries, HistogramEntry, Stats, StatsQuery
from sitestats.types import HourEntry


def axes_of(width: float = 6, height: float = 3) -> Any:
    """New axes in a figure of so many inches, of which pyplot knows nothing."""
    return Figure((width, height), layout="constrained").subplots()


MONDAY = dt.date(2026, 6, 1)


def entries_of(entries: Sequence[HistogramEntry], kind: Any) -> Entries[Any]:
    """A histogram."""
    return Entries(entries, name="histogram", entry_type=kind)


def daily(count: int, *, partial: int = 0, first: dt.date = MONDAY) -> Entries[Any]:
    """So many days, the last ones of which are not over."""
    return entries_of(
        [
            HistogramEntry(
                first + n * dt.timedelta(1),
                9 + n % 5,
                3 + n % 5,
                partial=n >= count - partial,
            )
            for n in range(count)
        ],
        HistogramEntry,
    )


def hourly(count: int) -> Entries[Any]:
    """So many hours."""
    first = dt.datetime.combine(MONDAY, dt.time(), dt.UTC)
    starts = [first + n * dt.timedelta(hours=1) for n in range(count)]
    return entries_of(
        [HourEntry(s.date(), 2 + s.hour, 1, start=s, hour=s.hour) for s in starts],
        HourEntry,
    )


QUERY = StatsQuery("shop.example").fields("pageviews", "visitors", "histogram")


def stats_of(
    entries: Entries[Any], hostname: str = "shop.example", **more: Any
) -> Stats:
    """A result with that histogram."""
    first, last = entries[0].date, entries[-1].date
    query = QUERY.website(hostname)
    if entries.entry_type is HourEntry:
        query = query.interval("hour")
    return Stats.of(
        query,
        pageviews=1,
        visitors=1,
        histogram=entries,
        **{"first_day": first, "last_day": last, "timezone": "Europe/Amsterdam"} | more,
    )
