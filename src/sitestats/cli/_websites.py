"""``sitestats websites``: list and add websites, plan and ensure a file of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from sitestats import SiteStatsWarning
from sitestats._common.text import plain

from ._client import client_options, make_client
from ._exits import Code, code_of, exit_with, worst
from ._options import (
    Group,
    column_option,
    format_option,
    in_output,
    timezone_option,
    together,
    which,
)
from ._output import print_csv, print_json, print_table, print_workbook
from ._queries import by_name, source_of

if TYPE_CHECKING:
    from sitestats import WebsiteSpec
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

yes_option = click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask to confirm; needed without a terminal.",
)
file_options = together(
    click.argument(
        "file", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
    ),
    column_option,
    which(
        "--ignore-columns",
        is_flag=True,
        help="Ignore columns that do not resemble a field.",
    ),
    which(
        "--accept-differing",
        is_flag=True,
        help="Show existing websites that differ, but do not fail. For a single "
        "website, use accept_differing in the list.",
    ),
    in_output(
        "--only-changes",
        is_flag=True,
        help="Leave out the websites that existed as specified.",
    ),
    in_output(
        "-q",
        "--quiet",
        is_flag=True,
        help="Write only the websites that are not as specified, to standard error. "
        "JSON and CSV are written in any case.",
    ),
    format_option("table", "json", "csv"),
)


@click.group(cls=Group)
def websites() -> None:
    """List the user's websites, and add some."""


@websites.command(
    "list",
    epilog="""\b
    Examples:
      sitestats websites list
      sitestats websites list --format csv > websites.csv
      sitestats websites plan websites.csv
    """,
)
@format_option("table", "json", "csv", "xlsx")
@client_options
def list_(*, output: str, **options: Any) -> None:
    """List every website of the user.

    Page views and events are estimates per 30 days.
    """
    from sitestats import Website

    with make_client(options) as client:
        found = client.websites.list()
    rows = [website.to_dict() for website in found]
    match output:
        case "json":
            print_json(rows)
        case "csv":
            print_csv(Website.columns, rows)
        case "xlsx":
            print_workbook(found)
        case _:
            print_table(rows, _HEADINGS)
    exit_with(Code.BAD_RESPONSE if found.problems else Code.OK)


@websites.command(
    epilog="""\b
    Examples:
      sitestats websites add example.com --public --label shop --yes
    """
)
@click.argument("host")
@timezone_option("A name of the tz database; by default UTC.")
@click.option(
    "--public/--private",
    default=None,
    help="Who may see the statistics; by default private.",
)
@click.option("--label", metavar="TEXT", help="Free text of your own.")
@yes_option
@client_options
def add(
    host: str,
    *,
    timezone: str | None,
    public: bool | None,
    label: str | None,
    yes: bool,
    **options: Any,
) -> None:
    """Add the website HOST, which can cost money and can't be undone.

    An existing website is not changed, but compared with the given options. An add
    without a response is not sent again: the list shows whether it was added.
    """
    from sitestats import WebsiteSpec

    spec = WebsiteSpec(host, timezone=timezone, public=public, label=label)
    _ensure([spec], Show(), options, yes=yes)


@websites.command(
    epilog="""\b
    Examples:
      sitestats websites plan websites.toml
    """
)
@file_options
@client_options
def plan(file: str, **options: Any) -> None:
    """Show what `ensure` would do with FILE; nothing is added.

    FILE is CSV or a workbook, whose first line names the columns: hostname, and
    those you need of timezone, public, label and accept_differing. It can also be
    TOML or JSON with these names, or text with a host name a line; - is standard
    input. What FILE leaves out is not compared. The exit code is 8 if a website is
    missing or differs.
    """
    specs, show = _load(file, options)
    with make_client(options) as client:
        planned = client.websites.plan(specs)
    show.print(planned)
    wrong = {item.state for item in planned.items if not item.as_specified}
    known = Code.DIFFERS if wrong - {"unknown"} else Code.BAD_RESPONSE
    exit_with(known if wrong else Code.OK)


@websites.command(
    epilog="""\b
    Examples:
      sitestats websites ensure websites.toml
      sitestats websites ensure websites.toml --yes --journal websites.journal
      sitestats websites ensure list.csv --column hostname=Domain --ignore-columns
    """
)
@file_options
@yes_option
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="A file that records every add before it is sent; give it again to "
    "continue after an interruption. By default the account's own.",
)
@client_options
def ensure(file: str, *, yes: bool, journal: Path | None, **options: Any) -> None:
    """Add the missing websites of FILE, one at a time.

    FILE is as for `plan`, whose help describes it. It asks for confirmation, since
    adding can cost money and can't be undone. After an interruption, run it again to
    continue.
    """
    specs, show = _load(file, options)
    _ensure(specs, show, options, yes=yes, journal=journal)


@attrs.frozen(kw_only=True)
class Show:
    """How plans and reports are printed."""

    output: str = "table"
    only_changes: bool = False
    quiet: bool = False

    def print(self, result: ProvisioningPlan | ProvisioningReport) -> None:
        """Print *result*."""
        items = result.changed if self.only_changes else result.items
        if self.output == "json":
            print_json(
                {**result.to_dict(), "items": [item.to_dict() for item in items]}
            )
        elif self.output == "csv":
            print_csv(result.columns, [item.row() for item in items])
        elif not self.quiet:
            _echo(result.changes() if self.only_changes else str(result))
        if self.quiet and not result.complete:
            _echo(result.changes(), err=True)


def _echo(lines: str, *, err: bool = False) -> None:
    click.echo("\n".join(map(plain, lines.splitlines())), err=err)


def _load(file: str, options: dict[str, Any]) -> tuple[tuple[WebsiteSpec, ...], Show]:
    """The specifications of *file*, and how to print them; the options are removed."""
    from sitestats import WebsiteSpec

    show = Show(**{field.name: options.pop(field.name) for field in attrs.fields(Show)})
    with warnings.catch_warnings():
        if show.quiet:
            warnings.simplefilter("ignore", SiteStatsWarning)
        specs = WebsiteSpec.load(
            source_of(file),
            columns=by_name("--column", options.pop("columns")),
            ignore_columns=options.pop("ignore_columns"),
            accept_differing=options.pop("accept_differing"),
        )
    return specs, show


def _ensure(
    specs: Sequence[WebsiteSpec],
    show: Show,
    options: dict[str, Any],
    *,
    yes: bool,
    journal: Path | None = None,
) -> None:
    """Add what is missing and print the report, also of an interrupted run; exit with
    its code.
    """
    with make_client(options, read_only=False) as client:
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
    number = len(planned.to_add)
    click.confirm(
        f"Add {number:,} website{'s' * (number > 1)}? ({_COSTS})", abort=True, err=True
    )
