"""Print results as tables, JSON or CSV (``--format``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import click

from sitestats._common.text import as_cell_text, csv_line, plain

from ._help import together

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

FORMATS: Final = ("table", "json", "csv")
_UNWRAPPED: Final = 1_000_000
"""The columns of a pipe, whose reader looks for lines."""
XLSX: Final = "xlsx"
"""A format of the commands that print statistics or the list of websites."""
JSON_LINES: Final = "jsonl"
"""A format of the commands that print one object after the other."""


@attrs.frozen
class CsvStyle:
    """How CSV is written: for a program, a spreadsheet, or a person."""

    raw: bool = False
    delimiter: str = ","
    bom: bool = False

    def write(
        self,
        columns: Sequence[str],
        rows: Iterable[Mapping[str, Any]],
        *,
        names: bool = True,
    ) -> None:
        """Print *rows*, with a first line of *columns* if it has their *names*.

        Unless they are raw, the values are safe to look at, in a terminal and in a
        spreadsheet: the service has them from everybody who visits a website.
        """
        lines = [[self._value(name, row.get(name)) for name in columns] for row in rows]
        if names:
            lines.insert(0, [*columns])
        text = "".join(csv_line(line, self.delimiter) for line in lines)
        mark = "\ufeff" if names and self.bom else ""
        # As bytes, since Excel reads nothing but UTF-8, whatever the terminal is.
        sys.stdout.flush()
        click.echo((mark + text).encode("utf-8", "backslashreplace"), nl=False)

    def _value(self, name: str, value: object) -> object:
        if self.raw:
            return value
        if isinstance(value, float) and name.endswith("_percent"):
            return round(value, 1)
        return safe(value)


def safe(value: object) -> object:
    """*value* as a terminal and a spreadsheet take it for text."""
    return as_cell_text(plain(value)) if isinstance(value, str) else value


_csv_options = together(
    click.option(
        "--raw",
        is_flag=True,
        help="Write the values of CSV as they are, for a program. Otherwise a formula "
        "gets a ' before it, a control character becomes an escape, and percentages "
        "have one decimal.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="What separates the cells of CSV, such as ';'; a comma when left out.",
    ),
    click.option(
        "--bom",
        is_flag=True,
        help="Begin CSV with a byte order mark, without which Excel takes it for "
        "another encoding.",
    ),
)


def format_options(command: F, formats: Sequence[str] = FORMATS) -> F:
    """Give *command* the argument ``output``, and what ``csv_style`` takes."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(formats),
        default="table",
        help="The format of the output.",
    )(_csv_options(command))


def csv_style(options: dict[str, Any]) -> CsvStyle:
    """How CSV is written; its options are removed.

    Raises:
        UsageError: One is given for another format, or is no character; or a terminal
            would get a workbook.
    """
    if options["output"] == XLSX and sys.stdout.isatty():
        raise click.UsageError("--format xlsx: write it to a file, by > report.xlsx")
    given = {name: options.pop(name) for name in ("raw", "delimiter", "bom")}
    given = {name: value for name, value in given.items() if value}
    for name in given:
        if options["output"] != "csv":
            raise click.UsageError(f"--{name}: only --format csv is changed by it")
    if len(given.get("delimiter", ",")) != 1 or given.get("delimiter") in {*'"\r\n'}:
        raise click.UsageError("--delimiter takes one character, and no quote")
    return CsvStyle(**given)


def make_console() -> Console:
    """A rich console for tables, which wraps lines in a terminal alone."""
    # A shell that completes an option need not wait for it.
    from rich.console import Console

    class TableConsole(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process with 1, which is a mistake of this package.
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else _UNWRAPPED
    return TableConsole(width=width, highlight=False, emoji=False, markup=False)


def print_workbook(result: Any) -> None:
    """Write *result* as a workbook, into a file or a pipe."""
    sys.stdout.flush()
    result.to_excel(sys.stdout.buffer)


def print_json(value: object) -> None:
    """Print *value* as JSON in ASCII, which every pipe can carry."""
    click.echo(json.dumps(value, indent=2))


def print_json_line(value: object) -> None:
    """Print *value* as one line of JSON lines."""
    click.echo(json.dumps(value))
