"""The tables of the warehouse: columns, types and keys, and rows as Arrow tables.

Types are defined here alone, and never depend on the values. An empty list of a day is
a marked row, which replaces the rows of an earlier reading. ``update`` deletes it from
a database, once it was loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, cast

import dlt
import pyarrow as pa
from dlt.common.schema.typing import TTableSchemaColumns
from dlt.extract.items import DataItemWithMeta

from sitestats._base.fields import (
    COUNTS,
    FIELD_ROWS,
    HISTOGRAM_COUNTS,
    IF_REQUESTED,
    LISTS,
    TOTALS,
)

from ._days import DAYS, MONTHS, Sums

if TYPE_CHECKING:
    from sitestats import Entries

ALL_LISTS: Final = ("pages", *LISTS, "events")
"""The lists that can have a table of days."""
TABLES: Final = (*ALL_LISTS, MONTHS)
"""The tables that can be named."""

RUNS: Final = "runs"
"""The table of the updates."""

EMPTY: Final = 0
"""The rank of the row that stands for an empty list of a day."""

MOST_HELD: Final = 10_000
"""How many rows of a table are collected before dlt gets them."""

_TEXT, _DATE, _FLAG = pa.string(), pa.date32(), pa.bool_()
_WHOLE, _REAL, _MOMENT = pa.int64(), pa.float64(), pa.timestamp("us", "UTC")
_NUMBERS: Final[dict[str, Any]] = {"count": _WHOLE, "number": _REAL}

_COLUMNS: Final[dict[str, tuple[Any, str]]] = {
    "hostname": (_TEXT, "The website"),
    "first_day": (_DATE, "The day, or the first day of the month"),
    "timezone": (_TEXT, "The time zone of the days"),
    # With this column each row has a key, so that dlt drops the copy of a row that an
    # interrupted load had staged already.
    "rank": (_WHOLE, "The place in the list, from 1"),
    "value": (_TEXT, "The path, the country and so on; null if it is not known"),
    "name": (_TEXT, "The name of the event"),
    "total": (_WHOLE, "How often it happened"),
    **{
        name: (_NUMBERS[FIELD_ROWS[name].kind], FIELD_ROWS[name].about)
        for name in TOTALS
    },
    "pageviews": (_WHOLE, "Page views; in websites, an estimate of 30 days"),
    "as_read": (_TEXT, "The rows of each table and their sums as they came, as JSON"),
    "truncated": (_FLAG, "Whether the list has 1,000 entries, the limit"),
    "partial": (_FLAG, "Whether the month was not over"),
    "read_at": (_MOMENT, "When it was read"),
    "label": (_TEXT, "The text of the user about the website"),
    "own_hostname": (_TEXT, "The custom domain that gets around ad blockers"),
    "is_public": (_FLAG, "Whether everybody may read the statistics"),
    "has_ssl": (_FLAG, "Whether the website has SSL"),
    "has_script": (_FLAG, "Whether the service found its script on the website"),
    "events": (_WHOLE, "Events, an estimate of 30 days"),
    "listed_at": (_MOMENT, "When the service last listed the website"),
    "through": (_DATE, "The last day before the first gap"),
    "behind": (_WHOLE, "Missing days; null if the website is not listed any more"),
    "listed": (_FLAG, "Whether the service still lists the website"),
    "error": (_TEXT, "Why days are missing, if any are"),
    "checked_at": (_MOMENT, "When this was found"),
    "held": (_WHOLE, "Days whose fall to nothing is not believed yet"),
    "began_at": (_MOMENT, "When the update began"),
    "ended_at": (_MOMENT, "When its last load was read"),
    "requests": (_WHOLE, "How many requests it made"),
    "websites": (_WHOLE, "How many websites it was about"),
    "failed": (_WHOLE, "How many of them have an error"),
    "rows": (_TEXT, "How many rows of each table it read, as JSON"),
    "days_changed": (_WHOLE, "How many stored days have other totals now"),
    "problems": (_TEXT, "What somebody has to look at, a line each; null without any"),
    "version": (_TEXT, "The version of sitestats"),
}
"""The type of each column, which dlt reads from Arrow, and its description."""

_DAY: Final = ("hostname", "first_day", "timezone")
_LIST: Final = (*_DAY, "rank", "value", *COUNTS, *IF_REQUESTED, "truncated")

COLUMNS: Final[dict[str, Sequence[str]]] = {
    "websites": (
        "hostname",
        "timezone",
        "label",
        "own_hostname",
        "is_public",
        "has_ssl",
        "has_script",
        "pageviews",
        "events",
        "listed_at",
    ),
    "coverage": (
        "hostname",
        "timezone",
        "through",
        "behind",
        "held",
        "listed",
        "error",
        "checked_at",
    ),
    RUNS: (
        "began_at",
        "ended_at",
        "requests",
        "websites",
        "failed",
        "rows",
        "days_changed",
        "problems",
        "version",
    ),
    DAYS: (*_DAY, *TOTALS, "as_read", "read_at"),
    MONTHS: (*_DAY, *HISTOGRAM_COUNTS, "partial", "read_at"),
    **{name: (*_LIST, "read_at") for name in ALL_LISTS if name != "events"},
    "events": (*_DAY, "rank", "name", "total", "truncated", "read_at"),
}
"""The columns of each table."""

_TEXTS: Final = {
    "websites": "The websites that the service lists, or has listed",
    "coverage": "The progress of each website",
    DAYS: "The totals of each website and day",
    MONTHS: "The totals of each website and month; visitors of the whole month",
    RUNS: "The updates",
}


def key(table: str) -> list[str]:
    """The columns that identify a row of *table*."""
    names = {"hostname", "first_day", "rank", "began_at"}
    return [name for name in COLUMNS[table] if name in names]


def comments(table: str, name: str, known: Collection[str]) -> list[str]:
    """The SQL that sets the comments of *table*, of that qualified *name*, and of its
    *known* columns.
    """
    of_columns = [
        f"COMMENT ON COLUMN {name}.{column} IS '{_COLUMNS[column][1]}'"
        for column in COLUMNS[table]
        if column in known
    ]
    return [f"COMMENT ON TABLE {name} IS '{about(table)}'", *of_columns]


def about(table: str) -> str:
    """What *table* has."""
    return _TEXTS.get(table, f"The list {table} of each website and day")


def hints(table: str) -> Any:
    """The hints of dlt for *table*: keys, and to replace whole days."""
    keys = key(table)
    columns: TTableSchemaColumns = {
        name: {"nullable": name not in keys, "description": _COLUMNS[name][1]}
        for name in COLUMNS[table]
    }
    # BigQuery, Snowflake, Athena and others divide tables by these hints.
    if "hostname" in columns:
        columns["hostname"]["cluster"] = True
    if "first_day" in columns:
        columns["first_day"]["partition"] = True
    return dlt.mark.make_hints(
        table_name=table,
        # "append" and "replace" would have rows of an interrupted load twice.
        write_disposition={"disposition": "merge", "strategy": "delete-insert"},
        merge_key=[name for name in keys if name != "rank"],
        primary_key=keys,
        columns=columns,
        additional_table_hints={"description": about(table)},
    )


class ListOfDay:
    """The columns of a list, with the first entry of each value."""

    def __init__(self, entries: Entries[Any]) -> None:
        names = entries.entry_type.columns
        self.columns = {name: entries.column(name) for name in names}
        self.truncated = entries.truncated
        key, count = ("name", "total") if "name" in names else ("value", COUNTS[0])
        values = self.columns[key]
        self.twice = list[Any]()
        """The values of which there is another entry."""
        if len({*values}) < len(values):
            self.twice = [value for value, n in Counter(values).items() if n > 1]
            firsts = [values.index(value) for value in dict.fromkeys(values)]
            self.columns = {
                name: [column[place] for place in firsts]
                for name, column in self.columns.items()
            }
        counts = self.columns[count]
        self.sums: Sums = (len(counts), sum(counts))


class Rows:
    """Rows of one table, column by column, until there are enough for dlt."""

    def __init__(self, table: str) -> None:
        self._hints, keys = hints(table), key(table)
        self._schema: Any = pa.schema(
            [
                pa.field(name, _COLUMNS[name][0], nullable=name not in keys)
                for name in COLUMNS[table]
            ]
        )
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS[table]}
        self.total = 0
        """How many rows were added, without those that stand for an empty list."""

    def add(self, count: int = 1, **values: Any) -> None:
        """Add *count* rows. A list has a value for each; another value is for all."""
        for name, column in self._columns.items():
            value: Any = values.get(name)
            if isinstance(value, list):
                column.extend(cast("Any", value))
            else:
                column.extend(repeat(value, count))
        if values.get("rank") != EMPTY:
            self.total += count

    def add_list(self, entries: ListOfDay, key: dict[str, Any]) -> None:
        """Add a row for each of *entries*, or the row that stands for an empty list."""
        number, more = entries.sums[0], entries.truncated
        if number:
            ranks = [*range(1, number + 1)]
            self.add(number, **key, **entries.columns, rank=ranks, truncated=more)
        else:
            self.add(**key, rank=EMPTY)

    def take(self, at_least: int = 1) -> Iterator[DataItemWithMeta]:
        """Remove the rows, if there are *at_least* so many, and return what dlt stores
        of them; without any, dlt makes the table.
        """
        if len(next(iter(self._columns.values()))) < at_least:
            return
        columns = self._columns
        self._columns = {name: [] for name in columns}
        arrays: list[Any] = [
            pa.array(
                [*map(storable, column)] if field.type == _TEXT else column, field.type
            )
            for field, column in zip(self._schema, columns.values(), strict=True)
        ]
        yield dlt.mark.with_hints(
            pa.Table.from_arrays(arrays, schema=self._schema),
            self._hints,
            create_table_variant=True,
        )


def storable(text: str | None) -> Any:
    """*text* as every destination accepts it."""
    # Visitors decide what stands in a path. PostgreSQL refuses U+0000, UTF-8 half of a
    # surrogate pair, and a load that fails would fail each night.
    if text is None or (text.isascii() and "\0" not in text):
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
