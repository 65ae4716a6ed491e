"""Columns as a data frame of pandas or polars, or as a table of Arrow.

Each library is an extra, imported here when a frame is asked for.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sitestats._errors import MissingExtraError

from ._columns import Column, Kind

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def load(library: str, *, extra: str) -> Any:
    """Import *library*.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(library)
    except ImportError:
        missing = MissingExtraError(library, extra=extra)
    raise missing


def to_pandas(columns: Sequence[Column]) -> pd.DataFrame:
    """A pandas data frame.

    Days are ``datetime64``, moments are ``datetime64`` in their zone, counts are
    ``int64`` (``Int64`` where one is missing), seconds are ``float64``.
    """
    library = load("pandas", extra="pandas")
    frame: pd.DataFrame = library.DataFrame(
        {column.name: _pandas_array(library, column) for column in columns},
        columns=[column.name for column in columns],
    )
    return frame


def _pandas_array(library: Any, column: Column) -> Any:
    values = list(column.cells)
    match column.kind:
        case Kind.TEXT:
            return library.array(values, dtype="string")
        case Kind.COUNT:
            return library.array(values, dtype="Int64" if column.has_gaps else "int64")
        case Kind.SECONDS:
            return library.array(values, dtype="float64")
        case Kind.FLAG:
            return library.array(values, dtype="boolean" if column.has_gaps else "bool")
        case Kind.DAY:
            return library.Series(values, dtype="datetime64[us]")
        case Kind.MOMENT:
            # In UTC first: a zone's repeated hour can't be told by its name.
            moments = library.Series(_in_utc(values), dtype="datetime64[us, UTC]")
            return moments.dt.tz_convert(column.zone)


def to_polars(columns: Sequence[Column]) -> pl.DataFrame:
    """A polars data frame: ``Date``, ``Datetime`` in its zone, ``Int64``,
    ``Float64``, ``String``, ``Boolean``.
    """
    library = load("polars", extra="polars")
    frame: pl.DataFrame = library.DataFrame(
        [_polars_series(library, column) for column in columns]
    )
    return frame


def _polars_series(library: Any, column: Column) -> Any:
    if column.kind is not Kind.MOMENT:
        types = {
            Kind.TEXT: library.String,
            Kind.COUNT: library.Int64,
            Kind.SECONDS: library.Float64,
            Kind.FLAG: library.Boolean,
            Kind.DAY: library.Date,
        }
        dtype = types[column.kind]
        return library.Series(column.name, list(column.cells), dtype=dtype)
    moments = library.Series(
        column.name, _in_utc(column.cells), dtype=library.Datetime("us", "UTC")
    )
    return moments.dt.convert_time_zone(column.zone)


def to_arrow(columns: Sequence[Column]) -> pa.Table:
    """A table of Arrow, with the types of the polars frame."""
    library = load("pyarrow", extra="arrow")
    types: dict[Kind, Callable[[Column], Any]] = {
        Kind.TEXT: lambda _: library.string(),
        Kind.COUNT: lambda _: library.int64(),
        Kind.SECONDS: lambda _: library.float64(),
        Kind.FLAG: lambda _: library.bool_(),
        Kind.DAY: lambda _: library.date32(),
        Kind.MOMENT: lambda column: library.timestamp("us", tz=column.zone),
    }
    arrays = [
        library.array(
            _in_utc(column.cells) if column.kind is Kind.MOMENT else column.cells,
            type=types[column.kind](column),
        )
        for column in columns
    ]
    table: pa.Table = library.table(arrays, names=[column.name for column in columns])
    return table


def _in_utc(values: Sequence[dt.datetime | None]) -> list[dt.datetime | None]:
    return [None if value is None else value.astimezone(dt.UTC) for value in values]
