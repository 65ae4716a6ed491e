"""Dates, placeholders, time zones and histogram buckets (sections 4.3 and 8).

Rows have the microseconds since 1970. Only the moments at which the days, and the
entries of a histogram, begin depend on a time zone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final, Literal, TypeGuard
from zoneinfo import ZoneInfo, available_timezones

import attrs
from dateutil.relativedelta import MO, relativedelta

Interval = Literal["hour", "day", "week", "month", "year"]

DAY: Final = timedelta(days=1)
MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

# Every offset from UTC since 1972 is a multiple of this.
_QUARTER: Final = timedelta(minutes=15)

_INTERVALS: Final = {
    "day": (relativedelta(), relativedelta(days=1)),
    "week": (relativedelta(weekday=MO(-1)), relativedelta(weeks=1)),
    "month": (relativedelta(day=1), relativedelta(months=1)),
    "year": (relativedelta(month=1, day=1), relativedelta(years=1)),
}
"""How to find the beginning of an interval, and its length."""


def micros(moment: datetime) -> int:
    """The microseconds since 1970 of an aware datetime."""
    return (moment - _EPOCH) // MICROSECOND


def day_of(moment: int, zone: ZoneInfo) -> date:
    """The date that the clocks of *zone* show, from microseconds since 1970."""
    return (_EPOCH + moment * MICROSECOND).astimezone(zone).date()


@cache
def zone_names() -> frozenset[str]:
    """The names that the service accepts, which have capitals.

    Those of the package tzdata are the same on every machine.
    """
    # It takes long to import, for what not every program needs.
    from importlib import resources

    try:
        listed = resources.files("tzdata").joinpath("zones").read_text("utf-8")
    except (ImportError, OSError):
        names = available_timezones()
    else:
        names = {*listed.split()}
    return frozenset(name for name in names if name.lower() != name)


def is_zone(name: object) -> TypeGuard[str]:
    """Whether *name* is a valid time zone name (section 4.3)."""
    return isinstance(name, str) and name in zone_names()


def parse_day(text: str, today: date) -> date | None:
    """The day of a date or a placeholder; None for 30 February.

    It is None in the first and last year of the calendar too, whose days and weeks do
    not fit a datetime in every zone.
    """
    try:
        if text.startswith("today-"):
            day = today - timedelta(days=int(text[6:-1]))
        else:
            days = {"today": today, "yesterday": today - DAY}
            day = days.get(text) or date.fromisoformat(text)
    except (OverflowError, ValueError):
        return None
    return day if MINYEAR < day.year < MAXYEAR else None


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of *day* in *zone*, as a datetime in UTC.

    If summer time skips midnight, the first instant is later; if midnight comes
    twice, it is the first of the two.
    """
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


@attrs.frozen
class Period:
    """Whole days in one zone, from *first* to *last*, both included (section 8)."""

    first: date
    last: date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        """The first instant, in UTC."""
        return midnight(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """The first instant after the period, in UTC."""
        return midnight(self.last + DAY, self.zone)


@attrs.frozen
class Bucket:
    """An entry of the histogram, which ends where the next one begins."""

    start: datetime
    """When it begins, in UTC."""
    wall: datetime
    """The beginning of its hour, day, week, month or year by the clocks of the zone."""


def buckets(period: Period, interval: Interval) -> Iterator[Bucket]:
    """Every bucket of the period, including those without visits."""
    if interval == "hour":
        yield from _hours(period)
        return
    beginning, step = _INTERVALS[interval]
    day = period.first + beginning
    while day <= period.last:
        yield Bucket(midnight(day, period.zone), datetime.combine(day, time.min))
        day += step


def _hours(period: Period) -> Iterator[Bucket]:
    """The hours that the clocks of the zone show, twice if they are shown twice."""
    start, end, shown = period.start, period.end, None
    while start < end:
        wall = start.astimezone(period.zone)
        hour = wall.replace(minute=0, tzinfo=None), wall.utcoffset()
        if hour != shown:
            yield Bucket(start, hour[0])
        start, shown = start + _QUARTER, hour
