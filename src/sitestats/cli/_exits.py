"""Exit codes, and messages of one line that name options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final, NoReturn

import click

from sitestats import BusyError, ResponseError, ServiceError, TransportError
from sitestats._common.text import plain


class Code(IntEnum):
    """The exit codes, each with one meaning, which MEANINGS has."""

    OK = 0
    MISTAKE = 1
    WRONG_USE = 2
    GIVE_UP = 3
    TRY_LATER = 4
    BAD_RESPONSE = 5
    DIFFERS = 8
    INTERRUPTED = 130


MEANINGS: Final = {
    Code.OK: "done; every website is as specified, or may differ",
    Code.MISTAKE: "a mistake in sitestats itself, with a traceback: please report it",
    Code.WRONG_USE: "wrong use: an option, a file, a missing setting or extra",
    Code.GIVE_UP: "waiting does not help: credentials, permission, an unknown or "
    "locked website, a refused name, a wrong address or certificate",
    Code.TRY_LATER: "try later, or the outcome is unknown: no response, too many "
    "requests, another run, or a failure of the service",
    Code.BAD_RESPONSE: "a response, or part of it, was not understood",
    Code.DIFFERS: "something differs or would change: a website is missing or is not "
    "as specified, or the service differs from the emulator",
    Code.INTERRUPTED: "interrupted by Ctrl-C, or you said no",
}
"""What each code means, for the help; ``docs/command-line.md`` has the same table."""

_MOST_OF_A_KIND: Final = 5


def code_of(error: BaseException) -> Code:
    """The exit code for *error*, by what a script can do about it."""
    match error:
        case BusyError():
            return Code.TRY_LATER
        case TransportError() | ServiceError():
            return Code.TRY_LATER if error.retryable else Code.GIVE_UP
        case ResponseError():
            return Code.BAD_RESPONSE
        case _:
            return Code.WRONG_USE


def worst(codes: Iterable[Code]) -> Code:
    """The code for several outcomes: to try later if that helps one of them."""
    found = {*codes} - {Code.OK}
    return Code.TRY_LATER if Code.TRY_LATER in found else min(found, default=Code.OK)


def exit_with(code: Code) -> None:
    """End the command with *code*, unless that is OK."""
    if code is not Code.OK:
        raise click.exceptions.Exit(code)


def fail(message: str, code: Code) -> NoReturn:
    """End the command with the lines of *message*, and no usage text."""
    for line in message.splitlines():
        tell(line)
    raise click.exceptions.Exit(code)


def tell(message: object) -> None:
    """Write a line to standard error."""
    click.echo(f"sitestats: {one_line(message)}", err=True)


def one_line(text: object) -> str:
    """*text* on one line, without characters that a terminal obeys."""
    return plain(" ".join(str(text).split()))


# --- messages of the library ------------------------------------------------------

_OPTIONS: Final = {
    "fields": "--field",
    "events": "--event",
    "all_events": "--all-events",
    "where_metadata": "--metadata",
    "days": "--last",
    "between": "--start and --end",
    "first_day": "--since",
    "version": "--api-version",
    "extra_param": "--param",
    "lists": "--fields",
    "columns": "--column",
    "from_url": "HOST",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("on", "start", "end", "last", "during", "timezone", "interval"),
            *("limit", "where", "path"),
            *("against", "timeout", "total_timeout", "retries", "concurrency"),
            *("public", "label", "base_url", "ignore_columns", "journal"),
        )
    },
}
"""The options for steps of the builder and arguments of the library."""
_NAMED: Final = re.compile(
    # .limit(5); a place at the beginning of a line; total_timeout, columns=.
    r"\.(?P<step>\w+)\((?P<values>[^()]*(?:\(\))?)\)"
    r"|^(?P<place>\w+)(?:\(\w+=…\))?(?=: | is | has )"
    r"|(?<![\w.])(?P<word>[a-z]+_[a-z_]+|[a-z]+(?==))(?:=(?:True)?)?(?=[ ,;:.)]|$)",
    re.MULTILINE,
)


def for_shell(message: object) -> str:
    """*message* with options in place of the builder's steps and of arguments.

    >>> for_shell("limit: add .where(page='/a') or .timezone(website.timezone)")
    '--limit: add --where page=/a or --timezone …'
    """
    return _NAMED.sub(_option, str(message))


def _option(found: re.Match[str]) -> str:
    option = _OPTIONS.get(found["step"] or found["place"] or found["word"])
    if option is None:
        return found[0]
    # Values are written as in a shell, expressions of Python are not.
    values = found["values"] or ""
    text = values.replace("'", "") if re.search(r"['\d]", values) else "…"
    # .extra_param('x', …)
    return f"{option} {text.replace(', ', '=')}" if values else option


def tell_failures(failed: Sequence[tuple[str, object]], total: int) -> None:
    """A line for each failure, and a count where many are of one kind."""
    kinds: dict[object, list[str]] = {}
    for where, error in failed:
        kind = type(error), getattr(error, "status", None)
        kinds.setdefault(kind, []).append(f"{where}: {for_shell(error)}")
    for lines in kinds.values():
        for line in lines[:_MOST_OF_A_KIND]:
            tell(line)
        if (more := len(lines) - _MOST_OF_A_KIND) > 0:
            tell(f"… and {more:,} more like this one")
    if failed:
        tell(f"{len(failed):,} of {total:,} failed")
