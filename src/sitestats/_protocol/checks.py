"""Check a response against its query: it can't be, or it differs and warns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import attrs

from sitestats._common.fields import COUNTS
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.zones import find_zone, same_zone
from sitestats._query.periods import as_date, days_back
from sitestats._query.requested import Requested
from sitestats._query.rules import PAGE_FILTERS
from sitestats._results.entries import EventCount
from sitestats._results.histogram import HistogramEntry

_DAY: Final = dt.timedelta(days=1)
_HOUR: Final = dt.timedelta(hours=1)
"""How far a bound may be from midnight: an end was seen an hour late."""
_BY_DAYS: Final = frozenset((None, "hour", "day"))
"""The intervals whose entries have a day of the period."""


@attrs.frozen
class Period:
    """The period of a response, None where it is not known."""

    start: dt.datetime | None
    """In UTC, as the end."""
    end: dt.datetime | None
    zone: dt.tzinfo | None
    first_day: dt.date | None
    """In the zone of the response; the requested one where it does not say."""
    last_day: dt.date | None
    warnings: tuple[str, ...]
    """How it differs from the requested one."""


def read_period(
    data: Mapping[str, Any], requested: Requested, responded_at: dt.datetime | None
) -> Period:
    """The period of *data*, compared with the one that was requested; words such as
    ``today-7d`` by the day on which the service *responded*.
    """
    # Without an end the period ends today (section 4.3).
    wanted = requested.params.get("start"), requested.params.get("end", "today")
    return _period(
        data.get("start"),
        data.get("end"),
        data.get("timezone") or requested.timezone,
        *wanted,
        responded_at and responded_at.date(),
    )


# Responses to one query have the same period, from one midnight to the next.
@lru_cache(maxsize=256)
def _period(  # noqa: PLR0917  a cache's key
    start: str | None,
    end: str | None,
    zone_name: str | None,
    wanted_start: str | None,
    wanted_end: str,
    today: dt.date | None,
) -> Period:
    zone = find_zone(zone_name)
    # In a zone that this machine does not know, a day may be off by one.
    slack = 0 if zone else 1
    warnings: list[str] = []
    moments: list[dt.datetime | None] = []
    days: list[dt.date | None] = []
    for name, text, wanted, within in (
        ("start", start, wanted_start, _HOUR),
        ("end", end, wanted_end, -_HOUR),
    ):
        moment, day = _moment(text), as_date(wanted)
        if text is not None and moment is None:
            warnings.append(f"the response's {name!r} is not a date: {shown(text)}")
        # At either end of the calendar some zones have no such day.
        if moment is not None and dt.MINYEAR < moment.year < dt.MAXYEAR:
            found = as_date(text) or (moment + within).astimezone(zone or dt.UTC).date()
            if not _fits(found, wanted, today, slack):
                warnings.append(
                    f"the response's period {name}s on {found} in {zone_name}, but "
                    f"{shown(wanted)} was requested"
                )
                day = None
            if zone is not None or as_date(text):
                day = found
        moments.append(moment)
        days.append(day)
    return Period(moments[0], moments[1], zone, days[0], days[1], tuple(warnings))


def _moment(text: str | None) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(text or "")
        # Moments end in Z; one without a zone is taken as UTC too.
        return moment.replace(tzinfo=moment.tzinfo or dt.UTC).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def _fits(day: dt.date, wanted: str | None, today: dt.date | None, slack: int) -> bool:
    """Whether *day* may be the one that was *wanted*; True where that is not known."""
    date, back = as_date(wanted), days_back(wanted or "")
    if date is not None:
        return abs((day - date).days) <= slack
    if back is None or today is None:
        return True
    # What is today depends on the service's clock and zone.
    return abs((today - day).days - back) <= 1 + slack


def differences(
    data: Mapping[str, Any], requested: Requested, period: Period
) -> tuple[list[Problem], list[str]]:
    """Why *data* is not the response to what was *requested*, and how else it differs
    from it: its numbers may be right then.
    """
    problems: list[Problem] = []
    warnings = [*period.warnings]
    hostname: Any = data.get("hostname")
    path = data.get("path")
    if hostname not in {None, requested.hostname} and not same_host(
        requested.hostname, hostname
    ):
        message = f"the response is about {shown(hostname)}, but "
        message += f"{requested.hostname!r} was requested"
        problems.append(Problem(message, section="4.3", where="$.hostname"))
    page = requested.path or requested.params.get("page", "*")
    if path and path != page and unquote(path) != page:
        is_whole = page == "*" and PAGE_FILTERS.isdisjoint(requested.params)
        if is_whole and path.startswith(f"/{requested.hostname}"):
            # Its 0 page views would look as if nobody had come.
            message = f"the response is about the page {shown(path)}, and none was "
            message += "requested: leave the website's name out of the base address"
            problems.append(Problem(message, section="4.3", where="$.path"))
        # A filter may be about all pages, and the document does not say what the
        # response has where it is a pattern.
        elif is_whole or ("*" not in page and (path != "*" or requested.path)):
            wanted = "all pages" if is_whole else page
            warnings.append(_differs("page", path, wanted))
    zone, version = data.get("timezone"), data.get("version")
    wanted_zone = requested.params.get("timezone")
    if zone and wanted_zone and not same_zone(zone, wanted_zone):
        warnings.append(_differs("time zone", zone, wanted_zone))
    if version not in {None, requested.version}:
        warnings.append(_differs("version", version, requested.version))
    for name in COUNTS:
        if data.get(name, 0) < 0:
            count = f"{data[name]} {name}"
            warnings.append(f"the response has {count}, and no count is below 0")
    if "histogram" in data and requested.params.get("interval") in _BY_DAYS:
        warnings += _outside(data["histogram"], period)
    return problems, warnings


def _outside(entries: Sequence[HistogramEntry], period: Period) -> Iterator[str]:
    first, last = period.first_day, period.last_day
    if entries and first and last:
        # They are in ascending order. An end that is an hour late may have brought an
        # hour of the next day.
        low, high = entries[0].date, entries[-1].date
        if not first <= low <= high <= last + _DAY:
            yield (
                f"the histogram is from {low} to {high}, which is outside of the "
                f"period {first} to {last}"
            )


def _differs(what: str, got: object, wanted: object) -> str:
    return (
        f"the response has the {what} {shown(got)}, but {shown(wanted)} was requested"
    )


def missing_events(
    events: tuple[EventCount, ...],
    requested: tuple[str, ...],
    problems: list[Problem],
    warnings: list[str],
) -> tuple[EventCount, ...]:
    """The *requested* events that are not among *events*, where others are: they count
    0 (section 4.3 has an entry for each).
    """
    # The service stores names in lower case.
    counted = {event.name.lower() for event in events}
    wanted = dict.fromkeys(name.lower() for name in requested)
    missing = [name for name in wanted if name not in counted]
    named = ", ".join(map(shown, missing))
    if missing and len(missing) == len(wanted):
        # The service may not have read the names.
        message = f"none of the requested events has an entry: {named}"
        problems.append(Problem(message, section="4.3", where="$.events"))
    elif missing:
        warnings.append(
            f"the response has no count of {named}, which counts 0 here, though one "
            "entry for each requested event is documented (section 4.3)"
        )
    return tuple(EventCount(name, 0) for name in missing)


def same_host(first: str, second: str) -> bool:
    """Whether two host names are equal once they are normalised."""
    if first == second:
        return True
    try:
        return normalise_hostname(first) == normalise_hostname(second)
    except HostnameError:
        return False


def same_value(name: str, wanted: object, found: object) -> bool:
    """Whether a website has the host name, the time zone or the other value wanted."""
    if isinstance(wanted, str) and isinstance(found, str):
        if name == "hostname":
            return same_host(wanted, found)
        if name == "timezone":
            return same_zone(wanted, found)
    return wanted == found
