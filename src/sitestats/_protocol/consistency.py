"""Whether an answer is the answer to the question that was asked.

What would make the numbers another question's is a problem. What may be right
all the same is worth a look: another zone, version or page than asked, and what
an answer tells about itself in a way that can't be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from sitestats._common.errors import Problem
from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._common.text import shown
from sitestats._query.filters import PAGE_FILTERS

if TYPE_CHECKING:
    from sitestats._query.requested import Requested
    from sitestats._results.entries import EventCount

    from .decoder import Shape

LATEST_SHAPE: Final = 5
"""From this version on, answers have the shape that the document shows."""
_ALL_PAGES: Final = "*"
_TOLD: Final = frozenset(
    ("path", "timezone", "version", "start", "end", "generated_in_ms")
)
"""What an answer tells about itself, and may leave out."""


def problems_with(
    answer: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    expected: Shape,
    requested: Requested,
) -> Iterator[Problem]:
    """Why *answer* can't be taken for the answer to what was asked.

    Args:
        answer: The values that could be read, by name.
        wrong: What is wrong with the others.
        expected: What to look for.
        requested: What to hold it against.
    """
    for name in wrong:
        if name not in _TOLD:
            yield from wrong[name]
    if requested.version >= LATEST_SHAPE:
        if not expected.required <= answer.keys():
            for name in expected.names:
                if name in expected.required and not (name in answer or name in wrong):
                    yield Problem(
                        "was requested and is missing", section="2.3", where=f"$.{name}"
                    )
        if isinstance(requested.events, tuple) and "events" in answer:
            yield from _missing_events(requested.events, answer["events"])
    hostname = answer.get("hostname")
    if hostname is not None and not same_host(requested.hostname, hostname):
        yield Problem(
            f"the answer is about {shown(hostname)}, and {requested.hostname!r} was "
            "asked for",
            section="4.3",
            where="$.hostname",
        )


def _missing_events(
    asked: Iterable[str], answered: Iterable[EventCount]
) -> Iterator[Problem]:
    # The service stores names in lower case.
    counted = {event.name.lower() for event in answered}
    for name in asked:
        if name.lower() not in counted:
            yield Problem(
                f"the event {shown(name)} was requested and is missing",
                section="4.3",
                where="$.events",
            )


def same_host(asked: str, answered: str) -> bool:
    """Whether two host names are of one website, however they are written."""
    if asked == answered:
        return True
    try:
        return normalise_hostname(asked) == normalise_hostname(answered)
    except HostnameError:
        return False


def worth_a_look(
    answer: Mapping[str, Any],
    wrong: Mapping[str, list[Problem]],
    requested: Requested,
) -> Iterator[str]:
    """How the answer differs from the question though its numbers may be right."""
    path = answer.get("path")
    if requested.path is not None:
        if path is not None and requested.path not in {path, unquote(path)}:
            yield _differs("page", path, requested.path)
    elif path not in {None, _ALL_PAGES} and PAGE_FILTERS.isdisjoint(requested.params):
        yield _differs("page", path, "all pages")
    timezone = answer.get("timezone")
    if timezone is not None and requested.timezone not in {None, timezone}:
        yield _differs("time zone", timezone, requested.timezone)
    version = answer.get("version")
    if version is not None and requested.version != version:
        yield _differs("version", version, requested.version)
    # What follows is in no document, so it is no reason to lose the numbers.
    for name, problems in wrong.items():
        yield f"the answer's {name!r} is not used: {problems[0]}"


def _differs(what: str, got: object, asked: object) -> str:
    return f"the answer has the {what} {shown(got)}, and {shown(asked)} was asked for"
