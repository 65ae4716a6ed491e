"""What a result can become: frames and displays, where the library is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT_RICH = """
import sys
sys.modules["rich"] = sys.modules["rich.console"] = None
from sitestats import Entries, ListEntry
entries = Entries([ListEntry("NL", 3, 2)], name="countries", entry_type=ListEntry)
print(entries, entries._repr_html_())
"""
WITHOUT_PYARROW = """
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


@pytest.mark.parametrize(
    ("code", "words"),
    [(WITHOUT_RICH, "<td class='text'>NL</td>"), (WITHOUT_PYARROW, "sitestats[arrow]")],
    ids=["rich", "pyarrow"],
)
def test_without_a_library(code: str, words: str) -> None:
    """Without rich results have their repr and HTML; without pyarrow polars makes a
    stream of Arrow, and without either the error names the extra.
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert words in done.stdout, done.stderr
