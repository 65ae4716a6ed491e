"""Render results as plain text, for reprs: tables without colours or frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sitestats._common.text import cut, plain
from sitestats._results.display import Displayed, Table
from sitestats._results.tables import Column, count_rows

from ._describe import describe
from ._labels import MOST_ROWS, heading, text_in

_WIDEST: Final = 56
"""Characters of a cell; a longer one is cut."""


def to_text(result: Displayed) -> str:
    """The tables of *result*, each below its title."""
    tables = (part for part in describe(result) if isinstance(part, Table))
    return "\n".join(line for table in tables for line in _lines(table.head(MOST_ROWS)))


def _lines(table: Table) -> Iterator[str]:
    yield heading(table.title)
    if count_rows(table.columns):
        columns = [_cells(column, table.title) for column in table.columns]
        yield from ("  ".join(row).rstrip() for row in zip(*columns, strict=True))
    else:
        yield "none"
    yield from filter(None, [table.note])


def _cells(column: Column, field: str) -> list[str]:
    texts = (text_in(column, value, field) for value in column.cells)
    cells = [cut(plain(" ".join(text.split())), _WIDEST) for text in texts]
    cells = [plain(heading(column.name)), *cells]
    width = max(map(len, cells))
    side = ">" if column.is_number else "<"
    return [f"{cell:{side}{width}}" for cell in cells]
