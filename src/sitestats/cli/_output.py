"""Print results as tables, JSON or CSV (``--format``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import click
from rich.console import Console

FORMATS: Final = ("table", "json", "csv")

_SPECIAL: Final = re.compile(r'[,"\r\n]')

format_option = click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="The format of the output.",
)


def make_console(*, stderr: bool = False) -> Console:
    """A rich console for tables; without a terminal, 80 columns wide."""
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def print_json(value: object) -> None:
    """Print *value* as JSON in ASCII, which every pipe can carry."""
    click.echo(json.dumps(value, indent=2))


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print *rows* as CSV with a first line of *columns*."""
    lines = [columns, *([row.get(name) for name in columns] for row in rows)]
    click.echo("".join(",".join(map(_cell, line)) + "\n" for line in lines), nl=False)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    # Readers drop blanks around a cell without quotes.
    if text != text.strip() or _SPECIAL.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
