"""How long the lists of a response can be: one that is longer is hostile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sitestats._common.problems import Problem
from sitestats._common.wire import HttpResponse
from sitestats._query.requested import Requested

from .decoder import Shape
from .period_check import most_days

MOST_ENTRIES: Final = 1000
"""A list has no more entries, and all events together (section 8). A query that was
not checked can have a higher limit."""
_MOST_PARTS: Final = 10_000
"""What a histogram of any period may have: the days of 27 years."""
_MOST_OF_AN_UNKNOWN_PERIOD: Final = 200_000
"""Where the period is not known, a histogram may have the hours of 22 years."""


def lengths_problems(
    data: Mapping[str, Any],
    expected: Shape,
    requested: Requested,
    response: HttpResponse,
) -> Iterator[Problem]:
    """The lists that are longer than any response to the query can be.

    Args:
        data: The response; of its lists only the lengths are looked at.
        expected: The names to look for.
        requested: What to compare with.
        response: When it was received tells the days that words stand for.
    """
    for name in expected.names:
        items: Any = data.get(name)
        if not isinstance(data.get(name), list) or len(items) <= MOST_ENTRIES:
            continue
        most = _most_entries(name, requested, response)
        if len(items) > most:
            yield Problem(
                f"has {len(items):,} entries, and there can be {most:,} at most",
                section="8",
                where=f"$.{name}",
            )


def _most_entries(name: str, requested: Requested, response: HttpResponse) -> int:
    if name == "events":
        return max(MOST_ENTRIES, len(requested.events or ()))
    if name != "histogram":
        return max(MOST_ENTRIES, requested.limit)
    days = most_days(requested, response.received_at)
    if days is None:
        return _MOST_OF_AN_UNKNOWN_PERIOD
    # Twice as many as there are, since only what is hostile is to be found here.
    return max(_MOST_PARTS, 2 * days * (24 if requested.interval == "hour" else 1))
