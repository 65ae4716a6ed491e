"""``sitestats websites``: list and add websites, plan and ensure a file of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import click

from sitestats._common.text import plain

from ._advice import in_a_shell
from ._client import client_options, make_client
from ._completion import one_of
from ._exits import (
    Code,
    code_of_plan,
    code_of_report,
    exit_with,
    fail,
    fail_interrupted,
)
from ._help import GroupedCommand, SuggestingGroup, together
from ._lists import list_arguments, list_options, source_of
from ._output import FORMATS as TABLES
from ._output import (
    XLSX,
    CsvStyle,
    csv_style,
    format_options,
    make_console,
    print_json,
    print_workbook,
)
from ._query import zones

if TYPE_CHECKING:
    from sitestats import Website, WebsiteSpec
    from sitestats.provisioning import ProvisioningPlan, ProvisioningReport

# The library is imported when a command runs: a shell completes without it.
FORMATS: Final = ("toml", "json", "csv")
"""The formats of files of specifications."""
_HEADINGS: Final = {
    "hostname": "website",
    "timezone": "time zone",
    "is_public": "public",
    "has_script": "script",
    **dict.fromkeys(("pageviews", "events", "label"), ""),
}
"""The columns of the table, and their headings where the names are none."""
_CONTINUE: Final = ": run it again to continue, with the same --journal if you gave one"
_COSTS: Final = "this can cost money, and can't be undone"


yes_option = click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask to confirm; needed without a terminal.",
)
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Write nothing if every website is as specified, and otherwise only those "
    "that are not, to standard error, and what was guessed of a list before something "
    "is added. JSON and CSV are written all the same.",
)
file_options = together(
    click.argument(
        "file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    ),
    list_options,
    click.option(
        "--accept-differing",
        is_flag=True,
        help="Let existing websites differ: they are shown, and no error. For one "
        "website, the list can say it: accept_differing.",
    ),
    click.option(
        "--only-changes",
        is_flag=True,
        help="Leave the websites out that existed already, as specified.",
    ),
    quiet_option,
)


def _load(
    file: Path, options: dict[str, Any], *, is_quiet: bool
) -> tuple[tuple[WebsiteSpec, ...], list[Warning | str]]:
    """The specifications of *file*, and the notes on it that a quiet run holds back
    until something is to be added.
    """
    from sitestats import WebsiteSpec

    arguments = list_arguments(options)
    accept = options.pop("accept_differing")
    with warnings.catch_warnings(record=is_quiet) as held:
        specs = WebsiteSpec.load(
            source_of(str(file)), accept_differing=accept, **arguments
        )
    return specs, [one.message for one in held or ()]


@click.group(cls=SuggestingGroup)
def websites() -> None:
    """List the user's websites, and add some."""


@websites.command(
    "list",
    epilog="""\b
    Examples:
      sitestats websites list
      sitestats websites list --as-specs > websites.csv
      sitestats websites list --as-specs toml > websites.toml
      sitestats websites plan websites.csv
    """,
)
@click.option(
    "--as-specs",
    type=click.Choice(FORMATS),
    is_flag=False,
    flag_value="csv",
    help="Write a file that `plan` and `ensure` read, as CSV unless another format is "
    "named: `plan` then finds nothing to do.",
)
@partial(format_options, formats=(*TABLES, XLSX))
@client_options
def list_(*, as_specs: str | None, **options: Any) -> None:
    """List every website of the user.

    Page views and events are estimates per 30 days.
    """
    style, output = csv_style(options), options.pop("output")
    if as_specs is not None and output != "table":
        raise click.UsageError(
            f"--as-specs and --format: give one of them, such as --as-specs {as_specs}"
        )
    with make_client(options) as client:
        found = client.websites.list()
    if as_specs is not None:
        _print_specs(found, cast("Any", as_specs))
        return
    rows = [website.to_dict() for website in found]
    if output == "json":
        print_json(rows)
    elif output == "csv":
        style.write(_columns_of_list(), rows)
    elif output == XLSX:
        print_workbook(found)
    else:
        from sitestats.analysis._console import table_of_rows

        table = table_of_rows(rows, _HEADINGS)
        table.columns[0].no_wrap = True
        make_console().print(table)


def _columns_of_list() -> list[str]:
    """The columns of the list of websites as CSV."""
    from sitestats import Website

    return [field.name for field in attrs.fields(Website) if field.name != "extra"]


