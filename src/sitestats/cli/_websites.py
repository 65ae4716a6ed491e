"""``sitestats websites``: list and add websites, plan and ensure a file of them."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from sitestats import ProvisioningReport, Website, WebsiteSpec
from sitestats._common.text import plain
from sitestats._query import periods
from sitestats.analysis._console import make_table, text
from sitestats.provisioning._items import count_websites
from sitestats.provisioning._refusals import message_of

from ._client import client_options, make_client
from ._completion import one_of
from ._exits import Code, code_of, fail
from ._output import format_options, make_console, print_csv, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitestats import ProvisioningPlan, SiteStatsError

_CSV_COLUMNS: Final = tuple(
    field.name for field in attrs.fields(Website) if field.name != "extra"
)
_TABLE_COLUMNS: Final = (
    ("website", "hostname", False),
    ("time zone", "timezone", False),
    ("public", "is_public", False),
    ("script", "has_script", False),
    ("pageviews", "pageviews", True),
    ("events", "events", True),
    ("label", "label", False),
)
"""The columns of the table: heading, attribute, and whether it has numbers."""
_INTERRUPTED: Final = (
    "interrupted: run it again to continue, with the same --journal if you gave one"
)
_COSTS: Final = "this can cost money, and can't be undone"

file_argument = click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
yes_option = click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask to confirm; needed without a terminal.",
)


@click.group(invoke_without_command=True)
@click.pass_context
def websites(ctx: click.Context) -> None:
    """List the user's websites, and add some."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@websites.command(
    "list",
    epilog="""\b
    Examples:
      sitestats websites list
      sitestats websites list --format csv --raw > websites.csv
      sitestats websites plan websites.csv
    """,
)
@format_options
@client_options
def list_(*, output: str, raw: bool, **options: Any) -> None:
    """List every website of the user.

    Page views and events are estimates per 30 days. Write a list with --raw if
    `plan` and `ensure` are to read it.
    """
    with make_client(options, admin=True) as client:
        found = client.websites.list()
    rows = [
        {name: getattr(website, name) for name in _CSV_COLUMNS}
        | {"extra": dict(website.extra)}
        for website in found
    ]
    if output == "json":
        print_json(rows)
    elif output == "csv":
        print_csv(_CSV_COLUMNS, rows, raw=raw)
    else:
        numbers = {n for n, (*_, is_number) in enumerate(_TABLE_COLUMNS) if is_number}
        table = make_table([title for title, _, _ in _TABLE_COLUMNS], numbers)
        table.columns[0].no_wrap = True
        for row in rows:
            table.add_row(*(text(row[name]) for _, name, _ in _TABLE_COLUMNS))
        make_console().print(table)


@websites.command(
    epilog="""\b
    Examples:
      sitestats websites add example.com --timezone Europe/Amsterdam
      sitestats websites add example.com --public --label shop --yes
    """
)
@click.argument("host")
@click.option(
    "--timezone",
    default="UTC",
    show_default=True,
    metavar="ZONE",
    shell_complete=one_of(periods.zones),
    help="A name of the tz database.",
)
@click.option("--public/--private", default=False, help="Who may see the statistics.")
@click.option("--label", metavar="TEXT", help="Free text of your own.")
@yes_option
@client_options
def add(
    host: str,
    *,
    timezone: str,
    public: bool,
    label: str | None,
    yes: bool,
    **options: Any,
) -> None:
    """Add the website HOST, which can cost money and can't be undone.

    An existing website is not changed. An add without a response is not sent
    again: the list shows whether it was added.
    """
    spec = WebsiteSpec(host, timezone=timezone, public=public, label=label)
    with make_client(options, read_only=False, admin=True) as client:
        if client.websites.plan([spec]).to_add:
            _confirm(f"Add {spec.hostname}?", yes=yes)
        report = client.websites.ensure([spec])
    _print(report, "table")
    _exit(report)


