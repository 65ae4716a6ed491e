"""What a result can become: frames and displays, where the library is there."""

from __future__ import annotations

import subprocess
import sys


def test_results_do_not_need_rich() -> None:
    """Without rich results work, and have their repr and HTML."""
    code = """
import sys
sys.modules["rich"] = sys.modules["rich.console"] = None
from sitestats import Entries, ListEntry
entries = Entries([ListEntry("NL", 3, 2)], name="countries", entry_type=ListEntry)
print(entries, entries._repr_html_())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "NL" in done.stdout, done.stderr


def test_arrow_streams_without_pyarrow() -> None:
    """With polars alone it makes the stream; without either library the error names the
    extra.
    """
    code = """
import sys
sys.modules["pyarrow"] = None
import datetime as dt
import duckdb
import polars as pl
from sitestats import Entries, HistogramEntry, MissingExtraError
day = dt.date(2026, 1, 1)
days = Entries([HistogramEntry(day, 3, 2)], name="histogram", entry_type=HistogramEntry)
# Before 1.5 DuckDB reads no stream without pyarrow, whoever made it.
if tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 5):
    assert duckdb.sql("SELECT date, pageviews FROM days").fetchall() == [(day, 3)]
assert pl.DataFrame(days).rows() == [(day, 3, 2, False, False)]
sys.modules["polars"] = None
try:
    days.__arrow_c_stream__()
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "sitestats[arrow]" in done.stdout, done.stderr
