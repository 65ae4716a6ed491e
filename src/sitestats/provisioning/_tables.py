"""Read the rows of a list of websites: their columns, cells and places."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from sitestats._common.errors import MissingExtraError, SpecError
from sitestats._common.problems import Problem

from ._checks import Listed
from ._columns import Columns
from ._csv import (
    LINE_END,
    Value,
    file_problem,
    find_separator,
    read_cells,
    without_text_mark,
)

_COMMENTS: Final = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))*")
_FLAGS: Final = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
    # A spreadsheet writes the words of its own language.
    **dict.fromkeys(("wahr", "ja", "waar", "vrai", "oui", "verdadero", "vero"), True),
    **dict.fromkeys(("falsch", "nein", "onwaar", "nee", "faux", "non", "falso"), False),
}


def first_cells(text: str) -> list[str]:
    """The cells of the first line that is no comment, without their quotes."""
    line = LINE_END.split(text[_start(text) :], maxsplit=1)[0]
    return [cell.strip(' "') for cell in line.split(find_separator(line))]


def csv_rows(text: str, name: str) -> Iterator[list[Value]]:
    """The rows of CSV, after the comments that it begins with.

    Raises:
        SpecError: A quote is where none may be.
    """
    starts = [0, *(end.end() for end in LINE_END.finditer(text))]
    begin = _start(text)
    text = text[begin:]

    def place(offset: int) -> str:
        line = bisect_right(starts, begin + offset)
        return f"{name}:{line}:{begin + offset - starts[line - 1] + 1}"

    return read_cells(text, find_separator(text), place)


def xlsx_rows(data: bytes, name: str) -> Iterator[list[Value]]:
    """The rows of the first sheet of a workbook that have a text.

    Raises:
        MissingExtraError: openpyxl is not installed.
        SpecError: It is no workbook.
    """
    try:
        openpyxl = import_module("openpyxl")
        letters = openpyxl.utils.get_column_letter
    except ImportError:
        raise MissingExtraError("openpyxl", extra="excel") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        # A file may say less of itself than it has.
        sheet.reset_dimensions()
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
            cells = [
                Value(
                    "" if value is None else str(value).strip(),
                    f"{name}: {sheet.title}!{letters(column)}{number}",
                )
                for column, value in enumerate(row, start=1)
            ]
            if any(cell.value for cell in cells):
                yield cells
    except Exception:  # noqa: BLE001 - what it raises depends on where a file is damaged
        message = "the file is no workbook that can be read: save it anew, or as CSV"
        raise SpecError([file_problem(message, name)]) from None


def _start(text: str) -> int:
    comments = _COMMENTS.match(text)
    return 0 if comments is None else comments.end()


def table_websites(
    rows: Iterator[list[Value]],
    name: str,
    columns: Columns,
    ignored: list[str],
    *,
    is_marked: bool = True,
) -> Iterator[Listed]:
    """The websites of a table whose first row names its columns.

    Args:
        rows: The cells of each row that has any.
        name: What errors call the list.
        columns: The names of the columns.
        ignored: Gets the names of columns that are left out.
        is_marked: Whether a ``'`` keeps spreadsheets from running a text.
    """
    header = next(rows, [Value("", name)])
    while len(header) > 1 and not header[-1].value:
        # A spreadsheet writes separators up to the widest row that there ever was.
        header.pop()
    named = columns.named([cell.value for cell in header])
    ignored += named.ignored
    # With wrong names every line would have a problem too.
    where = header[0].where
    wrong = [file_problem(text, header[n].where) for n, text in named.wrong.items()]
    wrong += [file_problem(text, where) for text in columns.missing(named)]
    if wrong:
        yield Listed(where, problems=tuple(wrong))
        return
    # The labels of a saved list are as the service has them.
    is_marked = is_marked and not named.is_saved
    index = named.fields.index("hostname")
    for row in rows:
        if index < len(row) and row[index].value.startswith("#"):
            continue
        problems: tuple[Problem, ...] = ()
        if leftover := [cell for cell in row[len(header) :] if cell.value]:
            message = (
                f"the line has {len(row)} cells, and the first line names "
                f"{len(header)} columns: put a cell that contains the separator in "
                "quotes"
            )
            problems = (file_problem(message, leftover[0].where),)
        values = {
            field: Value(_value(field, cell.value, is_marked=is_marked), cell.where)
            for field, cell in zip(named.fields, row, strict=False)
            if field is not None and (cell.value or field == "hostname")
        }
        yield Listed(row[0].where, {} if problems else values, problems)


def _value(field: str, text: str, *, is_marked: bool) -> Any:
    if field in {"public", "accept_differing"}:
        return _FLAGS.get(text.lower(), text)
    return without_text_mark(text) if is_marked else text
