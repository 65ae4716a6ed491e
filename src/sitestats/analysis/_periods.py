"""The days that an answer is about, as its zone counts them."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from sitestats._stats import Stats


def zone_called(name: str) -> ZoneInfo:
    """The zone; UTC where the service knows one that this machine does not."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def days_of(stats: Stats) -> tuple[dt.date, dt.date] | None:
    """The first and the last day; None when the answer does not tell."""
    if stats.start is None or stats.end is None:
        return None
    zone = zone_called(stats.timezone or "UTC")
    try:
        return stats.start.astimezone(zone).date(), stats.end.astimezone(zone).date()
    except OverflowError:
        # In that zone it is a year that no date can hold: 0 or 10000.
        return None
