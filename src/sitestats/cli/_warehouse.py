"""``sitestats warehouse``: every day of each website in a database, kept up to date."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import chdir, contextmanager
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from shutil import disk_usage, rmtree
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Final

import click

from sitestats import MissingExtraError
from sitestats._common.text import plain

from ._client import client_options, make_client
from ._exits import Code, fail
from ._help import GroupedCommand, SuggestingGroup, together
from ._hosts import hosts_from_option, read_hosts
from ._output import csv_style, format_options, make_console, print_json

if TYPE_CHECKING:
    from dlt import Pipeline

    from sitestats.warehouse import Coverage, Estimate

_MOST_SHOWN: Final = 20
"""The most failed websites that are named; `status` has all of them."""
_NAME: Final = "sitestats"
"""The pipeline's name, after which dlt names the file of DuckDB."""
_NOTHING_YET: Final = (
    "there is nothing here yet: run `sitestats warehouse update`, or give --to and "
    "--dataset as you gave them to it"
)
_HOW_TO_CONFIGURE: Final = (
    "dlt reads the destination's address and credentials from .dlt/secrets.toml here, "
    "or from environment variables such as DESTINATION__POSTGRES__CREDENTIALS"
)
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)

_destination_options = together(
    click.option(
        "--to",
        "destination",
        default="duckdb",
        metavar="NAME",
        help="The destination: a name that dlt knows, such as postgres, bigquery or "
        "filesystem. Its address and credentials are in dlt's configuration.",
    ),
    click.option(
        "--dataset",
        default="web",
        metavar="NAME",
        help="The schema of the tables in the database, or their folder.",
    ),
    click.option(
        "--folder",
        type=click.Path(exists=True, file_okay=False),
        default=".",
        show_default=False,
        envvar="SITESTATS_WAREHOUSE",
        metavar="FOLDER",
        help="Where the database and .dlt are; SITESTATS_WAREHOUSE, or the current "
        "folder, when left out.",
    ),
)


@click.group(cls=SuggestingGroup)
def warehouse() -> None:
    """Load every day of each website into a database."""


@warehouse.command(
    cls=GroupedCommand,
    epilog="""\b
    Examples:
      sitestats warehouse update --since 2025-06-01
      sitestats warehouse update --since 2025-06-01 --fields pages,countries
      sitestats warehouse update --since 2025-06-01 --to postgres --hosts-from hosts.txt
    """,
)
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option(
    "--since",
    metavar="DAY",
    help="The first day of the dataset; the first update needs it.",
)
@click.option(
    "--until", metavar="DAY", help="The last day to read; yesterday when left out."
)
@hosts_from_option
@click.option(
    "--fields",
    metavar="NAMES",
    help="The lists to have a table of, such as pages,events,months; those that the "
    "dataset has when left out, or all. The totals are always read; with none they are "
    "all there is, in a request for each year of a website.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say how many requests it would take, and end."
)
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask before more than 10,000 requests, and twice those of the last "
    "update; without a terminal, there is a warning.",
)
@click.option(
    "--lag",
    type=click.IntRange(0),
    default=1,
    metavar="DAYS",
    help="How many days to read again, before the new ones.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 50),
    default=20,
    metavar="N",
    help="How many requests are under way at once.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    default=20_000,
    metavar="N",
    help="How many requests a load has at most, which bounds the memory.",
)
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Write nothing but the websites that failed, to standard error.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=180,
    metavar="SECONDS",
    help="How long to wait for a DuckDB file that another program has open.",
)
@_destination_options
@client_options
def update(
    hosts: tuple[str, ...],
    *,
    since: str | None,
    until: str | None,
    fields: str | None,
    dry_run: bool,
    yes: bool,
    quiet: bool,
    wait: float,
    destination: str,
    dataset: str,
    folder: str,
    **options: Any,
) -> None:
    """Read the days that are not there yet, until yesterday.

    It reads all websites of the user, or each HOST. Run it again tomorrow, and it
    reads what is new. A website that fails is read by the next run; the others go on.
    The database is the file sitestats.duckdb in --folder, unless --to names another.
    """
    names = [*hosts, *(name for name, _ in read_hosts(options))]
    pace = {name: options.pop(name) for name in ("lag", "concurrency", "max_requests")}
    first = None if since is None else _day("--since", since)
    last = until and _day("--until", until)
    approve = partial(_approve, is_dry=dry_run, yes=yes)
    with make_client(options) as client, _one_line(folder):
        from sitestats import warehouse as made

        file = Path(f"{_NAME}.duckdb")
        pipelines = _folder(destination, dataset)
        folders = (*pipelines.parents[1::-1], pipelines)
        is_new = not file.exists()
        new_folder = next((one for one in folders if not one.exists()), None)
        lists: dict[str, Any] = {} if fields is None else {"lists": _split(fields)}
        source = made.sitestats_source(
            first_day=first,
            hostnames=names or None,
            client=client,
            progress=not quiet,
            until=last or None,
            approve=approve if dry_run or yes or _is_terminal() else None,
            **pace,
            **lists,
        )
        report = made.update(_pipeline(destination, dataset), source, wait=wait)
        if dry_run:
            # dlt has made these, to look for what is there.
            if is_new:
                file.unlink(missing_ok=True)
            if new_folder is not None:
                rmtree(new_folder)
            return
    if not report.loads:
        fail(["nothing was requested"], Code.DECLINED)
    failed = report.failed
    good, number = len(report.websites) - len(failed), len(report.websites)
    if not quiet:
        plural = "" if report.requests == 1 else "s"
        up_to_date = f"up to date: {good:,} of {number:,} websites"
        click.echo(f"{report.requests:,} request{plural}; {up_to_date}")
    if failed:
        _tell(failed)
        lasting = all(cursor.lasting for cursor in failed.values())
        raise click.exceptions.Exit(Code.ERROR_RESPONSE if lasting else Code.TRY_LATER)


