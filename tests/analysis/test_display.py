"""A result displayed with more or fewer rows than by itself."""

from __future__ import annotations

import pytest

from displayed import pages_of, terminal
from sitestats.analysis import Display


@pytest.mark.parametrize(("rows", "left_out"), [(2, 11), (13, 0), (50, 0)])
def test_a_table_has_as_many_rows_as_are_wanted(rows: int, left_out: int) -> None:
    """In HTML and in a terminal, and it says how many more there are."""
    names = [f"/page-{number:02}" for number in range(13)]
    display = Display(pages_of(*names), rows=rows)
    for text in (display._repr_html_(), terminal(display)):
        assert [name for name in names if name in text] == names[:rows]
        assert (f"{left_out} more" in text) is (left_out > 0)
        assert (" more" in text) is (left_out > 0)
