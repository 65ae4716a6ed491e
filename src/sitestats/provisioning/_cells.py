"""The cells of a CSV text, each with the place where it stands.

The standard library's reader gives the text of a cell and the line it ends on,
and takes a quote that is never closed for the rest of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

SEPARATORS: Final = ",;\t"
"""Spreadsheets write a semicolon where the comma is for decimals."""

_QUOTED: Final = re.compile(r'"((?:[^"]|"")*+)"')
_BLANK: Final = re.compile(r"[ ]*")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@attrs.frozen
class Cell:
    """One cell: its text, and the offset at which that begins."""

    text: str
    at: int


class CellError(ValueError):
    """A quote is not where quotes may be; ``at`` is its offset."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def separator_of(text: str) -> str:
    """What separates the columns of *text*, by its first line."""
    first = _LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    return max(SEPARATORS, key=first.count)


def read_cells(text: str, separator: str) -> Iterator[list[Cell]]:
    """The cells of each line that has any.

    Raises:
        CellError: A quote is never closed, or something follows it.
    """
    plain = re.compile(rf'[^{separator}"\r\n]*')
    row: list[Cell] = []
    at = 0
    while at <= len(text):
        cell, at = _cell(text, at, plain)
        row.append(cell)
        if text.startswith(separator, at):
            at += 1
            continue
        end = _LINE_END.match(text, at)
        if end is None and at < len(text):
            raise CellError(
                "a quote within a cell: put the whole cell in quotes, and write each "
                "quote in it twice",
                at,
            )
        at = len(text) + 1 if end is None else end.end()
        if any(cell.text for cell in row):
            yield row
        row = []


def _cell(text: str, at: int, plain: re.Pattern[str]) -> tuple[Cell, int]:
    start = _end(_BLANK, text, at)
    if not text.startswith('"', start):
        end = _end(plain, text, start)
        return Cell(text[start:end].strip(" "), start), end
    quoted = _QUOTED.match(text, start)
    if quoted is None:
        raise CellError("a quote that is never closed", start)
    return (
        Cell(quoted[1].replace('""', '"'), start),
        _end(_BLANK, text, quoted.end()),
    )


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()
