"""Options of a list of websites, the same for every command that reads one."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, BinaryIO, Final

import click

from ._completion import one_of
from ._help import together

# The library is imported when a command runs: a shell completes without it.


def _fields() -> Iterable[str]:
    from sitestats import WebsiteSpec

    names = WebsiteSpec.__annotations__
    return [name for name in names if name != "written"]


list_options = together(
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="FIELD=NAME",
        shell_complete=one_of(_fields, suffix="="),
        help="What the list calls a field, such as hostname=Domain; may be repeated.",
    ),
    click.option(
        "--ignore-columns",
        is_flag=True,
        help="Leave columns out that are no fields and resemble none.",
    ),
)
NAMES: Final = ("columns", "ignore_columns")


def list_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the library's readers; their options are removed."""
    found = {name: options.pop(name) for name in NAMES}
    return {**found, "columns": by_name("--column", "FIELD=NAME", found["columns"])}


def by_name(option: str, form: str, given: Iterable[str]) -> dict[str, str]:
    """The values by the names that *given* has, each once and in that *form*."""
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"{option} takes {form}, not {text!r}")
        if name in pairs:
            raise click.UsageError(f"{option} {name}=… is given twice")
        pairs[name] = value
    return pairs


def source_of(file: str) -> str | BinaryIO:
    """The file of that name; ``-`` is standard input."""
    return sys.stdin.buffer if file == "-" else file
