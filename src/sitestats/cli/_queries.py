"""The queries of a command: which websites, what, and when."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

import attrs
import click

from sitestats._query.builder import query_against, requested

from ._exits import tell

if TYPE_CHECKING:
    from sitestats import Client, Problem, SiteStatsError, StatsQuery

Row: TypeAlias = "tuple[StatsQuery, ...]"
"""The query of a row, or two to compare."""
Step: TypeAlias = "Callable[[StatsQuery], StatsQuery]"

OVERVIEW_OF_MANY: Final = ("pageviews", "visitors")
"""The default fields for many websites, which are a row each."""
OVERVIEW: Final = (*OVERVIEW_OF_MANY, "histogram", "pages", "countries", "referrers")
"""The default fields for one website."""


def source_of(file: str) -> str | BinaryIO:
    """The file of that name; ``-`` is standard input."""
    return sys.stdin.buffer if file == "-" else file


def read_hosts(options: dict[str, Any]) -> list[tuple[str, str]]:
    """The host names of the HOSTs and the list, each with its place; their options are
    removed.
    """
    from sitestats.provisioning import read_host_list

    hosts, file = options.pop("hosts"), options.pop("hosts_from")
    columns = by_name("--column", options.pop("columns"))
    listed = read_host_list(source_of(file), columns=columns) if file else ()
    return [*((host, "") for host in hosts), *((one.text, one.where) for one in listed)]


def by_name(option: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values by their names.

    Raises:
        UsageError: A name is given twice.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise click.UsageError(f"{option} {name}=… is given twice")
        found[name] = value
    return found


def is_one(options: Mapping[str, Any]) -> bool:
    """Whether the command is about one website, the HOST that is named.

    Raises:
        UsageError: No website is named, or in two ways.
    """
    hosts, every, file = (options[name] for name in ("hosts", "every", "hosts_from"))
    if every and (hosts or file):
        raise click.UsageError("--all: name no HOST and no --hosts-from beside it")
    if not (hosts or every or file):
        raise click.UsageError("name a HOST, or give --all or --hosts-from FILE")
    return len(hosts) == 1 and not file


def build_queries(
    hosts: Iterable[tuple[str, str]],
    base_url: str,
    options: Mapping[str, Any],
    fields: Sequence[str],
) -> list[StatsQuery]:
    """The query of each host, which may be the address of a dashboard or of data.

    Args:
        hosts: Host names or addresses, each with where it is written.
        base_url: Where the service is.
        options: Those of ``query_options``.
        fields: The fields if the options name none.

    Raises:
        QueryError: With the problems of all options.
    """
    from sitestats import QueryError, StatsQuery

    # Any valid host name, to check the options before the hosts.
    base, problems = _with_options(StatsQuery("example.com"), options, fields)
    queries: list[StatsQuery] = []
    for host, where in hosts:
        try:
            if "://" in host:
                # The address of another service is read without this base address.
                is_ours = host.startswith(f"{base_url}/")
                query = StatsQuery.from_url(
                    host, base_url=base_url if is_ours else None
                )
                queries.append(_with_options(query, options, fields)[0])
            else:
                queries.append(base.website(host))
        except QueryError as error:
            problems += [
                attrs.evolve(p, where=where or p.where) for p in error.problems
            ]
    if problems:
        raise QueryError(problems)
    again = [query.hostname for query, count in Counter(queries).items() if count > 1]
    if again:
        more = f" and {len(again) - 1:,} more" if again[1:] else ""
        tell(f"named again, and read once: {again[0]}{more}")
    return [*dict.fromkeys(queries)]


def _with_options(
    query: StatsQuery, options: Mapping[str, Any], default: Sequence[str]
) -> tuple[StatsQuery, list[Problem]]:
    """*query* with the steps of the options, and what is wrong with these."""
    from sitestats import QueryError

    if options["all_events"] and options["events"]:
        raise click.UsageError("--event and --all-events: give one of the two")
    fields = [name for group in options["fields"] for name in group.split(",")]
    pages = [value for name, value in options["where"] if name == "pages"]
    filters = by_name("--where", [one for one in options["where"] if one[0] != "pages"])
    steps: list[Step] = [
        *([methodcaller("fields", *fields)] if fields else []),
        *([methodcaller("events", *options["events"])] if options["events"] else []),
        *([methodcaller("all_events")] if options["all_events"] else []),
        *_period(options),
        methodcaller("where", **filters, **({"pages": pages} if pages else {})),
        methodcaller("where_metadata", by_name("--metadata", options["metadata"])),
        *(
            methodcaller("extra_param", *pair)
            for pair in by_name("--param", options["param"]).items()
        ),
        *(
            methodcaller(name, options[name])
            for name in ("path", "timezone", "interval", "limit", "version")
            if options[name] is not None
        ),
    ]
    problems: list[Problem] = []
    for step in steps:
        try:
            query = step(query)
        except QueryError as error:
            problems += error.problems
    if not {"fields", "events"} & requested(query).params.keys():
        query = methodcaller("fields", *default)(query)
    return query, problems


def _period(options: Mapping[str, Any]) -> list[Step]:
    days = options["start"], options["end"]
    given: list[Step] = [
        methodcaller(name, options[name])
        for name in ("on", "during")
        if options[name] is not None
    ]
    if options["last"] is not None:
        given.append(methodcaller("last", days=options["last"]))
    if days != (None, None):
        given.append(methodcaller("between", *days))
    if len(given) > 1:
        raise click.UsageError(
            "--last, --on, --during, and --start with --end: give one of them"
        )
    return given


def find_rows(
    client: Client,
    queries: Sequence[StatsQuery],
    split: Callable[[StatsQuery], list[Row]],
    *,
    every: bool,
) -> tuple[list[Row], list[tuple[str, SiteStatsError]]]:
    """The rows of all websites, and the websites of which no query is possible.

    The list of websites is requested for *every*, and where the words of a period have
    to be dates in a zone that is not given.

    Args:
        client: Where they are sent.
        queries: Those of the named websites; one for any, of *every* website.
        split: Makes the rows of a query, and checks them.
        every: Whether all websites of the user are meant.

    Raises:
        QueryError: An option, a HOST or the only query is wrong. No query is sent.
    """
    from sitestats import QueryError

    for query in queries:
        # In any zone: the days of each zone are found later.
        _in_zone(query, "UTC", split)
    if not every:
        with suppress(QueryError):
            return [
                row for query in queries for row in _in_zone(query, None, split)
            ], []
    zones = {one.hostname: one.timezone for one in client.websites.list()}
    named = [(query.hostname, query) for query in queries]
    if every:
        named = [(name, queries[0]) for name in zones]
        if not named:
            tell("the user has no websites")
    rows: list[Row] = []
    refused: list[tuple[str, SiteStatsError]] = []
    for name, query in named:
        try:
            rows += _in_zone(query.website(name), zones.get(name), split)
        except QueryError as error:
            if len(named) == 1 and not every:
                raise
            refused.append((name, error))
    return rows, refused


def _in_zone(
    query: StatsQuery, zone: str | None, split: Callable[[StatsQuery], list[Row]]
) -> list[Row]:
    """The rows of *query*, whose words become dates where they have to."""
    from sitestats import QueryError

    zone = requested(query).timezone or zone
    try:
        return split(query)
    except QueryError:
        if zone is None:
            raise
    return split(query.timezone(zone).pinned())


def tables_of(query: StatsQuery) -> list[str]:
    """The requested tables: ``totals``, and each list."""
    wanted = requested(query)
    has_totals = not {*wanted.fields} <= {*wanted.lists}
    return [*(["totals"] if has_totals else []), *wanted.lists]


def other_query(query: StatsQuery, against: str) -> StatsQuery:
    """*query* for the period *against*.

    Raises:
        QueryError: The period does not exist, or *query* has no period before it.
    """
    from sitestats import QueryError

    query.validate()
    start, between, end = against.partition("..")
    try:
        other = query_against(query, (start, end) if between else against)
        other.validate()
    except QueryError as error:
        problems = (attrs.evolve(one, where="against") for one in error.problems)
        raise QueryError(problems) from None
    return other
