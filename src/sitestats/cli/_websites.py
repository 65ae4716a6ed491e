"""``sitestats websites``: list and add websites, plan and ensure a file of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

import sitestats
from sitestats._base.text import counted, plain

from . import _options as options
from ._exits import Code, can_tell, code_of, exit_with, worst
from ._output import print_csv, print_json, print_table, print_workbook

if TYPE_CHECKING:
    from sitestats.provisioning import ProvisioningPlan, ProvisioningReport

_HEADINGS: Final = {
    "hostname": "website",
    "timezone": "time zone",
    "is_public": "public",
    "has_script": "script",
    **dict.fromkeys(("pageviews", "events", "label"), ""),
}
"""The columns of the table, and their headings; an empty one is the name."""
_COSTS: Final = "this can cost money, and can't be undone"

_yes_option = options.other(
    "-y --yes", "Do not ask to confirm; needed without a terminal."
)


@attrs.frozen
class Show:
    """How plans and reports are printed."""

    output: str = "table"
    quiet: bool = False

    def print(self, result: ProvisioningPlan | ProvisioningReport) -> None:
        """Print *result*; a table has only the changes."""
        if self.output == "json":
            print_json(result.to_dict())
        elif self.output == "csv":
            print_csv(result.columns(), [item.row() for item in result.items])
        elif not self.quiet:
            _echo(result.changes())
        if self.quiet and not result.complete:
            _echo(result.changes(), err=can_tell())


def _load(
    file: str, columns: options.Pairs, *, ignore_columns: bool, quiet: bool
) -> tuple[sitestats.WebsiteSpec, ...]:
    """The websites of a list; *quiet* leaves the warnings out."""
    action: Any = "ignore" if quiet else None
    with warnings.catch_warnings(action=action, category=sitestats.SiteStatsWarning):
        return sitestats.WebsiteSpec.load(
            options.source_of(file),
            columns=options.by_name("--column", columns),
            ignore_columns=ignore_columns,
        )


_load_options = options.into(
    "load",
    partial(partial, _load),
    click.argument(
        "file", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
    ),
    options.column_option,
    options.which("--ignore-columns", "Ignore columns that do not resemble a field."),
)
_show_options = options.into(
    "show",
    Show,
    options.format_option("table", "json", "csv"),
    options.in_output(
        "-q --quiet",
        "Write only the websites that are not as specified, to standard "
        "error. JSON and CSV are written in any case.",
    ),
)


@click.group(cls=options.Group)
def websites() -> None:
    """List and add websites."""


@websites.command("list")
@options.format_option("table", "json", "csv", "xlsx")
@options.client_options
def list_(*, output: str, connect: options.Connect) -> None:
    """List every website of the user.

    Page views and events are estimates per 30 days.

    \b
    Examples:
      sitestats websites list
      sitestats websites list --format csv > websites.csv
      sitestats websites plan websites.csv
    """
    with connect() as client:
        listed = client.websites.list()
    rows = [website.to_dict() for website in listed]
    match output:
        case "json":
            print_json(rows)
        case "csv":
            print_csv(sitestats.Website.columns, rows)
        case "xlsx":
            print_workbook(listed)
        case _:
            print_table(rows, _HEADINGS)
    exit_with(Code.BAD_RESPONSE if listed.problems else Code.OK)


@websites.command()
@click.argument("host")
@options.other(
    "--timezone ZONE",
    "A name of the tz database, such as Europe/Amsterdam; by default UTC.",
    shell_complete=options.zones,
)
@options.other(
    "--public/--private",
    "Who may see the statistics: everybody, or the team; by default private.",
    default=None,
)
@options.other("--label TEXT", "Free text of your own.")
@_yes_option
@options.client_options
def add(
    host: str,
    *,
    timezone: str | None,
    public: bool | None,
    label: str | None,
    yes: bool,
    connect: options.Connect,
) -> None:
    """Add the website HOST, which can cost money and can't be undone.

    An existing website is not changed, but compared with the given options. An add
    without a response is not sent again: the list shows whether it was added.

    \b
    Examples:
      sitestats websites add example.com --public --label shop --yes
    """
    spec = sitestats.WebsiteSpec(host, timezone=timezone, public=public, label=label)
    _ensure([spec], Show(), connect, yes=yes)


@websites.command()
@_load_options
@_show_options
@options.client_options
def plan(
    load: Callable[..., tuple[sitestats.WebsiteSpec, ...]],
    show: Show,
    connect: options.Connect,
) -> None:
    """Show what `ensure` would do with FILE; nothing is added.

    FILE is CSV or a workbook, whose first line names the columns: hostname, and
    those you need of timezone, public, label and accept_differing. It can also be
    TOML or JSON with these names, or text with a host name a line; - is standard
    input. What FILE leaves out is not compared. The exit code is 8 if a website is
    missing or differs.

    \b
    Examples:
      sitestats websites plan websites.toml
    """
    specs = load(quiet=show.quiet)
    with connect() as client:
        planned = client.websites.plan(specs)
    show.print(planned)
    wrong = {item.state for item in planned.items if not item.as_specified}
    known = Code.DIFFERS if wrong - {"unknown"} else Code.BAD_RESPONSE
    exit_with(known if wrong else Code.OK)


@websites.command()
@_load_options
@_show_options
@_yes_option
@options.other(
    "--journal PATH",
    "A file that records every add before it is sent; give it again to "
    "continue after an interruption. By default the account's own.",
    type=click.Path(dir_okay=False, path_type=Path),
)
@options.client_options
def ensure(
    load: Callable[..., tuple[sitestats.WebsiteSpec, ...]],
    show: Show,
    connect: options.Connect,
    *,
    yes: bool,
    journal: Path | None,
) -> None:
    """Add the missing websites of FILE, one at a time.

    FILE is as for `plan`, whose help describes it. It asks for confirmation, since
    adding can cost money and can't be undone. After an interruption, run it again to
    continue.

    \b
    Examples:
      sitestats websites ensure websites.toml
      sitestats websites ensure websites.toml --yes --journal websites.journal
      sitestats websites ensure list.csv --column hostname=Domain --ignore-columns
    """
    _ensure(load(quiet=show.quiet), show, connect, yes=yes, journal=journal)


def _echo(lines: str, *, err: bool = False) -> None:
    click.echo("\n".join(map(plain, lines.splitlines())), err=err)


def _ensure(
    specs: Sequence[sitestats.WebsiteSpec],
    show: Show,
    connect: options.Connect,
    *,
    yes: bool,
    journal: Path | None = None,
) -> None:
    """Add what is missing and print the report, also of an interrupted run; exit with
    its code.
    """
    with connect(read_only=False) as client:
        if not yes and (planned := client.websites.plan(specs)).to_add:
            _confirm(planned)
        try:
            report = client.websites.ensure(
                specs, journal=journal, progress=not show.quiet, interrupted=show.print
            )
        except KeyboardInterrupt as interrupt:
            interrupt.add_note("run it again to continue")
            raise
    show.print(report)
    exit_with(_code_of_report(report))


def _code_of_report(report: ProvisioningReport) -> Code:
    """The exit code for what a run did."""
    if any(item.website is None for item in report.unknown):
        return Code.TRY_LATER
    items = *report.refused, *report.not_tried, *report.unknown
    errors = [item.error for item in items]
    codes = [code_of(error) for error in (*errors, report.stopped) if error]
    return worst(codes) or (Code.OK if report.complete else Code.DIFFERS)


def _confirm(planned: ProvisioningPlan) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(
            f"nothing was added: {_COSTS}; give --yes to add without confirmation"
        )
    _echo(planned.changes(), err=True)
    question = f"Add {counted(len(planned.to_add), 'website')}? ({_COSTS})"
    click.confirm(question, abort=True, err=True)
