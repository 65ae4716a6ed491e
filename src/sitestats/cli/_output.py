"""Print values as tables, JSON, CSV or a workbook (``--format``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from sitestats._common.text import csv_line, plain

if TYPE_CHECKING:
    from rich.console import Console


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print *rows* below a line with the names of the *columns*.

    The values are made safe for a terminal and a spreadsheet, since any visitor of a
    website can write them.
    """
    cells = ([row.get(name) for name in columns] for row in rows)
    lines = (
        csv_line(plain(one) if isinstance(one, str) else one for one in line)
        for line in (columns, *cells)
    )
    # As bytes, since Excel needs UTF-8 with any terminal.
    click.echo("".join(lines).encode("utf-8", "backslashreplace"), nl=False)


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print *value* as JSON in ASCII, which every pipe can carry."""
    click.echo(json.dumps(value, indent=indent))


def print_workbook(result: Any) -> None:
    """Write *result* as a workbook, into a file or a pipe.

    Raises:
        UsageError: The output is a terminal.
    """
    if sys.stdout.isatty():
        raise click.UsageError("--format xlsx: write it to a file, by > report.xlsx")
    result.to_excel(sys.stdout.buffer)


def make_console() -> Console:
    """A rich console for tables, which wraps lines in a terminal alone."""
    # Imported here, so that completion in a shell is fast.
    from rich.console import Console

    class TableConsole(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process with 1, the code for a mistake of this package.
            raise BrokenPipeError

    # Programs that read a pipe expect whole lines.
    width = None if sys.stdout.isatty() else 1_000_000
    return TableConsole(width=width, highlight=False, emoji=False, markup=False)


_WRAPPED: Final = frozenset(("hostname", "value", "label", "error"))
"""Columns of text, which shrink in a narrow terminal; the others stay whole."""
_NARROWEST: Final = 12


def print_table(rows: Sequence[Mapping[str, Any]], headings: Mapping[str, str]) -> None:
    """Print *rows* as a table with *headings*; an empty one is the column's name.

    Columns that do not fit into the terminal are left out from the right: a number is
    never cut.
    """
    from sitestats.analysis._console import table_of_rows

    console, shown = make_console(), dict(headings)
    while True:
        table = table_of_rows(rows, shown)
        for name, column in zip(shown, table.columns, strict=True):
            widest = max(len(str(cell)) for cell in (column.header, *column.cells))
            column.no_wrap = name not in _WRAPPED
            column.min_width = min(widest, _NARROWEST) if name in _WRAPPED else widest
        # Two blanks are between columns.
        width = sum((column.min_width or 0) + 2 for column in table.columns) - 2
        if width <= console.width or len(shown) == 1:
            break
        shown.popitem()
    console.print(table)
    if len(shown) < len(headings):
        left_out = ", ".join([*headings][len(shown) :])
        console.print(f"  no room for {left_out}", style="dim")
