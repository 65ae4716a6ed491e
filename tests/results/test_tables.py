"""Columns of tables: what is missing, and what no library can hold."""

from __future__ import annotations

from sitestats import Entries, PageEntry


def test_a_missing_flag_is_null_and_not_false() -> None:
    """An unknown flag is null, in a column of booleans."""
    from sitestats._results.tables import Column, Kind
    from sitestats.analysis._frames import to_pandas

    frame = to_pandas([Column("partial", Kind.FLAG, [True, None])])
    assert str(frame["partial"].dtype) == "boolean"
    assert frame["partial"].isna().tolist() == [False, True]


def test_a_lone_surrogate_becomes_an_escape() -> None:
    """A lone surrogate, which no library's column can hold, is escaped."""
    entries = Entries([PageEntry("/\ud800", 1, 1)], name="pages", entry_type=PageEntry)
    shown = [r"/\ud800"]
    assert entries.to_pandas()["value"].tolist() == shown
    assert entries.to_polars()["value"].to_list() == shown
    assert entries.to_arrow()["value"].to_pylist() == shown
