"""What the tests of displays and comparisons know of the inside."""

from __future__ import annotations

import pytest

from sitestats._comparison.changes import changes_of
from sitestats._comparison.comparisons import pairs_of
from sitestats._display import excel
from sitestats._display.excel import ZONE, encodable, write_workbook
from sitestats._display.frames import to_pandas
from sitestats._results.entries import Entry
from sitestats._results.tables import column_of

__all__ = [
    "ZONE",
    "Entry",
    "changes_of",
    "column_of",
    "encodable",
    "pairs_of",
    "set_most_rows",
    "to_pandas",
    "write_workbook",
]


def set_most_rows(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Let a sheet of a workbook have so many rows."""
    patch.setattr(excel, "_MOST_ROWS", rows)