@websites.command(
    epilog="""\b
    Examples:
      sitestats websites plan websites.toml
      sitestats websites plan websites.csv --format json
    """
)
@file_argument
@format_options
@client_options
def plan(file: Path, *, output: str, raw: bool, **options: Any) -> None:
    """Show what `ensure` would do with FILE; nothing is added.

    FILE is TOML, JSON or CSV. The exit code is 0 if every website exists as
    specified, and 1 if not.
    """
    specs = WebsiteSpec.load(file)
    with make_client(options, admin=True) as client:
        planned = client.websites.plan(specs)
    _print(planned, output, raw=raw)
    _exit(planned)


@websites.command(
    epilog="""\b
    Examples:
      sitestats websites ensure websites.toml --dry-run
      sitestats websites ensure websites.toml
      sitestats websites ensure websites.toml --yes --journal websites.journal
    """
)
@file_argument
@click.option("--dry-run", is_flag=True, help="Add nothing: the same as `plan`.")
@yes_option
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="A file that records every add before it is sent; give it again to "
    "continue after an interruption.",
)
@format_options
@client_options
def ensure(
    file: Path,
    *,
    dry_run: bool,
    yes: bool,
    journal: Path | None,
    output: str,
    raw: bool,
    **options: Any,
) -> None:
    """Add the missing websites of FILE, one at a time.

    FILE is TOML, JSON or CSV. It asks for confirmation, since adding can cost
    money and can't be undone.
    """
    specs = WebsiteSpec.load(file)
    with make_client(options, read_only=dry_run, admin=True) as client:
        planned = client.websites.plan(specs)
        if dry_run:
            _print(planned, output, raw=raw)
            _exit(planned)
            return
        if planned.to_add:
            if not yes:
                click.echo(_plain_lines(str(planned)), err=True)
            _confirm(f"Add {count_websites(len(planned.to_add))}?", yes=yes)
        try:
            with _progress_bar() as show:
                report = client.websites.ensure(specs, journal=journal, progress=show)
        except KeyboardInterrupt:
            fail([_INTERRUPTED], Code.INTERRUPTED)
    _print(report, output, raw=raw)
    _exit(report)


def _print(
    result: ProvisioningPlan | ProvisioningReport, output: str, *, raw: bool = False
) -> None:
    if output == "json":
        print_json(result.to_dict())
    elif output == "csv":
        rows = [item.row() for item in result.items]
        print_csv(list(rows[0]) if rows else ["hostname", "state"], rows, raw=raw)
    else:
        click.echo(_plain_lines(str(result)))


def _exit(result: ProvisioningPlan | ProvisioningReport) -> None:
    """Exit with the code for *result*; return if every website is as specified."""
    if isinstance(result, ProvisioningReport):
        if result.unknown:
            raise click.exceptions.Exit(Code.UNKNOWN)
        if (error := _stopping_error(result)) is not None:
            raise click.exceptions.Exit(code_of(error))
    if not result.complete:
        raise click.exceptions.Exit(Code.NOT_AS_SPECIFIED)


def _stopping_error(report: ProvisioningReport) -> SiteStatsError | None:
    """The error response that every other website would get, or None.

    A run may stop for other reasons too, such as a journal that can't be written.
    """
    errors = [item.error for item in report.items if item.error is not None]
    if report.stopped and errors and message_of(errors[-1]) in report.stopped:
        return errors[-1]
    return None


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        fail(
            [f"nothing was added: {_COSTS}; give --yes to add without confirmation"],
            Code.WRONG_USE,
        )
    # Not click.confirm, whose older versions write to standard output.
    click.echo(f"{question} ({_COSTS}) [y/N]: ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:
        raise click.Abort
    if answer.strip().lower() not in {"y", "yes"}:
        fail(["nothing was added"], Code.NOT_AS_SPECIFIED)


@contextmanager
def _progress_bar() -> Generator[Callable[[int, int | None], object] | None]:
    """A progress bar; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    console = make_console(stderr=True)
    columns = (TextColumn("websites"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("websites", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _plain_lines(lines: str) -> str:
    return "\n".join(map(plain, lines.splitlines()))
