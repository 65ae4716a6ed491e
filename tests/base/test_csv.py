"""CSV: what a spreadsheet can't run, and what our own readers take back."""

from __future__ import annotations

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st

from base.inside import csv_line, unmarked

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("'=+-@,;\" \r\n\t"))


@given(TEXTS)
@example("\n=1")
@example("'\t=1;'")
@example("''tis")
@example("a\rb")
def test_each_text_comes_back(text: str) -> None:
    """A reader of CSV gets a text that has at most marks before formulas, and
    ``unmarked`` takes exactly these away.
    """
    ((cell, other),) = csv.reader(io.StringIO(csv_line([text, "x"]), newline=""))
    assert (unmarked(cell), other) == (text, "x")
    ((raw, _),) = csv.reader(
        io.StringIO(csv_line([text, "x"], marked=False), newline="")
    )
    assert raw == text


@given(TEXTS)
def test_no_cell_begins_with_a_formula(text: str) -> None:
    """A spreadsheet does not run a cell, also where it splits lines at semicolons, and
    takes line ends within a value for the ends of rows.
    """
    ((cell,),) = csv.reader(io.StringIO(csv_line([text]), newline=""))
    for part in cell.replace("\r", ";").replace("\n", ";").split(";"):
        assert part.strip()[:1] not in {*"=+-@"}


def test_other_text_is_as_it_is() -> None:
    """Joiners, marks of direction, no-break spaces and emoji are not escapes, and what
    somebody typed with an apostrophe stays.
    """
    persian, hebrew = "\u0645\u06cc\u200c\u062e\u0648", "\u05e2\u05d1\u200f"
    labels = [persian, hebrew, "\U0001f468\u200d\U0001f469", "Prix\u00a0: 5"]
    assert csv_line(labels) == ",".join(labels) + "\n"
    assert [*map(unmarked, ["'tis", "O'Neil", "a'-b"])] == ["'tis", "O'Neil", "a'-b"]
