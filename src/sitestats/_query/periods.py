"""Days and periods: dates, placeholders, words, and the units of the calendar.

``start`` and ``end`` are each a date ``YYYY-MM-DD`` or a placeholder: ``today``,
``yesterday``, ``today-30d``. The document has no grammar of these, so other forms are
sent by ``extra_param`` alone. Weeks begin on Monday, as in ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from numbers import Integral
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args
from zoneinfo import ZoneInfo

import attrs
from dateutil.relativedelta import relativedelta

from sitestats._common.errors import QueryError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown
from sitestats._common.zones import find_zone, nearest_zone, zone_names

from .rules import broken, one_of, refusal, whole_number

Day: TypeAlias = date | str
"""A day: a ``date``, ``"2026-03-01"``, ``"today"``, ``"yesterday"``,
``"today-30d"``, or a ``datetime``, whose own date counts."""
Unit: TypeAlias = Literal["day", "week", "month", "year"]
"""A unit of the calendar that a period can be split into."""
Relation: TypeAlias = Literal[
    "previous_period", "previous_week", "previous_month", "previous_year"
]
"""How the other period of a comparison is found from a query's own."""
PreviousUnit: TypeAlias = Literal["period", "week", "month", "year"]
"""What is repeated before a period: itself, or whole weeks, months or years."""

MOST_DAYS: Final = 99_999
"""How far back a placeholder goes: 273 years, which is a date in any year of ours."""
WORDS: Final = tuple(
    f"{which}-{unit}"
    for which in ("last", "this")
    for unit in ("week", "month", "quarter", "year")
)
"""The words that name a period: the last whole one, or this one until today."""
_MOST_UNITS: Final = 9_999
_DAYS_OF: Final = {"week": 7, "month": 30.4}
"""The units of which ``last`` takes whole ones, with their length."""
_DAY: Final = timedelta(days=1)
_YEAR: Final = 365
_DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BACK: Final = re.compile("today-(0|[1-9][0-9]{0,4})d")
_NAME: Final = re.compile("([0-9]{4})(?:-?W([0-9]{2})|-?Q([1-4])|-([0-9]{2}))?")


class Span(Protocol):
    """What has a first and a last moment, as a ``pandas.Period`` has."""

    @property
    def start_time(self) -> datetime:
        """The first moment."""
        ...

    @property
    def end_time(self) -> datetime:
        """The last moment, which is included."""
        ...


@attrs.frozen
class Word:
    """A period that is named as of a moment: its days depend on the time zone.

    >>> from sitestats._query.periods import Word
    >>> word = Word("last-month", datetime(2026, 3, 31, 23, tzinfo=UTC))
    >>> word.days("Asia/Tokyo")
    ('2026-03-01', '2026-03-31')
    """

    name: str
    """Such as ``"last-month"``."""
    now: datetime
    """The moment of which it is, in UTC."""
    count: int | None = None
    """How many units, where ``last`` named it: the last 18 months are 18."""

    def days(self, zone: str | None) -> tuple[str, str]:
        """The first and the last day in *zone*."""
        which, _, unit = self.name.partition("-")
        if zone is None:
            given = repr(self.name) if self.count is None else f"{unit}s={self.count}"
            message = (
                f"{given} needs a time zone: add .timezone(website.timezone), or make "
                "the query of a website of the list, by StatsQuery(website)"
            )
            raise refusal("period-zone", message, "last" if self.count else "during")
        last = self.now.astimezone(_zone(zone)).date()
        if which == "last":
            last = beginning(last, unit) - _DAY
        first = beginning(last, unit)
        if self.count is not None:
            of_unit = (
                relativedelta(months=1) if unit == "month" else relativedelta(weeks=1)
            )
            first -= (self.count - 1) * of_unit
        return first.isoformat(), last.isoformat()

    @property
    def to_date(self) -> str | None:
        """The unit that it is the beginning of, until its moment; None if it is whole.

        >>> Word("this-month", datetime(2026, 3, 5, tzinfo=UTC)).to_date
        'month'
        """
        which, _, unit = self.name.partition("-")
        return unit if which == "this" else None

    def days_before(self, zone: str | None) -> tuple[str, str]:
        """As many days from the beginning of the unit before, which has fewer at times.

        >>> now = datetime(2026, 3, 5, tzinfo=UTC)
        >>> Word("this-month", now).days_before("UTC")
        ('2026-02-01', '2026-02-05')
        """
        first, last = map(date.fromisoformat, self.days(zone))
        before = beginning(first - _DAY, self.to_date)
        until = min(before + (last - first), first - _DAY)
        return before.isoformat(), until.isoformat()

    @property
    def step(self) -> str:
        """The call of the step that names it."""
        _, _, unit = self.name.partition("-")
        given = (
            f"during({self.name!r}"
            if self.count is None
            else f"last({unit}s={self.count}"
        )
        return f"{given}, now={self.now!r})"


