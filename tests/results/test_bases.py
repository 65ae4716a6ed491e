"""Frames and displays: what a row is about, what is missing, and without a library."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from display.inside import to_pandas
from displayed import pages_of
from inside import label_of
from results.inside import column_of, stacked
from sitestats import Entries, ListEntry, StatsQuery
from sitestats.types import Column, Kind

QUERY = StatsQuery("shop.example").fields("visitors")
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
    [(WITHOUT_RICH, ">NL</td>"), (WITHOUT_PYARROW, "sitestats[arrow]")],
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


@pytest.mark.parametrize(
    ("query", "label"),
    [
        (QUERY.last(days=3).limit(5).timezone("Asia/Tokyo"), "shop.example"),
        (QUERY.path("/blog/"), "shop.example/blog/"),
        (QUERY.where(page="/blog/*"), "shop.example/blog/*"),
        (
            QUERY.path("/a").where(country="NL", device_type="mobile"),
            "shop.example/a, country=NL, device_type=mobile",
        ),
        (QUERY.extra_param("plan", "gold"), "shop.example, plan=gold"),
    ],
)
def test_a_label_says_what_leaves_traffic_out(query: StatsQuery, label: str) -> None:
    """The period and the form of the response leave nothing out, filters do."""
    assert label_of(query) == label


def test_a_missing_flag_is_null_and_not_false() -> None:
    """An unknown flag is null, in a column of booleans."""
    frame = to_pandas([Column("partial", Kind.FLAG, [True, None])])
    assert str(frame["partial"].dtype) == "boolean"
    assert frame["partial"].isna().tolist() == [False, True]


def test_a_lone_surrogate_becomes_an_escape() -> None:
    """A lone surrogate, which no library's column can hold, is escaped."""
    entries, shown = pages_of("/\ud800"), [r"/\ud800"]
    assert entries.to_pandas()["value"].tolist() == shown
    assert entries.to_polars()["value"].to_list() == shown
    assert entries.to_arrow()["value"].to_pylist() == shown


def test_names_are_found_whatever_was_looked_up_before() -> None:
    """A slice, an equal list and a list from a pickle find their own items, also after
    a name was looked up in the list that they are from.
    """
    entries = Entries(
        [ListEntry("NL", 3, 2), ListEntry("DE", 2, 2), ListEntry("NL", 1, 1)],
        name="countries",
        entry_type=ListEntry,
    )
    assert entries["DE"].pageviews == 2
    with pytest.raises(KeyError, match="2 are 'NL'"):
        entries["NL"]
    assert entries[:1]["NL"].pageviews == 3
    assert "DE" not in entries[:1]
    assert entries[1:].get("NL") == ListEntry("NL", 1, 1)
    copy = pickle.loads(pickle.dumps(entries))
    assert copy == entries
    assert copy["DE"] in entries


@given(st.lists(st.lists(st.sampled_from("abc"), unique=True), max_size=4), st.data())
def test_columns_stand_below_each_other(
    names: list[list[str]], data: st.DataObject
) -> None:
    """The frames of many results are one, in which what a result lacks is missing."""
    tables = [
        {
            name: data.draw(st.lists(st.integers(), min_size=2, max_size=2))
            for name in of
        }
        for of in names
        if of
    ]
    columns = stacked(
        [column_of(name, cells) for name, cells in table.items()] for table in tables
    )
    assert {column.name: column.cells for column in columns} == {
        name: [cell for table in tables for cell in table.get(name, [None, None])]
        for name in dict.fromkeys(name for table in tables for name in table)
    }
