"""``sitestats stats`` (read statistics) and ``sitestats url`` (print the address)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from sitestats._query.builder import requested

from ._client import base_address, client_options
from ._help import GroupedCommand, together
from ._hosts import WebsiteQueries, each_option, host_options, is_one
from ._output import (
    FORMATS,
    JSON_LINES,
    XLSX,
    format_options,
    make_console,
    print_json,
    print_json_line,
    print_workbook,
)
from ._print_outcomes import PrintOptions, print_options_of, print_outcomes
from ._query import OVERVIEW, OVERVIEW_OF_MANY, make_queries, query_options

if TYPE_CHECKING:
    from sitestats import Entries, Stats
    from sitestats.analysis import Comparison

result_options = together(
    click.option(
        "--top",
        type=click.IntRange(1),
        default=10,
        help="The most lines of a table; JSON and CSV have all of them.",
    ),
    click.option(
        "--table",
        metavar="FIELD",
        help="The list that is printed as CSV, or of many websites as a table, if "
        "several are requested.",
    ),
    click.option(
        "--store",
        metavar="FILE",
        envvar="SITESTATS_STORE",
        help="Store responses about days that are over in this file, and do not "
        "request them again; SITESTATS_STORE when left out.",
    ),
    click.option(
        "--errors",
        metavar="FILE",
        type=click.File("w", encoding="utf-8", lazy=False),
        help="Write a line of CSV for each website that failed, with its error and "
        "status.",
    ),
    partial(format_options, formats=(*FORMATS, JSON_LINES, XLSX)),
    client_options,
)
"""How results are requested and printed: the options of ``stats`` and ``compare``."""


@click.command(
    cls=GroupedCommand,
    epilog="""\b
    Examples:
      sitestats stats example.com
      sitestats stats example.com --field pageviews --field pages --last 30
      sitestats stats example.com --where country=NL --where 'pages=/blog*'
      sitestats stats example.com --all-events --metadata plan=pro
      sitestats stats example.com -f histogram --interval hour --on yesterday
      sitestats stats example.com --field pages --limit 1000 --format csv

    \b
    Many websites:
      sitestats stats a.example b.example --during 2026-03
      sitestats stats --all --during 2026-Q1 --each month --format csv
      sitestats stats --hosts-from hosts.txt --last 7 --format jsonl
    """,
)
@host_options
@query_options
@each_option
@result_options
def stats(**options: Any) -> None:
    """Read the statistics of HOST.

    HOST is a website's host name, or the address of its dashboard or of its
    data. The filters and days in the address then apply too, where they are
    known from the service's document. A warning names every other parameter.

    Of several websites, or with --each, a table, CSV and JSON lines have a row for
    each, in the order of the websites. What fails is a line on standard error, and
    the exit code is 4,
    or 3 where waiting does not help.
    """
    from sitestats import Outcomes

    is_single, how = is_one(options), print_options_of(options)
    websites = WebsiteQueries(options, OVERVIEW if is_single else OVERVIEW_OF_MANY)
    how = how.with_table_of(requested(websites.first).lists, is_one=is_single)
    if not is_single:
        print_outcomes(websites, how, websites.queries, Outcomes)
        return
    with websites.client as client:
        (query,) = websites.queries()
        found = client.stats.get(query)
    match how.output:
        case "json":
            print_json(found.to_dict())
        case "jsonl":
            print_json_line(found.to_dict())
        case "csv":
            _print_csv(found, how)
        case _:
            print_one(found, how)


@click.command(
    cls=GroupedCommand,
    epilog="""\b
    Examples:
      sitestats url example.com --last 30 --field pages
      sitestats url example.com --where country=NL --base-url https://stats.example
    """,
)
@click.argument("host")
@query_options
@client_options
def url(host: str, **options: Any) -> None:
    """Print the address that `stats` requests; nothing is sent.

    HOST is a host name or an address, as in `stats`. The key is not part of
    the output.
    """
    base = base_address(options)
    (query,) = make_queries([(host, "")], base, options)
    query.validate()
    click.echo(query.url(base))


def print_one(found: Stats | Comparison, how: PrintOptions) -> None:
    """Print one result for people."""
    from sitestats.analysis import Display

    if how.output == XLSX:
        print_workbook(found)
    else:
        make_console().print(Display(found, rows=how.top))


def _print_csv(found: Stats, how: PrintOptions) -> None:
    if how.table is None:
        names = [name for name in found.requested if name in found]
        how.style.write(names, [{name: getattr(found, name) for name in names}])
        return
    entries: Entries[Any] = getattr(found, how.table)
    how.style.write(entries.columns, entries.to_dicts())
    if entries.truncated:
        # On standard error, since programs read the rows.
        click.echo(
            f"sitestats: warning: {how.table}: cut by the limit: there may be others",
            err=True,
        )
