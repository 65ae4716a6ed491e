"""Time zones by their names: find one, and whether two are the same."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

LONGEST_ZONE: Final = 64
"""No zone's name has more characters."""


def find_zone(name: str | None) -> ZoneInfo | None:
    """The time zone; None where the service knows one that this machine does not."""
    if name is None or len(name) > LONGEST_ZONE:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


@cache
def zone_names() -> frozenset[str]:
    """The names of the tz database, in their exact case.

    Listing them walks through some 600 files, so it is done when a name is first
    checked. ``localtime`` is there on some machines and is no name: those have
    capitals (section 4.3).
    """
    return frozenset(name for name in available_timezones() if name != name.lower())


_SAMPLES: Final = (datetime(1880, 1, 1, tzinfo=UTC), timedelta(days=14), 4500)
"""The moments at which two zones are compared: until 2052, when the rules repeat."""


def same_zone(first: str | None, second: str | None) -> bool:
    """Whether two names are of one zone, as ``Asia/Katmandu`` and ``Asia/Kathmandu``.

    The standard library does not tell which names are links, so the offsets are
    compared over the years. Zones with the same ones have the same days.
    """
    one, other = find_zone(first), find_zone(second)
    if first == second or one is None or other is None:
        return first == second
    return _offsets(one) == _offsets(other)


@lru_cache(maxsize=16)
def _offsets(zone: ZoneInfo) -> tuple[timedelta | None, ...]:
    start, step, count = _SAMPLES
    moments = (start + step * number for number in range(count))
    return tuple(moment.astimezone(zone).utcoffset() for moment in moments)


def common_zone(names: Collection[str | None]) -> str:
    """The zone of a column of moments: where rows differ, or have none, it is UTC."""
    zones = {find_zone(name) for name in names if name is not None}
    zone = zones.pop() if len(zones) == 1 else None
    return "UTC" if zone is None else zone.key
