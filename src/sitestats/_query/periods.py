"""Days and periods: dates, placeholders, words, and the units of the calendar.

``start`` and ``end`` are each a date ``YYYY-MM-DD`` or a placeholder: ``today``,
``yesterday``, ``today-30d``. The document has no grammar of these, so other forms are
sent by ``extra_param`` alone. Weeks begin on Monday, as in ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from numbers import Integral
from sys import modules
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args
from zoneinfo import ZoneInfo

import attrs
from dateutil.relativedelta import relativedelta

from sitestats._base.errors import InvalidInputError, Problem
from sitestats._base.text import did_you_mean, shown
from sitestats._base.zone_words import likely_zones
from sitestats._base.zones import NO_PACKAGE, nearest_zone, packaged_names, zone_names
from sitestats._wire.values import Value
from sitestats._words import (
    day_advice,
    field_meant,
    filter_advice,
    period_advice,
    relation_advice,
)

from .rules import broken, one_of, refusal, whole_number


class NumpyDay(Protocol):
    """A ``numpy.datetime64``."""

    def item(self) -> date | int | None:
        """What Python has for it."""
        ...


Day: TypeAlias = date | str | NumpyDay
"""A day: a ``date``, ``"2026-03-01"``, ``"today"``, ``"yesterday"``,
``"today-30d"``, or a ``datetime`` or ``numpy.datetime64`` at midnight without a time
zone."""
Sent: TypeAlias = str | None
"""A first or last day as it is sent, or None where the service has its default."""
Unit: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
"""A unit of the calendar that a period can be split into."""
NamedUnit: TypeAlias = Literal["week", "month", "quarter", "year"]
"""A unit that a period is named by."""
Relation: TypeAlias = Literal[
    "previous-period",
    "previous-week",
    "previous-month",
    "previous-quarter",
    "previous-year",
]
"""How the other period of a comparison is found from a query's own."""
PreviousUnit: TypeAlias = Literal["period", "week", "month", "quarter", "year"]
"""How far an earlier period is back: its own length, or weeks, months, quarters or
years."""

RELATIONS: Final[Mapping[str, PreviousUnit]] = {
    f"previous-{unit}": unit for unit in get_args(PreviousUnit)
}
"""The relations, and what they are called in ``StatsQuery.previous``."""
MOST_DAYS: Final = 99_999
"""How far back a placeholder goes: 273 years, which is a date in any year of ours."""
_MOST_UNITS: Final = 9_999
WORDS: Final[Mapping[str, tuple[NamedUnit, int]]] = {
    f"{which}-{unit}": (unit, count)
    for which, count in (("last", 1), ("this", 0))
    for unit in get_args(NamedUnit)
}
"""The words that name a period, with their unit, and the number of whole ones."""
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_WHOLE: Final = {"month": "2026-03", "quarter": "2026-Q1"}
"""The units that an earlier period has whole ones of, with an example of each."""
_DAY: Final = timedelta(days=1)
_DAYS: Final = ("today", "yesterday")
"""The words for days, by how far back they are."""
_DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BACK: Final = re.compile("today-(0|[1-9][0-9]{0,4})d")
_NAME: Final = re.compile(
    "(?P<year>[0-9]{4})"
    "(?:-?W(?P<week>[0-9]{2})|-?Q(?P<quarter>[1-4])|-(?P<month>[0-9]{2}))?"
)


class Span(Protocol):
    """An object with a first and a last moment, such as a ``pandas.Period``."""

    @property
    def start_time(self) -> datetime:
        """The first moment."""
        ...

    @property
    def end_time(self) -> datetime:
        """The last moment, which is included."""
        ...


