"""What people call time zones: the likely names of each, and names that mislead."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Final

from sitestats._base.zones import LONGEST_ZONE, find_zone, nearest_zone, zone_names
from sitestats._words import place_of_name, place_of_offset, zones_meant

_OFFSET: Final = re.compile(
    r"\(?(?:utc|gmt|z)?\s*([+\-\u2212])\s*(\d{1,2})(?::?([0-5]\d))?\)?"
)
"""An offset, such as ``GMT+1``, ``UTC+01:00`` or ``(UTC+05:30)``."""
_SEASONS: Final = re.compile(r"\b(standard|daylight|summer) ")
_IN_BRACKETS: Final = re.compile(r"\([^)]*\)")
_HOUR: Final = timedelta(hours=1)


@lru_cache(maxsize=1024)
def likely_zones(text: str) -> tuple[str, ...]:
    """The names that *text* likely means: an abbreviation, an offset, or a name in
    words or of Windows.

    >>> likely_zones("BST"), likely_zones("(UTC+01:00) Amsterdam, Berlin")
    (('Europe/London', 'Asia/Dhaka'), ('Europe/Amsterdam',))
    """
    if len(text) > LONGEST_ZONE:
        return ()
    name = " ".join(text.casefold().split())
    offset = _OFFSET.match(name)
    places = _IN_BRACKETS.sub("", name if offset is None else name[offset.end() :])
    if meant := zones_meant(_SEASONS.sub("", places.strip())):
        return tuple(meant.split())
    if name in _names_of_windows():
        return (_names_of_windows()[name],)
    for place in re.split(r"[,;/]", places):
        if (zone := nearest_zone(place.strip())) is not None:
            return (zone,)
    if offset is None or places.strip():
        return ()
    return _of_offset(*offset.groups())


@cache
def _names_of_windows() -> dict[str, str]:
    # It takes long to import, for what few programs need.
    from tzlocal.windows_tz import win_tz

    return {name.casefold(): zone for name, zone in win_tz.items()}


def _of_offset(sign: str, hours: str, minutes: str | None) -> tuple[str, ...]:
    """The place of an offset, and the name of the offset all year."""
    hour, minute = int(hours), minutes or "00"
    is_east = sign == "+" or hour == 0
    # The signs of these names are the other way round.
    sign, sign_of_name = ("+", "-") if is_east else ("-", "+")
    zones = [place_of_offset(f"{sign}{hour}:{minute}")]
    if minute == "00" and hour:
        zones.append(f"Etc/GMT{sign_of_name}{hour}")
    return tuple(zone for zone in zones if zone in zone_names())


# --- names that mislead -----------------------------------------------------------


@lru_cache(maxsize=1024)
def hidden_meaning(name: str) -> str | None:
    """What a valid *name* means, if it is not what many people mean by it.

    >>> hidden_meaning("Etc/GMT+1")
    "'Etc/GMT+1' is UTC-1: the signs of these names are reversed"
    >>> hidden_meaning("Europe/Paris")
    """
    zone = find_zone(name)
    if zone is None:
        return None
    if name == "Factory":
        return "'Factory' is UTC, and stands for a zone that nobody has chosen"
    winter, summer = (
        datetime(2026, month, 1, tzinfo=UTC).astimezone(zone).utcoffset()
        for month in (1, 7)
    )
    if name.startswith("Etc/GMT") and winter:
        return f"{name!r} is {_written(winter)}: the signs of these names are reversed"
    short = name.removeprefix("Etc/")
    place = "" if "/" in short else place_of_name(short)
    if not place:
        return None
    if winter == summer:
        meaning = f"{name!r} is {_written(winter)} all year"
    else:
        meaning = f"{name!r} is {_written(winter)}, and {_written(summer)} in summer"
    return f"{meaning}: better name a place, such as {place!r}"


def _written(offset: timedelta | None) -> str:
    """``UTC-5``, or ``UTC``."""
    hours = int((offset or timedelta()) / _HOUR)
    return f"UTC{hours:+d}" if hours else "UTC"
