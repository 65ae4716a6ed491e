"""Complete a result: work out what a response does not say of itself.

That is when the hours of a histogram begin, what the period cuts, what was not over yet
when the service responded, and whether the limit cut a list.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from msgspec.structs import replace

from sitestats._base.fields import NULLABLE, TableName
from sitestats._query.periods import beginning, ending
from sitestats._query.requested import Parameters
from sitestats._results.entries import Entries, HistogramEntry

from .checking import Period
from .structuring import Shape

_MOST_EVENTS: Final = 1000
"""The most events that a response has (section 8)."""
_HOUR: Final = dt.timedelta(hours=1)


def complete(
    body: Any,
    unread: Mapping[str, object],
    shape: Shape,
    parameters: Parameters,
    *,
    period: Period,
    responded_at: dt.datetime | None,
) -> dict[str, Any]:
    """What was requested and can be read of *body*, in the document's order.

    Args:
        body: The model of the response.
        unread: What has problems, by name.
        shape: What was requested.
        parameters: What the query sends.
        period: The period of the response.
        responded_at: When the service responded.
    """
    values: dict[str, Any] = {}
    for name in shape.names:
        value, kind = getattr(body, name), shape.entries.get(name)
        if value is None or (kind is None and name in unread):
            if name in NULLABLE and name not in unread:
                values[name] = None
        elif kind is None:
            values[name] = value
        else:
            zone = None
            if name == "histogram":
                zone = body.timezone or parameters.timezone
                value = _histogram(
                    value, kind, parameters.interval, period, responded_at
                )
            values[name] = Entries(
                value,
                name=cast("TableName", name),
                entry_type=kind,
                truncated=len(value) >= _most(name, parameters),
                incomplete=name in unread,
                timezone=zone,
                total_pageviews=body.pageviews,
                filters=parameters.filters,
            )
    return values


def _most(name: str, parameters: Parameters) -> float:
    """The most entries that the service sends of a list (section 8)."""
    if name == "histogram":
        return math.inf
    if name == "events":
        return _MOST_EVENTS if parameters.events == "*" else math.inf
    return parameters.limit


def _histogram(
    rows: Sequence[Any],
    kind: Any,
    interval: str | None,
    period: Period,
    responded_at: dt.datetime | None,
) -> list[HistogramEntry]:
    """The entries of a histogram, of this *kind*, in ascending order."""
    entries: list[HistogramEntry]
    if interval == "hour":
        entries = _hours(rows, kind, period.zone)
    elif interval == "week":
        entries = [
            kind(row.date, row.pageviews, row.visitors, year=row.year, week=row.week)
            for row in rows
        ]
    else:
        entries = [kind(row.date, row.pageviews, row.visitors) for row in rows]
    # The calendar ends in the year 9999, and a response may say anything.
    with suppress(OverflowError):
        if interval in {"week", "month", "year"}:
            _mark_clipped(entries, interval, period)
        is_open = responded_at and (period.end is None or responded_at < period.end)
        if responded_at and is_open and period.zone is not None:
            _mark_open(entries, interval, period.zone, responded_at)
    return entries


def _hours(
    rows: Sequence[Any], kind: Any, zone: dt.tzinfo | None
) -> list[HistogramEntry]:
    """The entries of hours, with their beginnings if the *zone* is known."""
    entries, last = list[HistogramEntry](), None
    for row in rows:
        start = None
        # At the ends of the calendar, other zones have no such moment.
        if zone is not None and dt.MINYEAR < row.date.year < dt.MAXYEAR:
            # The hour is the same as the one before: the clocks were turned back.
            fold = int((row.date, row.hour) == last)
            time = dt.time(row.hour, tzinfo=zone, fold=fold)
            start = dt.datetime.combine(row.date, time)
        entries.append(kind(row.date, row.pageviews, row.visitors, start, row.hour))
        last = row.date, row.hour
    return entries


def _mark_clipped(entries: list[HistogramEntry], interval: str, period: Period) -> None:
    if not entries:
        return
    first, last = period.first_day, period.last_day
    if first is not None and beginning(entries[0].date, interval) < first:
        entries[0] = replace(entries[0], clipped=True)
    if last is not None and ending(entries[-1].date, interval) > last:
        entries[-1] = replace(entries[-1], clipped=True)


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
