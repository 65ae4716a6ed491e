"""Tables of results: columns of known types, and sheets to display.

The type belongs to the column's name and never to the values, so a table without
rows has the same columns and types as one with many. Columns and sheets are named
tuples, which are defined six times as fast as other classes of values: every import
of the package pays for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import Enum
from itertools import chain, compress, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitestats._common.zones import common_zone

if TYPE_CHECKING:
    from sitestats._common.jsontext import JsonValue


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
    repeats: Sequence[int] | None = None
    """In how many rows each cell is, one below the other; None for one row each."""

    @property
    def has_gaps(self) -> bool:
        """Whether a value is missing."""
        return None in self.cells

    @property
    def rows(self) -> Sequence[Any]:
        """The cell of each row."""
        if self.repeats is None:
            return self.cells
        return [*chain.from_iterable(map(repeat, self.cells, self.repeats))]


_NAMES: Final = {
    Kind.TEXT: (
        *("hostname", "timezone", "value", "name", "direction", "error"),
        *("own_hostname", "label"),
    ),
    Kind.COUNT: (
        *("pageviews", "visitors", "total", "hour", "year", "week", "query"),
        "events",
    ),
    Kind.SECONDS: ("seconds_on_page",),
    Kind.FLAG: (
        *("partial", "clipped", "truncated"),
        *("is_public", "has_ssl", "has_script"),
    ),
    Kind.DAY: (
        *("date", "first_day", "last_day"),
        *("first_day_before", "last_day_before"),
    ),
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
                *chain.from_iterable(
                    table[name].cells if name in table else repeat(None, rows)
                    for table, rows in zip(
                        by_name, map(count_rows, tables), strict=True
                    )
                )
            ],
            common_zone([table[name].zone for table in by_name if _has(table, name)]),
        )
        for name, column in first.items()
    ]


def shared(values: Mapping[str, Sequence[Any]], counts: Sequence[int]) -> list[Column]:
    """Columns by name, each of whose values is in as many rows as *counts* says."""
    # What has no rows has no value, and so no gap either.
    repeats = [count for count in counts if count]
    return [
        named(name, [*compress(cells, counts)])._replace(repeats=repeats)
        for name, cells in values.items()
    ]


def count_rows(table: Sequence[Column]) -> int:
    """How many rows a table of plain columns has."""
    return len(table[0].cells)


def _has(table: Mapping[str, Column], name: str) -> bool:
    # Only a table with rows says which zone its moments are in.
    return name in table and any(cell is not None for cell in table[name].cells)


def to_dicts(columns: Sequence[Column]) -> list[dict[str, JsonValue]]:
    """The rows as dicts, ready for JSON."""
    names = [column.name for column in columns]
    rows = zip(*(map(for_json, column.rows) for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def for_json(value: Any) -> JsonValue:
    """A cell as JSON can have it."""
    plain: JsonValue = value.isoformat() if isinstance(value, date) else value
    return plain


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
        return are_numbers([row[column] for row in self.rows])


def are_numbers(values: Iterable[object]) -> bool:
    """Whether the values of a column are numbers, but for those that are missing."""
    kinds = {*map(type, values)} - {type(None)}
    return bool(kinds) and kinds <= {int, float}