@attrs.frozen
class NamedPeriod(Value):
    """A period that is named as of a moment: its days depend on the time zone.

    >>> from sitestats.types import NamedPeriod
    >>> word = NamedPeriod("month", 1, datetime(2026, 3, 31, 23, tzinfo=UTC))
    >>> word.days("Asia/Tokyo")
    ('2026-03-01', '2026-03-31')
    """

    unit: NamedUnit
    """The unit of the calendar."""
    count: int
    """How many whole ones before the present one; 0 for the present one until today."""
    now: datetime
    """The moment of which it is, in UTC."""
    is_counted: bool = attrs.field(
        default=False, kw_only=True, eq=False, repr=False, metadata={"in_json": False}
    )
    """Whether ``last`` counted it, and not ``during`` named it."""

    def __attrs_post_init__(self) -> None:
        if self.count:
            whole_number(self.count, _MOST_UNITS, "period-days", self.step[0])

    @property
    def step(self) -> tuple[str, str]:
        """The step that names it, and its argument."""
        if self.count > 1 or self.is_counted:
            return "last", f"{self.unit}s={self.count}"
        return "during", repr(f"{'last' if self.count else 'this'}-{self.unit}")

    def days(self, zone: str | None) -> tuple[str, str]:
        """The first and the last day in *zone*."""
        if zone is None:
            step, given = self.step
            message = (
                f"{given} needs a time zone: add .timezone(website.timezone), or make "
                "the query of a website of the list, by StatsQuery(website)"
            )
            if not packaged_names():
                message += f"; {NO_PACKAGE}"
            raise refusal("period-zone", message, step)
        with _in_the_calendar(self.step[0]):
            last = self.now.astimezone(_zone(zone)).date()
            first = beginning(last, self.unit)
            if self.count:
                last = first - _DAY
                months = _MONTHS.get(self.unit, 0) * self.count
                weeks = 0 if months else self.count
                first -= relativedelta(months=months, weeks=weeks)
        return first.isoformat(), last.isoformat()

    def days_before(self, zone: str | None) -> tuple[str, str]:
        """The same dates a year before; or as many days from the beginning of the unit
        before, which has fewer at times.

        >>> now = datetime(2026, 3, 5, tzinfo=UTC)
        >>> NamedPeriod("month", 0, now).days_before("UTC")
        ('2026-02-01', '2026-02-05')
        """
        first, last = map(date.fromisoformat, self.days(zone))
        with _in_the_calendar("previous"):
            before = beginning(first - _DAY, self.unit)
            until = min(before + (last - first), first - _DAY)
            if self.unit == "year":
                until = last - relativedelta(years=1)
        return before.isoformat(), until.isoformat()


@contextmanager
def _in_the_calendar(where: str) -> Generator[None]:
    """Refuse days before the year 1 or after the year 9999, which Python lacks."""
    try:
        yield
    except InvalidInputError:
        raise
    except (OverflowError, ValueError):
        message = "the calendar has no such days: it has the years 1 to 9999"
        raise refusal("period-date", message, where) from None


# --- days ---------------------------------------------------------------------------


def day(value: object, where: str) -> str:
    """A day as it is sent."""
    value = _without_numpy(value)
    # pandas has a midnight for a day.
    given = (
        value.isoformat().removesuffix("T00:00:00")
        if isinstance(value, date)
        else value
    )
    if isinstance(given, str):
        if days_back(given) is not None or as_date(given):
            return str.__str__(given)
        if _DATE.fullmatch(given):
            message = f"{shown(given)} is not a day of the calendar"
            raise refusal("period-date", message, where)
    hint = did_you_mean(given, _DAYS) if isinstance(given, str) else ""
    advice = _advice_on(value, day_advice) or (
        "give a date, 'YYYY-MM-DD', 'today', 'yesterday' or 'today-Nd' with N up to "
        f"{MOST_DAYS}{hint}; .during() takes months and words"
    )
    raise refusal("period-day", f"{shown(value)} is not a day: {advice}", where)


def _advice_on(value: object, of_words: Callable[[str], str]) -> str:
    """What to type for a day or a period in another form; nothing for a form that may
    have several meanings.
    """
    if isinstance(value, datetime):
        return "give its .date(), in the zone you mean"
    if isinstance(value, slice | Collection) and not isinstance(value, str):
        return (
            "two days are .between('2026-03-01', '2026-03-31'), or a tuple where they "
            "are compared with"
        )
    text = value[:100] if isinstance(value, str) else shown(value)
    if isinstance(value, timedelta):
        text = f"{abs(value.days)}d"
    return of_words(text) or _in_another_form(text)


_LIKE_NAMES: Final = (
    re.compile(r"(?P<year>[0-9]{4})(?:\W*(?P<unit>[qwm]?)\W*(?P<number>[0-9]{1,2}))?"),
    re.compile(r"(?P<unit>[qwm]?)\W*(?P<number>[0-9]{1,2})\W*(?P<year>[0-9]{4})"),
)
"""What people write for ``2026-Q1``, ``2026-03`` or ``2026-W10``, in small letters."""
_FORMS: Final = {
    "q": "{year}-Q{number}",
    "w": "{year}-W{number:02}",
    "m": "{year}-{number:02}",
    "": "{year}-{number:02}",
    None: "{year}",
}
_DIFFERING: Final = ((2001, 1, 1), (2002, 1, 2), (2003, 2, 1))


