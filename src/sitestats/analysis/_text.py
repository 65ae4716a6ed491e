"""Render results as plain text, for reprs: tables without colours or frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sitestats._common.text import plain

from ._description import Part, Signed, Table, Unknown, describe
from ._labels import cell

_WIDEST: Final = 60
"""Characters of a cell; a longer one is cut."""


def to_text(result: object) -> str:
    """The tables of *result*, each below its title."""
    return "\n".join(line for part in describe(result) for line in _part(part))


def _part(part: Part) -> Iterator[str]:
    if not isinstance(part, Table):
        message = f"no plain text of {type(part).__name__}"
        raise TypeError(message)
    yield part.title
    rows = [[_cell(value) for value in row] for row in part.rows]
    lines = [[plain(heading) for heading in part.headings], *rows] if rows else []
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            f"{text:>{width}}" if number in part.numbers else f"{text:{width}}"
            for number, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield from filter(None, [*part.notes] if rows else [part.empty, *part.notes])


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case Unknown() | Signed():
            text = value.text
        case _:
            text = cell(value)
    line = plain(" ".join(text.split()))
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
