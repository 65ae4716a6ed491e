"""``sitestats warehouse``: every day of each website in a database, kept up to date."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import chdir, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NoReturn, get_args

import attrs
import click

from sitestats import FieldName
from sitestats._base.text import counted

from . import _options as options
from ._exits import Code, exit_with, fail, tell, tell_failures, worst
from ._output import print_csv, print_json, print_table

if TYPE_CHECKING:
    from dlt import Pipeline

    from sitestats.warehouse import (
        Coverage,
        Estimate,
        Status,
        Update,
        Verification,
        Verified,
    )

_CONTINUES: Final = "the next update continues from the last load"
_COLUMNS: Final = {
    "hostname": "website",
    "timezone": "time zone",
    "through": "",
    "behind": "days behind",
    "error": "",
}
"""The columns of the status in a terminal, and their headings."""
_NOT_BEHIND: Final = 1
"""How many missing days are normal: the update of tonight is still to come."""
_MOST_DIFFERENCES: Final = 50
"""The most differences that are printed."""
_MOST_OPTIONS: Final = 20
"""The most options of a printed command."""

_in_destination = options.in_section("Destination")


@attrs.frozen
class Destination:
    """Where the tables are."""

    name: str
    dataset: str
    folder: str


_destination_options = options.into(
    "to",
    Destination,
    _in_destination(
        "--to NAME",
        "A destination that dlt knows, such as postgres, bigquery or filesystem; "
        "by default duckdb. Its address and credentials are in dlt's configuration.",
        name="name",
        default="duckdb",
    ),
    _in_destination(
        "--dataset NAME",
        "The schema of the tables in the database, or their folder; by default web.",
        default="web",
    ),
    _in_destination(
        "--folder FOLDER",
        "Where the database and .dlt are; by default SITESTATS_WAREHOUSE, or the "
        "current folder.",
        type=click.Path(exists=True, file_okay=False),
        default=".",
        envvar="SITESTATS_WAREHOUSE",
    ),
)


@click.group(cls=options.Group)
def warehouse() -> None:
    """Load every day of each website into a database."""


@warehouse.command()
@options.host_options
@options.when(
    "--since DAY",
    "The first day of the dataset, such as 2026-03-01 or today-30d; the first "
    "update needs it.",
    name="first_day",
)
@options.when(
    "--lag DAYS",
    "How many days to read again, before the new ones; by default 1.",
    type=click.IntRange(0),
    default=1,
)
@options.when(
    "--refresh DAYS...",
    "Days to read again, such as example.com:2026-01-10..2026-01-20; a website "
    "alone for all of its days, and 'all' for every website. It may be repeated, "
    "or have commas.",
)
@options.what(
    "--fields NAMES...",
    "The lists to store, such as pages,events,months; by default the lists of the "
    "dataset, or all. 'none' reads only the totals, in one request for each year of a "
    "website.",
    shell_complete=options.completed(
        lambda: (*get_args(FieldName), "events", "months", "none")
    ),
)
@options.other("--dry-run", "Print how many requests it would take, and end.")
@options.other(
    "-y --yes",
    "Do not ask before a large update: above 10,000 requests, and twice as many "
    "as the last one. Without a terminal there is a warning instead.",
)
@options.other(
    "--accept-changes",
    "Take at once what is not believed on the first night: past days that fall to "
    "nothing, and a much shorter list of websites.",
)
@options.in_output(
    "-q --quiet", "Write only what somebody has to look at, to standard error."
)
@options.format_option("text", "json")
@options.concurrency_option
@_destination_options
@options.client_options
def update(
    *,
    fields: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    quiet: bool,
    output: str,
    concurrency: int,
    hosts: options.Hosts,
    to: Destination,
    connect: options.Connect,
    **given: Any,
) -> None:
    """Read the missing days, until yesterday.

    It reads all websites of the user, or each HOST. A website that fails does not stop
    the others, and is read by the next run.
    The database is the file sitestats.duckdb in --folder, unless --to names another.

    \b
    Examples:
      sitestats warehouse update --since 2025-06-01
      sitestats warehouse update --since 2025-06-01 --to postgres --hosts-from hosts.txt
      sitestats warehouse update --refresh example.com:2026-01-10..2026-01-20
    """
    from sitestats.warehouse import sitestats_source
    from sitestats.warehouse import update as update_tables

    if fields:
        lists = options.separate(fields)
        given["lists"] = [] if lists == ["none"] else lists
    given["refresh"] = options.separate(given["refresh"])
    with (
        connect(max_connections=concurrency) as client,
        # A dry run leaves nothing behind.
        TemporaryDirectory() if dry_run else nullcontext() as scratch,
        _opened(to, scratch) as pipeline,
    ):
        source = sitestats_source(
            hostnames=[name for name, _ in hosts.read()] or None,
            client=client,
            concurrency=concurrency,
            progress=not quiet and output == "text",
            approve=partial(_approve, is_dry=dry_run, yes=yes, quiet=quiet),
            **given,
        )
        # In a container this may be the only process, and nothing else ends it.
        signal.signal(signal.SIGTERM, _stop)
        try:
            report = update_tables(pipeline, source, dry_run=dry_run)
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(_CONTINUES)
            raise
    if dry_run:
        return
    if not report.loads:
        raise click.Abort
    if output == "json":
        print_json(report.to_dict())
    elif not quiet:
        click.echo(_in_a_line(report))
    for name, text in report.fallen.items():
        tell(f"{name}: {text}")
    for text in report.doubts:
        tell(text)
    failed = report.failed
    errors = [(name, site.error) for name, site in failed.items()]
    tell_failures(errors, len(report.websites))
    codes = [
        Code.GIVE_UP if site.lasting else Code.TRY_LATER for site in failed.values()
    ]
    exit_with(worst([*codes, Code.DOUBTFUL if report.doubts else Code.OK]))


def _approve(estimate: Estimate, *, is_dry: bool, yes: bool, quiet: bool) -> bool:
    """Tell the number of requests, and ask whether there may be many."""
    if is_dry:
        click.echo(estimate)
        return False
    if estimate.is_large and not yes and sys.stdin.isatty() and sys.stderr.isatty():
        return click.confirm(f"A large update: {estimate}. Go on?", err=True)
    if estimate.is_large:
        tell(f"a large update: {estimate}")
    elif not quiet and estimate.requests > 2 * estimate.last_requests:
        tell(estimate)
    return True


def _stop(*_: object) -> NoReturn:
    tell(f"stopped; {_CONTINUES}")
    # Shells use this code for a program that SIGTERM ended.
    sys.exit(143)


def _in_a_line(report: Update) -> str:
    """What an update did, for a person."""
    number = len(report.websites)
    good = number - len(report.failed)
    parts = [
        counted(report.requests, "request"),
        report.changed,
        f"up to date: {good:,} of {number:,} websites",
    ]
    return "; ".join(part for part in parts if part)


@warehouse.command()
@options.other("--all", "Show all websites in the table.", name="every")
@options.other(
    "--max-behind DAYS",
    "End with exit code 4 if a website is further behind than so many days, or if "
    "the service lists no website.",
    type=click.IntRange(0),
)
@_destination_options
@options.format_option("table", "json", "csv")
def status(
    *, every: bool, max_behind: int | None, output: str, to: Destination
) -> None:
    """Show how many websites are up to date, and the errors of the other websites.

    No request is sent. JSON and CSV have all websites.

    \b
    Examples:
      sitestats warehouse status
      sitestats warehouse status --max-behind 2
    """
    from sitestats.warehouse import read_status

    with _opened(to) as pipeline:
        found = read_status(pipeline)
    if not found.coverage:
        raise click.UsageError(
            "the warehouse is empty: run `sitestats warehouse update --since DAY`, or "
            "give the same --folder, --to and --dataset as for the update"
        )
    rows = _rows(found.coverage)
    listed = [row for row in rows if row["listed"]]
    most = _NOT_BEHIND if max_behind is None else max_behind
    late = [row for row in listed if row["behind"] > most]
    if output == "json":
        print_json(rows)
    elif output == "csv":
        print_csv([*rows[0]], rows)
    else:
        bad = [row for row in listed if row["error"] or row["doubt"] or row in late]
        _print_summary(rows, listed, len(bad), found, to.name)
        if shown := rows if every else bad:
            texts = [{**row, "error": row["error"] or row["doubt"]} for row in shown]
            print_table(texts, _COLUMNS)
    codes = list[Code]()
    if found.verified and found.verified.days:
        codes.append(Code.DAMAGED)
    if found.doubt or any(row["doubt"] for row in rows):
        codes.append(Code.DOUBTFUL)
    # Without websites, nothing is behind, and nothing is up to date.
    if max_behind is not None and (late or not listed):
        codes.append(Code.TRY_LATER)
    exit_with(worst(codes))


def _rows(coverage: Mapping[str, Coverage]) -> list[dict[str, Any]]:
    """A row for each website; those come first that somebody has to look at."""
    from sitestats.warehouse import last_day

    now = datetime.now(UTC)
    rows = [
        {
            "hostname": name,
            "timezone": site.timezone,
            "through": site.through and str(site.through),
            "behind": site.behind(last_day(site.timezone, now) or site.reached)
            if site.listed
            else None,
            "missing": len(site.failed),
            "listed": site.listed,
            "error": site.error,
            "doubt": site.doubt,
            "checked_at": site.checked_at and site.checked_at.isoformat(),
        }
        for name, site in coverage.items()
    ]

    def order(row: dict[str, Any]) -> tuple[bool, int]:
        return not (row["error"] or row["doubt"]), -(row["behind"] or 0)

    return sorted(rows, key=order)


def _print_summary(
    rows: Sequence[Any], listed: Sequence[Any], bad: int, found: Status, kind: str
) -> None:
    """Print what concerns all websites, in a destination of that *kind*."""
    days = [row["through"] for row in listed]
    oldest = f"; the oldest {min(days)}" if days and all(days) else ""
    good, number = len(listed) - bad, len(listed)
    click.echo(f"{good:,} of {number:,} websites up to date{oldest}")
    if gone := len(rows) - number:
        click.echo(f"{gone:,} more not listed any more: see --all, and `forget`")
    if found.doubt:
        click.echo(found.doubt)
    if found.verified is not None:
        click.echo(_about_verified(found.verified))
    if not found.has_lock:
        click.echo(f"no lock in {kind}: run one update of a dataset at a time")


def _about_verified(verified: Verified) -> str:
    """The last comparison of the rows with what was read."""
    when = f"verified {verified.at:%Y-%m-%d %H:%M} UTC"
    if not verified.differences:
        return f"{when}: every day has what was read"
    number = sum(map(len, verified.days.values()))
    found = counted(verified.differences, "difference")
    if not number:
        return f"{when}: {found}, all read again since"
    return f"{when}: {found}; {counted(number, 'day')} not read again: run `verify`"


@warehouse.command()
@options.other(
    "--since DAY", "The first day to compare, if you have deleted the days before."
)
@_destination_options
@options.format_option("text", "json")
def verify(*, since: str | None, output: str, to: Destination) -> None:
    """Compare the rows of each website and day with what was read.

    No request is sent. Each difference is a line, and the last ones are commands that
    read again what differs.

    \b
    Examples:
      sitestats warehouse verify
      sitestats warehouse verify --since 2026-01-01
    """
    from sitestats.warehouse import verify as compare_tables

    with _opened(to) as pipeline:
        found = compare_tables(pipeline, since=since)
    if not found.days and not found.differences:
        raise click.UsageError(
            "the warehouse has no day to compare: run `update` first"
        )
    if output == "json":
        print_json(found.to_dict())
    else:
        _print_differences(found)
    exit_with(Code.DAMAGED if found.differences else Code.OK)


def _print_differences(found: Verification) -> None:
    """Print a line for each difference, and the commands that mend them."""
    for each in found.differences[:_MOST_DIFFERENCES]:
        click.echo(each)
    number = len(found.differences)
    if number > _MOST_DIFFERENCES:
        left = number - _MOST_DIFFERENCES
        click.echo(f"{left:,} more differences: --format json has all")
    days = counted(found.days, "day")
    click.echo(f"{days} of websites compared: {counted(number, 'difference')}")
    again = [f"--refresh {period}" for period in found.refresh]
    for first in range(0, len(again), _MOST_OPTIONS):
        some = " ".join(again[first : first + _MOST_OPTIONS])
        click.echo(f"run: sitestats warehouse update {some}")


@warehouse.command()
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@options.other("--force", "Also a website that the service still lists.")
@_destination_options
def forget(hosts: tuple[str, ...], *, force: bool, to: Destination) -> None:
    """Remove websites from the status, and from the table `coverage`.

    For websites that are gone for good. Their days stay in the tables.

    \b
    Example:
      sitestats warehouse forget gone.example
    """
    from sitestats.warehouse import forget as forget_websites

    with _opened(to) as pipeline:
        forget_websites(pipeline, hosts, force=force)
    click.echo(f"removed from coverage: {', '.join(hosts)}")


@contextmanager
def _opened(to: Destination, pipelines_dir: str | None = None) -> Generator[Pipeline]:
    """The pipeline, in the folder where dlt looks for its configuration.

    An error of dlt becomes one line, and its log is written only if you set a level.
    """
    from sitestats.warehouse import (
        DestinationError,
        make_pipeline,
        readable_errors,
        set_default,
    )

    try:
        with chdir(to.folder), readable_errors():
            set_default("runtime.log_level", value="CRITICAL")
            yield make_pipeline(to.name, to.dataset, pipelines_dir=pipelines_dir)
    except DestinationError as error:
        fail(str(error), Code.TRY_LATER if error.retryable else Code.GIVE_UP)
