"""Pickles of results: a release reads those of the ones before."""

from __future__ import annotations

import pickle
import pickletools
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from sitestats import RateLimitedError, RetryPolicy, StatsQuery, WebsiteSpec
from sitestats.emulator import Emulator

pytestmark = pytest.mark.filterwarnings("ignore:the two periods")

KEPT: Final = Path(__file__).with_name("kept.pickle")
"""What ``values`` returned in the first release: it is never written anew."""


def values() -> dict[str, Any]:
    """One of each kind."""
    client = Emulator.demo().client()
    query = StatsQuery("semicomplete.com").fields("pageviews", "pages", "histogram")
    query = query.during("this-month").timezone("UTC").interval("week").limit(3)
    timed = query.fields("pages", "countries", "seconds_on_page").all_events()
    queries = [query, query.website("nobody.example"), timed, timed.interval("hour")]
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


def test_a_pickle_names_public_modules() -> None:
    """So that a later release, whose files may be others, can read it."""
    for name, value in values().items():
        data = pickle.dumps(value, protocol=2)
        assert repr(pickle.loads(data)) == repr(value)
        for opcode, argument, _ in pickletools.genops(data):
            module, _, cls = str(argument).partition(" ")
            if opcode.name == "GLOBAL" and module.startswith("sitestats"):
                assert "._" not in module, (name, argument)
                assert hasattr(import_module(module), cls)


def test_a_kept_pickle_is_read() -> None:
    """It has the classes, the attributes and the values that a release wrote."""
    kept = pickle.loads(KEPT.read_bytes())
    assert kept.keys() == values().keys()
    assert kept["outcomes"][0].stats.pages[0].pageviews == 203
