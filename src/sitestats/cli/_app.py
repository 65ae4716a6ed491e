"""The command group ``sitestats``, with its help and exit codes."""

from __future__ import annotations

from importlib import import_module
from textwrap import indent
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from . import _exits as exits
from ._help import SuggestingGroup

_COMMANDS: Final = {
    "check": ("_check", "Check whether the set-up works."),
    "compare": ("_compare", "Compare the statistics of HOST with another period's."),
    "completion": (
        "_completion",
        "Print the script by which SHELL completes commands.",
    ),
    "demo": ("_demo", "Show real traffic, read over HTTP from the emulator."),
    "emulator": ("_emulator", "Run a local stand-in of the service, until Ctrl-C."),
    "profiles": ("_check", "List the profiles of several accounts."),
    "stats": ("_stats", "Read the statistics of HOST."),
    "url": ("_stats", "Print the address that `stats` requests; nothing is sent."),
    "warehouse": ("_warehouse", "Load every day of each website into a database."),
    "websites": ("_websites", "List the user's websites, and add some."),
}
"""The module of each command and the first line of its help. A command is imported when
it runs, since a shell that completes a name should not wait for all of them."""


class App(SuggestingGroup):
    """A group that shows each error as one line, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click gives it
        """The names of the commands."""
        return [*_COMMANDS]

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click gives it
        cmd_name: str,
    ) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f".{_COMMANDS[cmd_name][0]}", __package__)
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click gives it
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands with the first line of their help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        """Complete to the names of commands, or to options."""
        names = [
            CompletionItem(name, help=text)
            for name, (_, text) in _COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command's name."""
        with exits.one_line_each():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with exits.one_line_each():
            return super().invoke(ctx)


def _exit_codes() -> str:
    with_codes = click.HelpFormatter(width=80)
    with_codes.write_dl(
        [(str(code.value), text) for code, text in exits.MEANINGS.items()]
    )
    return with_codes.getvalue()


@click.group(
    cls=App,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=f"""\b
    Examples:
      sitestats demo
      sitestats stats example.com --last 30
      sitestats websites ensure websites.toml --dry-run
      sitestats warehouse update --since 2026-01-01

    The service's address and the credentials come from the environment:
    SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID; or from a
    profile of several accounts: --profile, SITESTATS_PROFILE.

    \b
    Exit codes:
    {indent(_exit_codes(), "    ").strip()}
    """,
)
@click.version_option(package_name="sitestats")
def app() -> None:
    """Read a website's statistics, and add websites."""
