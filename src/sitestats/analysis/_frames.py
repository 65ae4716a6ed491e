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
    import pandas
    import polars
    import pyarrow


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


def to_pandas(columns: Sequence[Column]) -> pandas.DataFrame:
    """A pandas data frame.

    Days are ``datetime64``, moments are ``datetime64`` in their zone, counts are
    ``int64`` (``Int64`` where one is missing), seconds are ``float64``.
    """
    pd = load("pandas", extra="pandas")
    frame: pandas.DataFrame = pd.DataFrame(
        {column.name: _pandas_array(pd, column) for column in columns},
        columns=[column.name for column in columns],
    )
    return frame


def _pandas_array(pd: Any, column: Column) -> Any:
    values = list(column.values)
    match column.kind:
        case Kind.TEXT:
            return pd.array(values, dtype="string")
        case Kind.COUNT:
            return pd.array(values, dtype="Int64" if column.has_gaps else "int64")
        case Kind.SECONDS:
            return pd.array(values, dtype="float64")
        case Kind.FLAG:
            return pd.array(values, dtype="boolean" if column.has_gaps else "bool")
        case Kind.DAY:
            return pd.Series(values, dtype="datetime64[us]")
        case Kind.MOMENT:
            # In UTC first: a zone's repeated hour can't be told by its name.
            moments = pd.Series(_in_utc(values), dtype="datetime64[us, UTC]")
            return moments.dt.tz_convert(column.zone)


def to_polars(columns: Sequence[Column]) -> polars.DataFrame:
    """A polars data frame: ``Date``, ``Datetime`` in its zone, ``Int64``,
    ``Float64``, ``String``, ``Boolean``.
    """
    pl = load("polars", extra="polars")
    frame: polars.DataFrame = pl.DataFrame(
        [_polars_series(pl, column) for column in columns]
    )
    return frame


def _polars_series(pl: Any, column: Column) -> Any:
    if column.kind is not Kind.MOMENT:
        types = {
            Kind.TEXT: pl.String,
            Kind.COUNT: pl.Int64,
            Kind.SECONDS: pl.Float64,
            Kind.FLAG: pl.Boolean,
            Kind.DAY: pl.Date,
        }
        dtype = types[column.kind]
        return pl.Series(column.name, list(column.values), dtype=dtype)
    moments = pl.Series(
        column.name, _in_utc(column.values), dtype=pl.Datetime("us", "UTC")
    )
    return moments.dt.convert_time_zone(column.zone)


def to_arrow(columns: Sequence[Column]) -> pyarrow.Table:
    """A table of Arrow, with the types of the polars frame."""
    pa = load("pyarrow", extra="arrow")
    types: dict[Kind, Callable[[Column], Any]] = {
        Kind.TEXT: lambda _: pa.string(),
        Kind.COUNT: lambda _: pa.int64(),
        Kind.SECONDS: lambda _: pa.float64(),
        Kind.FLAG: lambda _: pa.bool_(),
        Kind.DAY: lambda _: pa.date32(),
        Kind.MOMENT: lambda column: pa.timestamp("us", tz=column.zone),
    }
    arrays = [
        pa.array(
            _in_utc(column.values) if column.kind is Kind.MOMENT else column.values,
            type=types[column.kind](column),
        )
        for column in columns
    ]
    table: pyarrow.Table = pa.table(arrays, names=[column.name for column in columns])
    return table


def _in_utc(values: Sequence[dt.datetime | None]) -> list[dt.datetime | None]:
    return [None if value is None else value.astimezone(dt.UTC) for value in values]
