"""Histogram entries: when each begins, which are cut, and which are not over yet."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import ClassVar, Final

import msgspec
from msgspec.structs import replace

from sitestats._query.periods import beginning, ending

from .entries import Entry

_HOUR: Final = dt.timedelta(hours=1)
_HOURS: Final = 24


class HistogramEntry(
    Entry, msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True
):
    """Page views and visitors of one hour, day, week, month or year.

    Section 2.3 names the histogram and does not describe its entries. These are the
    values that the service sends, and three that this package works out: ``start``,
    ``partial`` and ``clipped``.

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

    date: dt.date
    """The day, or the day that names the week, month or year; in the zone of the
    response."""
    pageviews: int
    """Page views in this part of the period."""
    visitors: int
    """Visitors in this part of the period. A visitor may count in several
    parts, so adding them up gives too many."""
    start: dt.datetime | None = None
    """When an hour begins, in the zone of the response; None for other intervals
    and when the zone is not known. The hour that is repeated at the end of
    summer time has two entries, the second one with ``fold=1``."""
    hour: int | None = None
    """From 0 to 23, None for other intervals."""
    year: int | None = None
    """The year that ``week`` belongs to; None for other intervals."""
    week: int | None = None
    """The week's number; None for other intervals."""
    partial: bool = False
    """Whether it was not over when the service responded, as the current day is
    when the period ends today: its counts will still grow."""
    clipped: bool = False
    """Whether the period has only a part of this week, month or year, so that the
    counts are not those of the whole. False where that is not known."""


class HourEntry(HistogramEntry, frozen=True, gc=False):
    """A ``HistogramEntry`` of an hour, whose table has a column for it."""

    columns: ClassVar[tuple[str, ...]] = (*HistogramEntry.columns, "start", "hour")


class WeekEntry(HistogramEntry, frozen=True, gc=False):
    """A ``HistogramEntry`` of a week, whose table has a column for it."""

    columns: ClassVar[tuple[str, ...]] = (*HistogramEntry.columns, "year", "week")


def histogram_class(interval: str | None) -> type[HistogramEntry]:
    """The class of the entries of a histogram by *interval*."""
    return {"hour": HourEntry, "week": WeekEntry}.get(interval or "day", HistogramEntry)


def mark_entries(
    entries: Sequence[HistogramEntry],
    interval: str | None,
    zone: dt.tzinfo | None,
    days: tuple[dt.date | None, dt.date | None],
    open_at: dt.datetime | None,
) -> list[HistogramEntry]:
    """The *entries* with what is worked out: the start of an hour, what is cut by the
    period, and what was not over yet.

    Args:
        entries: As they are in the response, in ascending order.
        interval: What was requested; None means by day.
        zone: That of the response; None where it is not known.
        days: The first and the last day of the period, None where not known.
        open_at: When the service responded, if the period was not over then.
    """
    marked = [*entries]
    # The calendar ends in the year 9999, and a response may say anything.
    with suppress(OverflowError):
        if interval == "hour" and zone is not None:
            marked = [*_with_starts(entries, zone)]
        if interval in {"week", "month", "year"} and marked:
            # Only the first and the last can be cut.
            for place in {0, len(marked) - 1}:
                if _is_cut(marked[place].date, interval, *days):
                    marked[place] = replace(marked[place], clipped=True)
        if open_at is not None and zone is not None:
            _mark_open(marked, interval, zone, open_at)
    return marked


def _with_starts(
    entries: Sequence[HistogramEntry], zone: dt.tzinfo
) -> Iterator[HistogramEntry]:
    last: tuple[dt.date, int | None] | None = None
    for entry in entries:
        this = entry.date, entry.hour
        if entry.hour is not None and 0 <= entry.hour < _HOURS:
            # An hour that follows itself comes again: the clocks were turned back.
            time = dt.time(entry.hour, tzinfo=zone, fold=int(this == last))
            yield replace(entry, start=dt.datetime.combine(entry.date, time))
        else:
            yield entry
        last = this


def _is_cut(
    date: dt.date, interval: str, first: dt.date | None, last: dt.date | None
) -> bool:
    if first is not None and beginning(date, interval) < first:
        return True
    return last is not None and ending(date, interval) > last


def _mark_open(
    entries: list[HistogramEntry],
    interval: str | None,
    zone: dt.tzinfo,
    open_at: dt.datetime,
) -> None:
    today = open_at.astimezone(zone).date()
    for place in reversed(range(len(entries))):
        entry = entries[place]
        is_over = ending(entry.date, interval) < today
        if entry.start is not None:
            is_over = entry.start.astimezone(dt.UTC) + _HOUR <= open_at
        if is_over:
            return
        entries[place] = replace(entry, partial=True)
