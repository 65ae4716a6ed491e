"""Dates, placeholders, time zones and histogram buckets (sections 4.3 and 8).

Time zones are those of ``zoneinfo`` everywhere: the database gets the moments at which
the entries of a histogram begin, and computes no local time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final, Literal, TypeGuard
from zoneinfo import ZoneInfo, available_timezones

import attrs
from dateutil.relativedelta import MO, relativedelta

Interval = Literal["hour", "day", "week", "month", "year"]

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
SECOND: Final = timedelta(seconds=1)
FIRST: Final = date(1, 1, 2)
LAST: Final = date(9999, 12, 28)
"""The first and last day whose midnight and week fit a datetime in every zone."""

_INTERVALS: Final = {
    "hour": (relativedelta(), relativedelta(hours=1), 1 / 24),
    "day": (relativedelta(), relativedelta(days=1), 1),
    "week": (relativedelta(weekday=MO(-1)), relativedelta(weeks=1), 7),
    "month": (relativedelta(day=1), relativedelta(months=1), 28),
    "year": (relativedelta(month=1, day=1), relativedelta(years=1), 365),
}
"""How to find the beginning of an interval; its length, exactly and in days."""


@cache
def zone_names() -> frozenset[str]:
    """The names that the service accepts, which have capitals."""
    return frozenset(name for name in available_timezones() if name.lower() != name)


def is_zone(name: object) -> TypeGuard[str]:
    """Whether *name* is a valid time zone name (section 4.3)."""
    return isinstance(name, str) and name in zone_names()


def parse_day(text: str, today: date) -> date | None:
    """The day of a date or a placeholder; None for 30 February, or before year 1."""
    try:
        if text.startswith("today-"):
            return today - timedelta(days=int(text[6:-1]))
        named = {"today": today, "yesterday": today - DAY}
        return named.get(text) or date.fromisoformat(text)
    except (OverflowError, ValueError):
        return None


def one_month_before(day: date) -> date:
    """The same day of the previous month, or that month's last day."""
    return day - relativedelta(months=1)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of *day* in *zone*, as a naive datetime in UTC.

    If summer time skips midnight, the first instant is later; if midnight comes
    twice, it is the first of the two.
    """
    day = min(max(day, FIRST), LAST + DAY)
    wall = datetime(day.year, day.month, day.day, tzinfo=zone)
    return wall.astimezone(UTC).replace(tzinfo=None)


def _local(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)


@attrs.frozen
class Period:
    """Whole days in one zone, from *first* to *last*, both included (section 8)."""

    first: date
    last: date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        """The first instant, naive in UTC."""
        return midnight(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """The first instant after the period, naive in UTC."""
        return midnight(min(self.last, LAST) + DAY, self.zone)


@attrs.frozen
class Bucket:
    """An entry of the histogram, which ends where the next one begins."""

    start: datetime
    """Naive, in UTC."""
    wall: datetime
    """The beginning of its hour, day, week, month or year by the clocks of the zone."""


def buckets(period: Period, interval: Interval) -> Iterator[Bucket]:
    """Every bucket of the period, including those without visits."""
    if interval == "hour":
        yield from _hours(period)
        return
    beginning, step, _ = _INTERVALS[interval]
    day = max(period.first, FIRST) + beginning
    while day <= min(period.last, LAST):
        yield Bucket(midnight(day, period.zone), datetime.combine(day, time.min))
        try:
            day += step
        except (OverflowError, ValueError):
            return


def _hours(period: Period) -> Iterator[Bucket]:
    start, end = period.start, period.end

    def ahead(seconds: int) -> timedelta:
        """The offset from UTC, this many *seconds* after *start*."""
        instant = start + seconds * SECOND
        return _local(instant, period.zone) - instant

    while start < end:
        wall = start + (offset := ahead(0))
        hour = wall.replace(minute=0, second=0, microsecond=0)
        yield Bucket(start, hour)
        rest = (hour + HOUR - wall) // SECOND
        if ahead(rest) != offset:
            # The clocks change, and a new entry begins.
            rest = next(n for n in range(1, rest + 1) if ahead(n) != offset)
        start += rest * SECOND


def count(period: Period, interval: Interval) -> int:
    """The approximate number of buckets, without making them."""
    days = (period.last - period.first).days + 1
    return int(days / _INTERVALS[interval][2])
