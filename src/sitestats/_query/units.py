"""Weeks, months and years of the calendar: name one, split a period.

Weeks begin on Monday, as in ISO 8601: the document does not say when they begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import MAXYEAR, date, datetime, timedelta
from typing import Final, Literal, Protocol, TypeAlias, get_args

from sitestats._common.errors import QueryError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown

from .periods import (
    DATE,
    EndOfWord,
    StoredDay,
    as_date,
    day,
    days_back,
    in_zone,
    last_days,
    moment_of,
    order_problems,
    placeholder,
    too_early,
)
from .rules import TextOrProblems, refused
from .values import whole_number

Unit: TypeAlias = Literal["day", "week", "month", "year"]
"""A unit of the calendar that a period can be split into."""

UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
WORDS: Final = tuple(
    f"{which}-{unit}"
    for which in ("last", "this")
    for unit in ("week", "month", "quarter", "year")
)
"""The words that name a period: the last whole one, or this one until today."""
_DAYS_OF: Final = {"week": 7, "month": 30.4}
"""The units of which ``last`` takes whole ones, with their length."""
_DAY: Final = timedelta(days=1)
_MOST_UNITS: Final = 9_999
_YEARS: Final = (1000, MAXYEAR)
"""The years that an int can be: 7 would rather be meant as days."""
_NAME: Final = re.compile(
    r"([0-9]{4})(?:-?W(?P<week>[0-9]{2})|-?Q(?P<quarter>[1-4])|-(?P<month>[0-9]{2}))?"
)


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


def beginning(of: date, unit: str | None) -> date:
    """The first day of the week, month, quarter or year that a day is in.

    >>> from sitestats._query.units import beginning
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
    """The last day of the week, month or year that a day is in.

    Raises:
        OverflowError: It is the last week, which the calendar does not have whole.

    >>> from sitestats._query.units import ending
    >>> ending(date(2026, 2, 5), "month")
    datetime.date(2026, 2, 28)
    """
    # Imported here, since few programs and few responses need it.
    from dateutil.relativedelta import relativedelta

    match unit:
        case "week":
            return of + timedelta(days=6 - of.weekday())
        case "month":
            return of + relativedelta(day=31)
        case "year":
            return of.replace(month=12, day=31)
        case _:
            return of


# --- a period by its name ---------------------------------------------------------


def named_period(
    value: object, now: object = None
) -> tuple[StoredDay, StoredDay] | list[Problem]:
    """The first and the last day of a year, quarter, month, week or day.

    A word is that period as of *now*.

    Raises:
        QueryError: *now* is no moment.
    """
    if isinstance(value, str) and value in WORDS:
        word, moment = str.__str__(value), moment_of(now)
        first, last = (EndOfWord(word, moment, is_last) for is_last in (False, True))
        return first, last
    if isinstance(value, date) or (isinstance(value, str) and DATE.fullmatch(value)):
        stored = day(value, "during")
        return stored if isinstance(stored, list) else (stored, stored)
    if isinstance(value, str):
        return _period_of_text(str.__str__(value))
    year = whole_number(value, *_YEARS)
    if year is not None:
        return _period_of_text(year)
    try:
        return _period_of_span(value)
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything
        return _no_period(value)


def day_of_word(end: EndOfWord, zone: str | None) -> TextOrProblems:
    """The day of an end of a period that a word names, in *zone*.

    >>> from datetime import UTC
    >>> from sitestats._query.units import day_of_word
    >>> now = datetime(2026, 3, 31, 23, tzinfo=UTC)
    >>> day_of_word(EndOfWord("last-month", now, is_last=True), "Asia/Tokyo")
    '2026-03-31'
    """
    if zone is None:
        unit = f"{end.word.removeprefix('last-')}s"
        is_word = end.count == 1
        words = repr(end.word) if is_word else f"last({unit}={end.count})"
        return refused(
            "period-zone",
            f"{words} needs a time zone: add .timezone(website.timezone), or use "
            ".each(websites=client.websites.list())",
            "during",
        )
    text = in_zone(end.now, zone, "during")
    if not isinstance(text, str):
        return text
    which, _, unit = end.word.partition("-")
    last = date.fromisoformat(text)
    if which == "last":
        from dateutil.relativedelta import relativedelta

        try:
            last = beginning(last, unit) - _DAY
            first = beginning(last, unit)
            if end.count > 1:
                first -= relativedelta(**{f"{unit}s": end.count - 1})  # type: ignore[arg-type]  # weeks or months
        except (ValueError, OverflowError):
            return too_early()
    else:
        first = beginning(last, unit)
    return (last if end.is_last else first).isoformat()


