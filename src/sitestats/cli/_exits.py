"""Exit codes, and messages of one line that name options."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Final, NoReturn

import attrs
import click

from sitestats import (
    BusyError,
    InvalidInputError,
    InvalidResponseError,
    Problem,
    StatusError,
    TransportError,
    UnexpectedError,
)
from sitestats._base.text import plain


class Code(IntEnum):
    """The exit codes, each with one meaning, which MEANINGS has."""

    OK = 0
    MISTAKE = 1
    WRONG_USE = 2
    GIVE_UP = 3
    TRY_LATER = 4
    BAD_RESPONSE = 5
    DAMAGED = 6
    DOUBTFUL = 7
    DIFFERS = 8
    INTERRUPTED = 130


MEANINGS: Final = {
    Code.OK: "done; every website is as specified, or is allowed to differ",
    Code.MISTAKE: "a mistake in sitestats itself, with a traceback: please report it",
    Code.WRONG_USE: "wrong use: an option, a file, a missing setting or extra",
    Code.GIVE_UP: "waiting does not help: credentials, permission, an unknown or "
    "locked website, a refused name, a wrong address or certificate",
    Code.TRY_LATER: "try later, or the outcome is unknown: no response, too many "
    "requests, another run, or a failure of the service",
    Code.BAD_RESPONSE: "a response, or part of it, was not understood",
    Code.DAMAGED: "a warehouse does not have the rows that were read",
    Code.DOUBTFUL: "what the service says now is not believed yet: past days of a "
    "warehouse fell to nothing, or websites are missing in the list",
    Code.DIFFERS: "something differs or would change: a website is missing or is not "
    "as specified, or the service differs from the emulator",
    Code.INTERRUPTED: "interrupted by Ctrl-C, or you said no",
}
"""What each code means, for the help; ``docs/reference/command.md`` has the same."""


def code_of(error: BaseException) -> Code:
    """The exit code for *error*, by what a script can do about it."""
    match error:
        case BusyError():
            return Code.TRY_LATER
        case TransportError() | StatusError():
            return Code.TRY_LATER if error.retryable else Code.GIVE_UP
        case InvalidResponseError():
            return Code.BAD_RESPONSE
        case UnexpectedError():
            return Code.MISTAKE
        case _:
            return Code.WRONG_USE


def worst(codes: Iterable[Code]) -> Code:
    """The code for several outcomes: to try later if that helps one of them."""
    not_ok = {*codes} - {Code.OK}
    return Code.TRY_LATER if Code.TRY_LATER in not_ok else min(not_ok, default=Code.OK)


def exit_with(code: Code) -> None:
    """End the command with *code*, unless that is OK."""
    if code is not Code.OK:
        raise click.exceptions.Exit(code)


def fail(message: str, code: Code) -> NoReturn:
    """End the command with the lines of *message*, and no usage text."""
    for line in message.splitlines():
        try:
            tell(line, err=can_tell())
        except OSError:
            # From 3.14, Python tries to write it again at its end, and exits with 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    raise click.exceptions.Exit(code)


def tell(message: object, *, err: bool = True) -> None:
    """Write a line to standard error, or to the output."""
    click.echo(f"sitestats: {one_line(message)}", err=err)


def can_tell() -> bool:
    """Whether standard error is open; if not, the output shows what is wrong."""
    # In place of a closed stream, ``main`` opens one whose name is a number.
    return not isinstance(getattr(sys.stderr, "name", ""), int)


def one_line(text: object) -> str:
    """*text* on one line, without characters that a terminal obeys."""
    return plain(" ".join(str(text).split()))


# --- problems of the library ------------------------------------------------------

_OPTIONS: Final = {
    "where_metadata": "--metadata",
    "between": "--since and --until",
    "start": "--since",
    "end": "--until",
    "first_day": "--since",
    "version": "--api-version",
    "extra_param": "--param",
    "lists": "--fields",
    "from_url": "HOST",
    "hostname": "HOST",
}
"""The options for steps of a query and arguments of the library by other names."""
_STEP: Final = re.compile(r"(?:query)?\.(\w+)\(([^)]*)\)")
"""A step in a message, such as ``.during('2026-01')``."""
_ZONE: Final = (
    "the days depend on the website's time zone, which is not known here: add "
    "--timezone"
)


def in_shell_terms(error: object) -> str:
    """The text of *error*, with the options and advice of the shell in its problems."""
    if not isinstance(error, InvalidInputError):
        return with_option(error)
    # Every problem is shown, since whoever corrects a list needs each place.
    return "\n".join(map(_problem, error.problems))


def with_option(message: object) -> str:
    """The text of *message*, with options for steps, also at its beginning."""
    where, colon, rest = _STEP.sub(_as_option, str(message)).partition(": ")
    return f"{_option(where)}{colon}{rest}"


def _problem(problem: Problem) -> str:
    # A zone that does not exist breaks the rule of a period, too.
    needs_zone = problem.rule == "period-zone" and problem.where != "timezone"
    message = _ZONE if needs_zone else _STEP.sub(_as_option, problem.message)
    return str(attrs.evolve(problem, where=_option(problem.where), message=message))


def _as_option(step: re.Match[str]) -> str:
    """The option of a step, with its value."""
    name, value = step[1], step[2].replace("'", "").removeprefix("days=")
    if name == "each" and "=" in value:
        # The option splits a period alone.
        return "another run of this command"
    if name == "extra_param":
        value = value.replace(", ", "=")
    option = _option_of(name)
    return step[0] if option is None else f"{option} {value}".strip()


def _option(where: str) -> str:
    """The option for the place of a problem, such as ``where(page=…)``."""
    name, _, about = where.partition("(")
    option = _option_of(name)
    return where if option is None else f"{option} {about.removesuffix(')')}".strip()


def _option_of(name: str) -> str | None:
    """The option for a step or an argument of the library, if a command has one."""
    option = f"--{name.replace('_', '-')}"
    context = click.get_current_context(silent=True)
    known = options_below(context.find_root().command) if context else ()
    return _OPTIONS.get(name) or (option if option in known else None)


def options_below(group: click.Command) -> Iterator[str]:
    """The options of the commands of a group."""
    if isinstance(group, click.Group):
        for command in group.commands.values():
            yield from (name for param in command.params for name in param.opts)
            yield from options_below(command)


def tell_failures(
    failed: Sequence[tuple[str, object]], total: int, *, in_output: bool = False
) -> None:
    """A line for each failure, and their number.

    If standard error is closed, they go to the output, unless they are there already.
    """
    lines = [f"{where}: {in_shell_terms(error)}" for where, error in failed]
    if failed:
        lines.append(f"{len(failed):,} of {total:,} failed")
    for line in lines:
        tell(line, err=in_output or can_tell())
