"""Histogram entries: read them, find when each begins and which are not over yet."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import attrs

from sitestats._common.fields import COUNTS
from sitestats._common.zones import find_zone
from sitestats._query.units import beginning, ending

from .entries import Entry, Incomplete, from_known

_LONG: Final = ("week", "month", "year")
"""Intervals that the ends of a period, which are days, may cut."""
_DAY: Final = dt.timedelta(days=1)
_NOTHING: Final = dt.timedelta(0)
_LONGEST_CHANGE: Final = dt.timedelta(hours=6)
"""More than any change of the clocks but those by a day, which repeat no hour."""
_LAST_SECOND: Final = dt.timedelta(minutes=59, seconds=59)


@attrs.frozen(weakref_slot=False, repr=False)
class HistogramEntry(Entry):
    """Page views and visitors of one hour, day, week, month or year.

    Section 2.3 names the histogram and leaves its entries open; these are the
    values that the service was seen to send, and three that are worked out:
    ``start``, ``partial`` and ``clipped``.

    >>> import datetime as dt
    >>> from sitestats import HistogramEntry
    >>> HistogramEntry(dt.date(2026, 11, 20), pageviews=3, visitors=2).partial
    False
    """

    columns: ClassVar[tuple[str, ...]] = (
        "date",
        "pageviews",
        "visitors",
        "partial",
        "clipped",
    )
    _label: ClassVar[str] = "HistogramEntry"

    date: dt.date
    """The day, or the day that the week, month or year is known by; in the zone
    of the response."""
    pageviews: int
    """Page views in this part of the period."""
    visitors: int
    """Visitors in this part of the period. A visitor may count in several
    parts, so adding them up gives too many."""
    start: dt.datetime | None = None
    """When an hour begins, in the zone of the response; None for other intervals
    and when the zone is not known. The hour that is repeated at the end of
    summer time is there twice, the second time with ``fold=1``. Where the clocks are
    changed within an hour, it begins then."""
    hour: int | None = None
    """From 0 to 23, None for other intervals."""
    year: int | None = None
    """The year that ``week`` belongs to; None where the response has none."""
    week: int | None = None
    """The week's number; None for other intervals."""
    partial: bool = attrs.field(default=False, eq=False)
    """Whether it was not over when the service responded, as the current day is
    when the period ends today: its counts will still grow. Entries with the same
    counts are equal all the same, as results are."""
    clipped: bool = False
    """Whether the period has only a part of this week, month or year, since it
    begins later or ends earlier: its counts are not those of the whole. False
    where that is not known."""

    def _shown_values(self) -> Iterator[tuple[str, Any]]:
        for name, value in super()._shown_values():
            if value is not None and value is not False:
                yield name, value


class HourEntry(HistogramEntry):
    """A ``HistogramEntry`` of an hour, whose table has a column for it."""

    __slots__ = ()

    columns: ClassVar[tuple[str, ...]] = (*HistogramEntry.columns, "start", "hour")


class WeekEntry(HistogramEntry):
    """A ``HistogramEntry`` of a week, whose table has a column for it."""

    __slots__ = ()

    columns: ClassVar[tuple[str, ...]] = (*HistogramEntry.columns, "year", "week")


def histogram_class(interval: str | None) -> type[HistogramEntry]:
    """The class of the entries of a histogram by *interval*."""
    return {"hour": HourEntry, "week": WeekEntry}.get(interval or "day", HistogramEntry)


class IncompleteHistogramEntry(Incomplete, HistogramEntry):
    """A ``HistogramEntry`` that lacks its day or a count."""

    __slots__ = ("_known",)

    columns: ClassVar[tuple[str, ...]] = (
        *HourEntry.columns,
        *WeekEntry.columns[len(HistogramEntry.columns) :],
    )

    date = from_known("date")
    start = from_known("start")
    hour = from_known("hour")
    year = from_known("year")
    week = from_known("week")
    partial = from_known("partial")
    clipped = from_known("clipped")

    def _compared(self) -> Mapping[str, Any]:
        return {n: value for n, value in self._known.items() if n != "partial"}


@attrs.frozen(weakref_slot=False)
class Bucket:
    """One entry of a histogram as the response has it."""

    date: dt.date | None = None
    pageviews: int | None = None
    visitors: int | None = None
    hour: int | None = None
    year: int | None = None
    week: int | None = None


def read_histogram(
    buckets: Sequence[Bucket],
    *,
    interval: str | None,
    timezone: str | None,
    period: tuple[dt.date | None, dt.date | None] = (None, None),
    end: dt.datetime | None,
    moment: dt.datetime | None,
) -> list[HistogramEntry]:
    """Make entries of *buckets*, which are in ascending order.

    Args:
        buckets: As they are in the response.
        interval: What was requested; None means by day.
        timezone: The zone that the response was made in.
        period: The first and the last day, each None where it is not known.
        end: The last moment of the period.
        moment: When the service responded; None marks no entry as partial.
    """
    zone = find_zone(timezone)
    starts = _starts(buckets, zone)
    first_partial = len(buckets)
    while moment is not None and first_partial > 0:
        last = first_partial - 1
        # Without a zone or a day the end of the period is all that is known,
        # which bounds the last entry alone.
        is_placed = zone is not None and buckets[last].date is not None
        if not is_placed and last < len(buckets) - 1:
            break
        over = _over(buckets[last], starts[last], interval, zone, end)
        if over is None or over <= moment:
            break
        first_partial = last
    kind = histogram_class(interval)
    return [
        _entry(
            kind,
            bucket,
            begin,
            partial=index >= first_partial,
            clipped=_clipped(bucket.date, interval, *period),
        )
        for index, (bucket, begin) in enumerate(zip(buckets, starts, strict=True))
    ]


