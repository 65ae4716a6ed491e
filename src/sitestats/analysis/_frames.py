"""Data frames of pandas and polars, and Arrow tables, from typed columns.

Each library is an extra, which is imported when a frame is made.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final

from sitestats._common.errors import MissingExtraError, ResponseError, load_extra
from sitestats._common.problems import Problem
from sitestats._common.text import encodable
from sitestats._results.tables import Column, Kind

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


_RANGES: Final = {
    Kind.COUNT: (-(2**63), 2**63 - 1),
    Kind.SECONDS: (-sys.float_info.max, sys.float_info.max),
}


def check_range(columns: Sequence[Column]) -> None:
    """Check that every number fits a column of its kind.

    JSON has no largest number, so a response may hold any. A wider column for one
    absurd number would change the schema, and a null would lose the number.

    Raises:
        ResponseError: A number does not fit.
    """
    problems = [
        Problem(
            f"has a number of {len(str(abs(value)))} digits, which does not fit into "
            "64 bits; read it with .to_dict(), .to_dicts() or .raw()",
            where=f"{column.name} of {columns[0].rows[row]}",
        )
        for column in columns
        if column.kind in _RANGES
        for row, value in _out_of_range(column)
    ]
    if problems:
        raise ResponseError("a response does not fit into a frame", problems=problems)


def _out_of_range(column: Column) -> list[tuple[int, int]]:
    least, most = _RANGES[column.kind]
    numbers = [value for value in column.cells if value is not None]
    if not numbers or (min(numbers) >= least and max(numbers) <= most):
        return []
    return [
        (row, value)
        for row, value in enumerate(column.cells)
        if value is not None and not least <= value <= most
    ]


def to_pandas(columns: Sequence[Column]) -> pd.DataFrame:
    """A pandas data frame.

    Days are ``datetime64``, moments are ``datetime64`` in their zone, counts are
    ``int64`` (``Int64`` where one is missing), seconds are ``float64``.
    """
    library = load_extra("pandas", extra="pandas")
    check_range(columns)
    frame: pd.DataFrame = library.DataFrame(
        {column.name: _pandas_series(library, column) for column in columns},
        columns=[column.name for column in columns],
    )
    return frame


def _pandas_series(library: Any, column: Column) -> Any:
    dtypes = {
        Kind.TEXT: "string",
        Kind.COUNT: "Int64" if column.has_gaps else "int64",
        Kind.SECONDS: "float64",
        Kind.FLAG: "boolean" if column.has_gaps else "bool",
        Kind.DAY: "datetime64[us]",
        Kind.MOMENT: "datetime64[us, UTC]",
    }
    series = library.Series(_cells(column), dtype=dtypes[column.kind])
    if column.repeats is not None:
        series = series.repeat(column.repeats).reset_index(drop=True)
    is_moment = column.kind is Kind.MOMENT
    return series.dt.tz_convert(column.zone) if is_moment else series


def to_polars(columns: Sequence[Column]) -> pl.DataFrame:
    """A polars data frame: ``Date``, ``Datetime`` in its zone, ``Int64``,
    ``Float64``, ``String``, ``Boolean``.
    """
    library = load_extra("polars", extra="polars")
    check_range(columns)
    frame: pl.DataFrame = library.DataFrame(
        [_polars_series(library, column) for column in columns]
    )
    return frame


def _polars_series(library: Any, column: Column) -> Any:
    types = {
        Kind.TEXT: library.String,
        Kind.COUNT: library.Int64,
        Kind.SECONDS: library.Float64,
        Kind.FLAG: library.Boolean,
        Kind.DAY: library.Date,
        Kind.MOMENT: library.Datetime("us", "UTC"),
    }
    series = library.Series(column.name, _cells(column), dtype=types[column.kind])
    if column.repeats is not None:
        series = series.gather(_indices(column.repeats))
    is_moment = column.kind is Kind.MOMENT
    return series.dt.convert_time_zone(column.zone) if is_moment else series


def to_arrow(columns: Sequence[Column]) -> pa.Table:
    """A table of Arrow, with the types of the polars frame."""
    library = load_extra("pyarrow", extra="arrow")
    check_range(columns)
    types = {
        Kind.TEXT: library.string(),
        Kind.COUNT: library.int64(),
        Kind.SECONDS: library.float64(),
        Kind.FLAG: library.bool_(),
        Kind.DAY: library.date32(),
    }
    arrays: list[Any] = []
    for column in columns:
        kind = types.get(column.kind) or library.timestamp("us", tz=column.zone)
        array = library.array(_cells(column), type=kind)
        if column.repeats is not None:
            array = array.take(library.array(_indices(column.repeats)))
        arrays.append(array)
    table: pa.Table = library.table(arrays, names=[column.name for column in columns])
    return table


def to_stream(columns: Sequence[Column], requested_schema: object | None) -> object:
    """The capsule of an Arrow stream, by pyarrow or else by polars.

    The reader of the stream needs neither. Without a library it would have to be C
    callbacks made by hand: readers call them from any thread at any time, and a
    mistake in them is a crash, not an exception.
    """
    table: Any
    try:
        table = to_arrow(columns)
    except MissingExtraError as missing:
        try:
            table = to_polars(columns)
        except MissingExtraError:
            raise missing from None
    stream: object = table.__arrow_c_stream__(requested_schema)
    return stream


def _indices(repeats: Sequence[int]) -> list[int]:
    """For each row the index of its cell."""
    return [*chain.from_iterable(map(repeat, range(len(repeats)), repeats))]


def _cells(column: Column) -> list[Any]:
    """The cells, as all three libraries accept them."""
    prepare: Callable[[Any], Any]
    match column.kind:
        case Kind.MOMENT:
            # In UTC, since a repeated hour of the zone would be ambiguous.
            prepare = _in_utc
        case Kind.TEXT if not _are_encodable(column.cells):
            prepare = encodable
        case _:
            return list(column.cells)
    return [None if value is None else prepare(value) for value in column.cells]


def _are_encodable(cells: Sequence[str | None]) -> bool:
    # All at once takes a tenth of the time of one after the other.
    try:
        "".join(filter(None, cells)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _in_utc(moment: dt.datetime) -> dt.datetime:
    return moment.astimezone(dt.UTC)
