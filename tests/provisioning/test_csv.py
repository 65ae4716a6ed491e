"""CSV cells and their positions, compared with the standard library's writer."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import SpecError
from sitestats.provisioning._csv import SEPARATORS, find_separator, read_cells

pytestmark = pytest.mark.standard_library


texts = st.text(st.sampled_from('ab,;\t"\r\n é'))


@given(
    st.lists(st.lists(texts, min_size=1, max_size=4), max_size=5),
    st.sampled_from(SEPARATORS),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_spreadsheet_writes_is_read(
    rows: list[list[str]], separator: str, line_end: str
) -> None:
    """Cells that a spreadsheet has quoted keep their text and have their position."""
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream, delimiter=separator, lineterminator=line_end, quoting=csv.QUOTE_ALL
    )
    writer.writerows(rows)
    text = stream.getvalue()
    read = list(read_cells(text, separator, str))
    kept = [row for row in rows if any(row)]
    assert [[cell.value for cell in row] for row in read] == kept
    for cell in (cell for row in read for cell in row):
        assert text[int(cell.where)] == '"'


def test_blanks_around_a_cell_are_dropped() -> None:
    """A space beside a separator does not become part of a host name."""
    (row,) = read_cells('a ,  b c , " d " ,', ",", str)
    assert [(cell.value, int(cell.where)) for cell in row] == [
        ("a", 0),
        ("b c", 5),
        (" d ", 11),
        ("", 18),
    ]


def test_empty_lines_are_skipped() -> None:
    """The empty rows of a spreadsheet are not websites without a name."""
    assert [row[0].value for row in read_cells("\n\na\n,,\n\r\nb\r", ",", str)] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("text", "offset"),
    [('a,"b', 2), ('a,b"c', 3), ('"a"b,c', 3), ('a\n"b""', 2), ('"', 0)],
)
def test_a_misplaced_quote_is_refused(
    text: str, offset: int, same_text: SameText
) -> None:
    """A quote that is never closed does not swallow the rest of the file unnoticed."""
    with pytest.raises(SpecError) as caught:
        list(read_cells(text, ",", str))
    same_text(caught.value.problems[0].message)
    assert caught.value.problems[0].where == str(offset)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("hostname,label", ","),
        ("hostname;label\na,b,c", ";"),
        ("\nhostname\tlabel", "\t"),
        ("hostname", ","),
        ("", ","),
    ],
)
def test_the_first_line_tells_the_separator(text: str, separator: str) -> None:
    """Files with semicolons or tabs are not read as one column."""
    assert find_separator(text) == separator


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but SpecError, and every position is within the text."""
    try:
        rows = list(read_cells(text, find_separator(text), str))
    except SpecError as error:
        offsets = [int(problem.where) for problem in error.problems]
    else:
        offsets = [int(cell.where) for row in rows for cell in row]
    assert all(0 <= offset <= len(text) for offset in offsets)
