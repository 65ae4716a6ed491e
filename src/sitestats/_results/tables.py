"""Tables of results: columns of known types, sheets to display, and time zones.

The type belongs to the column's name and never to the values, so a table without
rows has the same columns and types as one with many. Columns and sheets are named
tuples, which are defined six times as fast as other classes of values: every import
of the package pays for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo


class Kind(Enum):
    """What the values of a column are. In every kind a value can be missing."""

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


class Column(NamedTuple):
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


_NAMES: Final = {
    Kind.TEXT: ("hostname", "value", "name", "direction", "error"),
    Kind.COUNT: ("pageviews", "visitors", "total", "hour", "year", "week", "query"),
    Kind.SECONDS: ("seconds_on_page",),
    Kind.FLAG: ("partial", "clipped", "truncated"),
    Kind.DAY: ("date",),
    Kind.MOMENT: ("start", "end"),
}
_KINDS: Final = {name: kind for kind, names in _NAMES.items() for name in names}


def named(name: str, cells: Sequence[Any], zone: str = "UTC") -> Column:
    """A column of a known name, which has a kind."""
    return Column(name, _KINDS[name], cells, zone)


def stacked(tables: Sequence[Sequence[Column]]) -> list[Column]:
    """The rows of all *tables*, one below the other.

    Columns are in the order of their first table. A table that lacks one has
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
            column.kind,
            [
                value
                for table, rows in zip(by_name, map(_rows, tables), strict=True)
                for value in (table[name].cells if name in table else [None] * rows)
            ],
            common_zone([table[name].zone for table in by_name if _has(table, name)]),
        )
        for name, column in first.items()
    ]


def _rows(table: Sequence[Column]) -> int:
    return len(table[0].cells)


def _has(table: Mapping[str, Column], name: str) -> bool:
    # Only a table with rows says which zone its moments are in.
    return name in table and any(cell is not None for cell in table[name].cells)


# --- tables that are displayed only -----------------------------------------------


class Sheet(NamedTuple):
    """A title, the columns, and a row of values for each line."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""
    """What stands below the last row."""
    total: int | None = None
    """How many rows there would be, where *rows* has the first ones alone."""

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers alone, which stand to the right."""
        kinds = {type(row[column]) for row in self.rows} - {type(None)}
        return bool(kinds) and kinds <= {int, float}


# --- time zones -------------------------------------------------------------------

LONGEST_ZONE: Final = 64
"""Characters: no zone's name has more."""


def find_zone(name: str | None) -> ZoneInfo | None:
    """The time zone; None where the service knows one that this machine does not."""
    if name is None or len(name) > LONGEST_ZONE:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


_SAMPLES: Final = (datetime(1880, 1, 1, tzinfo=UTC), timedelta(days=14), 4500)
"""The moments at which two zones are compared: until 2052, when the rules repeat."""


def same_zone(first: str | None, second: str | None) -> bool:
    """Whether two names are of one zone, as ``Asia/Katmandu`` and ``Asia/Kathmandu``.

    The standard library does not tell which names are links, so the offsets are
    compared over the years. Zones with the same ones have the same days.
    """
    one, other = find_zone(first), find_zone(second)
    if first == second or one is None or other is None:
        return first == second
    return _offsets(one) == _offsets(other)


@lru_cache(maxsize=16)
def _offsets(zone: ZoneInfo) -> tuple[timedelta | None, ...]:
    start, step, count = _SAMPLES
    moments = (start + step * number for number in range(count))
    return tuple(moment.astimezone(zone).utcoffset() for moment in moments)


def common_zone(names: Collection[str | None]) -> str:
    """The zone of a column of moments: where rows differ, or have none, it is UTC."""
    zones = {find_zone(name) for name in names if name is not None}
    zone = zones.pop() if len(zones) == 1 else None
    return "UTC" if zone is None else zone.key
