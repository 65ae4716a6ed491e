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
    cells, types = _typed(library, columns, 1)
    return cast("pl.DataFrame", library.DataFrame(cells, types))


def to_arrow(columns: Sequence[Column]) -> pa.Table:
    """A table of Arrow, with the types of the polars frame."""
    library = load_extra("pyarrow", extra="arrow")
    cells, types = _typed(library, columns, 2)
    return cast("pa.Table", library.table(cells, library.schema(types)))


def to_stream(columns: Sequence[Column], requested_schema: object | None) -> object:
    """The capsule of an Arrow stream, by pyarrow or else by polars.

    The reader of the stream needs neither. Without a library the stream would need C
    callbacks written by hand, where a mistake is a crash, not an exception.
    """
    is_polars = find_spec("pyarrow") is None and find_spec("polars") is not None
    table: Any = to_polars(columns) if is_polars else to_arrow(columns)
    return cast("object", table.__arrow_c_stream__(requested_schema))


def _typed(
    library: Any, columns: Sequence[Column], place: int
) -> tuple[dict[str, Sequence[Any]], dict[str, Any]]:
    """The cells and the type of each column, by its name; the names of the *library*'s
    types have this *place* in the table.
    """
    types: dict[str, Any] = {}
    for column in columns:
        settings = ("us", column.zone) if column.kind is Kind.MOMENT else ()
        types[column.name] = getattr(library, _TYPES[column.kind][place])(*settings)
    return {column.name: _cells(column) for column in columns}, types


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
