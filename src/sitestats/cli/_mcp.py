"""``sitestats mcp``: tools for an assistant, by the Model Context Protocol."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sitestats import MissingExtraError

from . import _options as options
from ._exits import tell


@options.command()
@options.in_output(
    "--reports FOLDER",
    "Let the assistant save reports, as Excel workbooks, in this folder.",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
)
@options.storing_options
def mcp(*, reports: Path | None, connect: options.Connect) -> None:
    """Serve tools for an assistant, over standard input and output.

    The assistant starts this command, and lists websites, gets statistics and
    compares periods with it. It can't add or change a website, and never sees the
    key. It needs the extra `mcp`.

    \b
    Examples:
      sitestats mcp
      sitestats mcp --profile work --reports reports
    """
    try:
        from sitestats._assistants.server import serve
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "mcp", "mcp") from None
    from sitestats._assistants.tools import Tools

    if sys.stdin.isatty():
        tell("waiting for an assistant, which starts this command; Ctrl-C ends it")
    with connect() as client:
        serve(Tools(client, reports))
