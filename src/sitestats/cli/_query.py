"""Options of a query, and the ``StatsQuery`` built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import methodcaller
from typing import Any, Final, TypeVar, cast

import click

from sitestats import Problem, QueryError, StatsQuery
from sitestats._common.fields import FIELDS
from sitestats._query import periods, rules

from ._completion import one_of

F = TypeVar("F", bound=Callable[..., Any])

OVERVIEW: Final = (
    "pageviews",
    "visitors",
    "histogram",
    "pages",
    "countries",
    "referrers",
)
"""The fields that are requested when neither fields nor events are named."""

_OPTIONS = (
    click.option(
        "-f",
        "--field",
        "fields",
        multiple=True,
        metavar="NAME",
        shell_complete=one_of(lambda: FIELDS),
        help="A field, such as pageviews or pages; may be repeated, or given with "
        f"commas. By default: {', '.join(OVERVIEW)}.",
    ),
    click.option(
        "-e",
        "--event",
        "events",
        multiple=True,
        metavar="NAME",
        help="An event to count; may be repeated.",
    ),
    click.option("--all-events", is_flag=True, help="Count all events."),
    click.option(
        "--last", type=int, metavar="DAYS", help="The last whole days, up to yesterday."
    ),
    click.option(
        "--start",
        metavar="DAY",
        help="The first day: 2026-03-01, today, yesterday or today-30d.",
    ),
    click.option("--end", metavar="DAY", help="The last day, which is included."),
    click.option("--on", metavar="DAY", help="One day."),
    click.option(
        "--timezone",
        metavar="ZONE",
        shell_complete=one_of(periods.zones),
        help="The zone of the days, such as Europe/Amsterdam; the website's own "
        "when left out.",
    ),
    click.option(
        "--interval",
        metavar="WIDTH",
        shell_complete=one_of(lambda: rules.INTERVALS),
        help="hour, day, week, month or year, for the histogram.",
    ),
    click.option(
        "--limit",
        type=int,
        metavar="N",
        help="The most entries of each list, 1 to 1000; 50 when left out.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=one_of(lambda: rules.FILTERS, suffix="="),
        help="A filter, such as country=NL or 'page=/blog*'; may be repeated, "
        "pages=… too.",
    ),
    click.option(
        "--metadata",
        multiple=True,
        metavar="KEY=VALUE",
        help="A metadata filter, such as plan=pro; may be repeated.",
    ),
    click.option("--path", metavar="/PATH", help="One page, by its own address."),
    click.option(
        "--api-version", type=int, metavar="1-6", help="The format of the response."
    ),
    click.option(
        "--info/--no-info", default=None, help="Request prose about the fields."
    ),
    click.option(
        "--param",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter to send unchecked; may be repeated.",
    ),
)


def query_options(command: F) -> F:
    """Give *command* the options that ``make_query`` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def make_query(host: str, base_url: str | None, options: dict[str, Any]) -> StatsQuery:
    """Build the query; *host* may be the address of a dashboard or of its data.

    Raises:
        QueryError: With the problems of all options.
    """
    problems: list[Problem] = []
    try:
        query = _start(host, base_url)
    except QueryError as error:
        problems += error.problems
        # Any valid host name, to check the other options too.
        query = StatsQuery("example.com")
    for step in _steps(options):
        try:
            query = step(query)
        except QueryError as error:
            problems += error.problems
    if problems:
        raise QueryError(problems)
    return query


def _start(host: str, base_url: str | None) -> StatsQuery:
    if "://" in host:
        return StatsQuery.from_url(host, base_url=_base_of(host, base_url))
    return StatsQuery(host)


def _steps(options: Mapping[str, Any]) -> Iterator[Callable[[StatsQuery], StatsQuery]]:
    """The builder steps of the options."""
    yield lambda query: _with_fields_and_events(query, options)
    yield lambda query: _with_period(query, options)
    filters = _filters(options["where"])
    yield lambda query: query.where(**cast("Any", filters))
    metadata = _pairs("--metadata", options["metadata"])
    yield lambda query: query.where_metadata(metadata)
    for step, name in (
        ("path", "path"),
        ("timezone", "timezone"),
        ("interval", "interval"),
        ("limit", "limit"),
        ("version", "api_version"),
        ("info", "info"),
    ):
        if options[name] is not None:
            yield methodcaller(step, options[name])
    for name, value in _pairs("--param", options["param"]).items():
        yield methodcaller("extra_param", name, value)


def _base_of(address: str, base_url: str | None) -> str | None:
    # The address of another service is parsed without this base address.
    if base_url is not None and address.startswith(base_url.rstrip("/") + "/"):
        return base_url
    return None


def _with_fields_and_events(
    query: StatsQuery, options: Mapping[str, Any]
) -> StatsQuery:
    fields = [name for group in options["fields"] for name in group.split(",")]
    if options["all_events"] and options["events"]:
        raise click.UsageError("--event and --all-events: give one of the two")
    if fields:
        query = query.fields(*fields)
    if options["all_events"]:
        query = query.all_events()
    elif options["events"]:
        query = query.events(*options["events"])
    requested = query.params().keys() & {"fields", "events"}
    return query if requested else query.fields(*cast("Any", OVERVIEW))


def _with_period(query: StatsQuery, options: Mapping[str, Any]) -> StatsQuery:
    last, on = options["last"], options["on"]
    start, end = options["start"], options["end"]
    given = [last is not None, on is not None, start is not None or end is not None]
    if sum(given) > 1:
        raise click.UsageError("--last, --on, and --start with --end: give one of them")
    if last is not None:
        return query.last(days=last)
    if on is not None:
        return query.on(on)
    if start is not None or end is not None:
        return query.between(start, end)
    return query


def _filters(given: Iterable[str]) -> dict[str, str | list[str]]:
    """The filters by name; ``pages`` may have several values."""
    pages: list[str] = []
    others: list[str] = []
    for text in given:
        name, equals, value = text.partition("=")
        if name == "pages" and equals:
            pages.append(value)
        else:
            others.append(text)
    filters: dict[str, str | list[str]] = {**_pairs("--where", others)}
    if pages:
        filters["pages"] = pages[0] if len(pages) == 1 else pages
    return filters


def _pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"{option} takes NAME=VALUE, not {text!r}")
        if name in pairs:
            raise click.UsageError(f"{option} {name}=… is given twice")
        pairs[name] = value
    return pairs