def last_units(
    given: Mapping[str, object], today: object, now: object
) -> tuple[StoredDay, StoredDay] | list[Problem]:
    """The start and the end of the last days, weeks or months: of one of these."""
    counts = {name: value for name, value in given.items() if value is not None}
    if len(counts) != 1:
        return refused("period-days", "give one of days, weeks and months", "last")
    ((name, value),) = counts.items()
    if name == "days":
        return last_days(value, today)
    count = int(whole_number(value, 1, _MOST_UNITS) or 0)
    if not count or today is not False:
        message = (
            f"{name} is a whole number from 1 to {_MOST_UNITS}, not {shown(value)}"
        )
        if count:
            message = f"the last {name} are whole ones, which don't end today: use days"
        return refused("period-days", message, "last")
    word, moment = f"last-{name.removesuffix('s')}", moment_of(now)
    first, last = (EndOfWord(word, moment, is_last, count) for is_last in (False, True))
    return first, last


def _period_of_text(text: str) -> tuple[StoredDay, StoredDay] | list[Problem]:
    match = _NAME.fullmatch(text)
    if match is None:
        return _no_period(text)
    year, week, quarter, month = match.groups()
    try:
        if week:
            first = date.fromisocalendar(int(year), int(week), 1)
            last = ending(first, "week")
        elif quarter:
            first = date(int(year), 3 * int(quarter) - 2, 1)
            last = ending(first.replace(month=3 * int(quarter)), "month")
        else:
            first = date(int(year), int(month or 1), 1)
            last = ending(first, "month" if month else "year")
    except (ValueError, OverflowError):
        return refused(
            "period-date",
            f"{shown(text)} is not in the calendar: give a period that exists",
            "during",
        )
    return first.isoformat(), last.isoformat()


def _period_of_span(value: object) -> tuple[StoredDay, StoredDay] | list[Problem]:
    first, last = getattr(value, "start_time", None), getattr(value, "end_time", None)
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return _no_period(value)
    if f"{first:%H:%M:%S} {last:%H:%M:%S}" != "00:00:00 23:59:59":
        return refused(
            "period-unit",
            f"{shown(value)} is not made of whole days: give a period that is",
            "during",
        )
    return first.date().isoformat(), last.date().isoformat()


def _no_period(value: object) -> list[Problem]:
    hint = did_you_mean(value, WORDS) if isinstance(value, str) else ""
    if isinstance(value, str) and days_back(str.__str__(value)) is not None:
        hint = f": use .on({shown(str.__str__(value))})"
    message = (
        "a year, quarter, month, week or day is '2026', '2026-Q1', '2026-03', "
        "'2026-W10', '2026-03-05', 'last-month', 'this-week' or "
        f"a date, not {shown(value)}{hint}"
    )
    return refused("period-unit", message, "during")


# --- a period, split --------------------------------------------------------------


def split(
    start: str | None, end: str | None, unit: object
) -> Iterator[tuple[str, str]]:
    """The first and last days of the units from *start* to *end*, in order.

    The first and the last unit are cut where the period begins and ends.

    Raises:
        QueryError: There is no such unit, or the period has words, and can't be
            split by them.
    """
    if not isinstance(unit, str) or unit not in UNITS:
        hint = did_you_mean(unit, UNITS) if isinstance(unit, str) else ""
        message = f"a unit is 'day', 'week', 'month' or 'year', not {shown(unit)}{hint}"
        raise QueryError(refused("period-unit", message, "each"))
    first, last = dates_of(start, end)
    if first is not None and last is not None:
        return _split_dates(first, last, unit)
    # The service's default for the end is today (section 4.3).
    back, until = days_back(start or ""), days_back(end or "today")
    if unit == "day" and back is not None and until is not None:
        days = map(placeholder, range(back, until - 1, -1))
        return ((name, name) for name in days)
    hint = ""
    if back is not None and until == 1 and unit in _DAYS_OF:
        count = max(1, round(back / _DAYS_OF[unit]))
        hint = f".last({unit}s={count}).each({unit!r}) for whole {unit}s, or "
    raise QueryError(
        refused(
            "period-words",
            f"the days of {written(start, end)} are not known here: give dates, or "
            f"use {hint}.pinned(website.timezone).each({unit!r})",
            "each",
        )
    )


def _split_dates(first: date, last: date, unit: str) -> Iterator[tuple[str, str]]:
    while True:
        try:
            end = min(ending(first, unit), last)
        except OverflowError:
            end = last
        yield first.isoformat(), end.isoformat()
        if end == last:
            return
        first = end + _DAY


def dates_of(
    start: str | None, end: str | None
) -> tuple[date, date] | tuple[None, None]:
    """The period as dates; None for both where it is not dates.

    Raises:
        QueryError: The end is before the start.
    """
    first, last = as_date(start), as_date(end)
    if first is None or last is None:
        return None, None
    # An address or extra_param may have set them, which are not compared.
    problems = order_problems(start, end)
    if problems:
        raise QueryError(problems)
    return first, last


def written(start: str | None, end: str | None) -> str:
    """A period as a message shows it, with the defaults of the service in words."""
    names = (start or "the service's default start", end or "today")
    return " to ".join(shown(name) if name in {start, end} else name for name in names)
