"""Writing tables: for people, as JSON, as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ._text import plain

FORMATS: Final = ("table", "json", "csv")

format_option = click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the result.",
)


def make_console(*, stderr: bool = False) -> Console:
    """Where tables for people go; without a terminal, 80 columns wide."""
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def print_json(value: object) -> None:
    """Print *value* as JSON, which is ASCII and so safe in every pipe."""
    click.echo(json.dumps(value, indent=2))


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print *rows* as CSV with a first line of *columns*."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    click.echo(stream.getvalue(), nl=False)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def make_table(columns: Mapping[str, bool], title: str | None = None) -> Table:
    """An empty table; *columns* tells which hold numbers."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name, is_number in columns.items():
        table.add_column(
            name,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_number,
        )
    return table


def text(value: object) -> Text:
    """*value* for a cell: numbers in groups of three, nothing as a dash."""
    if value is None:
        return Text("-", style="dim")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, int):
        return Text(f"{value:,}")
    if isinstance(value, float):
        return Text(f"{value:,.1f}")
    return Text(plain(str(value)))
