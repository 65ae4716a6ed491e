"""Split CSV text into cells with their positions, for errors that point at them.

The standard library's reader gives the text of a cell and the line it ends on,
and takes a quote that is never closed for the rest of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sitestats._common.text import FORMULA

SEPARATORS: Final = ",;\t"
"""Spreadsheets write a semicolon where the comma is for decimals."""

_QUOTED: Final = re.compile(r'"((?:[^"]|"")*+)"')
_BLANK: Final = re.compile(r"[ ]*")
_MARKED: Final = re.compile(rf"(^|;)'(?={FORMULA})")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class Cell(NamedTuple):
    """One cell: its text, and the offset at which that begins."""

    text: str
    offset: int


class CsvError(ValueError):
    """A quote is where none may be; ``offset`` is its position in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def find_separator(text: str) -> str:
    """The separator that the first line of *text* has most of."""
    first = _LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    return max(SEPARATORS, key=first.count)


def read_cells(text: str, separator: str) -> Iterator[list[Cell]]:
    """The cells of each line that has any.

    Raises:
        CsvError: A quote is never closed, or something follows it.
    """
    unquoted = re.compile(rf'[^{separator}"\r\n]*')
    row: list[Cell] = []
    offset = 0
    while offset <= len(text):
        cell, offset = _read_cell(text, offset, unquoted)
        row.append(cell)
        if text.startswith(separator, offset):
            offset += 1
            continue
        end = _LINE_END.match(text, offset)
        if end is None and offset < len(text):
            raise CsvError(
                "a quote within a cell: put the whole cell in quotes, and write each "
                "quote in it twice",
                offset,
            )
        offset = len(text) + 1 if end is None else end.end()
        if any(cell.text for cell in row):
            yield row
        row = []


def without_text_mark(text: str) -> str:
    """*text* without the ``'`` that kept a spreadsheet from running it.

    >>> from sitestats._common.text import as_cell_text
    >>> without_text_mark(as_cell_text("=1+1"))
    '=1+1'
    """
    return _MARKED.sub(r"\1", text)


def _read_cell(text: str, offset: int, unquoted: re.Pattern[str]) -> tuple[Cell, int]:
    start = _end(_BLANK, text, offset)
    if not text.startswith('"', start):
        end = _end(unquoted, text, start)
        return Cell(text[start:end].strip(" "), start), end
    quoted = _QUOTED.match(text, start)
    if quoted is None:
        raise CsvError("a quote that is never closed", start)
    return (Cell(quoted[1].replace('""', '"'), start), _end(_BLANK, text, quoted.end()))


def _end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return offset if match is None else match.end()
