"""``sitestats compare``: compare the statistics of websites with another period."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from sitestats._query.builder import requested

from ._completion import one_of
from ._help import GroupedCommand
from ._hosts import WebsiteQueries, host_options, is_one
from ._output import XLSX
from ._print_outcomes import print_options_of, print_outcomes
from ._query import OVERVIEW_OF_MANY, query_options
from ._stats import print_one, result_options

if TYPE_CHECKING:
    from sitestats import StatsQuery

RELATIONS: Final = (
    "previous_period",
    "previous_week",
    "previous_month",
    "previous_year",
)
COMPARED: Final = ("pageviews", "visitors", "pages", "countries", "referrers")
"""What is requested for a table of one website when nothing is named."""


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
@click.option(
    "--against",
    default=RELATIONS[0],
    metavar="PERIOD",
    shell_complete=one_of(lambda: RELATIONS),
    help="The other period: previous_period, previous_week, previous_month, "
    "previous_year, one such as 2025-03 or 2025-W10, or two days, such as "
    "2025-03-01..2025-03-14.",
)
@result_options
def compare(*, against: str, **options: Any) -> None:
    """Compare the statistics of HOST with another period's.

    HOST is a host name or an address, as in `stats`. Each website is requested
    twice. CSV has the number, the one before, the change, and that in percent.
    """
    from sitestats import Outcomes

    is_single, how = is_one(options), print_options_of(options)
    is_single = is_single and how.output in {"table", XLSX}
    is_overview = is_single and how.output == "table"
    websites = WebsiteQueries(options, COMPARED if is_overview else OVERVIEW_OF_MANY)
    how = how.with_table_of(requested(websites.first).lists, is_one=is_single)

    def both(query: StatsQuery) -> tuple[StatsQuery, StatsQuery]:
        return query, other_query(query, against)

    # What there is not is an error before anything is sent.
    both(websites.first)
    if not is_single:
        print_outcomes(
            websites,
            how,
            lambda: [one for query in websites.queries() for one in both(query)],
            lambda found: Outcomes(found[::2]).compare_to(Outcomes(found[1::2])),
            size=2,
        )
        return
    with websites.client as client:
        (query,) = websites.queries()
        found = client.stats.compare(query, against=both(query)[1])
    print_one(found, how)


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
    start, between, end = against.partition("..")
    try:
        return query.between(start, end) if between else query.during(against)
    except QueryError:
        nearest = get_close_matches(against, RELATIONS, 1)
        raise click.UsageError(
            f"--against is {', '.join(RELATIONS)}, a period such as 2026-03, or two "
            f"days, such as 2026-03-01..2026-03-14, not {against!r}"
            + "".join(f" (did you mean {name!r}?)" for name in nearest)
        ) from None
