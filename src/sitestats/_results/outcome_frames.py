"""Tables of many outcomes: the rows of one list, or totals, one below the other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sitestats._common.fields import TABLES, TOTALS
from sitestats._query.builder import requested
from sitestats._query.periods import as_date

from .entries import Entries, check_list, columns_of_entries, entry_class
from .histogram import histogram_class
from .outcomes import Failed
from .stats import columns_of_totals
from .tables import Column, count_rows, shared, stacked

if TYPE_CHECKING:
    from sitestats._query.builder import StatsQuery

    from .outcomes import Outcome

_MOST_NAMED: Final = 3


def columns_of_outcomes(outcomes: Sequence[Outcome], field: str | None) -> list[Column]:
    """The rows of a list of all *outcomes*, or a row of totals for each of them.

    A query that failed has no row in a list.

    Raises:
        FieldNotRequestedError: There is no such list, or a query that succeeded did
            not request it.
    """
    if field is not None:
        check_list(field, TABLES)
    tables = [_columns(outcome, field) for outcome in outcomes]
    about = [_about(outcome, field) for outcome in outcomes]
    counts = [*map(count_rows, tables)]

    def of_outcomes(*names: str) -> list[Column]:
        return shared({name: [one[name] for one in about] for name in names}, counts)

    first = of_outcomes(*_ABOUT)
    if field is None:
        names = {column.name for table in tables for column in table}
        # First, for the document's order of columns.
        no_rows = columns_of_totals([], [name for name in TOTALS if name in names])
        _, *columns = stacked([no_rows, *tables])
        return [*first, *columns, *of_outcomes("error", "query")]
    columns = stacked([_no_rows(field, None), *tables])
    truncated = () if field == "histogram" else ("truncated",)
    return [*first, *columns, *of_outcomes(*truncated, "query")]


def _columns(outcome: Outcome, field: str | None) -> Sequence[Column]:
    """The rows of one outcome, which are none of a list where it failed."""
    if field is None:
        return _totals(outcome)
    if outcome.error is not None:
        return _no_rows(field, outcome.query)
    return columns_of_entries(getattr(outcome.stats, field))


def _about(outcome: Outcome, field: str | None) -> dict[str, Any]:
    """What every row of an outcome has."""
    about = (outcome.query.hostname, *period_of(outcome))
    entries = None if field is None else getattr(outcome.stats, field, None)
    return {
        **dict(zip(_ABOUT, about, strict=True)),
        "truncated": entries is not None and entries.truncated,
        "error": outcome_error(outcome),
        "query": outcome.index,
    }


_ABOUT: Final = ("hostname", "timezone", "first_day", "last_day")


def outcome_error(outcome: Outcome | None) -> str | None:
    """The class and the message of an outcome's error, None where there is none."""
    error = None if outcome is None else outcome.error
    return None if error is None else f"{type(error).__name__}: {error}"


def period_of(
    outcome: Outcome,
) -> tuple[str | None, dt.date | None, dt.date | None]:
    """The time zone, the first and the last day of *outcome*.

    Where there is no response they are those that were requested, None for words,
    which each website's zone makes another day of.
    """
    stats, wanted = outcome.stats, requested(outcome.query)
    if stats is not None:
        return stats.timezone or wanted.timezone, stats.first_day, stats.last_day
    first, last = (as_date(wanted.checked(name)) for name in ("start", "end"))
    return wanted.timezone, first, last


def _totals(outcome: Outcome) -> list[Column]:
    if outcome.error is None:
        return columns_of_totals([outcome.stats])
    fields = requested(outcome.query).fields
    return [column._replace(cells=[None]) for column in columns_of_totals([], fields)]


def _no_rows(field: str, query: StatsQuery | None) -> list[Column]:
    """The columns of a response to *query*, or of one to the simplest query."""
    wanted = None if query is None else requested(query)
    kind: type[Any]
    if field == "histogram":
        kind = histogram_class(wanted.interval if wanted else None)
    else:
        fields = wanted.fields if wanted else ()
        kind = entry_class(field, timed="seconds_on_page" in fields)
    empty: Entries[Any] = Entries([], name=field, entry_type=kind)
    return columns_of_entries(empty)


def failed_warning(failed: Sequence[Failed], total: int) -> str:
    """The warning about *failed* queries, of so many in all, that have no rows."""
    named = [
        f"{one.query.hostname} ({type(one.error).__name__}: {one.error})"
        for one in failed[:_MOST_NAMED]
    ]
    if len(failed) > _MOST_NAMED:
        named.append(f"{len(failed) - _MOST_NAMED} more")
    were = "query failed and has" if len(failed) == 1 else "queries failed and have"
    return (
        f"{len(failed)} {were} no rows here, of {total} in all; .failed has them: "
        f"{', '.join(named)}"
    )
