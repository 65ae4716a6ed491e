"""Tables: columns of known types. Frames, sheets and displays are all made of them.

A column's name says its type, and its values never do, so a table without rows has the
same columns and types as one with many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import Enum
from itertools import repeat
from typing import Annotated, Any, Final, TypeAlias

import attrs
import msgspec

from sitestats._base.fields import FIELD_ROWS, TOTALS
from sitestats._public import Public
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._query.parameters import can_filter, in_order, is_documented
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import InJson, for_json

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A count in JSON. Frames and databases have 64 bits, also for a difference of two."""
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]
Hour: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=23)]
Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class Kind(Public, Enum):
    """What the values of a column are. In every kind a value can be missing."""

    TEXT = "text"
    COUNT = "count"
    """Whole numbers."""
    NUMBER = "number"
    """Numbers with a fraction."""
    FLAG = "flag"
    DAY = "day"
    """Dates without a time."""
    MOMENT = "moment"
    """Aware datetimes, in the column's zone."""


_KINDS: Final[Mapping[str, Kind]] = {
    **{name: Kind(FIELD_ROWS[name].kind) for name in TOTALS},
    **dict.fromkeys(("total", "events"), Kind.COUNT),
    **dict.fromkeys(("now", "before", "change"), Kind.COUNT),
    **dict.fromkeys(("hour", "year", "week", "query"), Kind.COUNT),
    **dict.fromkeys(("percent", "share"), Kind.NUMBER),
    **dict.fromkeys(("partial", "clipped", "truncated", "public"), Kind.FLAG),
    **dict.fromkeys(("is_public", "has_ssl", "has_script"), Kind.FLAG),
    **dict.fromkeys(("date", "first_day", "last_day"), Kind.DAY),
    **dict.fromkeys(("start", "end"), Kind.MOMENT),
}
"""The kinds of columns, by name; all other columns are texts."""


def kind_of(name: str) -> Kind:
    """The kind of a column, by its name or by the name that is compared."""
    base, _, side = name.rpartition("_")
    if base and side in {"before", "change", "percent"}:
        name = "percent" if side == "percent" else base
    return _KINDS.get(name, Kind.TEXT)


@attrs.frozen
class Column(InJson):
    """One column: its name, what it holds, and its cells."""

    name: str
    kind: Kind
    cells: Sequence[Any]
    zone: str = "UTC"
    """The zone in which moments are shown; other kinds of columns ignore it."""
    can_be_missing: bool = False
    """Whether rows of such a frame can lack a count, also if those here have all."""
    heading: str = ""
    """What stands above it where it is shown, if not the words for its name."""

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, which stand to the right."""
        return self.kind in {Kind.COUNT, Kind.NUMBER}


def column_of(
    name: str, cells: Sequence[Any], zone: str = "UTC", *, can_be_missing: bool = False
) -> Column:
    """A column of the kind that its name has."""
    return Column(name, kind_of(name), cells, zone, can_be_missing)


def of_rows(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Column]:
    """Columns by their *names*, from rows."""
    cells = zip(*rows, strict=True) if rows else repeat(())
    return [column_of(name, column) for name, column in zip(names, cells, strict=False)]


def beside(values: Mapping[str, Any], columns: Sequence[Column]) -> list[Column]:
    """Columns that have the same one of *values* in each row, and the *columns*."""
    rows = range(count_rows(columns))
    same = [column_of(name, [value for _ in rows]) for name, value in values.items()]
    return [*same, *columns]


def stacked(tables: Iterable[Sequence[Column]]) -> list[Column]:
    """The rows of all *tables*, one below the other.

    Columns are in the order of their first table. A table that lacks a column has empty
    cells there. Moments are in UTC, whatever the zones of the tables: the meaning of a
    row must not depend on which other rows there are. No table is kept: the garbage
    collector looks at what is kept again and again, so thousands of small tables would
    take more than their share of time.
    """
    rows = 0
    first: dict[str, Column] = {}
    cells: defaultdict[str, list[Any]] = defaultdict(list)
    for table in tables:
        by_name = {column.name: column for column in table}
        for name, column in by_name.items():
            first.setdefault(name, column)
            cells[name].extend(repeat(None, rows - len(cells[name])))
            cells[name].extend(column.cells)
        rows += count_rows(table)
    for values in cells.values():
        values.extend(repeat(None, rows - len(values)))
    return [
        attrs.evolve(column, cells=cells[name], zone="UTC")
        for name, column in first.items()
    ]


def count_rows(columns: Sequence[Column]) -> int:
    """How many rows there are."""
    return len(columns[0].cells) if columns else 0


def to_dicts(columns: Sequence[Column]) -> list[dict[str, JsonValue]]:
    """The rows as dicts, ready for JSON."""
    names = [column.name for column in columns]
    rows = zip(*(map(for_json, column.cells) for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


# --- what a row is about ------------------------------------------------------------


def subject(query: StatsQuery) -> dict[str, str]:
    """What a query is about, as columns: ``hostname``, and the ``page`` and the
    ``filters`` that it has, such as ``"country=NL, device_type=mobile"``.
    """
    parameters = parameters_of(query)
    filters = ", ".join(
        f"{name}={value}"
        for name, value in parameters.params.items()
        if can_filter(name) and name != "page"
    )
    page = parameters.path or parameters.params.get("page")
    values = {"hostname": parameters.hostname, "page": page, "filters": filters}
    return {name: value for name, value in values.items() if value}


def filters_that_differ(queries: Iterable[StatsQuery]) -> list[str]:
    """The filters that some of the *queries* have with another value, or lack, in the
    order in which they are sent; without the page, which has a column anyway.
    """
    sent = [filters_of(query) for query in queries]
    names = in_order(dict.fromkeys(name for filters in sent for name in filters))
    return [n for n in names if len({filters.get(n) for filters in sent}) > 1]


def filters_of(query: StatsQuery) -> dict[str, str]:
    """The filters of the document that a query has, without the page."""
    return {
        name: value
        for name, value in parameters_of(query).params.items()
        if can_filter(name) and is_documented(name) and name != "page"
    }


def label_of(query: StatsQuery) -> str:
    """The website, page and filters: ``"example.com/blog, country=NL"``."""
    about = subject(query)
    about["hostname"] += about.pop("page", "")
    return ", ".join(about.values())


def compared_days(
    first_day: date | None = None,
    last_day: date | None = None,
    first_day_before: date | None = None,
    last_day_before: date | None = None,
) -> str:
    """The days of two periods as a text: ``"2026-03-08 against 2026-03-07"``."""
    now = days_text(first_day, last_day)
    before = days_text(first_day_before, last_day_before)
    return f"{now} against {before}" if now and before else ""


def only(filters: str) -> str:
    """The note of what is shown without its query: ``"only country=NL"``; empty without
    filters.
    """
    return f"only {filters}" if filters else ""


def days_text(first: date | None, last: date | None) -> str:
    """Days as a text, empty where they are not known."""
    if first is None or last is None or first == last:
        return str(first or "")
    return f"{first} to {last}"