def _in_another_form(text: str) -> str:
    """What to type for a date or a period as people write them; nothing for a date
    whose day and month may be either.
    """
    dates = _DATE.findall(text)
    if len(dates) > 1:
        return f"use .between({dates[0]!r}, {dates[-1]!r})"
    for match in filter(None, (like.fullmatch(text.lower()) for like in _LIKE_NAMES)):
        number = int(match["number"] or 0)
        name = _FORMS[match["unit"]].format(year=match["year"], number=number)
        with suppress(InvalidInputError):
            if named := _NAME.fullmatch(name):
                _named_unit(named, "during")
                return f"use .during({name!r})"
    from dateutil.parser import parse

    # A part that the text lacks is taken from the default.
    defaults = [datetime(y, m, d, tzinfo=UTC) for y, m, d in _DIFFERING]
    # Behind a year of four digits the month comes first.
    orders = (False,) if re.match("[0-9]{4}", text) else (False, True)
    try:
        found = {
            parse(text, dayfirst=is_day_first, default=default, ignoretz=True).date()
            for default in defaults
            for is_day_first in orders
        }
    except (ValueError, OverflowError):
        return ""
    if len(found) == 1:
        return f"use {found.pop().isoformat()!r}"
    months = {f"{day:%Y-%m}" for day in found}
    return f"use .during({months.pop()!r})" if len(months) == 1 else ""


def _without_numpy(value: Any) -> Any:
    """The text of a ``numpy.datetime64`` at midnight: a day, a month or a year by its
    unit. Other values stay as they are.
    """
    numpy: Any = modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.datetime64):
        return value
    unit, _ = numpy.datetime_data(value.dtype)
    # numpy's weeks begin on Thursday.
    if numpy.isnat(value) or unit == "W":
        return value
    text, _, time = str(value).partition("T")
    return value if time.strip("0:.") else text


@lru_cache
def as_date(text: str | None) -> date | None:
    """The date ``YYYY-MM-DD``, or None for any other text."""
    try:
        return date.fromisoformat(text) if text and _DATE.fullmatch(text) else None
    except ValueError:
        return None


@lru_cache
def days_back(text: str | None) -> int | None:
    """How many days before today a placeholder is, or None for any other text.

    >>> from sitestats._query.periods import days_back
    >>> days_back("today"), days_back("yesterday"), days_back("today-30d")
    (0, 1, 30)
    """
    if text in _DAYS:
        return _DAYS.index(text)
    match = _BACK.fullmatch(text or "")
    return None if match is None else int(match[1])


def placeholder(days: int) -> str:
    """The placeholder for *days* before today."""
    return _DAYS[days] if days < len(_DAYS) else f"today-{days}d"


def order_problems(start: str | None, end: str | None) -> list[Problem]:
    """The problem of an end before its start, where both can be compared.

    Whether a date is before a placeholder depends on today's date in a zone that may be
    the website's: that is left to the service.
    """
    first, last = as_date(start), as_date(end)
    back, until = days_back(start), days_back(end)
    dates = first is not None and last is not None and last < first
    if not dates and (back is None or until is None or back >= until):
        return []
    message = f"the end {end!r} is before the start {start!r}: swap them"
    return [broken("period-order", message, "between")]


def timezone(name: object, where: str = "timezone", rule: str = "timezone-name") -> str:
    """The name of a time zone."""
    if isinstance(name, str) and name in zone_names():
        return str.__str__(name)
    hint = "name a place, such as 'Europe/Amsterdam'"
    if isinstance(name, tzinfo) and str(name) in zone_names():
        hint = f"give its name, {str(name)!r}"
    elif isinstance(name, str) and (right := nearest_zone(name)):
        hint = f"did you mean {right!r}?"
    elif isinstance(name, str) and (likely := likely_zones(name)):
        hint = f"it may mean {' or '.join(map(repr, likely))}: name the place"
    elif not packaged_names():
        hint = NO_PACKAGE
    message = f"{shown(name)} is not a name of the tz database: {hint}"
    raise refusal(rule, message, where)


def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(timezone(name, rule="period-zone"))


