"""``sitestats stats``, ``compare`` and ``url``: statistics of websites."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ._client import client_options, make_client, store_option
from ._exits import Code, exit_with
from ._options import (
    against_option,
    command,
    each_option,
    host_options,
    query_options,
    result_options,
)
from ._outcomes import View, print_rows
from ._output import make_console, print_json, print_workbook
from ._queries import (
    OVERVIEW,
    OVERVIEW_OF_MANY,
    build_queries,
    find_rows,
    is_one,
    other_query,
    read_hosts,
)

if TYPE_CHECKING:
    from sitestats import Stats, StatsQuery
    from sitestats._query.periods import Unit
    from sitestats.analysis import Comparison

    from ._queries import Row

COMPARED = (*OVERVIEW_OF_MANY, "pages", "countries", "referrers")
"""The default fields for a comparison of one website."""


@command(
    epilog="""\b
    Examples:
      sitestats stats example.com
      sitestats stats example.com --where country=NL --where 'pages=/blog*'
      sitestats stats example.com --field pages --limit 1000 --format csv

    \b
    Many websites:
      sitestats stats --all --during 2026-Q1 --each month --format csv
      sitestats stats --hosts-from hosts.txt --last 7 --format jsonl
    """
)
@host_options
@query_options
@each_option
@result_options
@store_option
@client_options
def stats(*, each: Unit | None, **options: Any) -> None:
    """Read the statistics of HOST.

    HOST is a website's host name, or the address of its dashboard or of its
    data. The filters and days in the address then apply too. A parameter of
    a dashboard that the service's document does not have is an error.

    CSV and JSON lines, and a table of several websites or with --each, have a row for
    each, in the order of the websites. A failure is a line on standard error, and the
    exit code is 4, or 3 where waiting does not help.
    """

    def split(query: StatsQuery) -> list[Row]:
        query.validate()
        return [(part,) for part in (query.each(each) if each else [query])]

    one = is_one(options) and each is None
    single = one and options["output"] in {"table", "json", "xlsx"}
    _run(options, split, OVERVIEW if one else OVERVIEW_OF_MANY, is_single=single)


@command(
    epilog="""\b
    Examples:
      sitestats compare example.com --last 7
      sitestats compare example.com --during 2026-W10 --against 2025-W10 -f pages
      sitestats compare --all --during 2026-03 --against previous_year --format csv
    """
)
@host_options
@query_options
@against_option
@result_options
@store_option
@client_options
def compare(*, against: str, **options: Any) -> None:
    """Compare the statistics of HOST with another period's.

    HOST is a host name or an address, as in `stats`. Each website is requested
    twice. CSV has the number, the one before, and the change, also in percent.
    """

    def split(query: StatsQuery) -> list[Row]:
        return [(query, other_query(query, against))]

    single = is_one(options) and options["output"] in {"table", "xlsx"}
    _run(options, split, COMPARED if single else OVERVIEW_OF_MANY, is_single=single)


def _run(
    options: dict[str, Any],
    split: Callable[[StatsQuery], list[Row]],
    fields: tuple[str, ...],
    *,
    is_single: bool,
) -> None:
    """Request what the options name, and print it."""
    view, concurrency = View.of(options), options.pop("concurrency")
    every = options.pop("every")
    # Any valid host name, to check the options before the list is requested.
    hosts = read_hosts(options) or [("example.com", "")]
    with make_client(options) as client:
        queries = build_queries(hosts, client.base_url, options, fields)
        view = view.for_query(queries[0], is_one=is_single)
        rows, refused = find_rows(client, queries, split, every=every)
        if not is_single:
            code = print_rows(client, rows, refused, view, concurrency=concurrency)
            exit_with(code)
            return
        ((query, *other),) = rows
        if other:
            found = client.stats.compare(query, against=other[0])
            _print_one(found, view, found.now, found.before)
        else:
            stats = client.stats.get(query)
            _print_one(stats, view, stats)


def _print_one(found: Stats | Comparison, view: View, *results: Stats) -> None:
    match view.output:
        case "json":
            print_json(found.to_dict())
        case "xlsx":
            print_workbook(found)
        case _:
            from sitestats.analysis import Display

            make_console().print(Display(found, rows=view.rows))
    exit_with(Code.BAD_RESPONSE if any(one.problems for one in results) else Code.OK)


@command(
    epilog="""\b
    Examples:
      sitestats url example.com --last 30 --field pages
      sitestats url example.com --where country=NL --base-url https://stats.example
    """
)
@click.argument("host")
@query_options
@client_options
def url(host: str, **options: Any) -> None:
    """Print the address that `stats` requests; nothing is sent.

    HOST is a host name or an address, as in `stats`. The key is not part of
    the output.
    """
    with make_client(options) as client:
        base = client.base_url
    (query,) = build_queries([(host, "")], base, options, OVERVIEW)
    query.validate()
    click.echo(query.url(base))
