"""Rows as a data frame, whose columns are there without rows too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from sitestats._errors import MissingExtraError

Row: TypeAlias = dict[str, str | bool | None]
"""One website for tables and JSON."""


def to_frame(rows: Sequence[Row], columns: Mapping[str, str]) -> Any:
    """A pandas data frame with *columns*, which have the types that they name."""
    try:
        pd: Any = import_module("pandas")
    except ImportError as error:
        raise MissingExtraError("pandas", extra="pandas") from error
    # A type for each column, since an empty column has no values to tell it from.
    types = {"str": "string", "bool": "boolean"}
    return pd.DataFrame(
        {
            name: pd.array([row[name] for row in rows], dtype=types[kind])
            for name, kind in columns.items()
        }
    )
