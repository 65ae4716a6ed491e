"""Exit codes, and error messages of one line without a traceback."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn, TextIO

import click

from sitestats._common.errors import (
    BusyError,
    ConfigurationError,
    InvalidInputError,
    MissingExtraError,
    RateLimitedError,
    ResponseError,
    ServerError,
    ServiceError,
    SiteStatsError,
    SiteStatsWarning,
    TransportError,
)
from sitestats._common.text import plain

from ._messages import for_a_shell, messages_of


class Code(IntEnum):
    """The exit codes; ``docs/command-line.md`` explains them to users."""

    OK = 0
    NOT_AS_SPECIFIED = 1
    WRONG_USE = 2
    ERROR_RESPONSE = 3
    TRY_LATER = 4
    BAD_RESPONSE = 5
    UNKNOWN = 6
    BUSY = 7
    INTERRUPTED = 130


def fail(messages: Iterable[str], code: Code) -> NoReturn:
    """End the command with a line for each message, and no usage text."""
    for message in messages:
        click.echo(f"sitestats: {one_line(message)}" if message else "", err=True)
    raise click.exceptions.Exit(code)


def one_line(text: object) -> str:
    """*text* on one line, without characters that a terminal obeys."""
    return plain(" ".join(str(text).split()))


def code_of(error: SiteStatsError) -> Code:
    """The exit code for *error*, by what a script can do about it."""
    match error:
        case BusyError():
            return Code.BUSY
        case InvalidInputError() | ConfigurationError() | MissingExtraError():
            return Code.WRONG_USE
        case TransportError() | RateLimitedError() | ServerError():
            return Code.TRY_LATER
        case ServiceError():
            return Code.ERROR_RESPONSE
        case ResponseError():
            return Code.BAD_RESPONSE
        case _:
            return Code.WRONG_USE


def _show_warning(  # noqa: PLR0917 - the parameters of warnings.showwarning
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, SiteStatsWarning):
        click.echo(
            f"sitestats: warning: {one_line(for_a_shell(str(message)))}", err=True
        )
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(text)


@contextmanager
def one_line_each() -> Generator[None]:
    """Print errors and warnings as lines without a traceback, and exit."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", SiteStatsWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except SiteStatsError as error:
            fail(messages_of(error), code_of(error))
        except click.UsageError as error:
            fail([error.format_message()], Code.WRONG_USE)
        except click.Abort:
            # Ctrl-C or Ctrl-D at a prompt: the line of the prompt is not ended yet.
            fail(["", "interrupted"], Code.INTERRUPTED)
        except KeyboardInterrupt:
            fail(["interrupted"], Code.INTERRUPTED)
        except BrokenPipeError:
            # The reader of the output has closed it: click exits quietly.
            raise
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            fail([f"{where}{error.strerror or error}"], Code.WRONG_USE)
