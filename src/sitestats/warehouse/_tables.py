"""The tables of the warehouse: columns, types and keys, and rows as Arrow tables.

Types are defined here alone, and never depend on the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import dlt
import pyarrow as pa
from dlt.common.data_types import TDataType
from dlt.common.schema.typing import TTableSchemaColumns
from dlt.extract.items import DataItemWithMeta

from sitestats._common.fields import LISTS

from ._days import MONTHS

if TYPE_CHECKING:
    from sitestats import Entries

DAYS: Final = "days"
"""The table of the totals. The resource of this name has the coverage in its state."""
ALL_LISTS: Final = ("pages", *LISTS, "events")
"""The lists that can have a table of days."""
TABLES: Final = (*ALL_LISTS, MONTHS)
"""The tables that can be named."""

NO_ROWS: Final[dict[str, Any]] = {"rank": 0, "no_rows": True}
"""The row that stands for an empty list of a day."""

_HELD: Final = 10_000
"""How many rows of a table are collected before dlt gets them."""

Column: TypeAlias = tuple[str, TDataType]
"""Its name, and its type in dlt's words."""

_MOMENT: Final[TDataType] = "timestamp"
_DAY: Final[Sequence[Column]] = [
    ("hostname", "text"),
    ("first_day", "date"),
    ("timezone", "text"),
]
_COUNTS: Final[Sequence[Column]] = [("pageviews", "bigint"), ("visitors", "bigint")]
_MEDIAN: Final[Column] = ("seconds_on_page", "double")
# An empty list of a day is a marked row, which replaces the rows of an earlier
# reading. Where dlt merges tables, it does not store that row.
_END: Final[Sequence[Column]] = [("read_at", _MOMENT), ("no_rows", "bool")]
# From 1. With it each row has a key, so that dlt drops the copy of a row that an
# interrupted load had staged already.
_RANK: Final[Column] = ("rank", "bigint")
_CUT: Final[Column] = ("truncated", "bool")

COLUMNS: Final[dict[str, Sequence[Column]]] = {
    "websites": [
        *((name, "text") for name in ("hostname", "timezone", "label", "own_hostname")),
        *((name, "bool") for name in ("is_public", "has_ssl", "has_script")),
        *((name, "bigint") for name in ("pageviews", "events")),
        ("listed_at", _MOMENT),
    ],
    "coverage": [
        ("hostname", "text"),
        ("timezone", "text"),
        ("through", "date"),
        ("behind", "bigint"),
        ("error", "text"),
        ("checked_at", _MOMENT),
    ],
    DAYS: [*_DAY, *_COUNTS, _MEDIAN, *_END],
    MONTHS: [*_DAY, *_COUNTS, ("partial", "bool"), *_END],
    **{
        name: [*_DAY, _RANK, ("value", "text"), *_COUNTS, _MEDIAN, _CUT, *_END]
        for name in ALL_LISTS
        if name != "events"
    },
    "events": [*_DAY, _RANK, ("name", "text"), ("total", "bigint"), _CUT, *_END],
}
"""The columns of each table."""

_KEY: Final = ("hostname", "first_day", "rank")
"""The columns that identify a row, as far as a table has them."""

_ARROW: Final = {
    "text": pa.string(),
    "date": pa.date32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    _MOMENT: pa.timestamp("us", "UTC"),
}


def hints(table: str) -> Any:
    """The hints of dlt for *table*: types, keys, and to replace whole days."""
    names = [name for name, _ in COLUMNS[table]]
    key = [name for name in _KEY if name in names]
    columns: TTableSchemaColumns = {
        name: {"data_type": kind, "nullable": name not in key}
        for name, kind in COLUMNS[table]
    }
    # For BigQuery, Snowflake, Athena and others that divide tables.
    columns["hostname"]["cluster"] = True
    if "first_day" in columns:
        columns["first_day"]["partition"] = True
        columns["no_rows"]["hard_delete"] = True
    return dlt.mark.make_hints(
        table_name=table,
        # "append" and "replace" would have rows of an interrupted load twice.
        write_disposition={"disposition": "merge", "strategy": "delete-insert"},
        merge_key=[name for name in key if name != "rank"],
        primary_key=key,
        columns=columns,
    )


class Rows:
    """Rows of one table, column by column, until there are enough for dlt."""

    def __init__(self, table: str) -> None:
        self._hints = hints(table)
        self._schema: Any = pa.schema(
            [
                pa.field(name, _ARROW[kind], nullable=name not in _KEY)
                for name, kind in COLUMNS[table]
            ]
        )
        self._columns: list[list[Any]] = [[] for _ in self._schema]

    @property
    def are_many(self) -> bool:
        """Whether dlt should get the rows now."""
        return len(self._columns[0]) >= _HELD

    def add(self, count: int = 1, **values: Any) -> None:
        """Add *count* rows. A value is for all of them, a list has one for each."""
        for field, column in zip(self._schema, self._columns, strict=True):
            value = values.get(field.name)
            are_many = isinstance(value, list)
            column.extend(cast("list[Any]", value) if are_many else [value] * count)

    def add_entries(self, entries: Entries[Any], key: dict[str, Any]) -> None:
        """Add a row for each of *entries*, or the row that stands for an empty list."""
        if not entries:
            self.add(**key, **NO_ROWS)
            return
        columns = {name: entries.column(name) for name in entries.columns}
        ranks = [*range(1, len(entries) + 1)]
        more = entries.truncated
        self.add(len(entries), **key, **columns, rank=ranks, truncated=more)

    def take(self) -> Iterator[DataItemWithMeta]:
        """Remove the rows, and return what dlt stores in its table."""
        columns, self._columns = self._columns, [[] for _ in self._schema]
        if not columns[0]:
            return
        arrays: list[Any] = [
            pa.array(
                [*map(storable, column)] if field.type == pa.string() else column,
                field.type,
            )
            for field, column in zip(self._schema, columns, strict=True)
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
