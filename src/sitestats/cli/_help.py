"""Commands with options in groups, and groups of commands that suggest one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_GROUPS: Final = {
    "Which websites": "every hosts_from columns ignore_columns ignore_column "
    "input_format",
    "What": "fields events all_events where metadata path interval limit version "
    "param more",
    "When": "last start end on during timezone each against since until lag",
    "Destination": "destination dataset folder wait max_requests",
    "Output": "output table top raw delimiter bom errors only_changes quiet",
    "Connection": "base_url profile key_file timeout total_timeout retries concurrency "
    "store verbose",
}
_GROUP_OF: Final = {n: title for title, names in _GROUPS.items() for n in names.split()}
_OTHERS: Final = "Options"


def together(*options: Callable[..., Any]) -> Callable[[F], F]:
    """One decorator that gives a command all of *options*, in their order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class GroupedCommand(click.Command):
    """A command whose help has its many options in groups."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, each in its group."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in _GROUPS}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                title = _GROUP_OF.get(param.name or "", _OTHERS)
                found.setdefault(title, []).append(record)
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class SuggestingGroup(click.Group):
    """A group of commands that shows its help when none is named, and names the one
    which a wrong name resembles.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help, which is no error, if there are no arguments."""
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first argument."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            # Only who mistypes a command has to load it.
            from difflib import get_close_matches

            names = get_close_matches(args[0], self.list_commands(ctx), 1)
            hint = "".join(f" Did you mean {name}?" for name in names)
            raise click.UsageError(f"{error.message}{hint}", ctx) from None
