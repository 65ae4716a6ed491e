"""Options that several commands share, each in a section of the help.

Options that belong together reach a command as one object.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial, reduce, wraps
from io import BytesIO
from operator import methodcaller
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar, cast, get_args
from warnings import catch_warnings
from zoneinfo import available_timezones

import attrs
import click

import sitestats
from sitestats._query.parameters import FILTERS
from sitestats._query.periods import WORDS
from sitestats._query.versions import LATEST_VERSION, SENT_VERSION

from ._exits import one_line

F = TypeVar("F", bound=Callable[..., Any])
Pairs: TypeAlias = "tuple[tuple[str, str], ...]"

_SECTIONS: Final = (
    "Which websites",
    "What",
    "When",
    "Destination",
    "Output",
    "Options",
    "Connection",
)
"""The sections of the help, in their order."""


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *names: Any, section: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


class Command(click.Command):
    """A command whose help has its many options in sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; refuse an option after ``--``, and --raw without CSV.

        Raises:
            UsageError: An option can have no effect.
        """
        known = {name for param in self.params for name in param.opts}
        for text in args[args.index("--") :] if "--" in args else ():
            if text.partition("=")[0] in known:
                raise click.UsageError(f"{text} is after --: write it before")
        left = super().parse_args(ctx, args)
        if ctx.meta.get(_RAW) and ctx.params.get("output") != "csv":
            raise click.UsageError("--raw is for CSV: add --format csv")
        return left

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, each in its section."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in _SECTIONS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                # The texts name the defaults, and click would add ranges.
                title = getattr(param, "section", "Options")
                sections[title].append((record[0], param.help or ""))
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Group(click.Group):
    """A group of commands with sections in their help."""

    command_class = Command


command = partial(click.command, cls=Command)


def pair(text: str) -> tuple[str, str]:
    """A name and a value, with ``=`` between them."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE")
    if name != name.strip():
        raise click.BadParameter(f"{text!r} has blanks around the name: leave them out")
    return name, value


def in_section(title: str) -> Callable[..., Callable[[F], F]]:
    """What makes options for a section of the help.

    The usage of an option is as in a help: its names and what its value is, with dots
    if it may be repeated. What has neither a value nor a type is a flag.
    """

    def option(
        usage: str, text: str, *, name: str | None = None, **settings: Any
    ) -> Callable[[F], F]:
        *names, value = usage.split()
        if value.startswith("-"):
            names.append(value)
            settings.setdefault("is_flag", not settings.keys() & {"type", "count"})
        else:
            settings["metavar"] = value.removesuffix("...")
            settings["multiple"] = value.endswith("...")
        own = [] if name is None else [name]
        settings |= {"cls": Option, "section": title, "help": text}
        return click.option(*names, *own, **settings)

    return option


which, what, when = map(in_section, ("Which websites", "What", "When"))
in_output, connection, other = map(in_section, ("Output", "Connection", "Options"))


def into(
    name: str, make: Callable[..., Any], *options: Callable[..., Any]
) -> Callable[[F], F]:
    """A decorator that gives a command *options*. The command gets one argument *name*,
    which *make* makes of their values.
    """

    def decorate(command: F) -> F:
        before = [*getattr(command, "__click_params__", ())]

        @wraps(command)
        def with_object(**values: Any) -> Any:
            given = {key: values.pop(key) for key in names}
            return command(**values, **{name: make(**given)})

        decorated: Any = reduce(
            lambda made, option: option(made),
            reversed(options),
            cast("Any", with_object),
        )
        added = [param for param in decorated.__click_params__ if param not in before]
        names = [param.name for param in added if param.expose_value]
        return cast("F", decorated)

    return decorate


# --- completion -------------------------------------------------------------------


def completed(names: Callable[[], Iterable[str]]) -> Any:
    """Let a shell complete *names* in small letters or capitals, also after a comma."""

    def complete(_context: object, _parameter: object, begun: str) -> list[str]:
        first, comma, last = begun.rpartition(",")
        matches = (name for name in names() if name.lower().startswith(last.lower()))
        return [f"{first}{comma}{name}" for name in matches]

    return complete


