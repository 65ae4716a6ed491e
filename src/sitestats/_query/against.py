"""The other period of a comparison, as the query of it."""

from __future__ import annotations

from typing import TypeAlias

from sitestats._common.errors import QueryError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

from .builder import StatsQuery
from .periods import Day
from .previous import PREVIOUS, Relation

Against: TypeAlias = Relation | tuple[Day, Day] | StatsQuery
"""The other period: by its relation, by its days, or as a query of its own."""


def other_period(query: StatsQuery, against: Against) -> StatsQuery:
    """*query* for the period *against*.

    Raises:
        QueryError: *against* is none of what it can be, or the period of *query*
            is not known: it has none, is from a date to a placeholder, or is no
            whole weeks or months.

    >>> query = StatsQuery("example.com").last(days=7)
    >>> other_period(query, "previous_period").params()["start"]
    'today-14d'
    """
    given: object = against
    if isinstance(against, StatsQuery):
        return against
    if isinstance(given, tuple) and len(against) == 2:  # noqa: PLR2004 - a pair
        return query.between(*against)
    relation = PREVIOUS.get(given) if isinstance(given, str) else None
    if relation is None:
        hint = did_you_mean(given, PREVIOUS) if isinstance(given, str) else ""
        message = (
            f"against is {', '.join(map(repr, PREVIOUS))}, a pair of days, or a "
            f"query, not {shown(given)}{hint}"
        )
        raise QueryError([Problem(message, where="against")])
    params = query.params()
    return query.between(*relation(params.get("start"), params.get("end")))