def _print_specs(found: Iterable[Website], output_format: Any) -> None:
    from sitestats import SpecError, WebsiteSpec

    specs: dict[str, WebsiteSpec] = {}
    left_out: list[str] = []
    for website in found:
        try:
            spec = WebsiteSpec.of(website)
            # What one can't be written as, all can't.
            WebsiteSpec.dumps([spec], output_format)
        except SpecError as error:
            left_out += (
                f"{website.hostname} is left out: {in_a_shell(problem.message)}"
                for problem in error.problems
            )
        else:
            specs.setdefault(spec.hostname, spec)
    # A file of specifications is in UTF-8, whatever the terminal is.
    click.echo(WebsiteSpec.dumps(specs.values(), output_format).encode(), nl=False)
    if left_out:
        fail(left_out, Code.BAD_RESPONSE)


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
    metavar="ZONE",
    shell_complete=one_of(zones),
    help="A name of the tz database; UTC when left out.",
)
@click.option(
    "--public/--private",
    default=None,
    help="Who may see the statistics; private when left out.",
)
@click.option("--label", metavar="TEXT", help="Free text of your own.")
@yes_option
@quiet_option
@client_options
def add(
    host: str,
    *,
    timezone: str | None,
    public: bool | None,
    label: str | None,
    yes: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Add the website HOST, which can cost money and can't be undone.

    An existing website is not changed, and compared by the given options alone. An add
    without a response is not sent again: the list shows whether it was added.
    """
    from sitestats import WebsiteSpec

    spec = WebsiteSpec(host, timezone=timezone, public=public, label=label)
    _ensure([spec], Show(quiet=quiet), options, yes=yes)


@websites.command(
    cls=GroupedCommand,
    epilog="""\b
    Examples:
      sitestats websites plan websites.toml
      sitestats websites plan websites.csv --format json
    """,
)
@file_options
@format_options
@client_options
def plan(file: Path, **options: Any) -> None:
    """Show what `ensure` would do with FILE; nothing is added.

    FILE has a host name a line, or is CSV, TOML or JSON; - is standard input. The exit
    code is 0 if every website exists as specified, 8 if some are missing, and else 9.
    What FILE leaves out is not compared.
    """
    _ensure_list(file, options, dry_run=True)


@websites.command(
    cls=GroupedCommand,
    epilog="""\b
    Examples:
      sitestats websites ensure websites.toml --dry-run
      sitestats websites ensure websites.toml
      sitestats websites ensure websites.toml --yes --journal websites.journal
      sitestats websites ensure list.csv --column hostname=Domain --ignore-columns
    """,
)
@file_options
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
def ensure(file: Path, **options: Any) -> None:
    """Add the missing websites of FILE, one at a time.

    FILE is as for `plan`. It asks for confirmation, since adding can cost money and
    can't be undone.
    """
    named = {name: options.pop(name) for name in ("dry_run", "yes", "journal")}
    _ensure_list(file, options, **named)


@attrs.frozen
class Show:
    """How plans and reports are printed."""

    output: str = "table"
    style: CsvStyle = attrs.field(factory=CsvStyle)
    only_changes: bool = attrs.field(default=False, kw_only=True)
    quiet: bool = attrs.field(default=False, kw_only=True)

    def print(self, result: ProvisioningPlan | ProvisioningReport) -> None:
        """Print *result*."""
        items = result.changed if self.only_changes else result.items
        if self.output == "json":
            print_json(
                {**result.to_dict(), "items": [item.to_dict() for item in items]}
            )
        elif self.output == "csv":
            self.style.write(result.columns, [item.row() for item in items])
        elif not self.quiet:
            _echo(result.changes() if self.only_changes else str(result))
        if self.quiet and not result.complete:
            _echo(result.changes(), err=True)


def _echo(lines: str, *, err: bool = False) -> None:
    click.echo("\n".join(map(plain, in_a_shell(lines).splitlines())), err=err)


def _ensure_list(file: Path, options: dict[str, Any], **how: Any) -> None:
    quiet = options.pop("quiet")
    specs, notes = _load(file, options, is_quiet=quiet)
    style, only_changes = csv_style(options), options.pop("only_changes")
    show = Show(options.pop("output"), style, only_changes=only_changes, quiet=quiet)
    _ensure(specs, show, options, notes=notes, **how)


def _ensure(
    specs: Sequence[WebsiteSpec],
    show: Show,
    options: dict[str, Any],
    *,
    notes: Iterable[Warning | str] = (),
    dry_run: bool = False,
    yes: bool = False,
    journal: Path | None = None,
) -> None:
    """Add what is missing and print the report, also that of an interrupted run; or
    print the plan alone. Exit with the code for it.
    """
    with make_client(options, read_only=dry_run) as client:
        planned = client.websites.plan(specs)
        # What decides about an add is not hidden: it can't be undone.
        for note in notes if planned.to_add else ():
            warnings.warn(note, stacklevel=2)
        if dry_run:
            show.print(planned)
            exit_with(code_of_plan(planned))
            return
        if planned.to_add and not yes:
            _confirm(planned)
        try:
            report = client.websites.ensure(
                specs, journal=journal, progress=not show.quiet, interrupted=show.print
            )
        except KeyboardInterrupt as interrupt:
            fail_interrupted(interrupt, _CONTINUE)
        show.print(report)
    exit_with(code_of_report(report))


def _confirm(planned: ProvisioningPlan) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        fail(
            [f"nothing was added: {_COSTS}; give --yes to add without confirmation"],
            Code.WRONG_USE,
        )
    _echo(planned.changes(), err=True)
    number = len(planned.to_add)
    # Not click.confirm, whose older versions write to standard output.
    click.echo(
        f"Add {number:,} website{'s' * (number > 1)}? ({_COSTS}) [y/N]: ",
        nl=False,
        err=True,
    )
    answer = sys.stdin.readline()
    if not answer:
        raise click.Abort
    if answer.strip().lower() not in {"y", "yes"}:
        fail(["nothing was added"], Code.DECLINED)
