"""Check the period of a response against its query, and find its days."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import attrs

from sitestats._common.text import shown
from sitestats._common.zones import LONGEST_ZONE, find_zone
from sitestats._query.periods import as_date, days_back
from sitestats._query.requested import Requested
from sitestats._query.units import beginning, ending
from sitestats._results.histogram import Bucket

_DAY: Final = dt.timedelta(days=1)
_HOUR: Final = dt.timedelta(hours=1)
"""How far a bound may be from midnight: an end was seen an hour late, with summer
time (section 8 has whole days)."""
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ENDS: Final = (dt.MINYEAR, dt.MAXYEAR)
"""The years of which some days have no moment in UTC in some zone."""


@attrs.frozen
class _Bound:
    """The start or the end of the response's period."""

    day: dt.date
    """Its day in the response's zone."""
    is_end: bool
    exact: bool = True
    """False where the zone is not known: *day* may be off by one then."""
    moment: dt.datetime | None = None
    zone: dt.tzinfo | None = None

    def fits(self, wanted: dt.date | None) -> bool:
        """Whether it may be the bound of a period that starts or ends on *wanted*;
        True where that can't be known.
        """
        if wanted is None or wanted.year in _ENDS or self.day == wanted:
            return True
        if not self.exact:
            return abs(self.day - wanted) <= _DAY
        if self.moment is None:
            return False
        # The days that a zone skipped begin and end at the same midnight.
        midnight = dt.datetime.combine(
            wanted + _DAY * self.is_end, dt.time(tzinfo=self.zone)
        )
        return abs(midnight.astimezone(dt.UTC) - self.moment) <= _HOUR


@attrs.frozen
class Period:
    """The period of a response, None where it has no such moment or day."""

    start: dt.datetime | None
    """In UTC, as the end."""
    end: dt.datetime | None
    days: tuple[dt.date | None, dt.date | None]
    """The first and last day, in the response's zone."""
    differences: tuple[str, ...]
    """How it differs from the one that was requested."""


def _read_moment(text: str | None) -> dt.datetime | None:
    if text is None or len(text) > LONGEST_ZONE:
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
        # Moments end in Z; one without a zone is taken as UTC too.
        if moment.tzinfo is None:
            return moment.replace(tzinfo=dt.UTC)
        return moment.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def _bound(text: str | None, zone: dt.tzinfo | None, *, is_end: bool) -> _Bound | None:
    moment = _read_moment(text)
    if text is None or moment is None or moment.year in _ENDS:
        return None
    if _DATE.fullmatch(text):
        return _Bound(moment.date(), is_end)
    if zone is None or dt.datetime.fromisoformat(text).tzinfo is None:
        return _Bound(moment.date(), is_end, exact=False)
    within = moment - _HOUR if is_end else moment + _HOUR
    return _Bound(within.astimezone(zone).date(), is_end, moment=moment, zone=zone)


def read_period(
    data: Mapping[str, Any], requested: Requested, responded_at: dt.datetime | None
) -> Period:
    """The period of *data*, compared with the one that was requested.

    Only what is certain differs: dates are compared in the response's zone, words
    (``today-7d``) by the response's own date, or else by the length of the period.

    A requested date that fits is taken as it is: a day that the zone skipped has no
    moments to be known by. So is one that the response says nothing about.
    """
    name = data.get("timezone") or requested.timezone
    # Without an end the period ends today (section 4.3).
    first, last = requested.params.get("start"), requested.params.get("end", "today")
    if last[:1].isdigit() and (first is None or first[:1].isdigit()):
        responded_at = None
    # What is too long to be stored as the key of a cache is no moment and no zone.
    texts = (data.get("start"), data.get("end"), name)
    cut = [text and text[: LONGEST_ZONE + 1] for text in texts]
    return _period(*cut, first, last, responded_at)


# Many responses have the same period, and some zones take long to look at.
@lru_cache(maxsize=256)
def _period(  # noqa: PLR0917 - a cache's key
    start_text: str | None,
    end_text: str | None,
    name: str | None,
    wanted_start: str | None,
    wanted_end: str,
    responded_at: dt.datetime | None,
) -> Period:
    zone = find_zone(name)
    place = name if zone or (name and len(name) <= LONGEST_ZONE) else "UTC"
    start = _bound(start_text, zone, is_end=False)
    end = _bound(end_text, zone, is_end=True)
    todays = _todays(responded_at, zone)
    found: list[str] = []
    for bound, text, verb in (
        (start, wanted_start, "starts"),
        (end, wanted_end, "ends"),
    ):
        if bound is None or text is None:
            continue
        if not any(bound.fits(day) for day in _days(text, todays)):
            found.append(
                f"the response's period {verb} on {bound.day} in {place}, but "
                f"{shown(text)} was requested"
            )
    length = _length(wanted_start, wanted_end)
    if not found and start and end and length is not None:
        firsts = [start.day + _DAY * days for days in (-1, 0, 1)]
        if not any(start.fits(day) and end.fits(day + length) for day in firsts):
            found.append(
                f"the response's period is {start.day} to {end.day} in "
                f"{place}, but {shown(wanted_start)} to {shown(wanted_end)} "
                f"was requested, which has {length.days + 1} days"
            )
    moments = _read_moment(start_text), _read_moment(end_text)
    texts = ("start", start_text), ("end", end_text)
    for (which, text), moment in zip(texts, moments, strict=True):
        if text is not None and moment is None:
            found.append(f"the response's {which!r} is no date: {shown(text)}")
    first, last = as_date(wanted_start), as_date(wanted_end)
    days = _period_day(start, first), _period_day(end, last)
    return Period(*moments, days, tuple(found))


