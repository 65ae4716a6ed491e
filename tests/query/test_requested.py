"""What a query requests, as the check of its response reads it."""

from __future__ import annotations

import attrs
import pytest

from query_strategies import longest
from sitestats._query.builder import StatsQuery, requested
from sitestats._query.requested import Requested

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]
QUERIES = {
    "the least": (
        StatsQuery("example.com").fields("pages"),
        Requested("example.com", fields=("pages",)),
    ),
    "everything": (
        longest().path("/a b").version(5),
        Requested(
            "example.com",
            path="/a b",
            fields=("pageviews", "visitors", "histogram", "pages"),
            events=("signup", "purchase"),
            limit=100,
            timezone="Europe/Amsterdam",
            version=5,
            interval="week",
        ),
    ),
    "all events": (
        StatsQuery("example.com").all_events(),
        Requested("example.com", events="*"),
    ),
    "the escape hatch": (
        StatsQuery("example.com")
        .fields("pageviews")
        .extra_param("fields", "new,pages,visitors")
        .extra_param("limit", 5000)
        .extra_param("version", 7)
        .extra_param("events", "a,b"),
        Requested(
            "example.com",
            fields=("visitors", "pages", "new"),
            events=("a", "b"),
            limit=5000,
            version=7,
        ),
    ),
    "no numbers": (
        StatsQuery("example.com")
        .extra_param("limit", "all")
        .extra_param("version", "next")
        .extra_param("fields", ""),
        Requested("example.com"),
    ),
}


@pytest.mark.parametrize(("query", "expected"), QUERIES.values(), ids=QUERIES)
def test_what_the_response_is_checked_against(
    query: StatsQuery, expected: Requested
) -> None:
    """What was requested is what is sent, unchecked parameters included."""
    found = requested(query)
    parts = {"address", "params", "unchecked"}
    sent = {name: getattr(found, name) for name in parts}
    assert attrs.evolve(expected, **sent) == found
    assert dict(found.params) == query.params()
