"""A result displayed with more or fewer rows than by itself."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from html_pages import pages_of
from sitestats.analysis import Display


@pytest.mark.parametrize(("rows", "left_out"), [(2, 11), (13, 0), (50, 0)])
def test_a_table_has_as_many_rows_as_are_wanted(rows: int, left_out: int) -> None:
    """In HTML and in a terminal, and it says how many more there are."""
    names = [f"/page-{number:02}" for number in range(13)]
    display = Display(pages_of(*names), rows=rows)
    file = io.StringIO()
    Console(file=file, width=80).print(display)
    for text in (display._repr_html_(), file.getvalue()):
        assert [name for name in names if name in text] == names[:rows]
        assert (f"{left_out} more" in text) is (left_out > 0)
        assert (" more" in text) is (left_out > 0)
