"""Time zones by their names: find one, suggest one, and whether two are the same."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, available_timezones

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

LONGEST_ZONE: Final = 64
"""No zone's name has more characters."""
NO_PACKAGE: Final = (
    "this machine may not know every name, since a package is missing: "
    "pip install tzdata"
)
"""What to do where a name is unknown and there are no ``packaged_names``."""


def find_zone(name: str | None) -> ZoneInfo | None:
    """The time zone; None where the service knows one that this machine does not."""
    try:
        return None if name is None else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


@cache
def zone_names() -> frozenset[str]:
    """The names of the tz database in their exact case, as the package tzdata has them.

    So they are the same on every machine: a slim container has no database of its own,
    and Debian 13 and Ubuntu 24.04 lack older names, such as ``Asia/Calcutta``. Where a
    distribution left the package out, its own names count. Some list ``localtime``,
    which is not a name: names have capitals (section 4.3).
    """
    names = packaged_names() or available_timezones()
    return frozenset(name for name in names if name != name.lower())


@cache
def packaged_names() -> frozenset[str]:
    """The names in the package tzdata; none if it is not installed."""
    try:
        return frozenset(_package().joinpath("zones").read_text("utf-8").split())
    except (ImportError, OSError):
        return frozenset()


def _package() -> Traversable:
    # It takes long to import, for what not every program needs.
    from importlib import resources

    return resources.files("tzdata")


_NO_PLACES: Final = (
    "Brazil/",
    "Canada/",
    "Etc/",
    "Mexico/",
    "US/",
    "Australia/ACT",
    "Australia/LHI",
    "Australia/N",
    "Australia/South",
    "Australia/West",
)


@cache
def _names_as_written() -> dict[str, tuple[str, ...]]:
    """Names that a text without capitals, or also without its region, stands for."""
    places: dict[str, tuple[str, ...]] = {}
    for name in sorted(zone_names()):
        place = name.casefold().partition("/")[2]
        if place and not name.startswith(_NO_PLACES):
            places[place] = (*places.get(place, ()), name)
    return places | {name.casefold(): (name,) for name in zone_names()}


@lru_cache(maxsize=1024)
def nearest_zone(text: str) -> str | None:
    """The name that *text* certainly means, or None.

    It is in another case, without its region, with blanks for ``_``, or has one letter
    of a name with a region missing, too many, wrong or at another place. A likely name
    would be a trap: ``CEST`` is not ``EST``, and a website's time zone can't be changed
    after it was added.

    >>> nearest_zone("new york"), nearest_zone("Europe/Amsterdm"), nearest_zone("CEST")
    ('America/New_York', 'Europe/Amsterdam', None)
    """
    if len(text) > LONGEST_ZONE:
        return None
    folded = "_".join(text.casefold().split())
    near = {name for part in _parts(folded) for name in _names_by_part().get(part, ())}
    names = _names_as_written().get(folded) or sorted(near)
    is_one = names and all(same_zone(names[0], name) for name in names[1:])
    return names[-1] if is_one else None


@cache
def _names_by_part() -> dict[str, set[str]]:
    """The names with a region, by all of their letters, and by all but one.

    A list of websites may have a wrong name in each of 20,000 lines.
    """
    by_part: dict[str, set[str]] = {}
    for name in zone_names():
        is_place = "/" in name and not name.startswith("Etc/")
        for part in _parts(name.casefold()) if is_place else ():
            by_part.setdefault(part, set()).add(name)
    return by_part


def _parts(text: str) -> set[str]:
    return {text, *(text[:at] + text[at + 1 :] for at in range(len(text)))}


def same_zone(first: str | None, second: str | None) -> bool:
    """Whether two names mean one zone, as ``Asia/Katmandu`` and ``Asia/Kathmandu``.

    The standard library does not tell which names are links, so the offsets are
    compared over the years. Zones with the same ones have the same days.
    """
    if first == second or first is None or second is None:
        return first == second
    offsets = _offsets(first)
    return bool(offsets) and offsets == _offsets(second)


@lru_cache(maxsize=16)
def _offsets(name: str) -> tuple[timedelta | None, ...]:
    """The offsets of the zone over the years; none if it is not known."""
    zone = _packaged_zone(name) or find_zone(name)
    if zone is None:
        return ()
    # The offsets are compared until 2052, when the rules repeat.
    first, step = datetime(1880, 1, 1, tzinfo=UTC), timedelta(days=14)
    moments = (first + step * number for number in range(4500))
    return tuple(moment.astimezone(zone).utcoffset() for moment in moments)


def _packaged_zone(name: str) -> ZoneInfo | None:
    """The zone as the package tzdata has it.

    A system may have only one of two names, in another version of the database, whose
    years in the past differ.
    """
    if name not in packaged_names():
        return None
    with _package().joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def common_zone(names: Collection[str | None]) -> str:
    """The zone of a column of moments: UTC if rows differ, or have no zone."""
    zones = {find_zone(name) for name in names if name is not None}
    zone = zones.pop() if len(zones) == 1 else None
    return "UTC" if zone is None else zone.key
