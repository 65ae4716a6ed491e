"""``sitestats mcp``: tools for an assistant, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from . import _options as options


@options.command()
@options.in_output(
    "--reports",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    help="Let the assistant save reports, as Excel workbooks, in this folder.",
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
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise click.UsageError(
            "the tools need mcp: pip install 'sitestats[cli,mcp]'"
        ) from None
    from sitestats._assistants.tools import Tools

    with connect() as client:
        serve(Tools(client, reports))
