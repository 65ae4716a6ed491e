"""Data frames of pandas and polars, and Arrow tables, from typed columns.

Each library is an extra, which is imported when a frame is made.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from sitestats._base.errors import load_extra
from sitestats._base.text import encodable
from sitestats._results.tables import Column, Kind

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def to_pandas(columns: Sequence[Column]) -> pd.DataFrame:
    """A pandas data frame.

    Days are ``datetime64``, moments are ``datetime64`` in their zone, counts are
    ``int64``, or ``float64`` where one can be missing, seconds are ``float64``.
    """
    library = load_extra("pandas", extra="pandas")
    series: dict[str, Any] = {}
    for column in columns:
        # matplotlib and all methods of pandas accept numpy's own types.
        has_gaps = column.can_be_missing or None in column.cells
        dtypes = {
            Kind.TEXT: "string",
            Kind.COUNT: "float64" if has_gaps else "int64",
            Kind.NUMBER: "float64",
            Kind.FLAG: "boolean",
            Kind.DAY: "datetime64[us]",
            Kind.MOMENT: "datetime64[us, UTC]",
        }
        values = library.Series(_cells(column), dtype=dtypes[column.kind])
        if column.kind is Kind.MOMENT:
            values = values.dt.tz_convert(column.zone)
        series[column.name] = values
    return cast("pd.DataFrame", library.DataFrame(series, columns=[*series]))


def to_polars(columns: Sequence[Column]) -> pl.DataFrame:
    """A polars data frame: ``Date``, ``Datetime`` in its zone, ``Int64``,
    ``Float64``, ``String``, ``Boolean``.
    """
    library = load_extra("polars", extra="polars")
    types = {
        Kind.TEXT: library.String,
        Kind.COUNT: library.Int64,
        Kind.NUMBER: library.Float64,
        Kind.FLAG: library.Boolean,
        Kind.DAY: library.Date,
    }
    schema = {
        column.name: types.get(column.kind) or library.Datetime("us", column.zone)
        for column in columns
    }
    cells = {column.name: _cells(column) for column in columns}
    return cast("pl.DataFrame", library.DataFrame(cells, schema))


def to_arrow(columns: Sequence[Column]) -> pa.Table:
    """A table of Arrow, with the types of the polars frame."""
    library = load_extra("pyarrow", extra="arrow")
    types = {
        Kind.TEXT: library.string(),
        Kind.COUNT: library.int64(),
        Kind.NUMBER: library.float64(),
        Kind.FLAG: library.bool_(),
        Kind.DAY: library.date32(),
    }
    schema = {
        column.name: types.get(column.kind) or library.timestamp("us", column.zone)
        for column in columns
    }
    cells = {column.name: _cells(column) for column in columns}
    return cast("pa.Table", library.table(cells, library.schema(schema)))


def to_stream(columns: Sequence[Column], requested_schema: object | None) -> object:
    """The capsule of an Arrow stream, by pyarrow or else by polars.

    The reader of the stream needs neither. Without a library the stream would need C
    callbacks written by hand, where a mistake is a crash, not an exception.
    """
    is_polars = find_spec("pyarrow") is None and find_spec("polars") is not None
    table: Any = to_polars(columns) if is_polars else to_arrow(columns)
    return cast("object", table.__arrow_c_stream__(requested_schema))


def _cells(column: Column) -> Sequence[Any]:
    """The cell of each row, as all three libraries accept them."""
    match column.kind:
        case Kind.MOMENT:
            # Moments are in UTC, since a repeated hour of the zone would be ambiguous.
            return [cell and cell.astimezone(dt.UTC) for cell in column.cells]
        case Kind.TEXT:
            return [cell and encodable(cell) for cell in column.cells]
        case _:
            return [*column.cells]
