"""Dates, placeholders, time zones and histogram buckets (sections 4.3 and 8).

Time zones are computed only here: DuckDB gets the UTC offsets of a period and adds
them. So there is one time zone database, and each instant has one local time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Final, Literal, TypeGuard
from zoneinfo import ZoneInfo, available_timezones

import attrs
from dateutil.relativedelta import relativedelta

Interval = Literal["hour", "day", "week", "month", "year"]

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
SECOND: Final = timedelta(seconds=1)
FIRST: Final = date(1, 1, 2)
LAST: Final = date(9999, 12, 28)
"""The first and last day whose midnight and week fit a datetime in every zone."""

EARLIEST: Final = datetime.combine(FIRST, time.min)
LATEST: Final = datetime.combine(LAST, time.min)
EPOCH: Final = datetime.combine(date(1970, 1, 1), time.min)

_STEPS: Final[dict[Interval, timedelta | relativedelta]] = {
    "day": DAY,
    "week": 7 * DAY,
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAYS_AGO: Final = re.compile(r"today-(0|[1-9][0-9]*)d")


@cache
def zone_names() -> frozenset[str]:
    """Every name that the service accepts: those written with capitals."""
    return frozenset(name for name in available_timezones() if name.lower() != name)


def is_zone(name: object) -> TypeGuard[str]:
    """Whether *name* is a valid time zone name (section 4.3)."""
    return isinstance(name, str) and name in zone_names()


def parse_day(text: str, today: date) -> date | None:
    """The day that *text* names, or None if it is neither a date nor a placeholder."""
    named = {"today": today, "yesterday": today - DAY}
    try:
        if ago := _DAYS_AGO.fullmatch(text):
            return today - timedelta(days=int(ago[1]))
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except (OverflowError, ValueError):
        return None  # 30 February, or a day before the first year
    return named.get(text)


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


@attrs.frozen
class Stretch:
    """A part of a period with one UTC offset."""

    start: datetime
    """Naive, in UTC."""
    end: datetime
    """The first instant after it, naive in UTC."""
    offset: timedelta


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

    def stretches(
        self, since: datetime = EARLIEST, until: datetime = LATEST
    ) -> list[Stretch]:
        """The period, split at each change of the zone's offset.

        What lies before *since* or after *until* is left out, so that a period
        of centuries costs no more than the rows that exist.
        """
        start, end = max(self.start, since), min(self.end, until)
        if start >= end:
            return []
        found: list[Stretch] = []
        offset = _offset(start, self.zone)
        for year in range(max(start.year, 1800), min(end.year, 9990) + 1):
            for instant, new in _changes(self.zone, year):
                if start < instant < end:
                    found.append(Stretch(start, instant, offset))
                    start, offset = instant, new
        found.append(Stretch(start, end, offset))
        return found


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    offset = instant.replace(tzinfo=UTC).astimezone(zone).utcoffset()
    assert offset is not None
    return offset


@lru_cache(maxsize=4096)
def _changes(zone: ZoneInfo, year: int) -> tuple[tuple[datetime, timedelta], ...]:
    """Each change of the offset in a year, with the new offset."""
    found: list[tuple[datetime, timedelta]] = []
    # From the last second of the year before, as a change may fall on midnight.
    before = datetime.combine(date(year, 1, 1), time.min) - SECOND
    last = datetime.combine(date(year + 1, 1, 1), time.min) - SECOND
    offset = _offset(before, zone)
    while before < last:
        # No zone has changed twice within a day, so a day is a safe step.
        after = min(before + DAY, last)
        new = _offset(after, zone)
        if new != offset:
            found.append((_search(before, after, offset, zone), new))
        before, offset = after, new
    return tuple(found)


def _search(
    before: datetime, after: datetime, offset: timedelta, zone: ZoneInfo
) -> datetime:
    low, high = before, after
    while high - low > SECOND:
        middle = low + (high - low) // (2 * SECOND) * SECOND
        if _offset(middle, zone) == offset:
            low = middle
        else:
            high = middle
    return high


@attrs.frozen
class Bucket:
    """One entry of the histogram, by its start in local time.

    Hours have an offset, since at the end of summer time two of them have the same
    local time. It is None for other intervals.
    """

    wall: datetime
    offset: timedelta | None = None


def truncate(wall: datetime, interval: Interval) -> datetime:
    """The start of the interval that contains *wall*; weeks begin on Monday."""
    if interval == "hour":
        return wall.replace(minute=0, second=0, microsecond=0)
    day = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    if interval == "week":
        return day - timedelta(days=day.weekday())
    if interval == "month":
        return day.replace(day=1)
    if interval == "year":
        return day.replace(month=1, day=1)
    return day


def buckets(period: Period, interval: Interval) -> Iterator[Bucket]:
    """Every bucket of the period, including those without visits."""
    if interval == "hour":
        for stretch in period.stretches():
            wall = truncate(stretch.start + stretch.offset, "hour")
            while wall < stretch.end + stretch.offset:
                yield Bucket(wall, stretch.offset)
                wall += HOUR
        return
    first, last = max(period.first, FIRST), min(period.last, LAST)
    wall = truncate(datetime.combine(first, time.min), interval)
    step = _STEPS[interval]
    while wall.date() <= last:
        yield Bucket(wall)
        try:
            wall += step
        except (OverflowError, ValueError):
            return


def count(period: Period, interval: Interval) -> int:
    """About how many buckets the period has, estimated without making them."""
    days = (period.last - period.first).days + 1
    return {
        "hour": days * 24,
        "day": days,
        "week": days // 7,
        "month": days // 28,
        "year": days // 365,
    }[interval]
