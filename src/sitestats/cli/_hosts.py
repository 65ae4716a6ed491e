"""Which websites a command is about: its arguments, a list, or all of the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from sitestats._query.builder import requested

from ._client import base_address, make_client
from ._completion import one_of
from ._help import together
from ._lists import list_arguments, list_options, source_of
from ._query import OVERVIEW_OF_MANY, make_queries

if TYPE_CHECKING:
    from sitestats import Client, QueryError, StatsQuery

UNITS = ("day", "week", "month", "year")

hosts_from_option = together(
    click.option(
        "--hosts-from",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True),
        help="The host names of a list, as `websites plan` reads it, or one a line; - "
        "is standard input.",
    ),
    list_options,
)
"""A list of host names, for ``read_hosts``."""

host_options = together(
    click.argument("hosts", nargs=-1, metavar="[HOST]..."),
    click.option("--all", "every", is_flag=True, help="Every website of the user."),
    hosts_from_option,
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        metavar="N",
        help="How many requests are under way at once; 20 when left out.",
    ),
    click.option(
        "--with",
        "more",
        type=click.Choice(["label"]),
        help="A column more, from the list of websites.",
    ),
)

each_option = click.option(
    "--each",
    metavar="UNIT",
    type=click.Choice(UNITS),
    shell_complete=one_of(lambda: UNITS),
    help="Split the period: a row for each day, week, month or year.",
)


def is_one(options: Mapping[str, Any]) -> bool:
    """Whether the command is about one result, of the HOST that is named.

    Raises:
        UsageError: No website is named, or in two ways.
    """
    hosts, every, file = (options[name] for name in ("hosts", "every", "hosts_from"))
    if every and (hosts or file):
        raise click.UsageError("--all: name no HOST and no --hosts-from beside it")
    if not (hosts or every or file):
        raise click.UsageError("name a HOST, or give --all or --hosts-from FILE")
    is_row = options.get("each") is not None or options["more"]
    return len(hosts) == 1 and not file and not is_row


class WebsiteQueries:
    """The query of each website, and the client that sends it.

    The options are checked, and a list is read, before there is a client.
    """

    def __init__(
        self, options: dict[str, Any], fields: Sequence[str] = OVERVIEW_OF_MANY
    ) -> None:
        hosts, every, self.concurrency = (
            options.pop(name) for name in ("hosts", "every", "concurrency")
        )
        self._each = options.pop("each", None)
        self.labels: dict[str, str | None] | None = {} if options.pop("more") else None
        """The label of each website, once the list was read; None for no labels."""
        named = [*((host, "") for host in hosts), *read_hosts(options)]
        if every:
            # Any valid host name, to check the options.
            named = [("example.com", "")]
        base = base_address(options)
        queries = make_queries(named, base, options, fields)
        # In any zone: which one has what days is found later.
        checked = [self._dated(query, "UTC") for query in queries]
        kinds = {frozenset(query.params().items()): query for query in checked}
        for query in kinds.values():
            query.validate()
        self.first = checked[0]
        self.refused: dict[str, QueryError] = {}
        """Why no query is possible for a website that is listed; filled with the
        queries."""
        self._every, self._queries = every, _once(queries)
        for query in checked:
            # What can't be split is an error before anything is sent.
            self._split(query)
        self.client: Client = make_client(options)

    def queries(self) -> Iterable[StatsQuery]:
        """The queries, in the order of the websites, and of the days of each."""
        from sitestats import QueryError

        zones: dict[str, str] = {}
        queries = self._queries
        needs_list = self._every or self.labels is not None
        if needs_list or any(map(self._needs_zone, queries)):
            websites = self.client.websites.list()
            if self._every and not websites:
                click.echo("sitestats: the user has no websites", err=True)
            for website in websites:
                try:
                    query = self._dated(queries[0].website(website), website.timezone)
                except QueryError as error:
                    if self._every:
                        self.refused[website.hostname] = error
                    continue
                zones[query.hostname] = website.timezone
                if self.labels is not None:
                    self.labels[query.hostname] = website.label
            if self._every:
                queries = [*map(queries[0].website, zones)]
        dated = [self._dated(one, zones.get(one.hostname)) for one in queries]
        # Split when they are sent, since they may be many.
        return (
            dated
            if self._each is None
            else chain.from_iterable(map(self._split, dated))
        )

    def _needs_zone(self, query: StatsQuery) -> bool:
        """Whether the words of its period have to be dates, in a zone not given."""
        if any(problem.rule == "period-zone" for problem in query.problems()):
            return True
        words = self._each not in {None, "day"} and requested(query).is_relative
        return words and "timezone" not in query.params()

    def _dated(self, query: StatsQuery, zone: str | None) -> StatsQuery:
        """*query* with dates where it needs them, or is split."""
        if self._needs_zone(query):
            if zone is None:
                raise click.UsageError(
                    f"{query.hostname} is not in the list of websites, so the zone of "
                    "its days is not known: give --timezone"
                )
            return query.pinned(zone)
        zone = query.params().get("timezone", zone)
        return query.pinned(zone) if self._each and zone else query

    def _split(self, query: StatsQuery) -> Iterable[StatsQuery]:
        return [query] if self._each is None else query.each(self._each)


def _once(queries: Iterable[StatsQuery]) -> list[StatsQuery]:
    given = [*queries]
    once = [*dict.fromkeys(given)]
    left_out = len(given) - len(once)
    if left_out:
        times = "1 website is" if left_out == 1 else f"{left_out:,} websites are"
        click.echo(
            f"sitestats: warning: {times} given more than once, and requested once",
            err=True,
        )
    return once


def read_hosts(options: dict[str, Any]) -> list[tuple[str, str]]:
    """The host names in the list, each with its place; its options are removed."""
    from sitestats.provisioning import read_host_list

    arguments, file = list_arguments(options), options.pop("hosts_from")
    if file is None:
        return []
    # What a list has beside the host names is left out here.
    del arguments["ignore_columns"]
    hosts = read_host_list(source_of(file), **arguments)
    return [(host.text, host.where) for host in hosts]
