"""Options of a query, and the ``StatsQuery`` built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import attrs
import click

from ._completion import one_of
from ._help import together
from ._lists import pairs_of

if TYPE_CHECKING:
    from sitestats import Problem, StatsQuery

OVERVIEW_OF_MANY: Final = ("pageviews", "visitors")
"""The fields that are requested of websites that are a row each, if neither fields nor
events are named."""
OVERVIEW: Final = (*OVERVIEW_OF_MANY, "histogram", "pages", "countries", "referrers")
"""The same of one website."""

_UNITS: Final = ("week", "month", "quarter", "year")

# The library is imported when a shell completes a value: a name is completed without.


def zones() -> Iterable[str]:
    """The names of the tz database."""
    from zoneinfo import available_timezones

    return available_timezones()


def _fields() -> Iterable[str]:
    from sitestats import FieldName

    return get_args(FieldName)


def _intervals() -> Iterable[str]:
    from sitestats import Interval

    return get_args(Interval)


def _periods() -> Iterable[str]:
    return [f"{which}-{unit}" for which in ("last", "this") for unit in _UNITS]


def _filter_names() -> Iterable[str]:
    from sitestats import Filters

    return Filters.__annotations__


query_options = together(
    click.option(
        "-f",
        "--field",
        "fields",
        multiple=True,
        metavar="NAME",
        shell_complete=one_of(_fields, separator=","),
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
        "--during",
        metavar="PERIOD",
        shell_complete=one_of(_periods),
        help="A year, quarter, month, week or day: 2026, 2026-Q1, 2026-03, 2026-W10; "
        "or last-month, last-week, last-quarter, last-year, this-month and so on, in "
        "the website's zone.",
    ),
    click.option(
        "--timezone",
        metavar="ZONE",
        shell_complete=one_of(zones),
        help="The zone of the days, such as Europe/Amsterdam; the website's own "
        "when left out.",
    ),
    click.option(
        "--interval",
        metavar="WIDTH",
        shell_complete=one_of(_intervals),
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
        shell_complete=one_of(_filter_names, suffix="="),
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
        "--api-version",
        "version",
        type=int,
        metavar="1-6",
        help="The format of the response.",
    ),
    click.option(
        "--param",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter to send unchecked; may be repeated.",
    ),
)


def make_queries(
    hosts: Iterable[tuple[str, str]],
    base_url: str | None,
    options: Mapping[str, Any],
    fields: Sequence[str] = OVERVIEW,
) -> list[StatsQuery]:
    """Build the query of each host, which may be the address of a dashboard or of data.

    Args:
        hosts: Host names or addresses, each with where it is written.
        base_url: Where the service is.
        options: Those of ``query_options``.
        fields: What is requested if the options name nothing.

    Raises:
        QueryError: With the problems of all options.
    """
    from sitestats import QueryError, StatsQuery

    problems: list[Problem] = []
    # Any valid host name, to check the options before the hosts.
    base, found = _with_options(StatsQuery("example.com"), options, fields)
    queries: list[StatsQuery] = []
    for host, where in hosts:
        try:
            if "://" in host:
                query = StatsQuery.from_url(host, base_url=_base_of(host, base_url))
                query, found = _with_options(query, options, fields)
                queries.append(query)
            else:
                queries.append(base.website(host))
        except QueryError as error:
            problems += _at(error.problems, where)
    problems += found
    if problems:
        raise QueryError(problems)
    return queries


def _at(problems: Iterable[Problem], where: str) -> Iterator[Problem]:
    for problem in problems:
        yield attrs.evolve(problem, where=where) if where else problem


def _with_options(
    query: StatsQuery, options: Mapping[str, Any], fields: Sequence[str]
) -> tuple[StatsQuery, list[Problem]]:
    """*query* with the steps of the options, and what is wrong with these."""
    from sitestats import QueryError

    problems: list[Problem] = []
    for step in _steps(options, fields):
        try:
            query = step(query)
        except QueryError as error:
            problems += error.problems
    return query, problems


def _steps(
    options: Mapping[str, Any], fields: Sequence[str]
) -> Iterator[Callable[[StatsQuery], StatsQuery]]:
    """The builder steps of the options."""
    yield lambda query: _with_fields_and_events(query, options, fields)
    yield lambda query: _with_period(query, options)
    filters = _filters(options["where"])
    yield lambda query: query.where(**cast("Any", filters))
    metadata = pairs_of("--metadata", "KEY=VALUE", options["metadata"])
    yield lambda query: query.where_metadata(metadata)
    for name in ("path", "timezone", "interval", "limit", "version"):
        if options[name] is not None:
            yield methodcaller(name, options[name])
    for name, value in pairs_of("--param", "NAME=VALUE", options["param"]).items():
        yield methodcaller("extra_param", name, value)


def _base_of(address: str, base_url: str | None) -> str | None:
    # The address of another service is parsed without this base address.
    if base_url is not None and address.startswith(base_url.rstrip("/") + "/"):
        return base_url
    return None


def _with_fields_and_events(
    query: StatsQuery, options: Mapping[str, Any], overview: Sequence[str]
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
    return query if requested else query.fields(*cast("Any", overview))


def _with_period(query: StatsQuery, options: Mapping[str, Any]) -> StatsQuery:
    last, on, during = options["last"], options["on"], options["during"]
    start, end = options["start"], options["end"]
    given = [last, on, during, start or end]
    if len(given) - given.count(None) > 1:
        raise click.UsageError(
            "--last, --on, --during, and --start with --end: give one of them"
        )
    if during is not None:
        return query.during(during)
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
    filters: dict[str, str | list[str]] = {**pairs_of("--where", "NAME=VALUE", others)}
    if pages:
        filters["pages"] = pages[0] if len(pages) == 1 else pages
    return filters
