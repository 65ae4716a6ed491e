"""Check a response against its query: a difference is an error or a warning."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import attrs

from sitestats._base.errors import Problem
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.text import shown
from sitestats._base.zones import find_zone, same_zone
from sitestats._query.parameters import PAGE_FILTERS
from sitestats._query.periods import as_date, beginning, days_back
from sitestats._query.requested import Parameters

_HOUR: Final = dt.timedelta(hours=1)
"""How far a bound may be from midnight: an end was seen that is an hour late."""


@attrs.frozen
class Period:
    """The period of a response, None where it is not known."""

    start: dt.datetime | None
    """The first moment, in UTC. The end is in UTC, too."""
    end: dt.datetime | None
    zone: dt.tzinfo | None
    first_day: dt.date | None
    """The days are in the zone of the response, or requested days if it has none."""
    last_day: dt.date | None
    differences: tuple[str, ...]
    """How it differs from the requested one."""


# Responses to one query have the same period, from one midnight to the next.
@lru_cache(maxsize=256)
def _period(  # noqa: PLR0917  a cache's key
    start: str | None,
    end: str | None,
    zone_name: str | None,
    wanted_start: str,
    wanted_end: str,
    today: dt.date | None,
) -> Period:
    zone, differences = find_zone(zone_name), list[str]()
    bounds = list[tuple[dt.datetime | None, dt.date | None]]()
    for name, text, wanted, within in (
        ("start", start, wanted_start, _HOUR),
        ("end", end, wanted_end, -_HOUR),
    ):
        moment, day = _moment(text, zone, within)
        asked, back, off = as_date(wanted), days_back(wanted), 0
        if day is not None and asked is not None:
            off = abs((day - asked).days)
        elif day is not None and back is not None and today is not None:
            # Which day is today depends on the service's clock and zone.
            off = abs((today - day).days - back) - 1
        if off > 0:
            differences.append(
                f"the response's period {name}s on {day} in {zone_name}, but "
                f"{shown(wanted)} was requested"
            )
        bounds.append((moment, day or asked))
    (start_at, first_day), (end_at, last_day) = bounds
    is_unknown = zone is None and isinstance(zone_name, str)
    if is_unknown and any(moment and not day for moment, day in bounds):
        differences.append(
            f"the response's time zone {shown(zone_name)} is not known here, so its "
            "first or last day is not either: pip install --upgrade tzdata"
        )
    if first_day and last_day and last_day < first_day:
        # Only one of them was requested; the numbers of no day are 0.
        differences.append(
            f"the response's period starts on {first_day}, and ends before, on "
            f"{last_day}: name both days"
        )
    return Period(start_at, end_at, zone, first_day, last_day, tuple(differences))


def _moment(
    text: str | None, zone: dt.tzinfo | None, within: dt.timedelta
) -> tuple[dt.datetime | None, dt.date | None]:
    """A bound in UTC, unless it is a day alone; and its day in *zone*."""
    if day := as_date(text):
        return None, day
    try:
        moment = dt.datetime.fromisoformat(text or "")
        # Moments end in Z; one without a zone is taken as UTC too.
        moment = moment.replace(tzinfo=moment.tzinfo or dt.UTC).astimezone(dt.UTC)
        local = (moment + within).astimezone(zone) if zone else None
        return moment, local and local.date()
    except (ValueError, OverflowError):
        return None, None


def check_response(
    body: Any,
    unread: dict[str, tuple[Problem, ...]],
    parameters: Parameters,
    responded_at: dt.datetime | None,
) -> tuple[Period, list[Problem], list[str]]:
    """The period of *body*, the reasons why it is not the response to these
    *parameters*, and other differences, with which its numbers may be right.

    Words such as ``today-7d`` go by the day on which the service *responded*. Where an
    event has no entry, events are *unread*; where none has, *body* has no events.
    """
    zone, wanted_zone = body.timezone, parameters.timezone
    period = _period(
        body.start,
        body.end,
        zone or wanted_zone,
        parameters.params.get("start", ""),
        # Without an end the period ends today (section 4.3).
        parameters.params.get("end", "today"),
        responded_at and responded_at.date(),
    )
    page = _page(parameters)
    warnings = [*period.differences, *_differences(body, parameters, page)]
    first = as_date(parameters.params.get("start"))
    # In some zone, tomorrow has begun.
    if first and responded_at and first > responded_at.date() + dt.timedelta(days=1):
        # One text for all of many queries, of which Python shows one.
        warnings.append(
            f"nothing was counted yet: the period begins after {responded_at.date()}, "
            "when the service responded"
        )
    problems = _of_another(body, parameters.hostname, page)
    if isinstance(parameters.events, tuple) and body.events is not None:
        # The service stores names in lower case.
        names = dict.fromkeys(map(str.lower, parameters.events))
        present = {event.name.lower() for event in body.events}
        missing = [shown(name) for name in names if name not in present]
        if missing:
            message = f"has no entry of {', '.join(missing)}"
            problem = Problem(message, section="4.3", where="$.events")
            unread["events"] = (*unread.get("events", ()), problem)
            if len(missing) == len(names):
                body.events = None
    return period, problems, warnings


def _of_another(body: Any, hostname: str, page: str | None) -> list[Problem]:
    """Why the numbers of *body* are about something else."""
    problems: list[Problem] = []
    if body.hostname not in {None, hostname} and not same_host(hostname, body.hostname):
        message = (
            f"the response is about {shown(body.hostname)}, but {hostname!r} was "
            "requested"
        )
        problems.append(Problem(message, section="4.3", where="$.hostname"))
    if body.path and page == "*" and body.path.startswith(f"/{hostname}"):
        # Its 0 page views would look as if nobody had come.
        message = (
            f"the response is about the page {shown(body.path)}, and none was requested"
            ": leave the website's name out of the base address"
        )
        problems.append(Problem(message, section="4.3", where="$.path"))
    return problems


def _page(parameters: Parameters) -> str | None:
    """The requested page; ``"*"`` for all pages, and None where pages are filtered:
    the document does not say what the path is then.
    """
    if not PAGE_FILTERS.isdisjoint(parameters.params):
        return None
    return parameters.path or "*"


def _differences(body: Any, parameters: Parameters, page: str | None) -> list[str]:
    """What *body* reports of itself that is not as requested."""
    path, zone = body.path, parameters.timezone
    differences: list[str] = []
    # The document does not say what the path of all pages is.
    if page == "*" and path and re.fullmatch(r"/[^*]+", path):
        differences.append(_differs("page", path, "all pages"))
    elif page not in {None, "*"} and path and page not in {path, unquote(path)}:
        differences.append(_differs("page", path, page))
    if body.timezone and zone and not same_zone(body.timezone, zone):
        differences.append(_differs("time zone", body.timezone, zone))
    if body.version not in {None, parameters.version}:
        differences.append(_differs("version", body.version, parameters.version))
    if body.histogram:
        differences += _repeated(body.histogram, parameters.interval or "day")
    return differences


def _repeated(rows: Sequence[Any], unit: str) -> Iterator[str]:
    """What a histogram has several entries of, such as days in place of months."""
    # When summer time ends, an hour comes twice.
    if unit == "hour":
        return
    firsts = [beginning(row.date, unit) for row in rows]
    if len({*firsts}) < len(firsts):
        ((first, number),) = Counter(firsts).most_common(1)
        yield f"the histogram has {number} entries for the {unit} of {first}"


def _differs(what: str, got: object, wanted: object) -> str:
    return (
        f"the response has the {what} {shown(got)}, but {shown(wanted)} was requested"
    )


def same_host(first: str, second: str) -> bool:
    """Whether two host names are equal once they are normalised."""
    try:
        return normalise_hostname(first) == normalise_hostname(second)
    except ValueError:
        return False
