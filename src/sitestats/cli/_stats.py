"""``sitestats stats``, ``compare`` and ``url``: statistics of websites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, get_args

import attrs
import click

import sitestats
from sitestats import InvalidInputError, Problem, SiteStatsError, StatsQuery
from sitestats._query.builder import parameters_of, query_against
from sitestats._query.periods import RELATIONS, WORDS, Unit

from . import _options as options
from ._exits import Code, exit_with, tell
from ._output import (
    SHOWN,
    Row,
    Rows,
    View,
    as_printed,
    make_console,
    print_document,
    print_json,
    print_rows,
    print_workbook,
    view_options,
)

if TYPE_CHECKING:
    from sitestats.types import Comparison

OVERVIEW_OF_MANY: Final = ("pageviews", "visitors")
"""The default fields for many websites, which are a row each."""
OVERVIEW: Final = (*OVERVIEW_OF_MANY, "histogram", "pages", "countries", "referrers")
"""The default fields for one website."""
SINGLE: Final = frozenset(("json", "xlsx", *SHOWN))
"""The formats that have all of one result, and not a row for each of many."""
COMPARED: Final = (*OVERVIEW_OF_MANY, "pages", "countries", "referrers")
"""The default fields for a comparison of one website."""


@options.command()
@options.host_or_all_options
@options.query_options
@options.when(
    "--each",
    "Split the period: a row for each day, week, month, quarter or year.",
    type=click.Choice(get_args(Unit)),
)
@view_options
@options.concurrency_option
@options.storing_options
def stats(
    *, each: Unit | None, hosts: options.Hosts, view: View, **request: Any
) -> None:
    """Read the statistics of HOST.

    HOST is a website's host name, or an address of the service: the website's dashboard
    or its data (.json), such as https://stats.example/example.com?country=NL. The
    filters and days in the address then apply too. A parameter that the service's
    document does not have is an error.

    CSV and JSON lines, and a table of several websites or with --each, have a row for
    each, in the order of the websites. A failure is a line on standard error, and the
    exit code is 4, or 3 where waiting does not help.

    \b
    Examples:
      sitestats stats example.com
      sitestats stats example.com --where country=NL --where 'pages=/blog*'
      sitestats stats example.com --fields pages --limit 1000 --format csv

    \b
    Many websites:
      sitestats stats --all --during 2026-Q1 --each month --format csv
      sitestats stats --hosts-from hosts.txt --last 7 --format jsonl
    """

    def split(query: StatsQuery) -> list[Row]:
        query.validate()
        return [(part,) for part in (query.each(each) if each else [query])]

    is_one = hosts.is_one() and each is None
    single = is_one and view.output in SINGLE
    fields = OVERVIEW if is_one else OVERVIEW_OF_MANY
    _run(split, fields, hosts=hosts, view=view, is_single=single, **request)


@options.command()
@options.host_or_all_options
@options.query_options
@options.when(
    "--against PERIOD",
    "The other period: previous-period, previous-week, previous-month, "
    "previous-quarter, previous-year, one such as 2025-03 or last-year, or two days, "
    "such as 2025-03-01..2025-03-14; by default previous-period.",
    default="previous-period",
    shell_complete=options.completed(lambda: [*RELATIONS, *WORDS]),
)
@view_options
@options.concurrency_option
@options.storing_options
def compare(*, against: str, hosts: options.Hosts, view: View, **request: Any) -> None:
    """Compare two periods of HOST.

    HOST is a host name, or an address of the service with filters and days. Each
    website is requested twice. CSV has the number, the one before, and the change, also
    in percent.

    \b
    Examples:
      sitestats compare example.com --last 7
      sitestats compare example.com --during 2026-W10 --against 2025-W10 -f pages
      sitestats compare --all --during 2026-03 --against previous-year --format csv
    """

    def split(query: StatsQuery) -> list[Row]:
        return [(query, other_query(query, against))]

    single = hosts.is_one() and view.output in SINGLE
    fields = COMPARED if single else OVERVIEW_OF_MANY
    _run(split, fields, hosts=hosts, view=view, is_single=single, **request)


def _run(
    split: Callable[[StatsQuery], list[Row]],
    fields: tuple[str, ...],
    *,
    hosts: options.Hosts,
    steps: list[options.Step],
    view: View,
    concurrency: int,
    connect: options.Connect,
    is_single: bool,
) -> None:
    """Request what the options name, and print it."""
    # Any valid host name serves to check the options before the list is requested.
    names = hosts.read() or [("example.com", "")]
    with connect(max_connections=concurrency) as client:
        queries = build_queries(names, client.base_url, steps, fields)
        view = view.for_query(queries[0], is_one=is_single)
        all_rows = find_rows(client, queries, split, every=hosts.every)
        if not is_single:
            exit_with(print_rows(client, all_rows, view, concurrency=concurrency))
            return
        ((query, *other),) = all_rows[0]
        if other:
            both = client.stats.compare(query, against=other[0])
            _print_one(both, view, both.now, both.before)
        else:
            stats = client.stats.get(query)
            _print_one(stats, view, stats)


def _print_one(
    shown: sitestats.Stats | Comparison, view: View, *results: sitestats.Stats
) -> None:
    match view.output:
        case "json":
            print_json(as_printed(shown))
        case "xlsx":
            print_workbook(shown)
        case "html" | "markdown":
            print_document(shown, view)
        case _:
            from sitestats.analysis import Display

            make_console().print(Display(shown, rows=view.rows))
    exit_with(Code.BAD_RESPONSE if any(one.problems for one in results) else Code.OK)


@options.command()
@click.argument("host", shell_complete=options.completed_hosts)
@options.query_options
@options.what(
    "--info", "Request a description of the fields, too, which is not in a table."
)
@options.account_options
def url(
    host: str, *, info: bool, steps: list[options.Step], connect: options.Connect
) -> None:
    """Print the address that `stats` requests, without the key.

    HOST is a host name or an address, as in `stats`. Nothing is sent, so days such as
    last-month need --timezone.

    \b
    Examples:
      sitestats url example.com --last 30 --fields pages
      sitestats url example.com --where country=NL --base-url https://stats.example
    """
    with connect() as client:
        base = client.base_url
    if info:
        steps = [*steps, methodcaller("info")]
    (query,) = build_queries([(host, "")], base, steps, OVERVIEW)
    query.validate()
    click.echo(query.url(base))


# --- queries ------------------------------------------------------------------------


def build_queries(
    hosts: Iterable[tuple[str, str]],
    base_url: str,
    steps: Sequence[options.Step],
    fields: Sequence[str],
) -> list[StatsQuery]:
    """The query of each host; a host may be the address of a dashboard or of data.

    Args:
        hosts: Host names or addresses, each with where it is written.
        base_url: Where the service is.
        steps: The steps for the options.
        fields: The fields if the options name none.

    Raises:
        InvalidInputError: With the problems of all options.
    """
    # Any valid host name serves to check the options before the hosts are checked.
    base, problems = _after(steps, StatsQuery("example.com"), fields)
    queries: list[StatsQuery] = []
    for host, where in hosts:
        try:
            if "://" in host:
                # The address of another service is not below this base address.
                query = StatsQuery.from_url(
                    host, base_url=base_url if host.startswith(f"{base_url}/") else None
                )
                queries.append(_after(steps, query, fields)[0])
            else:
                queries.append(base.website(host))
        except InvalidInputError as error:
            problems += [
                attrs.evolve(p, where=where or p.where) for p in error.problems
            ]
    if problems:
        raise InvalidInputError(problems)
    again = [query.hostname for query, count in Counter(queries).items() if count > 1]
    if again:
        tell(f"named again, and read once: {', '.join(again)}")
    return [*dict.fromkeys(queries)]


def _after(
    steps: Iterable[options.Step], query: StatsQuery, default: Sequence[str]
) -> tuple[StatsQuery, list[Problem]]:
    """*query* after the *steps*, and what is wrong with the steps. A query without
    fields and events gets the *default* fields.
    """
    problems: list[Problem] = []
    for step in steps:
        try:
            query = step(query)
        except InvalidInputError as error:
            problems += error.problems
    if not {"fields", "events"} & parameters_of(query).params.keys():
        query = methodcaller("fields", *default)(query)
    return query, problems


def find_rows(
    client: sitestats.Client,
    queries: Sequence[StatsQuery],
    split: Callable[[StatsQuery], list[Row]],
    *,
    every: bool,
) -> Rows:
    """The rows of all websites.

    The list of websites is requested for *every*, and for the zone of a website if the
    words of a period have to become dates and no zone is given.

    Args:
        client: The client that sends the queries.
        queries: One for each named website; or a single one, for *every* website.
        split: Makes the rows of a query, and checks them.
        every: Whether all websites of the user are meant.

    Raises:
        InvalidInputError: An option, a HOST or the only query is wrong. No query is
            sent.
    """
    for query in queries:
        # Any zone serves here: the days of each zone are found later.
        _in_zone(query, "UTC", split)
    if not every:
        with suppress(InvalidInputError):
            rows = [row for query in queries for row in _in_zone(query, None, split)]
            return rows, [], False
    listed = client.websites.list()
    zones = {site.hostname: site.timezone for site in listed}
    pairs = [(query.hostname, query) for query in queries]
    if every:
        pairs = [(name, queries[0]) for name in zones]
        if not pairs:
            tell("the user has no websites")
    rows, refused = list[Row](), list[tuple[str, SiteStatsError]]()
    for name, query in pairs:
        try:
            rows += _in_zone(query.website(name), zones.get(name), split)
        except InvalidInputError as error:
            if len(pairs) == 1 and not every:
                raise
            refused.append((name, error))
    return rows, refused, every and listed.incomplete


def _in_zone(
    query: StatsQuery, zone: str | None, split: Callable[[StatsQuery], list[Row]]
) -> list[Row]:
    """The rows of *query*; words of its period become dates only if they have to, since
    a comparison treats `this-month` otherwise.
    """
    zone = parameters_of(query).timezone or zone
    zoned = query if zone is None else query.timezone(zone)
    for made in (query, zoned):
        with suppress(InvalidInputError):
            return split(made)
    return split(zoned if zone is None else zoned.pinned())


def other_query(query: StatsQuery, against: str) -> StatsQuery:
    """*query* for the period *against*.

    Raises:
        InvalidInputError: The period does not exist, or *query* has no period before
            it.
    """
    query.validate()
    start, between, end = map(str.strip, against.partition(".."))
    try:
        other = query_against(query, (start, end) if between else against)
        other.validate()
    except InvalidInputError as error:
        problems = (attrs.evolve(p, where="against") for p in error.problems)
        raise InvalidInputError(problems) from None
    return other