def moment_of(now: object) -> datetime:
    """The moment *now*, in UTC; None means the time of this machine's clock."""
    if now is None:
        return datetime.now(UTC)
    if isinstance(now, datetime) and now.tzinfo is not None:
        with _in_the_calendar("now"):
            return now.astimezone(UTC)
    message = f"now is a datetime with a time zone, not {shown(now)}"
    raise refusal("period-naive", message, "now")


# --- periods ------------------------------------------------------------------------


def last(
    days: object,
    today: object,
    weeks: object = None,
    months: object = None,
    now: object = None,
) -> tuple[str, str] | NamedPeriod:
    """The last days, weeks or months; exactly one of these is given."""
    counts = [count for count in (days, weeks, months) if count is not None]
    if isinstance(days, str | timedelta):
        # The last "month" is the one before this one.
        advice = _advice_on(days, lambda text: period_advice(f"last {text}"))
        message = (
            f"{shown(days)} is not a number: {advice or 'give one, such as days=30'}"
        )
        raise refusal("period-days", message, "last")
    if len(counts) != 1 or not isinstance(today, bool) or (today and days is None):
        message = "give one of days, weeks and months, and today=True with days alone"
        raise refusal("period-days", message, "last")
    most = _MOST_UNITS if days is None else MOST_DAYS
    count = int(whole_number(counts[0], most, "period-days", "last"))
    if days is None:
        unit: NamedUnit = "week" if weeks is not None else "month"
        return NamedPeriod(unit, count, moment_of(now), is_counted=True)
    # The same day has two names.
    return (
        (placeholder(count - 1), "today") if today else (f"today-{count}d", "yesterday")
    )


def period_of(
    value: Any, now: object = None, where: str = "during"
) -> tuple[str, str] | NamedPeriod:
    """The days of a year, quarter, month, week or day; or a word."""
    value = _without_numpy(value)
    if isinstance(value, str) and value in WORDS:
        return NamedPeriod(*WORDS[value], moment_of(now))
    if isinstance(value, date) or (isinstance(value, str) and _DATE.fullmatch(value)):
        return (text := day(value, where)), text
    first, until = getattr(value, "start_time", None), getattr(value, "end_time", None)
    if (
        isinstance(first, datetime)
        and isinstance(until, datetime)
        and f"{first:%H:%M:%S} {until:%H:%M:%S}" == "00:00:00 23:59:59"
    ):
        return day(first, where), day(until.date(), where)
    if isinstance(value, Integral) and 0 < int(value) <= date.max.year:
        value = str(value)
    if isinstance(value, str) and (match := _NAME.fullmatch(value)):
        return _named_unit(match, where)
    is_other = where == "against"
    advice = _advice_on(value, relation_advice if is_other else period_advice)
    if not advice:
        known = [*RELATIONS, *WORDS] if is_other else [*WORDS]
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        advice = (
            "give '2026', '2026-Q1', '2026-03', '2026-W10', '2026-03-05', "
            f"{known[0]!r}, 'this-week' or a date{hint}"
        )
    raise refusal("period-unit", f"{shown(value)} is not a period: {advice}", where)


def _named_unit(match: re.Match[str], where: str) -> tuple[str, str]:
    year, week, quarter, month = match.groups()
    try:
        if week:
            first = date.fromisocalendar(int(year), int(week), 1)
        else:
            first = date(int(year), int(month or 3 * int(quarter or 1) - 2), 1)
    except ValueError:
        message = f"{match[0]} is not in the calendar: give a period that exists"
        raise refusal("period-date", message, where) from None
    return first.isoformat(), ending(first, match.lastgroup).isoformat()


def beginning(of: date, unit: str | None) -> date:
    """The first day of the week, month, quarter or year that a day is in.

    >>> from sitestats._query.periods import beginning
    >>> beginning(date(2026, 3, 5), "week")
    datetime.date(2026, 3, 2)
    """
    if unit == "week":
        return of - timedelta(days=of.weekday())
    if months := _MONTHS.get(unit or ""):
        return of.replace(month=of.month - (of.month - 1) % months, day=1)
    return of


def ending(of: date, unit: str | None) -> date:
    """The last day of the week, month, quarter or year that a day is in.

    >>> from sitestats._query.periods import ending
    >>> ending(date(2026, 2, 5), "month")
    datetime.date(2026, 2, 28)
    """
    if unit == "week":
        return of + min(timedelta(days=6 - of.weekday()), date.max - of)
    if months := _MONTHS.get(unit or ""):
        return beginning(of, unit) + relativedelta(months=months - 1, day=31)
    return of


