"""The command group ``sitestats``, with its help and exit codes."""

from __future__ import annotations

from typing import Any

import click

from . import _exits as exits
from ._completion import completion
from ._demo import demo
from ._emulator import emulator
from ._stats import stats, url
from ._websites import websites


class App(click.Group):
    """A group that shows each error as one line, without a traceback."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command's name."""
        with exits.one_line_each():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with exits.one_line_each():
            return super().invoke(ctx)


@click.group(
    cls=App,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
    Examples:
      sitestats demo
      sitestats stats example.com --last 30
      sitestats websites ensure websites.toml --dry-run

    The service's address and the credentials come from the environment:
    SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID.

    \b
    Exit codes:
      0    done; every website is as specified
      1    plan, ensure, add: not every website is as specified
      2    wrong use: an option, a file, a missing setting or extra
      3    an error response: credentials, permission, unknown or locked website;
           ensure, add: every website would be refused
      4    try later: no response, too many requests, or the service failed
      5    the response was not understood
      6    ensure, add: it is not known whether a website was added
      7    ensure, add: another run is under way for this account or journal
      130  interrupted
    """,
)
@click.version_option(package_name="sitestats")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Read a website's statistics, and add websites."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _command in (stats, url, websites, emulator, demo, completion):
    app.add_command(_command)