# --- days ---------------------------------------------------------------------------


def day(value: object, where: str) -> str:
    """A day as it is sent."""
    try:
        if isinstance(value, date):
            return date(value.year, value.month, value.day).isoformat()
        if isinstance(value, str):
            if days_back(value) is not None:
                return str.__str__(value)
            if _DATE.fullmatch(value):
                return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):  # pandas' NaT is a date, whose year is no number
        message = f"{shown(value)} is not a day of the calendar: give one that exists"
        raise refusal("period-date", message, where) from None
    parameter = "end" if where == "end" else "start"
    message = (
        "a day is a date, 'YYYY-MM-DD', 'today', 'yesterday' or 'today-Nd' with N "
        f"up to {MOST_DAYS}, not {shown(value)}: .during() takes months and words, and "
        f".extra_param('{parameter}', …) sends another form"
    )
    raise refusal("period-day", message, where)


def as_date(text: str | None) -> date | None:
    """The date ``YYYY-MM-DD``, or None when *text* is none."""
    try:
        return date.fromisoformat(text) if text and _DATE.fullmatch(text) else None
    except ValueError:
        return None


def days_back(text: str) -> int | None:
    """How many days before today a placeholder is, or None when it is none.

    >>> from sitestats._query.periods import days_back
    >>> days_back("today"), days_back("yesterday"), days_back("today-30d")
    (0, 1, 30)
    """
    if text in {"today", "yesterday"}:
        return int(text == "yesterday")
    match = _BACK.fullmatch(text)
    return None if match is None else int(match[1])


def placeholder(days: int) -> str:
    """The placeholder for *days* before today."""
    return ("today", "yesterday")[days] if days < 2 else f"today-{days}d"  # noqa: PLR2004


def order_problems(start: str | None, end: str | None) -> list[Problem]:
    """The problem of an end before its start, where both can be compared.

    Whether a date is before a placeholder depends on today's date in a zone that may be
    the website's: that is left to the service.
    """
    if not start or not end or start == end:
        return []
    back, until = days_back(start), days_back(end)
    is_wrong = back is not None and until is not None and back < until
    if back is until is None:
        first, last = as_date(start), as_date(end)
        is_wrong = first is not None and last is not None and last < first
    if not is_wrong:
        return []
    message = f"the end {end!r} is before the start {start!r}: swap them"
    return [broken("period-order", message, "between")]


def timezone(
    value: object, where: str = "timezone", rule: str = "timezone-name"
) -> str:
    """The name of a time zone."""
    if isinstance(value, str) and value in zone_names():
        return str.__str__(value)
    hint = "name a place, such as 'Europe/Amsterdam'"
    if not zone_names():
        hint = "this machine has no such database to check it with: pip install tzdata"
    elif isinstance(value, str) and (right := nearest_zone(value)):
        hint = f"did you mean {right!r}?"
    message = f"{shown(value)} is not a name of the tz database: {hint}"
    raise refusal(rule, message, where)


def _zone(name: str) -> ZoneInfo:
    if zone := find_zone(name):
        return zone
    message = f"this machine does not know the time zone {shown(name)}: give dates"
    raise refusal("period-zone", message, "timezone")


def moment_of(now: object) -> datetime:
    """The moment *now*, in UTC; that of this machine's clock when None."""
    if now is None:
        return datetime.now(UTC)
    if isinstance(now, datetime) and now.tzinfo is not None:
        return now.astimezone(UTC)
    message = f"now is a datetime with a time zone, not {shown(now)}"
    raise refusal("period-naive", message, "now")


def _too_early(where: str) -> Exception:
    message = "a day of this period is too early for a date: use a later period"
    return refusal("period-date", message, where)