def split(start: Sent, end: Sent, unit: object) -> Iterator[tuple[str, str]]:
    """The first and last days of the units from *start* to *end*, in order.

    The first and the last unit are cut where the period begins and ends.
    """
    hint = "" if isinstance(unit, str) else ": .each(websites=…) takes websites"
    if filter_advice(unit) or field_meant(unit):
        hint = ": values of a filter are .each(country=['NL', 'BE'])"
    one_of(unit, get_args(Unit), "period-unit", f"a unit{hint}", "each")
    # The service's default for the end is today (section 4.3).
    back, to = days_back(start), days_back(end or "today")
    if unit == "day" and back is not None and to is not None:
        yield from ((name, name) for name in map(placeholder, range(back, to - 1, -1)))
        return
    use = ".last(months=…) or .pinned(timezone=…) before .each(…)"
    first, until = _dates(start, end, use, "each")
    while True:
        last_day = min(ending(first, str(unit)), until)
        yield first.isoformat(), last_day.isoformat()
        if last_day >= until:
            return
        first = last_day + _DAY


def _dates(start: Sent, end: Sent, instead: str, where: str) -> tuple[date, date]:
    first, until = as_date(start), as_date(end)
    if first is not None and until is not None:
        return first, until
    message = (
        f"the days of {start or 'the default start'} to {end or 'today'} are not known "
        f"here: give dates, or use {instead}"
    )
    raise refusal("period-words", message, where)


def pinned(start: Sent, end: Sent, zone: str, now: object) -> tuple[str, str]:
    """The period as dates, as of *now* in *zone*.

    Without a start it begins one month ago, in a shorter month on its last day;
    without an end it ends today (section 8).

    >>> from sitestats._query.periods import pinned
    >>> now = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
    >>> pinned("today-7d", None, "Europe/Amsterdam", now)
    ('2026-03-25', '2026-04-01')
    """
    with _in_the_calendar("pinned"):
        today = moment_of(now).astimezone(_zone(zone)).date()
        first = start or (today - relativedelta(months=1)).isoformat()
        days = [
            text if (back := days_back(text)) is None else today - timedelta(days=back)
            for text in (first, end or "today")
        ]
    return day(days[0], "pinned"), day(days[1], "pinned")


def previous(
    unit: object, start: str | None, end: str | None, where: str = "previous"
) -> tuple[str, str]:
    """The period before the one from *start* to *end*.

    ``"period"`` is the period of the same length that ends the day before; ``"week"``
    goes back by the fewest whole weeks that leave no day in both; ``"month"`` and
    ``"quarter"`` are as many whole ones before whole ones; ``"year"`` is the same days
    a year before: 29 February becomes 28 February, and placeholders go back 365 days.

    >>> from sitestats._query.periods import previous
    >>> previous("period", "today-7d", "yesterday")
    ('today-14d', 'today-8d')
    >>> previous("month", "2026-03-01", "2026-03-31")
    ('2026-02-01', '2026-02-28')
    """
    one_of(unit, get_args(PreviousUnit), "period-unit", "such a period", where)
    back, to = days_back(start), days_back(end or "today")
    example = _WHOLE.get(str(unit))
    if back is not None and to is not None and example is None:
        shift = 365 if unit == "year" else _days_before(unit, back - to + 1)
        return day(placeholder(back + shift), where), placeholder(to + shift)
    use = ".last(days=…)" if example is None else f".during({example!r})"
    first, until = _dates(start, end, use, where)
    days = _days_before(unit, (until - first).days + 1)
    length = relativedelta(years=1) if unit == "year" else relativedelta(days=days)
    if example is not None:
        if beginning(first, str(unit)) != first or ending(until, str(unit)) != until:
            message = f"{start} to {end} is not whole {unit}s, such as {example}"
            raise refusal("period-unit", message, where)
        months = 12 * (until.year - first.year) + until.month - first.month + 1
        length = relativedelta(months=months)
    with _in_the_calendar(where):
        before = first - length
    last_day = until - length if example is None else first - _DAY
    return before.isoformat(), last_day.isoformat()


def _days_before(unit: object, days: int) -> int:
    """How far a period of *days* goes back: by itself, or by whole weeks."""
    return days + (-days % 7 if unit == "week" else 0)
