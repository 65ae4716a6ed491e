"""The period before: as many days, weeks or months, or the same days a year ago."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final, Literal, TypeAlias, get_args

from sitestats._common.errors import QueryError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

from .periods import MOST_DAYS, as_date, days_back, placeholder, too_early
from .rules import refused
from .units import beginning, dates_of, ending, written

Relation: TypeAlias = Literal[
    "previous_period", "previous_week", "previous_month", "previous_year"
]
"""How the other period of a comparison is found from a query's own."""

PreviousUnit: TypeAlias = Literal["period", "week", "month", "year"]
"""What is repeated before a period: itself, or whole weeks, months or years."""

_DAY: Final = timedelta(days=1)
_YEAR: Final = 365


RELATIONS: Final[Mapping[str, PreviousUnit]] = {
    f"previous_{unit}": unit for unit in get_args(PreviousUnit)
}
"""The relations, and what they are called in ``StatsQuery.previous``."""


def find_previous(unit: object, start: str | None, end: str | None) -> tuple[str, str]:
    """The period before the one from *start* to *end*.

    Args:
        unit: ``"period"`` is the period of the same length that ends the day before;
            ``"month"`` and ``"week"`` are as many whole ones before whole ones;
            ``"year"`` is the same days a year before. 29 February becomes 28 February,
            and 365 days are a year where the days are placeholders.
        start: A date or a placeholder.
        end: Another; None is today.

    Raises:
        QueryError: There is no such unit, the period is not whole months or weeks, its
            days are not known here, or are too early.

    >>> from sitestats._query.previous import find_previous
    >>> find_previous("period", "today-7d", "yesterday")
    ('today-14d', 'today-8d')
    >>> find_previous("month", "2026-03-01", "2026-03-31")
    ('2026-02-01', '2026-02-28')
    >>> find_previous("week", "2026-03-02", "2026-03-08")
    ('2026-02-23', '2026-03-01')
    """
    units = get_args(PreviousUnit)
    if unit not in units:
        hint = did_you_mean(unit, units) if isinstance(unit, str) else ""
        message = (
            f"previous takes {', '.join(map(repr, units))}, not {shown(unit)}{hint}"
        )
        raise QueryError(refused("period-unit", message, "previous"))
    if unit in {"month", "week"}:
        first, last = _whole(start, end, str(unit))
    else:
        # The service's default for the end is today (section 4.3).
        first_back, last_back = map(days_back, (start or "", end or "today"))
        if first_back is not None and last_back is not None:
            return _placeholders_before(unit, first_back, last_back)
        first, last = _both_dates(start, end)
    try:
        before = _dates_before(unit, first, last)
    except (ValueError, OverflowError):
        raise QueryError(too_early()) from None
    return before[0].isoformat(), before[1].isoformat()


def _placeholders_before(unit: object, first: int, last: int) -> tuple[str, str]:
    back = _YEAR if unit == "year" else first - last + 1
    if first + back > MOST_DAYS:
        raise QueryError(too_early())
    return placeholder(first + back), placeholder(last + back)


def _dates_before(unit: object, first: date, last: date) -> tuple[date, date]:
    # Imported here, since only a comparison needs it.
    from dateutil.relativedelta import relativedelta

    if unit == "year":
        year = relativedelta(years=1)
        return first - year, last - year
    if unit == "month":
        months = 12 * (last.year - first.year) + last.month - first.month + 1
        return first - relativedelta(months=months), first - _DAY
    return first - (last - first + _DAY), first - _DAY


def no_relation(given: object, problems: Sequence[Problem]) -> Sequence[Problem]:
    """The problem of *given*, which is no other period; or its own *problems*, where it
    is one that the calendar does not have.
    """
    if any(problem.rule != "period-unit" for problem in problems):
        return problems
    hint = did_you_mean(given, RELATIONS) if isinstance(given, str) else ""
    message = (
        f"against is {', '.join(map(repr, RELATIONS))}, a period such as '2026-03', a "
        f"pair of days, or a query, not {shown(given)}{hint}"
    )
    return [Problem(message, where="against")]


def _both_dates(start: str | None, end: str | None) -> tuple[date, date]:
    first, last = as_date(start or ""), as_date(end or "")
    if first is not None and last is not None:
        return first, last
    raise QueryError(
        refused(
            "period-day",
            "the period before needs two dates or two placeholders, not "
            f"{shown(start)} to {shown(end)}: use .between(…, …) or .last(days=…)",
            "between",
        )
    )


def _whole(start: str | None, end: str | None, unit: str) -> tuple[date, date]:
    example = "2026-03" if unit == "month" else "2026-W10"
    first, last = dates_of(start, end)
    if first is None or last is None:
        raise QueryError(
            refused(
                "period-words",
                f"whether {written(start, end)} is whole {unit}s is not known here: "
                f"use .during({shown(example)}), or dates",
                "against",
            )
        )
    if beginning(first, unit) != first or ending(last, unit) != last:
        raise QueryError(
            refused(
                "period-unit",
                f"{start} to {end} is not whole {unit}s: use "
                f".during({shown(example)}), or against='previous_period'",
                "against",
            )
        )
    return first, last
