"""``sitestats stats`` (read statistics) and ``sitestats url`` (print the address)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from sitestats._common.fields import TOTALS
from sitestats.analysis._console import show_stats
from sitestats.analysis._labels import left_out

from ._client import base_address, client_options, make_client
from ._output import format_options, make_console, print_csv, print_json
from ._query import make_query, query_options

if TYPE_CHECKING:
    from sitestats import Stats
    from sitestats._results.entries import Entries


@click.command(
    epilog="""\b
    Examples:
      sitestats stats example.com
      sitestats stats example.com --field pageviews --field pages --last 30
      sitestats stats example.com --where country=NL --where 'pages=/blog*'
      sitestats stats example.com --all-events --metadata plan=pro
      sitestats stats example.com -f histogram --interval hour --on yesterday
      sitestats stats example.com --field pages --limit 1000 --format csv
    """
)
@click.argument("host")
@query_options
@click.option(
    "--top",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="The most lines of a table; JSON and CSV have all of them.",
)
@click.option(
    "--table",
    metavar="FIELD",
    help="The list that --format csv prints, if several are requested.",
)
@click.option(
    "--store",
    metavar="FILE",
    envvar="SITESTATS_STORE",
    help="Keep responses about days that are over in this file, and do not request "
    "them again; SITESTATS_STORE when left out.",
)
@format_options
@client_options
def stats(
    host: str,
    *,
    top: int,
    table: str | None,
    output: str,
    raw: bool,
    **options: Any,
) -> None:
    """Read the statistics of HOST.

    HOST is a website's host name, or the address of its dashboard or of its
    data. The filters and days in the address then apply too, where they are
    known from the service's document. A warning names every other parameter.
    """
    query = make_query(host, options["base_url"], options)
    with make_client(options) as client:
        found = client.stats.get(query)
    if output == "json":
        print_json(found.to_dict())
    elif output == "csv":
        _print_csv(found, table, raw=raw)
    else:
        show_stats(make_console(), found, top=top)


@click.command(
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
    """Print the address that `stats` would request; nothing is sent.

    HOST is a host name or an address, as in `stats`. The key is not part of
    the output.
    """
    query = make_query(host, options["base_url"], options)
    query.validate()
    click.echo(query.url(base_address(options)))


def _print_csv(found: Stats, table: str | None, *, raw: bool) -> None:
    lists = [name for name in found.requested if name in found and name not in TOTALS]
    if table is None and len(lists) > 1:
        raise click.UsageError(
            f"--format csv prints one table: add --table with one of {', '.join(lists)}"
        )
    if table is not None and table not in lists:
        raise click.UsageError(
            f"--table {table}: not requested; requested are: {', '.join(lists)}"
        )
    if not lists:
        row = {name: getattr(found, name) for name in TOTALS if name in found}
        print_csv(list(row), [row], raw=raw)
        return
    entries = cast("Entries[Any]", getattr(found, table or lists[0]))
    print_csv(entries.columns, entries.to_dicts(), raw=raw)
    note = left_out(len(entries), len(entries), truncated=entries.truncated)
    if note:
        # On standard error, since programs read the rows.
        click.echo(f"sitestats: warning: {entries.name}: {note}", err=True)