@warehouse.command(
    epilog="""\b
    Examples:
      sitestats warehouse status
      sitestats warehouse status --check --max-behind 2
      sitestats warehouse status --to postgres --format json
    """
)
@click.option("--all", "every", is_flag=True, help="Show all websites in the table.")
@click.option(
    "--max-behind",
    type=click.IntRange(0),
    default=1,
    metavar="DAYS",
    help="How many days a website may be behind: one is over since the last night.",
)
@click.option(
    "--check", is_flag=True, help="End with exit code 4 if a website is further behind."
)
@_destination_options
@format_options
def status(
    *,
    every: bool,
    max_behind: int,
    check: bool,
    destination: str,
    dataset: str,
    folder: str,
    **options: Any,
) -> None:
    """Show how many websites are up to date, and what is wrong with the others.

    Nothing is requested from the service. JSON and CSV have all websites.
    """
    style, output = csv_style(options), options["output"]
    with _one_line(folder):
        cursors = _coverage(destination, dataset)
    if not cursors:
        fail([_NOTHING_YET], Code.WRONG_USE)
    rows = [_row(name, cursor) for name, cursor in cursors.items()]
    rows.sort(key=lambda row: (row["error"] is None, -(row["behind"] or 0)))
    listed = [row for row in rows if row["behind"] is not None]
    late = [row for row in listed if row["behind"] > max_behind]
    if output == "json":
        print_json(rows)
    elif output == "csv":
        style.write([*rows[0]], rows)
    else:
        bad = [row for row in listed if row["error"] or row in late]
        days = [row["through"] for row in listed]
        oldest = f"; the oldest {min(days)}" if days and all(days) else ""
        click.echo(
            f"{len(listed) - len(bad):,} of {len(listed):,} websites up to date{oldest}"
        )
        if gone := len(rows) - len(listed):
            click.echo(
                f"{gone:,} more not listed any more: see --all, and `sitestats "
                "warehouse forget`"
            )
        if shown := rows if every else bad:
            _show(shown)
    if check and late:
        raise click.exceptions.Exit(Code.TRY_LATER)


@warehouse.command(
    epilog="""\b
    Example:
      sitestats warehouse forget gone.example
    """
)
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@click.option(
    "--force", is_flag=True, help="Also a website that the service still lists."
)
@_destination_options
def forget(
    hosts: tuple[str, ...], *, force: bool, destination: str, dataset: str, folder: str
) -> None:
    """Remove websites that are gone for good from the status and from `coverage`.

    Their days stay in the tables.
    """
    with _one_line(folder):
        from sitestats import warehouse as made

        made.forget(_pipeline(destination, dataset), hosts, force=force)
    click.echo(f"removed from coverage: {', '.join(hosts)}")


