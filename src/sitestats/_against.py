"""The period that another one is held against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ._errors import Problem, QueryError
from ._periods import previous_period, previous_year
from ._query import StatsQuery
from ._wording import did_you_mean, shown

if TYPE_CHECKING:
    from ._periods import Day

Against: TypeAlias = (
    "Literal['previous_period', 'previous_year'] | tuple[Day, Day] | StatsQuery"
)
"""A period by its relation to another, by its days, or as a whole query."""

_RELATIONS = {"previous_period": previous_period, "previous_year": previous_year}


def other_period(query: StatsQuery, against: Against) -> StatsQuery:
    """*query* for the period *against*.

    Raises:
        QueryError: *against* is none of what it can be, or the period of *query*
            is not known: it has none, or is from a date to a placeholder.

    >>> query = StatsQuery("example.com").last(days=7)
    >>> other_period(query, "previous_period").params()["start"]
    'today-14d'
    """
    given: object = against
    if isinstance(against, StatsQuery):
        return against
    if isinstance(given, tuple) and len(against) == 2:  # noqa: PLR2004 - a pair
        return query.between(*against)
    relation = _RELATIONS.get(given) if isinstance(given, str) else None
    if relation is None:
        hint = did_you_mean(given, _RELATIONS) if isinstance(given, str) else ""
        message = (
            "against is 'previous_period', 'previous_year', a pair of days, or a "
            f"query, not {shown(given)}{hint}"
        )
        raise QueryError([Problem(message, where="against")])
    params = query.params()
    return query.between(*relation(params.get("start"), params.get("end")))
