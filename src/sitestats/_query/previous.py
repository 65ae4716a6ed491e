"""The period before: as many days, weeks or months, or the same days a year ago."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final, Literal, TypeAlias, get_args

from sitestats._common.advice import Argument, Step
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


def previous_period(start: str | None, end: str | None) -> tuple[str, str]:
    """The days before: as many, ending the day before *start*.

    Raises:
        QueryError: There is no start, or it is a date and the end is not.

    >>> from sitestats._query.previous import previous_period
    >>> previous_period("today-7d", "yesterday")
    ('today-14d', 'today-8d')
    """
    first, final = _comparable(start, end)
    if isinstance(first, int) and isinstance(final, int):
        return _back(2 * first - final + 1), _back(first + 1)
    assert isinstance(first, date)
    assert isinstance(final, date)
    return _moved(first, (first - final).days - 1), _moved(first, -1)


def previous_year(start: str | None, end: str | None) -> tuple[str, str]:
    """The same days a year before; with placeholders, 365 days before.

    29 February becomes 28 February.

    Raises:
        QueryError: There is no start, or it is a date and the end is not.
    """
    first, final = _comparable(start, end)
    if isinstance(first, int) and isinstance(final, int):
        return _back(first + _YEAR), _back(final + _YEAR)
    assert isinstance(first, date)
    assert isinstance(final, date)
    return _year_before(first), _year_before(final)


def previous_month(start: str | None, end: str | None) -> tuple[str, str]:
    """The months before a period of whole months: as many of them.

    Raises:
        QueryError: The period is not whole months, or is not dates.

    >>> from sitestats._query.previous import previous_month
    >>> previous_month("2026-03-01", "2026-03-31")
    ('2026-02-01', '2026-02-28')
    """
    from dateutil.relativedelta import relativedelta

    first, last = _whole(start, end, "month")
    months = 12 * (last.year - first.year) + last.month - first.month + 1
    try:
        before = first - relativedelta(months=months)
        return before.isoformat(), (first - _DAY).isoformat()
    except (ValueError, OverflowError):
        raise QueryError(too_early()) from None


def previous_week(start: str | None, end: str | None) -> tuple[str, str]:
    """The weeks before a period of whole weeks: as many of them.

    Raises:
        QueryError: The period is not whole weeks, or is not dates.

    >>> from sitestats._query.previous import previous_week
    >>> previous_week("2026-03-02", "2026-03-08")
    ('2026-02-23', '2026-03-01')
    """
    first, last = _whole(start, end, "week")
    try:
        before = first - (last - first + _DAY)
        return before.isoformat(), (first - _DAY).isoformat()
    except OverflowError:
        raise QueryError(too_early()) from None


_PREVIOUS: Final[Mapping[str, Callable[[str | None, str | None], tuple[str, str]]]] = {
    "period": previous_period,
    "week": previous_week,
    "month": previous_month,
    "year": previous_year,
}
RELATIONS: Final[Mapping[str, PreviousUnit]] = {
    f"previous_{unit}": unit for unit in get_args(PreviousUnit)
}
"""The unit of each relation."""


def find_previous(unit: object, start: str | None, end: str | None) -> tuple[str, str]:
    """The period of this unit before the days from *start* to *end*.

    Raises:
        QueryError: There is no such unit, or the period has none before it.
    """
    find = _PREVIOUS.get(unit) if isinstance(unit, str) else None
    if find is None:
        hint = did_you_mean(unit, _PREVIOUS) if isinstance(unit, str) else ""
        message = (
            f"previous takes {', '.join(map(repr, _PREVIOUS))}, not {shown(unit)}{hint}"
        )
        raise QueryError(refused("period-unit", message, "previous"))
    return find(start, end)


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


def _comparable(
    start: str | None, end: str | None
) -> tuple[int, int] | tuple[date, date]:
    # The service's default for the end is today (section 4.3).
    texts = (start or "", end or "today")
    backs = tuple(map(days_back, texts))
    if backs[0] is not None and backs[1] is not None:
        return backs[0], backs[1]
    dates = tuple(map(as_date, texts))
    if dates[0] is not None and dates[1] is not None:
        return dates[0], dates[1]
    raise QueryError(
        refused(
            "period-day",
            "the period before needs two dates or two placeholders, "
            f"not {shown(start)} to {shown(end)}: use "
            + Step("between", ..., ...)
            + " or "
            + Step("last", days=...),
            "between",
        )
    )


def _back(days: int) -> str:
    if days > MOST_DAYS:
        raise QueryError(too_early())
    return placeholder(days)


def _moved(start: date, days: int) -> str:
    try:
        return (start + timedelta(days=days)).isoformat()
    except OverflowError:
        raise QueryError(too_early()) from None


def _year_before(start: date) -> str:
    # Imported here, since only a comparison of years needs it.
    from dateutil.relativedelta import relativedelta

    try:
        return (start - relativedelta(years=1)).isoformat()
    except ValueError:
        raise QueryError(too_early()) from None


def _whole(start: str | None, end: str | None, unit: str) -> tuple[date, date]:
    example = "2026-03" if unit == "month" else "2026-W10"
    first, last = dates_of(start, end)
    if first is None or last is None:
        raise QueryError(
            refused(
                "period-words",
                f"whether {written(start, end)} is whole {unit}s is not known here: "
                "use " + Step("during", example) + ", or dates",
                "against",
            )
        )
    if beginning(first, unit) != first or ending(last, unit) != last:
        raise QueryError(
            refused(
                "period-unit",
                f"{start} to {end} is not whole {unit}s: use "
                + Step("during", example)
                + ", or "
                + Argument("against", "previous_period"),
                "against",
            )
        )
    return first, last
