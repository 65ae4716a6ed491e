"""Split CSV text into cells with their positions, for errors that point at them.

The standard library's reader gives the text of a cell and the line it ends on,
and takes a quote that is never closed for the rest of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from sitestats._common.errors import SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import FORMULA


@attrs.frozen
class Value:
    """One field of a website in a list, or one cell, unchecked."""

    value: Any
    where: str


SEPARATORS: Final = ",;\t"
"""Spreadsheets write a semicolon where the comma is for decimals."""

_QUOTED: Final = re.compile(r'"((?:[^"]|"")*+)"')
_BLANK: Final = re.compile(r"[ ]*")
_MARKED: Final = re.compile(rf"(^|;)'(?={FORMULA})")
LINE_END: Final = re.compile(r"\r\n|\n|\r")


def file_problem(message: str, where: str = "") -> Problem:
    """What is wrong with a list, and where in it."""
    return Problem(message, rule="website-file", where=where)


def find_separator(text: str) -> str:
    """The separator that the first line of *text* has most of."""
    first = LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    return max(SEPARATORS, key=first.count)


def read_cells(
    text: str, separator: str, place_of: Callable[[int], str]
) -> Iterator[list[Value]]:
    """The cells of each line that has any.

    Args:
        text: The lines.
        separator: What separates the cells.
        place_of: Where the character at an offset is.

    Raises:
        SpecError: A quote is never closed, or something follows it.
    """
    unquoted = re.compile(rf'[^{separator}"\r\n]*')
    row: list[Value] = []
    offset = 0
    while offset <= len(text):
        start = _end(_BLANK, text, offset)
        cell, offset = _read_cell(text, start, unquoted, place_of(start))
        row.append(cell)
        if text.startswith(separator, offset):
            offset += 1
            continue
        end = LINE_END.match(text, offset)
        if end is None and offset < len(text):
            message = (
                "a quote within a cell: put the whole cell in quotes, and write each "
                "quote in it twice"
            )
            raise SpecError([file_problem(message, place_of(offset))])
        offset = len(text) + 1 if end is None else end.end()
        if any(cell.value for cell in row):
            yield row
        row = []


def without_text_mark(text: str) -> str:
    """*text* without the ``'`` that kept a spreadsheet from running it.

    >>> from sitestats._common.text import as_cell_text
    >>> without_text_mark(as_cell_text("=1+1"))
    '=1+1'
    """
    return _MARKED.sub(r"\1", text)


def _read_cell(
    text: str, start: int, unquoted: re.Pattern[str], where: str
) -> tuple[Value, int]:
    if not text.startswith('"', start):
        end = _end(unquoted, text, start)
        return Value(text[start:end].strip(" "), where), end
    quoted = _QUOTED.match(text, start)
    if quoted is None:
        raise SpecError([file_problem("a quote that is never closed", where)])
    return Value(quoted[1].replace('""', '"'), where), _end(_BLANK, text, quoted.end())


def _end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return offset if match is None else match.end()
