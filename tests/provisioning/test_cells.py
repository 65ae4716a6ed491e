"""The cells of CSV and where they stand, held against the standard library."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.provisioning._cells import (
    SEPARATORS,
    CellError,
    read_cells,
    separator_of,
)

texts = st.text(st.sampled_from('ab,;\t"\r\n é'))


@given(
    st.lists(st.lists(texts, min_size=1, max_size=4), max_size=5),
    st.sampled_from(SEPARATORS),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_spreadsheet_writes_is_read(
    rows: list[list[str]], separator: str, line_end: str
) -> None:
    """Every quoted cell comes back whole, from the place where it stands."""
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream, delimiter=separator, lineterminator=line_end, quoting=csv.QUOTE_ALL
    )
    writer.writerows(rows)
    text = stream.getvalue()
    read = list(read_cells(text, separator))
    kept = [row for row in rows if any(row)]
    assert [[cell.text for cell in row] for row in read] == kept
    for cell in (cell for row in read for cell in row):
        assert text[cell.at] == '"'


def test_blanks_around_a_cell_are_not_part_of_it() -> None:
    """Spaces beside a separator are dropped, and the place is behind them."""
    (row,) = read_cells('a ,  b c , " d " ,', ",")
    assert [(cell.text, cell.at) for cell in row] == [
        ("a", 0),
        ("b c", 5),
        (" d ", 11),
        ("", 18),
    ]


def test_lines_without_anything_are_left_out() -> None:
    """Blank lines, and lines of separators alone, are no rows."""
    assert [row[0].text for row in read_cells("\n\na\n,,\n\r\nb\r", ",")] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "at"),
    [('a,"b', 2), ('a,b"c', 3), ('"a"b,c', 3), ('a\n"b""', 2), ('"', 0)],
)
def test_a_quote_out_of_place_is_told(text: str, at: int) -> None:
    """A quote that is never closed, or within a cell, is refused at its place."""
    with pytest.raises(CellError) as caught:
        list(read_cells(text, ","))
    assert caught.value.at == at


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
    """What the header has most of separates the columns."""
    assert separator_of(text) == separator


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text brings out another error, and places are within the text."""
    try:
        rows = list(read_cells(text, separator_of(text)))
    except CellError as error:
        places = [error.at]
    else:
        places = [cell.at for row in rows for cell in row]
    assert all(0 <= at <= len(text) for at in places)
