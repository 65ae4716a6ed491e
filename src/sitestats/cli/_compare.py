"""``sitestats compare``: compare the statistics of websites with another period."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from ._client import client_options
from ._completion import one_of
from ._help import GroupedCommand
from ._hosts import Websites, host_options, is_one, with_option
from ._output import (
    FORMATS,
    JSON_LINES,
    XLSX,
    format_options,
    make_console,
    print_workbook,
)
from ._print_outcomes import print_options_of, print_outcomes, printer_of
from ._query import query_options
from ._stats import (
    check_table,
    errors_option,
    store_option,
    table_option,
    top_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitestats import Outcome, StatsQuery
    from sitestats.analysis import Comparisons

RELATIONS: Final = (
    "previous_period",
    "previous_week",
    "previous_month",
    "previous_year",
)
OVERVIEW: Final = ("pageviews", "visitors", "pages", "countries", "referrers")
TOTALS: Final = ("pageviews", "visitors")
"""What is requested when nothing is named: for a table of one website, and else."""

_BETWEEN: Final = ".."


@click.command(
    cls=GroupedCommand,
    epilog="""\b
    Examples:
      sitestats compare example.com --last 7
      sitestats compare example.com --during 2026-03 --against previous_month
      sitestats compare example.com --during 2026-W10 --against 2025-W10 -f pages
      sitestats compare --all --during 2026-03 --against previous_year --format csv
    """,
)
@host_options
@query_options
@with_option
@click.option(
    "--against",
    default=RELATIONS[0],
    show_default=True,
    metavar="PERIOD",
    shell_complete=one_of(lambda: RELATIONS),
    help="The other period: previous_period, previous_week, previous_month, "
    "previous_year, one such as 2025-03 or 2025-W10, or two days, such as "
    "2025-03-01..2025-03-14.",
)
@top_option
@table_option
@store_option
@errors_option
@partial(format_options, formats=(*FORMATS, JSON_LINES, XLSX))
@client_options
def compare(
    *,
    against: str,
    **options: Any,
) -> None:
    """Compare the statistics of HOST with those of another period.

    HOST is a host name or an address, as in `stats`. Each website is requested
    twice. CSV has the number, the one before, the change, and that in percent.
    """
    from sitestats import Outcomes, Succeeded

    one, how = is_one(options), print_options_of(options)
    output, table = how.output, how.table
    websites = Websites(options, OVERVIEW if one and output == "table" else TOTALS)
    first = websites.first
    before = other_query(first, against)
    field: Any = None
    if output == "csv" or table is not None or (output == "table" and not one):
        field = check_table(first.lists, table)
    kept: tuple[list[Outcome], list[Outcome]] = ([], [])
    how = attrs.evolve(
        how, table=field, whole=lambda: Outcomes(kept[0]).compare_to(Outcomes(kept[1]))
    )

    def read(outcomes: Iterator[Outcome]) -> Iterator[Comparisons]:
        for now in outcomes:
            before = next(outcomes)
            if output == XLSX:
                kept[0].append(now)
                kept[1].append(before)
            yield Outcomes([now]).compare_to(Outcomes([before]))

    if not one:
        print_outcomes(websites, how, partial(_both, against=against), read)
        return
    with websites.client as client:
        (first,) = websites.queries()
        before = other_query(first, against)
        found = client.stats.compare(first, against=before)
    if output == "table":
        from sitestats.analysis import Display

        make_console().print(Display(found, rows=how.top))
        return
    if output == XLSX:
        print_workbook(found)
        return
    printer = printer_of(how)
    sides = (Succeeded(first, 0, found.now), Succeeded(before, 1, found.before))
    for comparisons in read(iter(sides)):
        printer.show(comparisons)
    printer.end(how.whole())


def other_query(query: StatsQuery, against: str) -> StatsQuery:
    """*query* for the period *against*.

    Raises:
        UsageError: There is no such period.
        QueryError: The period of *query* has no such one before it.
    """
    from difflib import get_close_matches

    from sitestats import QueryError

    if against in RELATIONS:
        # Not cast, which one of the two type checkers finds superfluous.
        unit: Any = against.removeprefix("previous_")
        return query.previous(unit)
    start, between, end = against.partition(_BETWEEN)
    try:
        return query.between(start, end) if between else query.during(against)
    except QueryError:
        nearest = get_close_matches(against, RELATIONS, 1)
        raise click.UsageError(
            f"--against is {', '.join(RELATIONS)}, a period such as 2026-03, or two "
            f"days, such as 2026-03-01{_BETWEEN}2026-03-14, not {against!r}"
            + "".join(f" (did you mean {name!r}?)" for name in nearest)
        ) from None


def _both(queries: Iterable[StatsQuery], against: str) -> Iterator[StatsQuery]:
    for query in queries:
        yield query
        yield other_query(query, against)
