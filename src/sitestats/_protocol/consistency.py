"""Check a response against its query: problems become errors or warnings.

A response about another website, or without a field that was requested, is an
error. Another zone, version or page than requested is a warning, and so is an
envelope that can't be read: the numbers may be right all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from sitestats._common.errors import Problem
from sitestats._common.fields import ENVELOPE
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.text import shown
from sitestats._query.filters import PAGE_FILTERS

if TYPE_CHECKING:
    from sitestats._query.requested import Requested
    from sitestats._results.entries import EventCount

    from .decoder import Shape

LATEST_SHAPE: Final = 5
"""From this version on, responses have the shape that the document shows."""
_ALL_PAGES: Final = "*"
_MAY_BE_WRONG: Final = frozenset(ENVELOPE) - {"hostname"}
"""Parts of the envelope that only warn when they can't be read."""


def response_problems(
    data: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    expected: Shape,
    requested: Requested,
) -> Iterator[Problem]:
    """Why *data* can't be the response to what was requested.

    Args:
        data: The values that could be read, by name.
        wrong: The problems of the others, by name.
        expected: The names and types to look for.
        requested: What to compare with.
    """
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
        if isinstance(requested.events, tuple) and "events" in data:
            yield from _missing_events(requested.events, data["events"])
    hostname = data.get("hostname")
    if hostname is not None and not same_host(requested.hostname, hostname):
        yield Problem(
            f"the response is about {shown(hostname)}, but {requested.hostname!r} was "
            "requested",
            section="4.3",
            where="$.hostname",
        )


def _missing_events(
    requested: Iterable[str], events: Iterable[EventCount]
) -> Iterator[Problem]:
    # The service stores names in lower case.
    counted = {event.name.lower() for event in events}
    for name in requested:
        if name.lower() not in counted:
            yield Problem(
                f"the event {shown(name)} was requested and is missing",
                section="4.3",
                where="$.events",
            )


def same_host(first: str, second: str) -> bool:
    """Whether two host names are equal once they are normalised."""
    if first == second:
        return True
    try:
        return normalise_hostname(first) == normalise_hostname(second)
    except HostnameError:
        return False


def warnings_for(
    data: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    requested: Requested,
) -> Iterator[str]:
    """How *data* differs from what was requested, where its numbers may be right."""
    path = data.get("path")
    if requested.path is not None:
        if path is not None and requested.path not in {path, unquote(path)}:
            yield _differs("page", path, requested.path)
    elif path not in {None, _ALL_PAGES} and PAGE_FILTERS.isdisjoint(requested.params):
        yield _differs("page", path, "all pages")
    timezone = data.get("timezone")
    if timezone is not None and requested.timezone not in {None, timezone}:
        yield _differs("time zone", timezone, requested.timezone)
    version = data.get("version")
    if version is not None and requested.version != version:
        yield _differs("version", version, requested.version)
    # The envelope is not documented, so it is no reason to lose the numbers.
    for name, problems in wrong.items():
        yield f"the response's {name!r} is not used: {problems[0]}"


def _differs(what: str, got: object, wanted: object) -> str:
    return (
        f"the response has the {what} {shown(got)}, but {shown(wanted)} was requested"
    )
