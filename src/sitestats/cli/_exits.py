"""Exit codes, and error messages of one line without a traceback."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

import click

from sitestats import (
    BusyError,
    ConfigurationError,
    InvalidInputError,
    MissingExtraError,
    ResponseError,
    ServiceError,
    SiteStatsError,
    SiteStatsWarning,
    TransportError,
)
from sitestats._common.text import plain

from ._advice import in_a_shell

if TYPE_CHECKING:
    from sitestats.provisioning import ProvisioningPlan, ProvisioningReport


class Code(IntEnum):
    """The exit codes, each with one meaning, which MEANINGS has."""

    OK = 0
    MISTAKE = 1
    WRONG_USE = 2
    ERROR_RESPONSE = 3
    TRY_LATER = 4
    BAD_RESPONSE = 5
    UNKNOWN = 6
    BUSY = 7
    TO_ADD = 8
    DIFFERING = 9
    REFUSED = 10
    STOPPED = 11
    DECLINED = 12
    OUTPUT = 13
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    TERMINATED = 143


MEANINGS: Final = {
    Code.OK: "done; every website is as specified, or may differ",
    Code.MISTAKE: "a mistake in sitestats itself, with a traceback: please report it",
    Code.WRONG_USE: "wrong use: an option, a file, a missing setting or extra",
    Code.ERROR_RESPONSE: "waiting does not help: credentials, permission, an unknown "
    "or locked website, a wrong address or certificate",
    Code.TRY_LATER: "try later: no response, too many requests, or the service failed, "
    "for one website or for some of many; or a warehouse is behind",
    Code.BAD_RESPONSE: "the response was not understood",
    Code.UNKNOWN: "it is not known whether a website was added",
    Code.BUSY: "another run is under way for this account, journal or warehouse",
    Code.TO_ADD: "plan: websites are missing, and would be added",
    Code.DIFFERING: "a website exists and differs: change it by hand; or check finds "
    "that the service differs from the emulator",
    Code.REFUSED: "the service refused a website, and the run went on",
    Code.STOPPED: "the run stopped, because its journal can't be written",
    Code.DECLINED: "you did not confirm; nothing was added or requested",
    Code.OUTPUT: "the output can't be written, such as to a full disk",
    Code.INTERRUPTED: "interrupted by Ctrl-C (SIGINT)",
    Code.CLOSED_PIPE: "the reader of the output has closed it (SIGPIPE)",
    Code.TERMINATED: "ended by SIGTERM",
}
"""What each code means, for the help; ``docs/command-line.md`` has the same table."""

_OUTPUT_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived: it ends a command as Ctrl-C does."""


def handle_sigterm() -> None:
    """Let SIGTERM end the command in order, unless its parent has it ignored."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    # Some programs send it twice, which must not interrupt the end itself.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def exit_with(code: Code) -> None:
    """End the command with *code*, unless that is OK."""
    if code is not Code.OK:
        raise click.exceptions.Exit(code)


def fail(messages: Iterable[str], code: Code) -> NoReturn:
    """End the command with a line for each message, and no usage text."""
    with suppress(OSError):  # standard error may be closed
        for message in messages:
            click.echo(f"sitestats: {one_line(message)}" if message else "", err=True)
    raise click.exceptions.Exit(code)


def fail_interrupted(interrupt: KeyboardInterrupt, advice: str = "") -> NoReturn:
    """End the command after Ctrl-C or SIGTERM, with the notes of the interrupt."""
    advice += "".join(f"; {note}" for note in getattr(interrupt, "__notes__", ()))
    if isinstance(interrupt, Terminated):
        fail([f"ended by SIGTERM{advice}"], Code.TERMINATED)
    fail([f"interrupted{advice}"], Code.INTERRUPTED)


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
        case TransportError() | ServiceError():
            return Code.TRY_LATER if error.retryable else Code.ERROR_RESPONSE
        case ResponseError():
            return Code.BAD_RESPONSE
        case _:
            return Code.WRONG_USE


def code_of_plan(planned: ProvisioningPlan) -> Code:
    """The exit code for a plan; missing websites count more than differing ones."""
    if planned.to_add:
        return Code.TO_ADD
    return Code.OK if planned.complete else Code.DIFFERING


def code_of_report(report: ProvisioningReport) -> Code:
    """The exit code for what a run did: the worst of it."""
    if report.unknown:
        return Code.UNKNOWN
    if isinstance(report.stopped, ConfigurationError):
        # Once a run has begun, its journal is all that is set up and can fail.
        return Code.STOPPED
    if report.stopped is not None:
        return code_of(report.stopped)
    failed = (*report.refused, *report.not_tried)
    codes = {code_of(item.error) if item.error else Code.REFUSED for item in failed}
    if codes:
        return Code.TRY_LATER if codes == {Code.TRY_LATER} else Code.REFUSED
    return Code.OK if report.complete else Code.DIFFERING


def _show_warning(  # noqa: PLR0917 - the parameters of warnings.showwarning
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, SiteStatsWarning):
        warning = message if isinstance(message, Warning) else category(message)
        for text in in_a_shell(warning).splitlines():
            click.echo(f"sitestats: warning: {one_line(text)}", err=True)
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
            fail(in_a_shell(error).splitlines(), code_of(error))
        except click.UsageError as error:
            context = error.ctx or click.get_current_context(silent=True)
            path = "sitestats" if context is None else context.command_path
            if error.ctx is None and context is not None and context.invoked_subcommand:
                path += f" {context.invoked_subcommand}"
            fail([f"{error.format_message()} (see {path} --help)"], Code.WRONG_USE)
        except click.Abort:
            # Ctrl-C or Ctrl-D at a prompt: the line of the prompt is not ended yet.
            fail(["", "interrupted"], Code.INTERRUPTED)
        except KeyboardInterrupt as interrupt:
            fail_interrupted(interrupt)
        except BrokenPipeError:
            _discard_output()
            raise click.exceptions.Exit(Code.CLOSED_PIPE) from None
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            message = f"{where}{error.strerror or error}"
            if error.filename is None and error.errno in _OUTPUT_ERRORS:
                _discard_output()
                fail([f"the output can't be written: {message}"], Code.OUTPUT)
            fail([message], Code.WRONG_USE)


def _discard_output() -> None:
    # At its end Python writes what is left in the buffers, and reports that it can't.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - no folder of ours
                os.dup2(nothing.fileno(), stream.fileno())
