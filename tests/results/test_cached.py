"""Queries as arguments of functions whose results tools keep."""

from __future__ import annotations

import copy
import functools
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest

from sitestats import StatsQuery, WebsiteSpec

NOW = datetime(2026, 3, 31, 23, tzinfo=UTC)
QUERY = StatsQuery("semicomplete.com").fields("visitors", "pages", "histogram")
WEBSITE = WebsiteSpec("a.example", timezone="UTC")


@pytest.mark.parametrize(
    "query",
    [
        QUERY.where(country="NL").path("/x").limit(3),
        QUERY.during("last-month", now=NOW),
        QUERY.last(weeks=2, now=NOW).timezone("Europe/Paris"),
        QUERY.website(WEBSITE).during("this-week", now=NOW),
        QUERY.where_metadata(plan="é").extra_param("more", 1).version(5),
    ],
    ids=repr,
)
def test_a_query_is_a_key_and_json(query: StatsQuery) -> None:
    """Whatever order its steps had, its pickle is the same text, and it comes back from
    JSON with all that it knows: another website has its own zone.
    """
    other = query.website("b.example")
    read = StatsQuery.from_dict(query.to_dict())
    for again in (read, pickle.loads(pickle.dumps(query)), copy.deepcopy(query)):
        assert (again, hash(again), repr(again)) == (query, hash(query), repr(query))
        assert again.website("b.example") == other
        assert pickle.dumps(again) == pickle.dumps(query)
    calls = []
    cached = functools.cache(calls.append)
    cached(query)
    cached(read)
    assert calls == [query]


def test_the_order_of_steps_makes_no_other_key() -> None:
    """Caches that compare pickles take equal queries for equal."""
    first = QUERY.last(days=3).where(country="NL").limit(5)
    second = StatsQuery("semicomplete.com").limit(5).where(country="NL").last(days=3)
    second = second.fields("pages", "histogram", "visitors")
    assert pickle.dumps(first) == pickle.dumps(second)
    assert pickle.dumps(StatsQuery(WEBSITE)) != pickle.dumps(StatsQuery("a.example"))


@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"hostname": "a.example", "parameters": []},
        {"hostname": "a.example", "parameters": {"limit": 5}},
        {"hostname": "a.example", "parameters": {"limit": "0"}},
        {"hostname": "a.example", "parameters": {"start": "today", "end": "yesterday"}},
        {"hostname": "a b", "parameters": {}},
        {"hostname": "a.example", "page": "x", "parameters": {}},
        {
            "hostname": "a.example",
            "parameters": {},
            "period": {"unit": "day", "count": 1, "now": "2026-01-01T00:00:00Z"},
        },
    ],
)
def test_other_values_are_no_query(values: Any) -> None:
    """JSON from outside is checked by the rules, before anything is sent."""
    with pytest.raises(
        ValueError, match=r"from_dict|limit|hostname|path|start|between|unit"
    ):
        StatsQuery.from_dict(values)