# --- periods ------------------------------------------------------------------------


def last(
    given: Mapping[str, object], today: object, now: object
) -> tuple[str, str] | Word:
    """The last days, weeks or months: of one of these."""
    counts = {name: value for name, value in given.items() if value is not None}
    if len(counts) != 1 or not isinstance(today, bool):
        message = "give one of days, weeks and months; today is True or False"
        raise refusal("period-days", message, "last")
    ((name, value),) = counts.items()
    most = MOST_DAYS if name == "days" else _MOST_UNITS
    count = int(whole_number(value, most, "period-days", name, "last"))
    if name == "days":
        # One day has two names.
        return (
            (placeholder(count - 1), "today")
            if today
            else (f"today-{count}d", "yesterday")
        )
    if today:
        message = f"the last {name} are whole ones, which don't end today: use days"
        raise refusal("period-days", message, "last")
    return Word(f"last-{name.removesuffix('s')}", moment_of(now), count)


def named(value: Any, now: object = None) -> tuple[str, str] | Word:
    """The days of a year, quarter, month, week or day; or a word."""
    if isinstance(value, str) and value in WORDS:
        return Word(str.__str__(value), moment_of(now))
    if isinstance(value, date) or (isinstance(value, str) and _DATE.fullmatch(value)):
        return (text := day(value, "during")), text
    first, until = getattr(value, "start_time", None), getattr(value, "end_time", None)
    if isinstance(first, datetime) and isinstance(until, datetime):
        if f"{first:%H:%M:%S} {until:%H:%M:%S}" == "00:00:00 23:59:59":
            return day(first, "during"), day(until, "during")
    elif isinstance(value, Integral | str) and (match := _NAME.fullmatch(str(value))):
        return _named_units(match, shown(value))
    hint = did_you_mean(value, WORDS) if isinstance(value, str) else ""
    message = (
        "a year, quarter, month, week or day is '2026', '2026-Q1', '2026-03', "
        "'2026-W10', '2026-03-05', 'last-month', 'this-week' or a date, not "
        f"{shown(value)}{hint}"
    )
    raise refusal("period-unit", message, "during")


def _named_units(match: re.Match[str], given: str) -> tuple[str, str]:
    year, week, quarter, month = match.groups()
    try:
        if week:
            first, unit = date.fromisocalendar(int(year), int(week), 1), "week"
        elif quarter:
            first, unit = date(int(year), 3 * int(quarter) - 2, 1), "quarter"
        else:
            unit = "month" if month else "year"
            first = date(int(year), int(month or 1), 1)
    except ValueError:
        message = f"{given} is not in the calendar: give a period that exists"
        raise refusal("period-date", message, "during") from None
    return first.isoformat(), ending(first, unit).isoformat()


