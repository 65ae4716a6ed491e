"""Data frames of pandas and polars, and Arrow tables, from typed columns.

Each library is an extra, which is imported when a frame is made.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from sitestats._base.errors import load_extra
from sitestats._base.text import encodable
from sitestats._results.tables import Column, Kind

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


_TYPES: Final[Mapping[Kind, tuple[str, str, str]]] = {
    Kind.TEXT: ("string", "String", "string"),
    Kind.COUNT: ("int64", "Int64", "int64"),
    Kind.NUMBER: ("float64", "Float64", "float64"),
    Kind.FLAG: ("boolean", "Boolean", "bool_"),
    Kind.DAY: ("datetime64[us]", "Date", "date32"),
    Kind.MOMENT: ("datetime64[us, UTC]", "Datetime", "timestamp"),
}
"""The names of the types in pandas, polars and pyarrow."""


def to_pandas(columns: Sequence[Column]) -> pd.DataFrame:
    """A pandas data frame.

    Days are ``datetime64``, moments are ``datetime64`` in their zone, counts are
    ``int64``, or ``float64`` where one can be missing, seconds are ``float64``.
    """
    library = load_extra("pandas", extra="pandas")
    series: dict[str, Any] = {}
    for column in columns:
        dtype, _, _ = _TYPES[column.kind]
        if dtype == "int64" and (column.can_be_missing or None in column.cells):
            # matplotlib and all methods of pandas accept numpy's own types.
            dtype = "float64"
        values = library.Series(_cells(column), dtype=dtype)
        if column.kind is Kind.MOMENT:
            values = values.dt.tz_convert(column.zone)
        series[column.name] = values
    return cast("pd.DataFrame", library.DataFrame(series, columns=[*series]))


def to_polars(columns: Sequence[Column]) -> pl.DataFrame:
    """A polars data frame: ``Date``, ``Datetime`` in its zone, ``Int64``,
    ``Float64``, ``String``, ``Boolean``.
    """
    library = load_extra("polars", extra="polars")
    schema: dict[str, Any] = {}
    for column in columns:
        _, name, _ = _TYPES[column.kind]
        kind = getattr(library, name)
        is_moment = column.kind is Kind.MOMENT
        schema[column.name] = kind("us", column.zone) if is_moment else kind
    cells = {column.name: _cells(column) for column in columns}
    return cast("pl.DataFrame", library.DataFrame(cells, schema))


def to_arrow(columns: Sequence[Column]) -> pa.Table:
    """A table of Arrow, with the types of the polars frame."""
    library = load_extra("pyarrow", extra="arrow")
    schema: dict[str, Any] = {}
    for column in columns:
        _, _, name = _TYPES[column.kind]
        settings = ("us", column.zone) if column.kind is Kind.MOMENT else ()
        schema[column.name] = getattr(library, name)(*settings)
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
