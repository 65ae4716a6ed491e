"""The repr of a query is the Python code that builds it."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_strategies import queries
from sitestats._common.errors import QueryError
from sitestats._query.builder import StatsQuery

pytestmark = pytest.mark.slow
# What the service takes may be worth a warning, and is none of these tests' matter.
MAY_WARN = pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")


@MAY_WARN
@given(queries())
def test_the_repr_makes_the_query_again(query: StatsQuery) -> None:
    """The repr of a query is Python code that builds it."""
    names = {"StatsQuery": StatsQuery, "datetime": dt}
    assert eval(repr(query), names) == query


DAYS = (
    st.sampled_from(["today", "yesterday", "2026-03-01", "today-99999d"])
    | st.integers(0, 5).map("today-{}d".format)
    | st.none()
)


@given(start=DAYS, end=DAYS)
def test_the_repr_makes_any_period_again(start: str | None, end: str | None) -> None:
    """Every form of a day comes back from the repr as it was given."""
    try:
        query = StatsQuery("example.com").between(start, end)
    except QueryError:
        return
    assert eval(repr(query), {"StatsQuery": StatsQuery}) == query


REPRS = [
    "StatsQuery('example.com')",
    "StatsQuery('example.com').fields('pageviews').last(days=30)",
    "StatsQuery('example.com').last(days=7, today=True)",
    "StatsQuery('example.com').last(days=1)",
    "StatsQuery('example.com').on('today')",
    "StatsQuery('example.com').on('2026-03-01')",
    "StatsQuery('example.com').since('2026-03-01')",
    "StatsQuery('example.com').between(None, '2026-03-01')",
    "StatsQuery('example.com').between('2026-03-01', 'today')",
    "StatsQuery('example.com').path('/a').all_events()",
    "StatsQuery('example.com').where(pages=['/a', '/b'], country='NL')",
    "StatsQuery('example.com').where(page='/a,b')",
    "StatsQuery('example.com').where_metadata({'plan': 'pro'})",
    "StatsQuery('example.com').version(5).info(True)",
    "StatsQuery('example.com').extra_param('limit', '5000')",
    "StatsQuery('example.com').between('today-1d', 'today')",
    "StatsQuery('example.com').on('today-1d')",
    "StatsQuery('example.com').on('today-0d')",
    "StatsQuery('example.com').last(days=99999, today=True)",
    "StatsQuery('example.com').between('today-99999d', 'today')",
    "StatsQuery('example.com').extra_param('fields', 'bounces')",
]


@pytest.mark.parametrize("text", REPRS)
def test_the_repr_is_what_a_person_would_write(text: str) -> None:
    """The repr has the shortest usual steps."""
    assert repr(eval(text, {"StatsQuery": StatsQuery})) == text