def beginning(of: date, unit: str | None) -> date:
    """The first day of the week, month, quarter or year that a day is in.

    >>> from sitestats._query.periods import beginning
    >>> beginning(date(2026, 3, 5), "week")
    datetime.date(2026, 3, 2)
    """
    match unit:
        case "week":
            return of - timedelta(days=of.weekday())
        case "month":
            return of.replace(day=1)
        case "quarter":
            return of.replace(month=(of.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return of.replace(month=1, day=1)
        case _:
            return of


def ending(of: date, unit: str | None) -> date:
    """The last day of the week, month, quarter or year that a day is in.

    >>> from sitestats._query.periods import ending
    >>> ending(date(2026, 2, 5), "month")
    datetime.date(2026, 2, 28)
    """
    match unit:
        case "week":
            return of + min(timedelta(days=6 - of.weekday()), date.max - of)
        case "month":
            return of + relativedelta(day=31)
        case "quarter":
            return beginning(of, unit) + relativedelta(months=2, day=31)
        case "year":
            return of.replace(month=12, day=31)
        case _:
            return of


def split(
    start: str | None, end: str | None, unit: object
) -> Iterator[tuple[str, str]]:
    """The first and last days of the units from *start* to *end*, in order.

    The first and the last unit are cut where the period begins and ends.
    """
    one_of(unit, get_args(Unit), "period-unit", "a unit", "each")
    first, until = as_date(start), as_date(end)
    # The service's default for the end is today (section 4.3).
    back, to = days_back(start or ""), days_back(end or "today")
    if unit == "day" and back is not None and to is not None:
        yield from ((name, name) for name in map(placeholder, range(back, to - 1, -1)))
    elif first is None or until is None:
        hint = ""
        if back is not None and to == 1 and unit in _DAYS_OF:
            count = max(1, round(back / _DAYS_OF[str(unit)]))
            hint = (
                f".timezone(website.timezone).last({unit}s={count}).each({unit!r}) or "
            )
        message = (
            f"the days of {_written(start, end)} are not known here: give dates, or "
            f"use {hint}.pinned(website.timezone).each({unit!r})"
        )
        raise refusal("period-words", message, "each")
    elif problems := order_problems(start, end):
        raise QueryError(problems)
    else:
        while True:
            last_day = min(ending(first, str(unit)), until)
            yield first.isoformat(), last_day.isoformat()
            if last_day == until:
                return
            first = last_day + _DAY


def _written(start: str | None, end: str | None) -> str:
    return f"{start or 'the default start of the service'} to {end or 'today'}"


def pinned(
    start: str | None, end: str | None, zone: str, now: object
) -> tuple[str, str]:
    """The period as dates, as of *now* in *zone*.

    Without a start it begins one month ago, in a shorter month on its last day;
    without an end it ends today (section 8).

    >>> from sitestats._query.periods import pinned
    >>> now = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
    >>> pinned("today-7d", None, "Europe/Amsterdam", now)
    ('2026-03-25', '2026-04-01')
    """
    today = moment_of(now).astimezone(_zone(zone)).date()

    def on(text: str) -> str:
        back = days_back(text)
        return day(text if back is None else today - timedelta(days=back), "pinned")

    first = on(start) if start else (today - relativedelta(months=1)).isoformat()
    return first, on(end or "today")


# --- the period before --------------------------------------------------------------


RELATIONS: Final[Mapping[str, PreviousUnit]] = {
    f"previous_{unit}": unit for unit in get_args(PreviousUnit)
}
"""The relations, and what they are called in ``StatsQuery.previous``."""


def previous(
    unit: object, start: str | None, end: str | None, where: str = "previous"
) -> tuple[str, str]:
    """The period before the one from *start* to *end*.

    ``"period"`` is the period of the same length that ends the day before; ``"month"``
    and ``"week"`` are as many whole ones before whole ones; ``"year"`` is the same days
    a year before: 29 February becomes 28 February, and placeholders go back 365 days.

    >>> from sitestats._query.periods import previous
    >>> previous("period", "today-7d", "yesterday")
    ('today-14d', 'today-8d')
    >>> previous("month", "2026-03-01", "2026-03-31")
    ('2026-02-01', '2026-02-28')
    """
    one_of(unit, get_args(PreviousUnit), "period-unit", "such a period", where)
    is_whole = unit in {"week", "month"}
    example = "2026-03" if unit == "month" else "2026-W10"
    back, to = days_back(start or ""), days_back(end or "today")
    if back is not None and to is not None and not is_whole:
        shift = _YEAR if unit == "year" else back - to + 1
        if back + shift > MOST_DAYS:
            raise _too_early(where)
        return placeholder(back + shift), placeholder(to + shift)
    first, until = as_date(start), as_date(end)
    if first is None or until is None:
        advice = (
            f".during('{example}')" if is_whole else ".between(…, …) or .last(days=…)"
        )
        message = f"the days of {_written(start, end)} are not known here: use {advice}"
        raise refusal("period-words", message, where)
    if is_whole and (
        beginning(first, str(unit)) != first or ending(until, str(unit)) != until
    ):
        message = f"{start} to {end} is not whole {unit}s: use .during('{example}')"
        raise refusal("period-unit", message, where)
    try:
        before = _dates_before(unit, first, until)
    except (ValueError, OverflowError):
        raise _too_early(where) from None
    return before[0].isoformat(), before[1].isoformat()


def _dates_before(unit: object, first: date, until: date) -> tuple[date, date]:
    if unit == "year":
        year = relativedelta(years=1)
        return first - year, until - year
    if unit == "month":
        months = 12 * (until.year - first.year) + until.month - first.month + 1
        return first - relativedelta(months=months), first - _DAY
    return first - (until - first + _DAY), first - _DAY
