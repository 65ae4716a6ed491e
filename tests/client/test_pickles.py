"""Pickles: what a program receives, it can send to another process or cache."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from sitestats import RateLimitedError, RetryPolicy, StatsQuery, WebsiteSpec
from sitestats.emulator import Emulator

pytestmark = pytest.mark.filterwarnings("ignore:the two periods")


def values() -> dict[str, Any]:
    """One of each kind."""
    client = Emulator.demo().client()
    query = StatsQuery("semicomplete.com").fields("pageviews", "pages", "histogram")
    query = query.during("this-month").timezone("UTC").limit(3)
    timed = query.fields("pages", "countries", "seconds_on_page").all_events()
    queries = [
        query.interval("week"),
        query.website("nobody.example"),
        timed,
        query.interval("hour"),
    ]
    outcomes = client.stats.get_many(queries).collect()
    comparison = outcomes[2].result().compare_to(outcomes[2].result())
    websites = client.websites.list()
    return {
        "outcomes": outcomes,
        "comparison": comparison,
        "changes": comparison["pages"],
        "comparisons": outcomes.compare_to(outcomes),
        "table": comparison.largest(),
        "websites": websites,
        "plan": client.websites.plan([WebsiteSpec(websites[0].hostname, public=True)]),
        "ensured": client.websites.ensure(["shop.example"]),
        "added": client.websites.add("new.example"),
        "checked": client.check(),
        "retries": RetryPolicy(),
        "limited": RateLimitedError("slow down", status_code=429),
    }


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_comes_back_as_it_was(protocol: int) -> None:
    """Every result, setting and error comes back, with each protocol of today."""
    for value in values().values():
        copy = pickle.loads(pickle.dumps(value, protocol))
        assert type(copy) is type(value)
        assert repr(copy) == repr(value)