def _coverage(destination: str, dataset: str) -> Mapping[str, Coverage]:
    from sitestats import warehouse as made

    if destination == "duckdb" and not (
        _folder(destination, dataset).exists() or Path(f"{_NAME}.duckdb").exists()
    ):
        # dlt would make an empty database.
        return {}
    return made.read_coverage(_pipeline(destination, dataset))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _approve(estimate: Estimate, *, is_dry: bool, yes: bool) -> bool:
    if is_dry:
        click.echo(estimate)
        return False
    if not estimate.is_large or yes:
        return True
    click.echo(f"A large update: {estimate}. Go on? [y/N]: ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _day(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"{option} takes a date such as 2026-03-01, not {text}"
        ) from None


def _split(names: str) -> list[str]:
    if names.strip() == "none":
        return []
    return [name.strip() for name in names.split(",") if name.strip()]


def _pipeline(destination: str, dataset: str) -> Pipeline:
    import dlt

    if (destination, dataset) == ("duckdb", _NAME):
        # To DuckDB, its name would mean the database.
        raise click.UsageError(
            f"--dataset {_NAME}: the file has that name: choose another"
        )
    return dlt.pipeline(
        _NAME,
        destination=destination,
        dataset_name=dataset,
        pipelines_dir=str(_folder(destination, dataset)),
    )


def _folder(destination: str, dataset: str) -> Path:
    # Here, as the database is; and what waits to be loaded is for one destination.
    name = f"{destination}-{dataset}".replace(os.sep, "_")
    return Path(".dlt", "pipelines", name).absolute()


def _tell(failed: Mapping[str, Coverage]) -> None:
    names = sorted(failed)
    for name in names[:_MOST_SHOWN]:
        click.echo(f"sitestats: {plain(f'{name}: {failed[name].error}')}", err=True)
    if (more := len(names) - _MOST_SHOWN) > 0:
        click.echo(
            f"sitestats: … and {more:,} more: see `sitestats warehouse status`",
            err=True,
        )


def _row(name: str, cursor: Coverage) -> dict[str, Any]:
    from sitestats.warehouse import last_day

    last = last_day(cursor.timezone, datetime.now(UTC)) or cursor.reached
    return {
        "hostname": name,
        "timezone": cursor.timezone,
        "through": cursor.through and str(cursor.through),
        "behind": cursor.behind(last) if cursor.listed else None,
        "missing": len(cursor.failed),
        "error": cursor.error,
        "checked_at": cursor.checked_at and cursor.checked_at.isoformat(),
    }


def _show(rows: list[dict[str, Any]]) -> None:
    from sitestats.analysis._console import table_of_rows

    headings = {
        "hostname": "website",
        "timezone": "time zone",
        "through": "",
        "behind": "days behind",
        "error": "",
    }
    make_console().print(table_of_rows(rows, headings))


@contextmanager
def _one_line(folder: str) -> Generator[None]:
    """Go to *folder*, where dlt looks for its configuration, and show an error of dlt
    as one line, and its log only where you set a level.
    """
    try:
        from dlt.common.configuration.exceptions import ConfigurationException
        from dlt.common.destination.exceptions import UnknownDestinationModule
        from dlt.common.exceptions import DltException, MissingDependencyException
    except ModuleNotFoundError:
        raise MissingExtraError("dlt", extra="warehouse") from None
    from sitestats.warehouse._settings import set_default

    wrong_use = (
        ConfigurationException,
        MissingDependencyException,
        UnknownDestinationModule,
    )
    # What it logs of a failure is printed here.
    set_default("runtime.log_level", "CRITICAL")
    try:
        with chdir(folder):
            yield
    except DltException as error:
        causes: list[BaseException] = [error]
        while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
            causes.append(cause)
        for wrong in causes:
            if isinstance(wrong, wrong_use):
                fail([_briefly(wrong), _HOW_TO_CONFIGURE], Code.WRONG_USE)
            if isinstance(wrong, OSError) and wrong.errno in _FULL:
                # The error rarely says where: dlt writes to both.
                places = sorted(
                    (folder, gettempdir()), key=lambda p: disk_usage(p).free
                )
                where = f"the disk of {Path(places[0]).absolute()} is full"
                fail([f"{where}: {wrong.strerror}"], Code.OUTPUT)
        fail([f"the destination failed: {causes[-1]}"], Code.TRY_LATER)


def _briefly(error: BaseException) -> str:
    """The first two lines: the others list each place that dlt has looked at."""
    return " ".join(str(error).splitlines()[:2])
