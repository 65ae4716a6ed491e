"""A table as columns of known types, before any library is asked to hold it.

The type belongs to the column's name and never to the values, so a table without
rows has the same columns and types as one with many.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import attrs

if TYPE_CHECKING:
    from sitestats._entries import Entries, Entry
    from sitestats._stats import Stats


TOTALS: Final = ("pageviews", "visitors", "seconds_on_page")
"""The fields that are one number each."""


class Kind(Enum):
    """What the values of a column are. Every kind has a way to say nothing."""

    TEXT = "text"
    COUNT = "count"
    """Whole numbers."""
    SECONDS = "seconds"
    """Numbers with a fraction."""
    FLAG = "flag"
    DAY = "day"
    """Dates without a time."""
    MOMENT = "moment"
    """Aware datetimes, in the column's zone."""


@attrs.frozen
class Column:
    """One column: its name, what it holds, and its cells."""

    name: str
    kind: Kind
    cells: Sequence[Any]
    zone: str = "UTC"
    """The zone that moments are shown in; it counts for those alone."""

    @property
    def has_gaps(self) -> bool:
        """Whether a value is missing."""
        return None in self.cells


KINDS: Final = {
    "hostname": Kind.TEXT,
    "path": Kind.TEXT,
    "timezone": Kind.TEXT,
    "field": Kind.TEXT,
    "value": Kind.TEXT,
    "name": Kind.TEXT,
    "change": Kind.TEXT,
    "pageviews": Kind.COUNT,
    "visitors": Kind.COUNT,
    "total": Kind.COUNT,
    "hour": Kind.COUNT,
    "year": Kind.COUNT,
    "week": Kind.COUNT,
    "seconds_on_page": Kind.SECONDS,
    "partial": Kind.FLAG,
    "date": Kind.DAY,
    "start": Kind.MOMENT,
    "end": Kind.MOMENT,
}
"""What each column holds, by its name."""

_HISTOGRAM_FIRST: Final = ("date", "pageviews", "visitors")


def columns_of_entries(
    entries: Entries[Entry], hostname: str | None = None
) -> list[Column]:
    """The entries as columns; behind one of *hostname* where that is given."""
    names = _in_table_order(entries.columns)
    columns = [
        Column(name, KINDS[name], entries.column(name), zone=_zone(entries))
        for name in names
    ]
    if hostname is not None:
        hostnames = [hostname] * len(entries)
        columns.insert(0, Column("hostname", Kind.TEXT, hostnames))
    return columns


def columns_of_totals(
    results: Sequence[Stats], fields: Sequence[str] = ()
) -> list[Column]:
    """One row for each result: which website, which period, its totals, and
    whether they will still grow.

    A total that no result was asked for has no column, unless it is among *fields*.
    """
    asked = [
        name
        for name in TOTALS
        if name in fields or any(name in stats for stats in results)
    ]
    zone = _common([stats.timezone for stats in results])
    columns = [
        Column("hostname", Kind.TEXT, [stats.query.hostname for stats in results]),
        *(
            Column(name, Kind.MOMENT, [getattr(stats, name) for stats in results], zone)
            for name in ("start", "end")
        ),
    ]
    columns += [
        Column(name, KINDS[name], [getattr(stats, name, None) for stats in results])
        for name in asked
    ]
    columns.append(Column("partial", Kind.FLAG, [stats.partial for stats in results]))
    return columns


def stacked(tables: Sequence[Sequence[Column]]) -> list[Column]:
    """The rows of all *tables*, one below the other.

    Columns are in the order in which they are met; a table that lacks one has
    nothing in it.
    """
    first: dict[str, Column] = {}
    for table in tables:
        for column in table:
            first.setdefault(column.name, column)
    by_name = [{column.name: column for column in table} for table in tables]
    return [
        Column(
            name,
            kind,
            [
                value
                for table, rows in zip(by_name, map(_rows, tables), strict=True)
                for value in (table[name].cells if name in table else [None] * rows)
            ],
            _common([table[name].zone for table in by_name if _has(table, name)]),
        )
        for name, kind in ((column.name, column.kind) for column in first.values())
    ]


def _rows(table: Sequence[Column]) -> int:
    return len(table[0].cells)


def _has(table: Mapping[str, Column], name: str) -> bool:
    # A zone is told by the tables that have rows.
    return name in table and any(cell is not None for cell in table[name].cells)


def _in_table_order(names: Sequence[str]) -> list[str]:
    if "date" not in names:
        return list(names)
    rest = [name for name in names if name not in _HISTOGRAM_FIRST]
    return [*_HISTOGRAM_FIRST, *rest]


def _zone(entries: Entries[Entry]) -> str:
    if "start" not in entries.columns:
        return "UTC"
    # Lists that were not read from an answer have no zone but that of their hours.
    zones = {entries.timezone} - {None} or {
        str(start.tzinfo)
        for start in entries.column("start")
        if isinstance(start, dt.datetime)
    }
    return _common([*zones])


def _common(zones: Sequence[str | None]) -> str:
    # A column of moments has one zone; where the rows differ that is UTC.
    named = {zone_called(zone).key for zone in zones if zone is not None}
    return named.pop() if len(named) == 1 else "UTC"


# --- tables that are displayed only -----------------------------------------------


@attrs.frozen
class Sheet:
    """A title, the columns, and a row of values for each line."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""
    """What is to be said below the last row."""

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers alone, which stand to the right."""
        kinds = {type(row[column]) for row in self.rows} - {type(None)}
        return bool(kinds) and kinds <= {int, float}


# --- days and zones ---------------------------------------------------------------


def zone_called(name: str) -> ZoneInfo:
    """The zone; UTC where the service knows one that this machine does not."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def days_of(stats: Stats) -> tuple[dt.date, dt.date] | None:
    """The first and the last day; None when the answer does not tell."""
    if stats.start is None or stats.end is None:
        return None
    zone = zone_called(stats.timezone or "UTC")
    try:
        return stats.start.astimezone(zone).date(), stats.end.astimezone(zone).date()
    except OverflowError:
        # In that zone it is a year that no date can hold: 0 or 10000.
        return None
