"""Print results as tables, JSON or CSV (``--format``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from sitestats._common.text import as_cell_text, csv_line, plain

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

FORMATS: Final = ("table", "json", "csv")
JSON_LINES: Final = "jsonl"
"""A format of the commands that print one object after the other."""


def format_options(command: F, formats: Sequence[str] = FORMATS) -> F:
    """Give *command* the arguments ``output`` and ``raw``."""
    formatted = click.option(
        "--format",
        "output",
        type=click.Choice(formats),
        default="table",
        show_default=True,
        is_eager=True,
        help="The format of the output.",
    )
    raw = click.option(
        "--raw",
        is_flag=True,
        callback=_check_raw,
        help="Write the values of CSV as they are, for a program. Otherwise a formula "
        "gets a ' before it, and a control character becomes an escape.",
    )
    return formatted(raw(command))


def _check_raw(ctx: click.Context, _option: click.Parameter, value: bool) -> bool:  # noqa: FBT001 - click's
    if value and ctx.params["output"] != "csv":
        raise click.UsageError("--raw: only --format csv has values that it changes")
    return value


def make_console(*, stderr: bool = False) -> Console:
    """A rich console for tables; without a terminal, 80 columns wide."""
    # A shell that completes an option need not wait for it.
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def print_json(value: object) -> None:
    """Print *value* as JSON in ASCII, which every pipe can carry."""
    click.echo(json.dumps(value, indent=2))


def print_json_line(value: object) -> None:
    """Print *value* as one line of JSON lines."""
    click.echo(json.dumps(value))


def print_csv(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    raw: bool,
    names: bool = True,
) -> None:
    """Print *rows* as CSV, with a first line of *columns* if it has their *names*.

    Unless they are *raw*, the values are safe to look at, in a terminal and in a
    spreadsheet: the service has them from everybody who visits a website.
    """
    lines = [[row.get(name) for name in columns] for row in rows]
    if names:
        lines.insert(0, [*columns])
    text = "".join(csv_line(line if raw else map(_safe, line)) for line in lines)
    # Otherwise click leaves colours out when it writes to a file.
    click.echo(text, nl=False, color=True)


def _safe(value: object) -> object:
    return as_cell_text(plain(value)) if isinstance(value, str) else value
