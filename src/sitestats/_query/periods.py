"""Check and format days: dates, placeholders and time zones.

``start`` and ``end`` are each a date ``YYYY-MM-DD`` or a placeholder. The
document uses ``today``, ``yesterday`` and forms such as ``today-30d`` and has no
grammar, so other forms are sent by ``extra_param`` alone.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, TypeAlias

import attrs

from sitestats._common.errors import QueryError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, shown
from sitestats._common.zones import nearest_zone, zone_names

from .rules import TextOrProblems, refused
from .values import whole_number

Day: TypeAlias = date | str
"""A day: a ``date``, ``"2026-03-01"``, ``"today"``, ``"yesterday"``,
``"today-30d"``, or a ``datetime`` with a time zone."""


@attrs.frozen
class EndOfWord:
    """The first or the last day of a period that is named by a word.

    As a moment, it becomes a day in the query's zone.
    """

    word: str
    """Such as ``"last-month"``."""
    now: datetime
    """The moment of which it is, in UTC."""
    is_last: bool
    count: int = 1
    """How many units a word that begins with last has: the last 18 months are 18."""


StoredDay: TypeAlias = str | datetime | EndOfWord
"""The text of a day; or what becomes one in the query's zone: a moment in UTC, or an
end of a period that a word names."""

MOST_DAYS: Final = 99_999
"""How far back a placeholder goes: 273 years, which is a date in any year of
ours. The document states no bound."""

DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PERIOD: Final = re.compile(r"[0-9]{4}(-([0-9]{2}|Q[1-4]|W[0-9]{2}))?")
_BACK: Final = re.compile(r"today-(0|[1-9][0-9]{0,4})d")


def day(value: object, where: str) -> StoredDay | list[Problem]:
    """A day as it is stored, or its problems."""
    if isinstance(value, datetime):
        return _day_of_datetime(value, where)
    if isinstance(value, date):
        try:
            return date(value.year, value.month, value.day).isoformat()
        except Exception:  # noqa: BLE001 - a subclass may hold anything
            return _no_day(value, where)
    if isinstance(value, str):
        return _day_of_text(str.__str__(value), where)
    return _no_day(value, where)


def _day_of_datetime(value: datetime, where: str) -> StoredDay | list[Problem]:
    # pandas' NaT is a datetime that equals nothing, and its year is a float.
    if not isinstance(getattr(value, "year", None), int):
        return _no_day(value, where)
    if value.tzinfo is None:
        at_midnight = value.time() == time.min and getattr(value, "nanosecond", 0) == 0
        if at_midnight:
            return date(value.year, value.month, value.day).isoformat()
        return refused(
            "period-naive",
            f"{shown(value)} has a time of day and no time zone: give a date, or a "
            "datetime with a tzinfo",
            where,
        )
    moment = utc(value)
    return _no_day(value, where) if moment is None else moment


def _day_of_text(text: str, where: str) -> str | list[Problem]:
    if days_back(text) is not None:
        return text
    if not DATE.fullmatch(text):
        return _no_day(text, where)
    if as_date(text) is None:
        return refused(
            "period-date",
            f"{shown(text)} is not a day of the calendar: give one that exists",
            where,
        )
    return text


def _no_day(value: object, where: str) -> list[Problem]:
    hint = ""
    if isinstance(value, str):
        hint = did_you_mean(value, ("today", "yesterday", "today-30d"))
        if _PERIOD.fullmatch(value):
            hint = f" (the days of a period are set by .during({shown(value)}))"
    return refused(
        "period-day",
        "a day is a date, 'YYYY-MM-DD', 'today', 'yesterday' or 'today-Nd' with N "
        f"up to {MOST_DAYS}, not {shown(value)}{hint}; another form that the "
        "service takes can be sent by "
        f".extra_param({shown('end' if where == 'end' else 'start')}, …)",
        where,
    )


def as_date(text: str | None) -> date | None:
    """The date ``YYYY-MM-DD``, or None when *text* is none."""
    if text is None or not DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def days_back(text: str) -> int | None:
    """How many days before today a placeholder is, or None when it is none.

    >>> from sitestats._query.periods import days_back
    >>> days_back("today"), days_back("yesterday"), days_back("today-30d")
    (0, 1, 30)
    """
    if text == "today":
        return 0
    if text == "yesterday":
        return 1
    match = _BACK.fullmatch(text)
    return None if match is None else int(match[1])


def placeholder(days: int) -> str:
    """The placeholder for *days* before today."""
    return "today" if days == 0 else "yesterday" if days == 1 else f"today-{days}d"


def last_days(days: object, today: object) -> tuple[str, str] | list[Problem]:
    """The start and end of the last *days* whole days."""
    if not isinstance(today, bool):
        return refused(
            "period-days", f"today is True or False, not {shown(today)}", "last"
        )
    count = int(whole_number(days, 1, MOST_DAYS) or 0)
    if not count:
        return refused(
            "period-days",
            f"days is a whole number from 1 to {MOST_DAYS}, not {shown(days)}",
            "last",
        )
    if today:
        return placeholder(count - 1), "today"
    return f"today-{count}d", "yesterday"


def order_problems(start: StoredDay | None, end: StoredDay | None) -> list[Problem]:
    """The problem of an end before its start, where both can be compared.

    Whether a date is before a placeholder depends on today's date in a zone that
    may be the website's: that is left to the service.
    """
    if not isinstance(start, str) or not isinstance(end, str):
        return []
    first, final = days_back(start), days_back(end)
    if first is not None and final is not None:
        backwards = first < final
    else:
        # Dates of four, two and two digits sort as text.
        backwards = first is None and final is None and end < start
    if not backwards:
        return []
    return refused(
        "period-order",
        f"the end {end!r} is before the start {start!r}: swap them",
        "between",
    )


def in_zone(moment: datetime, zone: str | None, where: str) -> TextOrProblems:
    """The day of a *moment* in *zone*."""
    if zone is None:
        return refused(
            "period-zone",
            f"{moment.isoformat()} is a day only in a time zone: add "
            ".timezone('Europe/Amsterdam'), or give a date",
            where,
        )
    try:
        return moment.astimezone(zoneinfo.ZoneInfo(zone)).date().isoformat()
    except (OSError, ValueError, OverflowError, zoneinfo.ZoneInfoNotFoundError):
        return refused(
            "period-zone",
            f"{moment.isoformat()} can't be converted to the time zone "
            f"{shown(zone)}: give a date",
            where,
        )


def utc(value: datetime) -> datetime | None:
    """An aware datetime as a plain one in UTC; None if that is impossible.

    >>> from datetime import datetime, timedelta, timezone
    >>> from sitestats._query.periods import utc
    >>> utc(datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=2)))).day
    28
    """
    try:
        if value.utcoffset() is None:
            return None
        there = value.astimezone(UTC)
        # Not a subclass, such as pandas' Timestamp.
        return datetime.combine(there.date(), there.time(), UTC)
    except Exception:  # noqa: BLE001 - a tzinfo of the user's may raise anything
        return None


# --- time zones -----------------------------------------------------------------


def timezone(
    value: object,
    where: str = "timezone",
    rule: str = "timezone-name",
) -> TextOrProblems:
    """The name of a time zone."""
    text = str.__str__(value) if isinstance(value, str) else None
    if text is not None:
        if text in zone_names():
            return text
        if not zone_names():
            return refused(
                rule,
                "this machine has no time zone database to check the name with: "
                "pip install tzdata",
                where,
            )
    right = None if text is None else nearest_zone(text)
    return refused(
        rule,
        f"{shown(value)} is not a name of the tz database: "
        + (
            "name a place, such as 'Europe/Amsterdam'"
            if right is None
            else f"did you mean {right!r}?"
        ),
        where,
    )


# --- words as dates ---------------------------------------------------------------


def is_date(value: StoredDay | None) -> bool:
    """Whether a stored day is the same one tomorrow: a date, or of a moment."""
    return isinstance(value, (datetime, EndOfWord)) or as_date(value) is not None


def other_zone(zone: str | None, own: str | None) -> list[Problem]:
    """The problem of words that are days in a zone and are given another one."""
    return refused(
        "period-zone",
        f"the query's words are days in its own time zone, {shown(own)}, and not in "
        f"{shown(zone)}: use .pinned() without a zone",
        "pinned",
    )


def no_zone() -> list[Problem]:
    """The problem of words whose zone is not known."""
    return refused(
        "period-zone",
        "a word is a day only in a time zone: use .pinned(website.timezone)",
        "pinned",
    )


def pinned(
    start: str | None, end: str | None, zone: str, now: object
) -> tuple[str, str]:
    """The period from *start* to *end* as dates, as of *now* in *zone*.

    Without a start it begins one month ago, in a shorter month on its last day;
    without an end it ends today (section 8).

    Raises:
        QueryError: *now* is no moment, it has no day in *zone*, or the start or
            the end is neither a date nor a word that is documented.

    >>> from sitestats._query.periods import pinned
    >>> now = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
    >>> pinned("today-7d", None, "Europe/Amsterdam", now)
    ('2026-03-25', '2026-04-01')
    """
    from dateutil.relativedelta import relativedelta

    text = in_zone(moment_of(now), zone, "pinned")
    if not isinstance(text, str):
        raise QueryError(text)
    today = date.fromisoformat(text)
    try:
        first = _on(start, today) if start else today - relativedelta(months=1)
        last = _on(end or "today", today)
    except (ValueError, OverflowError):
        raise QueryError(too_early()) from None
    if first is None or last is None:
        raise QueryError(_no_day(start if first is None else end, "pinned"))
    return first.isoformat(), last.isoformat()


def moment_of(now: object) -> datetime:
    """The moment *now* in UTC; that of this machine's clock when None.

    Raises:
        QueryError: It is no moment.
    """
    moment = utc(now) if isinstance(now, datetime) else None
    if now is None or moment is not None:
        return moment or datetime.now(UTC)
    message = f"now is a datetime with a time zone, not {shown(now)}"
    raise QueryError(refused("period-naive", message, "now"))


def _on(text: str, today: date) -> date | None:
    """The date that a date or a word means; None where it is neither."""
    back = days_back(text)
    return as_date(text) if back is None else today - timedelta(days=back)


def too_early() -> list[Problem]:
    """The problem of a period before the first day of the calendar."""
    return refused(
        "period-date",
        "a day of this period, or of the one before, is too early for a date: use a "
        "later period",
        "between",
    )
