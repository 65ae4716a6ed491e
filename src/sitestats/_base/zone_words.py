"""What people call time zones: the likely names of each, and names that mislead."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Final

from sitestats._base.zones import LONGEST_ZONE, find_zone, nearest_zone, zone_names

_OFFSET: Final = re.compile(
    r"\(?(?:utc|gmt|z)?\s*([+\-\u2212])\s*(\d{1,2})(?::?([0-5]\d))?\)?"
)
"""An offset, such as ``GMT+1``, ``UTC+01:00`` or ``(UTC+05:30)``."""
_OF_OFFSETS: Final = {
    "-10:00": "Pacific/Honolulu",
    "-9:00": "America/Anchorage",
    "-8:00": "America/Los_Angeles",
    "-7:00": "America/Denver",
    "-6:00": "America/Chicago",
    "-5:00": "America/New_York",
    "-4:00": "America/Halifax",
    "-3:30": "America/St_Johns",
    "-3:00": "America/Sao_Paulo",
    "+0:00": "Europe/London",
    "+1:00": "Europe/Paris",
    "+2:00": "Europe/Athens",
    "+3:00": "Europe/Istanbul",
    "+3:30": "Asia/Tehran",
    "+4:00": "Asia/Dubai",
    "+4:30": "Asia/Kabul",
    "+5:00": "Asia/Karachi",
    "+5:30": "Asia/Kolkata",
    "+5:45": "Asia/Kathmandu",
    "+6:00": "Asia/Dhaka",
    "+6:30": "Asia/Yangon",
    "+7:00": "Asia/Bangkok",
    "+8:00": "Asia/Shanghai",
    "+9:00": "Asia/Tokyo",
    "+9:30": "Australia/Adelaide",
    "+10:00": "Australia/Sydney",
    "+12:00": "Pacific/Auckland",
    "+13:00": "Pacific/Tongatapu",
}
"""A large place of each offset outside summer."""
_OF_WORDS: Final = {
    "acdt": "Australia/Adelaide",
    "acst": "Australia/Adelaide",
    "adt": "America/Halifax",
    "aedt": "Australia/Sydney",
    "aest": "Australia/Sydney",
    "akdt": "America/Anchorage",
    "akst": "America/Anchorage",
    "alaska time": "America/Anchorage",
    "ast": "America/Halifax",
    "atlantic time": "America/Halifax",
    "awst": "Australia/Perth",
    "british time": "Europe/London",
    "brt": "America/Sao_Paulo",
    "bst": "Europe/London Asia/Dhaka",
    "cat": "Africa/Maputo",
    "cdt": "America/Chicago",
    "central europe time": "Europe/Paris",
    "central european time": "Europe/Paris",
    "central time": "America/Chicago",
    "cest": "Europe/Paris",
    "cst": "America/Chicago Asia/Shanghai",
    "ct": "America/Chicago",
    "eastern europe time": "Europe/Athens",
    "eastern european time": "Europe/Athens",
    "eastern time": "America/New_York",
    "eat": "Africa/Nairobi",
    "edt": "America/New_York",
    "eest": "Europe/Athens",
    "et": "America/New_York",
    "greenwich mean time": "Europe/London",
    "gst": "Asia/Dubai",
    "hawaii time": "Pacific/Honolulu",
    "hdt": "Pacific/Honolulu",
    "hkt": "Asia/Hong_Kong",
    "ict": "Asia/Bangkok",
    "idt": "Asia/Jerusalem",
    "irish time": "Europe/Dublin",
    "ist": "Asia/Kolkata Europe/Dublin Asia/Jerusalem",
    "japan time": "Asia/Tokyo",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "mdt": "America/Denver",
    "mountain time": "America/Denver",
    "msk": "Europe/Moscow",
    "mt": "America/Denver",
    "ndt": "America/St_Johns",
    "newfoundland time": "America/St_Johns",
    "nst": "America/St_Johns",
    "nzdt": "Pacific/Auckland",
    "nzst": "Pacific/Auckland",
    "pacific time": "America/Los_Angeles",
    "pdt": "America/Los_Angeles",
    "pht": "Asia/Manila",
    "pkt": "Asia/Karachi",
    "pst": "America/Los_Angeles",
    "pt": "America/Los_Angeles",
    "sast": "Africa/Johannesburg",
    "sgt": "Asia/Singapore",
    "trt": "Europe/Istanbul",
    "wat": "Africa/Lagos",
    "western european time": "Europe/Lisbon",
    "wib": "Asia/Jakarta",
}
"""Abbreviations, and names in words without "standard", "daylight" and "summer"; with
several zones, each of them may be meant."""
_SEASONS: Final = re.compile(r"\b(standard|daylight|summer) ")
_IN_BRACKETS: Final = re.compile(r"\([^)]*\)")
_OF_A_PLACE: Final = {
    "EST": "America/New_York",
    "EST5EDT": "America/New_York",
    "CST6CDT": "America/Chicago",
    "MST": "America/Denver",
    "MST7MDT": "America/Denver",
    "PST8PDT": "America/Los_Angeles",
    "HST": "Pacific/Honolulu",
    "CET": "Europe/Paris",
    "MET": "Europe/Paris",
    "EET": "Europe/Athens",
    "WET": "Europe/Lisbon",
    "GMT": "Europe/London",
    "GMT0": "Europe/London",
    "GMT+0": "Europe/London",
    "GMT-0": "Europe/London",
    "Greenwich": "Europe/London",
}
"""Valid names that are no place, and a place that people mean by each."""
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
    if found := _of_words(places.strip()) or _of_windows(name):
        return found
    for place in re.split(r"[,;/]", places):
        if (zone := nearest_zone(place.strip())) is not None:
            return (zone,)
    if offset is None or places.strip():
        return ()
    return _of_offset(*offset.groups())


def _of_words(name: str) -> tuple[str, ...]:
    zones = _OF_WORDS.get(_SEASONS.sub("", name), "")
    return tuple(zones.split())


def _of_windows(name: str) -> tuple[str, ...]:
    zone = _names_of_windows().get(name)
    return () if zone is None else (zone,)


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
    zones = [_OF_OFFSETS.get(f"{sign}{hour}:{minute}", "")]
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
    if name.removeprefix("Etc/") not in _OF_A_PLACE:
        return None
    place = _OF_A_PLACE[name.removeprefix("Etc/")]
    if winter == summer:
        meaning = f"{name!r} is {_written(winter)} all year"
    else:
        meaning = f"{name!r} is {_written(winter)}, and {_written(summer)} in summer"
    return f"{meaning}: better name a place, such as {place!r}"


def _written(offset: timedelta | None) -> str:
    """``UTC-5``, or ``UTC``."""
    hours = int((offset or timedelta()) / _HOUR)
    return f"UTC{hours:+d}" if hours else "UTC"