def _clipped(
    date: dt.date | None,
    interval: str | None,
    first: dt.date | None,
    last: dt.date | None,
) -> bool:
    """Whether the period of these days has only a part of what *date* is in."""
    if date is None or interval not in _LONG:
        return False
    try:
        first_of_unit, last_of_unit = beginning(date, interval), ending(date, interval)
    except OverflowError:
        # At either end of the calendar.
        return False
    begins_before = first is not None and first_of_unit < first
    return begins_before or (last is not None and last_of_unit > last)


def _entry(
    kind: type[HistogramEntry],
    bucket: Bucket,
    start: dt.datetime | None,
    *,
    partial: bool,
    clipped: bool,
) -> HistogramEntry:
    date, pageviews, visitors = bucket.date, bucket.pageviews, bucket.visitors
    if date is not None and pageviews is not None and visitors is not None:
        return kind(
            date,
            pageviews,
            visitors,
            start,
            bucket.hour,
            bucket.year,
            bucket.week,
            partial,
            clipped,
        )
    known = {name: getattr(bucket, name) for name in attrs.fields_dict(Bucket)}
    for name in ("date", *COUNTS):
        if known[name] is None:
            del known[name]
    marks = {"start": start, "partial": partial, "clipped": clipped}
    return IncompleteHistogramEntry({**known, **marks})


def _starts(
    buckets: Sequence[Bucket], zone: dt.tzinfo | None
) -> list[dt.datetime | None]:
    starts: list[dt.datetime | None] = []
    previous = dt.datetime.min.replace(tzinfo=dt.UTC)
    for bucket in buckets:
        try:
            moments = _moments(bucket, zone)
            # An hour that comes again, after the clocks were turned back, began later.
            following = (moment for moment in moments if moment > previous)
            previous = next(following, moments[0]) if moments else previous
            starts.append(previous.astimezone(zone) if moments else None)
        except (ValueError, OverflowError):
            # No hour, or one that UTC can't express, which fits into no frame.
            starts.append(None)
    return starts


def _moments(bucket: Bucket, zone: dt.tzinfo | None) -> list[dt.datetime]:
    """When the hour begins, in UTC, each time that the clocks show it."""
    if bucket.date is None or bucket.hour is None or zone is None:
        return []
    first = dt.datetime.combine(bucket.date, dt.time(bucket.hour))
    # Of no change nearby nothing else is to be looked at.
    near = first.replace(tzinfo=zone).astimezone(dt.UTC)
    offsets = {
        (near + side * _LONGEST_CHANGE).astimezone(zone).utcoffset() or _NOTHING
        for side in (-1, 1)
    }
    begins = [(first - offset).replace(tzinfo=dt.UTC) for offset in offsets]
    if len(offsets) == 1:
        return begins
    moments: list[dt.datetime] = []
    for begin, offset in zip(begins, offsets, strict=True):
        if _has_offset(begin, zone, offset):
            moments.append(begin)
        elif _has_offset(begin + _LAST_SECOND, zone, offset):
            # The clocks are changed within the hour.
            seconds = bisect_left(
                range(3600),
                True,  # noqa: FBT003 - the value to find
                key=lambda n: _has_offset(begin + dt.timedelta(0, n), zone, offset),
            )
            moments.append(begin + dt.timedelta(seconds=seconds))
    return sorted(moments) or [min(begins)]


def _has_offset(moment: dt.datetime, zone: dt.tzinfo, offset: dt.timedelta) -> bool:
    return moment.astimezone(zone).utcoffset() == offset


def _over(
    bucket: Bucket,
    start: dt.datetime | None,
    interval: str | None,
    zone: dt.tzinfo | None,
    end: dt.datetime | None,
) -> dt.datetime | None:
    """From when on no count of *bucket* changes; None when that is not known."""
    if zone is None or bucket.date is None:
        return end
    try:
        if start is not None:
            # One that begins at a change of the clocks may be shorter.
            over = start.astimezone(dt.UTC) + dt.timedelta(minutes=60 - start.minute)
        else:
            # A week that the period cuts may be known by the period's first day.
            following = ending(bucket.date, interval) + _DAY
            midnight = dt.datetime.combine(following, dt.time(tzinfo=zone))
            over = midnight.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        # Close to the year 9999.
        return end
    # A bucket may reach beyond the period, as a week does, but nothing that
    # came after the period counts in it.
    return over if end is None else min(over, end)