def completed_hosts(ctx: click.Context, _: object, begun: str) -> list[str]:
    """The host names that begin with *begun*, requested within two seconds."""
    base_url, profile = map(ctx.params.get, ("base_url", "profile"))
    with (
        suppress(sitestats.SiteStatsError, click.UsageError),
        catch_warnings(action="ignore"),
        make_client(
            profile=profile, base_url=base_url, total_timeout=2, retries=0
        ) as client,
    ):
        listed = client.websites.list()
        return [site.hostname for site in listed if site.hostname.startswith(begun)]
    return []


# --- options of several commands --------------------------------------------------


def format_option(*formats: str) -> Callable[[F], F]:
    """The option ``--format``, whose value is one of *formats*; and ``--raw``, if one
    of them is CSV.
    """
    which_format = in_output(
        "--format",
        f"The format of the output; by default {formats[0]}.",
        name="output",
        type=click.Choice(formats),
        default=formats[0],
    )
    if "csv" not in formats:
        return which_format

    def decorate(command: F) -> F:
        return which_format(_raw_option(command))

    return decorate


def _remember_raw(ctx: click.Context, _parameter: object, value: bool) -> None:  # noqa: FBT001 - click calls it
    ctx.meta[_RAW] = value


_RAW: Final = "sitestats.raw"
_raw_option = in_output(
    "--raw",
    "In CSV, leave out the ' before what a spreadsheet would run as a formula.",
    expose_value=False,
    callback=_remember_raw,
)


def is_raw() -> bool:
    """Whether the command that runs has the option ``--raw``."""
    return bool(click.get_current_context().meta.get(_RAW))


zones = completed(available_timezones)
column_option = which(
    "--column FIELD=NAME...",
    "What the list calls a field, such as hostname=Domain; may be repeated.",
    name="columns",
    type=pair,
)