def _period_day(bound: _Bound | None, wanted: dt.date | None) -> dt.date | None:
    if bound is None or (wanted is not None and bound.fits(wanted)):
        return wanted
    return bound.day if bound.exact else None


def _todays(
    responded_at: dt.datetime | None, zone: dt.tzinfo | None
) -> frozenset[dt.date]:
    """The days that the service may have taken for today; none where not known."""
    if responded_at is None or responded_at.year in _ENDS:
        return frozenset()
    # The document does not say which zone's today is meant, and midnight may have
    # passed while the service made the response.
    moments = [responded_at - _HOUR, responded_at, responded_at + _HOUR]
    if zone is None:
        moments += [responded_at - _DAY, responded_at + _DAY]
    return frozenset(
        moment.astimezone(there).date()
        for moment in moments
        for there in (dt.UTC, zone or dt.UTC)
    )


def _days(text: str, todays: Iterable[dt.date]) -> list[dt.date | None]:
    """The days that *text* may mean, None where that is not known."""
    days = days_back(text)
    if days is not None:
        try:
            return [today - _DAY * days for today in todays] or [None]
        except OverflowError:
            return [None]
    return [as_date(text)]


def _length(start: str | None, end: str) -> dt.timedelta | None:
    """From the first day to the last one, where both are words."""
    first = None if start is None else days_back(start)
    last = days_back(end)
    return None if first is None or last is None else _DAY * (first - last)


def most_days(requested: Requested, received: dt.datetime | None) -> int | None:
    """How many days were requested, None where that is not known."""
    # Without a start the period is a month (section 4.3).
    first = requested.params.get("start", "today-31d")
    last = requested.params.get("end", "today")
    length = _length(first, last)
    if length is None:
        # By this machine's clock: the service could claim any year.
        todays = [] if received is None else [received.date()]
        start, end = (_days(text, todays)[0] for text in (first, last))
        length = None if start is None or end is None else end - start
    return None if length is None else length.days + 1


def histogram_warnings(data: Mapping[str, Any], requested: Requested) -> Iterator[str]:
    """Which entries of the histogram are outside of the period."""
    buckets: Iterable[Bucket] = data.get("histogram", ())
    dates = [bucket.date for bucket in buckets if bucket.date is not None]
    if not dates:
        return
    zone = find_zone(data.get("timezone") or requested.timezone)
    params = requested.params
    starts = _edges(data.get("start"), params.get("start"), zone, is_end=False)
    ends = _edges(data.get("end"), params.get("end"), zone, is_end=True)
    first, last = min(starts, default=None), max(ends, default=None)
    low, high = _widened(first, last, requested.interval)
    outside = [date for date in dates if not low <= date <= high]
    if outside:
        period = f"{first or '…'} to {last or '…'}"
        yield (
            f"{len(outside)} of {len(dates)} entries of the histogram are outside of "
            f"the period {period}, such as {outside[0]}"
        )


def _edges(
    text: str | None, wanted: str | None, zone: dt.tzinfo | None, *, is_end: bool
) -> Iterator[dt.date]:
    """Days of the period at its start or end; the entries may go up to each."""
    date = as_date(wanted)
    if date is not None:
        yield date
    bound = _bound(text, zone, is_end=is_end)
    if bound is None:
        return
    if not bound.exact:
        yield bound.day + (_DAY if is_end else -_DAY)
    elif bound.moment is None:
        yield bound.day
    else:
        # An end that is an hour late may have brought an hour of the next day.
        yield bound.moment.astimezone(bound.zone).date()
        # A day that the zone skipped may have an entry, which is empty.
        beyond = bound.moment + (_HOUR if is_end else -_HOUR)
        day = beyond.astimezone(bound.zone).date()
        yield day - _DAY if is_end else day + _DAY


def _widened(
    first: dt.date | None, last: dt.date | None, interval: str | None
) -> tuple[dt.date, dt.date]:
    """The days that entries by *interval* may be known by."""
    low, high = first or dt.date.min, last or dt.date.max
    if interval in {"month", "year"}:
        return beginning(low, interval), ending(high, interval)
    if interval == "week":
        # The document does not say on which day weeks begin.
        low = max(low, dt.date.min + 6 * _DAY) - 6 * _DAY
        high = min(high, dt.date.max - 6 * _DAY) + 6 * _DAY
    return low, high
