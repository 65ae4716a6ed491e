"""Options that several commands share, each in a section of the help."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar, get_args

import click

from sitestats import FieldName, Interval
from sitestats._query.periods import RELATIONS, WORDS, Unit

F = TypeVar("F", bound=Callable[..., Any])


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *names: Any, section: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


class Command(click.Command):
    """A command whose help has its many options in sections."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, each in its section."""
        found: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                title = getattr(param, "section", "Options")
                found.setdefault(title, []).append(record)
        for title, records in found.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command


command = partial(click.command, cls=Command)


class Pair(click.ParamType):  # type: ignore[type-arg]  # below 8.4 it has none
    """A name and a value, with ``=`` between them."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Make a pair of the text."""
        name, equals, text = value.partition("=")
        if not equals:
            self.fail(f"{value!r} is not {self.name}", param, ctx)
        return name, text


def in_section(title: str) -> Callable[..., Callable[[F], F]]:
    """``click.option`` for a section of the help."""
    return partial(click.option, cls=Option, section=title)


which, what, when = map(in_section, ("Which websites", "What", "When"))
in_output, connection = map(in_section, ("Output", "Connection"))


def together(*options: Callable[..., Any]) -> Callable[[F], F]:
    """One decorator that gives a command all of *options*, in their order."""

    def decorate(command: F) -> F:
        for one in reversed(options):
            command = one(command)
        return command

    return decorate


def completed(names: Callable[[], Iterable[str]]) -> Any:
    """Let a shell complete to *names*, in any case."""

    def complete(_context: object, _parameter: object, begun: str) -> list[str]:
        return [name for name in names() if name.lower().startswith(begun.lower())]

    return complete


def _zones() -> Iterable[str]:
    from zoneinfo import available_timezones

    return available_timezones()


def _filters() -> Iterable[str]:
    from sitestats import Filters

    return [f"{name}=" for name in Filters.__annotations__]


def format_option(*formats: str) -> Callable[[F], F]:
    """The argument ``output``, one of *formats*."""
    return in_output(
        "--format",
        "output",
        type=click.Choice(formats),
        default=formats[0],
        help="The format of the output.",
    )


def timezone_option(text: str) -> Callable[[F], F]:
    """A name of the tz database."""
    return when(
        "--timezone", metavar="ZONE", shell_complete=completed(_zones), help=text
    )


column_option = which(
    "--column",
    "columns",
    multiple=True,
    type=Pair("FIELD=NAME"),
    help="What the list calls a field, such as hostname=Domain; may be repeated.",
)
hosts_from_option = together(
    which(
        "--hosts-from",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True),
        help="The host names of a list, as `websites plan` reads it, or one a line; - "
        "is standard input.",
    ),
    column_option,
)
host_options = together(
    click.argument("hosts", nargs=-1, metavar="[HOST]..."),
    which("--all", "every", is_flag=True, help="Every website of the user."),
    hosts_from_option,
    which(
        "--concurrency",
        type=click.IntRange(1),
        metavar="N",
        default=20,
        help="How many requests are under way at once.",
    ),
)
query_options = together(
    what(
        "-f",
        "--field",
        "fields",
        multiple=True,
        metavar="NAME",
        shell_complete=completed(lambda: get_args(FieldName)),
        help="A field, such as pageviews or pages; may be repeated, or given with "
        "commas. By default an overview.",
    ),
    what(
        "-e",
        "--event",
        "events",
        multiple=True,
        metavar="NAME",
        help="An event to count; may be repeated.",
    ),
    what("--all-events", is_flag=True, help="Count all events."),
    what(
        "--where",
        multiple=True,
        type=Pair("NAME=VALUE"),
        shell_complete=completed(_filters),
        help="A filter, such as country=NL or 'page=/blog*'; may be repeated, "
        "pages=… too.",
    ),
    what(
        "--metadata",
        multiple=True,
        type=Pair("KEY=VALUE"),
        help="A metadata filter, such as plan=pro; may be repeated.",
    ),
    what("--path", metavar="/PATH", help="One page, by its own address."),
    what(
        "--interval",
        type=click.Choice(get_args(Interval)),
        help="The width of the histogram's entries.",
    ),
    what(
        "--limit",
        type=int,
        metavar="N",
        help="The most entries of each list, 1 to 1000; by default 50, of which a "
        "table shows 10.",
    ),
    what(
        "--api-version",
        "version",
        type=int,
        metavar="1-6",
        help="The format of the response.",
    ),
    what(
        "--param",
        multiple=True,
        type=Pair("NAME=VALUE"),
        help="A parameter to send unchecked; may be repeated.",
    ),
    when(
        "--last", type=int, metavar="DAYS", help="The last whole days, up to yesterday."
    ),
    when(
        "--start",
        metavar="DAY",
        help="The first day: 2026-03-01, today, yesterday or today-30d.",
    ),
    when("--end", metavar="DAY", help="The last day, which is included."),
    when("--on", metavar="DAY", help="One day."),
    when(
        "--during",
        metavar="PERIOD",
        shell_complete=completed(lambda: WORDS),
        help="A year, quarter, month, week or day: 2026, 2026-Q1, 2026-03, 2026-W10; "
        "or last-month, last-week, last-quarter, last-year, this-month and so on, in "
        "the website's zone.",
    ),
    timezone_option(
        "The zone of the days, such as Europe/Amsterdam; by default the website's own."
    ),
)
each_option = when(
    "--each",
    type=click.Choice(get_args(Unit)),
    help="Split the period: a row for each day, week, month or year.",
)
against_option = when(
    "--against",
    default="previous_period",
    metavar="PERIOD",
    shell_complete=completed(lambda: [*RELATIONS, *WORDS]),
    help="The other period: previous_period, previous_week, previous_month, "
    "previous_year, one such as 2025-03 or last-year, or two days, such as "
    "2025-03-01..2025-03-14.",
)
result_options = together(
    format_option("table", "json", "csv", "jsonl", "xlsx"),
    in_output(
        "--table",
        metavar="NAME",
        help="The table to print as CSV, or for many websites, if several are "
        "requested: totals, or a list such as pages.",
    ),
)
