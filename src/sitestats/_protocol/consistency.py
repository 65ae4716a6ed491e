"""Check a response against its query: problems become errors or warnings.

A response about another website, or without a field that was requested, is an
error. Another zone, version, page or period than requested is a warning, and so is
an envelope that can't be read: the numbers may be right all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import unquote

from sitestats._common.fields import COUNTS, ENVELOPE
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.zones import same_zone
from sitestats._query.filters import PAGE_FILTERS
from sitestats._query.requested import Requested
from sitestats._query.rules import LATEST_SHAPE
from sitestats._results.entries import Entry, EventCount

from .decoder import Shape
from .period_check import Period, histogram_warnings

_MOST_NAMED: Final = 3
"""How many missing events a warning names."""
_COUNTS: Final = frozenset((*COUNTS, "total"))
_ALL_PAGES: Final = "*"
_MAY_BE_WRONG: Final = frozenset(ENVELOPE) - {"hostname"}
"""Parts of the envelope that only warn when they can't be read."""


def differences(
    data: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    expected: Shape,
    requested: Requested,
    period: Period,
) -> tuple[list[Problem], list[str]]:
    """Why *data* can't be the response to what was requested, and warnings.

    Args:
        data: The values that could be read, by name.
        wrong: The problems of the others, by name.
        expected: The names and types to look for.
        requested: What to compare with.
        period: That of *data*.
    """
    problems = [
        *_of_base_address(data, requested),
        *_problems(data, wrong, expected, requested),
    ]
    if problems:
        return problems, []
    return [], [
        *_warnings(data, wrong, requested),
        *period.differences,
        *histogram_warnings(data, requested),
    ]


def _problems(
    data: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    expected: Shape,
    requested: Requested,
) -> Iterator[Problem]:
    for name in wrong:
        if name not in _MAY_BE_WRONG:
            yield from wrong[name]
    if requested.version >= LATEST_SHAPE:
        if not expected.required <= data.keys():
            for name in expected.names:
                if name in expected.required and not (name in data or name in wrong):
                    yield Problem(
                        "was requested and is missing", section="2.3", where=f"$.{name}"
                    )
        missing = missing_events(data, requested)
        if missing and len(missing) == len(_event_names(requested)):
            # None at all: the service may not have read the names.
            for name in missing:
                yield Problem(
                    f"the event {shown(name)} was requested and is missing",
                    section="4.3",
                    where="$.events",
                )
    hostname = data.get("hostname")
    if hostname is not None and not same_host(requested.hostname, hostname):
        yield Problem(
            f"the response is about {shown(hostname)}, but {requested.hostname!r} was "
            "requested",
            section="4.3",
            where="$.hostname",
        )


def _of_base_address(
    data: Mapping[str, Any], requested: Requested
) -> Iterator[Problem]:
    """The problem of a website's name in the base address, taken for a page's.

    Its 0 page views would look as if nobody had come.
    """
    path = data.get("path")
    is_whole = requested.path is None and PAGE_FILTERS.isdisjoint(requested.params)
    if is_whole and str(path).startswith(f"/{requested.hostname}"):
        yield Problem(
            f"the response is about the page {shown(path)}, and none was requested: "
            "leave the website's name out of the base address",
            section="4.3",
            where="$.path",
        )


def missing_events(data: Mapping[str, Any], requested: Requested) -> list[str]:
    """The events that were requested by name and are not in the list of *data*.

    The document has an entry for each (section 4.3). Where the list has others of
    them, one that is missing counts 0.
    """
    if requested.version < LATEST_SHAPE or "events" not in data:
        return []
    events: Iterable[EventCount] = data["events"]
    counted = {event.name.lower() for event in events}
    return [name for name in _event_names(requested) if name not in counted]


def _event_names(requested: Requested) -> list[str]:
    # The service stores names in lower case.
    names = requested.events if isinstance(requested.events, tuple) else ()
    return [*dict.fromkeys(name.lower() for name in names)]


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


def _warnings(
    data: Mapping[str, Any], wrong: Mapping[str, list[Problem]], requested: Requested
) -> Iterator[str]:
    """How *data* differs from what was requested, where its numbers may be right."""
    path = data.get("path")
    if requested.path is not None:
        if path is not None and not _same_page(requested.path, path):
            yield _differs("page", path, requested.path)
    elif path is not None and path != _ALL_PAGES:
        if PAGE_FILTERS.isdisjoint(requested.params):
            yield _differs("page", path, "all pages")
        page = requested.params.get("page", "*")
        # With a pattern the document does not say what the response has here.
        if "*" not in page and not _same_page(page, path):
            yield _differs("page", path, page)
    timezone = data.get("timezone")
    wanted = requested.timezone
    if None not in {timezone, wanted} and not same_zone(timezone, wanted):
        yield _differs("time zone", timezone, wanted)
    version = data.get("version")
    if version is not None and requested.version != version:
        yield _differs("version", version, requested.version)
    missing = missing_events(data, requested)
    if missing:
        which = ", ".join(map(shown, missing[:_MOST_NAMED]))
        more = len(missing) - _MOST_NAMED
        yield (
            f"the response has no count of {which}"
            f"{f' and {more} more' if more > 0 else ''}, which counts 0 here, though "
            "one entry for each requested event is documented (section 4.3)"
        )
    # The envelope is not documented, so it is no reason to lose the numbers.
    for name, problems in wrong.items():
        yield f"the response's {name!r} is not used: {problems[0]}"


def negative_count(values: Mapping[str, Any]) -> str | None:
    """A warning of the first count of a result that is below 0; None without."""
    for name, value in values.items():
        is_number = value is None or isinstance(value, (int, float))
        rows = cast("Iterable[Entry]", () if is_number else value)
        places = {
            f"{name}[{index}].{column}": row.get(column)
            for index, row in enumerate(rows)
            for column in _COUNTS.intersection(row.columns)
        }
        if name in COUNTS:
            places = {name: value}
        for where, count in places.items():
            if count is not None and count < 0:
                return f"the response has {count} as {where}, and no count is below 0"
    return None


def _same_page(wanted: str, path: str) -> bool:
    # Four bytes, each percent-encoded, are the most that a character comes in.
    return wanted == path or (len(path) <= 12 * len(wanted) and unquote(path) == wanted)


def _differs(what: str, got: object, wanted: object) -> str:
    return (
        f"the response has the {what} {shown(got)}, but {shown(wanted)} was requested"
    )
