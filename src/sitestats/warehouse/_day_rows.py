"""The rows of a day, or of a histogram's days, from what the service responded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from sitestats._common.fields import COUNTS, TOTALS

from ._coverage import Totals
from ._tables import DAYS, Rows

if TYPE_CHECKING:
    from sitestats import Entries, Stats

NO_ROWS: Final[dict[str, Any]] = {"rank": 0, "no_rows": True}
"""The row of a table where it has nothing of a day."""


def key_of(
    hostname: str, day: dt.date, stats: Stats, moment: dt.datetime
) -> dict[str, Any]:
    """The columns of all rows of one reading."""
    return {
        "hostname": hostname,
        "first_day": day,
        "timezone": stats.timezone,
        "read_at": moment,
    }


def totals_of(stats: Stats) -> dict[dt.date, Totals]:
    """What a histogram has of days that are over; nothing of one that is twice in it,
    lacks a number, or has one that no table stores.
    """
    found: dict[dt.date, Totals] = {}
    twice: set[dt.date] = set()
    for entry in stats.histogram:
        day, *totals = map(entry.get, ("date", *COUNTS))
        if day in found:
            twice.add(day)
        elif not entry.partial and None not in (day, *totals):
            found[day] = (totals[0], totals[1])
    days = Rows(DAYS)
    return {
        day: totals
        for day, totals in found.items()
        if day not in twice
        and not days.too_large(dict(zip(COUNTS, totals, strict=True)))
    }


def values_of(
    stats: Stats, tables: Iterable[str]
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """For each table how many rows a day has there, and their values."""
    for name in tables:
        if name == DAYS:
            totals = {total: getattr(stats, total) for total in TOTALS}
            yield name, 1, {**totals, "partial": stats.partial}
            continue
        entries: Entries[Any] = getattr(stats, name)
        if not entries:
            yield name, 1, NO_ROWS
            continue
        columns = {column: entries.column(column) for column in entries.columns}
        ranks = [*range(1, len(entries) + 1)]
        more = entries.truncated
        yield name, len(entries), {**columns, "rank": ranks, "truncated": more}


def why_not(
    stats: Stats,
    day: dt.date,
    found: Iterable[tuple[str, int, dict[str, Any]]],
    tables: Mapping[str, Rows],
) -> str | None:
    """Why the response can't be stored as that of *day*."""
    if stats.first_day != day:
        return f"the response is about another day: {stats.first_day}"
    for name, _, values in found:
        if (column := tables[name].too_large(values)) is not None:
            return f"a number does not fit into 64 bits: {name}.{column}"
    return None