def by_name(option: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values by their names.

    Raises:
        UsageError: A name is given twice.
    """
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in values:
            raise click.UsageError(f"{option} {name}=… is given twice")
        values[name] = value
    return values


_STDIN: Final = "standard input"


def source_of(file: str) -> str | BinaryIO:
    """The name of the *file*; for ``-``, the content of standard input.

    Raises:
        OSError: Standard input can't be read.
    """
    if file != "-":
        return file
    try:
        content = BytesIO(sys.stdin.buffer.read())
    except OSError as error:
        raise OSError(error.errno, error.strerror, _STDIN) from None
    # The places of mistakes begin with it.
    content.name = _STDIN
    return content


@attrs.frozen(kw_only=True)
class Hosts:
    """The websites that a command is about."""

    hosts: tuple[str, ...]
    hosts_from: str | None
    columns: Pairs
    every: bool = False

    def read(self) -> list[tuple[str, str]]:
        """The host names of the HOSTs and the list, each with its place."""
        names = [(host, "") for host in self.hosts]
        if self.hosts_from is None:
            return names
        listed = sitestats.provisioning.read_hostnames(
            source_of(self.hosts_from), columns=by_name("--column", self.columns)
        )
        return [*names, *((host.text, host.where) for host in listed)]

    def is_one(self) -> bool:
        """Whether the command is about one HOST alone.

        Raises:
            UsageError: No website is named, or in two ways.
        """
        if self.every and (self.hosts or self.hosts_from):
            raise click.UsageError("--all: name no HOST and no --hosts-from beside it")
        if not (self.hosts or self.every or self.hosts_from):
            raise click.UsageError("name a HOST, or give --all or --hosts-from FILE")
        return len(self.hosts) == 1 and not self.hosts_from


_named = (
    click.argument(
        "hosts", nargs=-1, metavar="[HOST]...", shell_complete=completed_hosts
    ),
    which(
        "--hosts-from FILE",
        "The host names of a list, which is CSV, a workbook, TOML or JSON, or has "
        "one a line; - is standard input.",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    ),
    column_option,
)
_all = which("--all", "Every website of the user.", name="every")
host_options = into("hosts", Hosts, *_named)
host_or_all_options = into("hosts", Hosts, _all, *_named)


concurrency_option = connection(
    "--concurrency N",
    "How many requests are under way at once; by default 20.",
    type=click.IntRange(1),
    default=20,
)


def separate(groups: Iterable[str]) -> list[str]:
    """The names of an option that may be repeated, and has commas and blanks in it; an
    empty name is a mistake only where it is alone.
    """
    names = [name.strip() for group in groups for name in group.split(",")]
    return [name for name in names if name] or names


Step: TypeAlias = "Callable[[sitestats.StatsQuery], sitestats.StatsQuery]"


def steps_of(
    *,
    fields: tuple[str, ...],
    events: tuple[str, ...],
    all_events: bool,
    where: Pairs,
    metadata: Pairs,
    param: Pairs,
    last: int | None,
    last_weeks: int | None,
    last_months: int | None,
    with_today: bool,
    since: str | None,
    until: str | None,
    on: str | None,
    during: str | None,
    **others: str | int | None,
) -> list[Step]:
    """The steps of a query for the options; the *others* are named like their steps.

    Raises:
        UsageError: Two options contradict each other.
    """
    if all_events and events:
        raise click.UsageError("--events and --all-events: give one of the two")
    if with_today and last is None:
        raise click.UsageError("--with-today is for --last")
    periods = [
        (last, methodcaller("last", days=last, today=with_today)),
        (last_weeks, methodcaller("last", weeks=last_weeks)),
        (last_months, methodcaller("last", months=last_months)),
        (until if since is None else since, methodcaller("between", since, until)),
        (on, methodcaller("on", on)),
        (during, methodcaller("during", during)),
    ]
    period = [step for given, step in periods if given is not None]
    if len(period) > 1:
        raise click.UsageError(
            "--last, --last-weeks, --last-months, --on, --during, and --since with "
            "--until: give one of them"
        )
    names = separate(fields)
    counted = separate(events)
    pages = [value for name, value in where if name == "pages"]
    filters = by_name("--where", [pair for pair in where if pair[0] != "pages"])
    steps = [
        (names, methodcaller("fields", *names)),
        (counted, methodcaller("events", *counted)),
        (all_events, methodcaller("all_events")),
        (filters, methodcaller("where", **filters)),
        (pages, methodcaller("where", pages=pages)),
        (metadata, methodcaller("where_metadata", by_name("--metadata", metadata))),
    ]
    extra = by_name("--param", param)
    return [
        *(step for given, step in steps if given),
        *period,
        *(methodcaller("extra_param", *pair) for pair in extra.items()),
        *(methodcaller(name, arg) for name, arg in others.items() if arg is not None),
    ]


query_options = into(
    "steps",
    steps_of,
    what(
        "-f --fields NAMES...",
        "Fields, such as pageviews,pages; may be repeated; by default pageviews "
        "and visitors, and for one website also the histogram, pages, countries and "
        "referrers.",
        shell_complete=completed(lambda: get_args(sitestats.FieldName)),
    ),
    what(
        "-e --events NAMES...",
        "Events to count, with commas between them; may be repeated.",
    ),
    what("--all-events", "Count all events."),
    what(
        "--where NAME=VALUE...",
        "A filter, such as country=NL or 'page=/blog*'; may be repeated, pages=… too.",
        type=pair,
        shell_complete=completed(lambda: [f"{name}=" for name in FILTERS]),
    ),
    what(
        "--metadata KEY=VALUE...",
        "A metadata filter, such as plan=pro; may be repeated.",
        type=pair,
    ),
    what("--path /PATH", "One page, by its own address."),
    what(
        "--interval",
        "The width of the histogram's entries.",
        type=click.Choice(get_args(sitestats.Interval)),
    ),
    what(
        "--limit N",
        "The most entries of each list, 1 to 1000; by default 50, of which a "
        "table shows 10.",
        type=int,
    ),
    what(
        f"--api-version 1-{LATEST_VERSION}",
        f"The version of the API; by default {SENT_VERSION}.",
        name="version",
        type=int,
    ),
    what(
        "--param NAME=VALUE...",
        "A parameter to send unchecked; may be repeated.",
        type=pair,
    ),
    when("--last DAYS", "The last whole days, up to yesterday.", type=int),
    when("--with-today", "Let the days of --last end today."),
    when(
        "--last-weeks WEEKS", "The last whole weeks, from Monday to Sunday.", type=int
    ),
    when("--last-months MONTHS", "The last calendar months.", type=int),
    when(
        "--since DAY",
        "The first day: 2026-03-01, today, yesterday or today-30d; by default one "
        "month ago.",
    ),
    when("--until DAY", "The last day, which is included; by default today."),
    when("--on DAY", "One day."),
    when(
        "--during PERIOD",
        "A year, quarter, month, week or day: 2026, 2026-Q1, 2026-03, 2026-W10; "
        "or last-month, last-week, last-quarter, last-year, this-month and so on, in "
        "the website's zone.",
        shell_complete=completed(lambda: WORDS),
    ),
    when(
        "--timezone ZONE",
        "The zone of the days, such as Europe/Amsterdam; by default the website's own.",
        shell_complete=zones,
    ),
)


# --- the client, and the log -------------------------------------------------------

# A credential is never an argument: arguments show in the list of processes.

_ACCOUNT: Final = ("SITESTATS_BASE_URL", "SITESTATS_API_KEY", "SITESTATS_USER_ID")


class _Lines(logging.Formatter):
    """Makes a line of each record; the library's records hold no secret."""

    def format(self, record: logging.LogRecord) -> str:
        # A progress bar in a terminal is drawn again after the line.
        begin = "\r" if sys.stderr.isatty() else ""
        return f"{begin}sitestats: {one_line(record.getMessage())}"


def _log(name: str, ctx: click.Context, _option: click.Parameter, verbose: int) -> None:
    logger, handler = logging.getLogger(name), logging.StreamHandler()
    handler.setFormatter(_Lines())
    if not verbose:
        # A user who waits at a terminal for a second or longer should see why.
        seconds = 1 if sys.stderr.isatty() else float("inf")
        handler.addFilter(lambda record: getattr(record, "seconds", 0) >= seconds)
    logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    logger.addHandler(handler)
    ctx.call_on_close(lambda: logger.removeHandler(handler))
    ctx.call_on_close(lambda: logger.setLevel(logging.NOTSET))


def verbose_option(logger: str, text: str) -> Callable[[F], F]:
    """The option ``-v``, which writes the records of *logger* to standard error."""
    return other(
        "-v --verbose",
        text,
        count=True,
        expose_value=False,
        callback=partial(_log, logger),
    )


_account = (
    connection(
        "--base-url URL",
        "The service's address; by default SITESTATS_BASE_URL. The credentials "
        "of the environment, or of the profile, are sent there.",
    ),
    connection(
        "--profile NAME",
        "The account, by its name in the configuration file; by default "
        "SITESTATS_PROFILE.",
        shell_complete=completed(sitestats.profile_names),
    ),
)
_limits = (
    connection(
        "--timeout SECONDS",
        "For connecting and for each read; by default 30.",
        type=click.FloatRange(0.001),
    ),
    connection(
        "--total-timeout SECONDS",
        "For one request with its retries; by default 120.",
        type=click.FloatRange(0.001),
    ),
    connection(
        "--retries N",
        "How often a request is retried; by default 2.",
        type=click.IntRange(0),
    ),
    verbose_option(
        "sitestats",
        "Write retries and pauses to standard error; -vv writes every attempt.",
    ),
)
_store = connection(
    "--store FILE",
    "Store responses about past days in this file, and do not request them again; "
    "by default SITESTATS_STORE.",
    envvar="SITESTATS_STORE",
)


def make_client(
    *, profile: str | None, read_only: bool = True, **options: Any
) -> sitestats.Client:
    """Make a client; None means that an option was not given.

    Raises:
        UsageError: Two accounts are given, or no address.
        ConfigurationError: The account is incomplete.
    """
    given = {name: value for name, value in options.items() if value is not None}
    others = [name for name in os.environ if name.startswith(_ACCOUNT)]
    used = profile or os.environ.get("SITESTATS_PROFILE")
    if used and others and not profile:
        raise click.UsageError(
            f"SITESTATS_PROFILE is set together with {', '.join(others)}, which may be "
            "of another account: unset the profile or the others, or pass --profile"
        )
    if used:
        return sitestats.Client.from_profile(used, read_only=read_only, **given)
    if not (given.get("base_url") or os.environ.get(_ACCOUNT[0])):
        raise click.UsageError(
            f"the base address is missing: give --base-url, or set {_ACCOUNT[0]}"
        )
    return sitestats.Client.from_env(read_only=read_only, **given)


Connect: TypeAlias = "Callable[..., sitestats.Client]"
"""Makes the client of a command, when the rest of its options has been checked."""
_connect = partial(partial, make_client)
account_options = into("connect", _connect, *_account)
client_options = into("connect", _connect, *_account, *_limits)
storing_options = into("connect", _connect, _store, *_account, *_limits)
