"""Results and queries as arguments of functions whose results tools keep."""

from __future__ import annotations

import copy
import enum
import functools
import pickle
from datetime import UTC, date, datetime
from typing import Any

import pytest

from sitestats import AsyncClient, Client, StatsQuery, Website
from sitestats.emulator import Emulator

NOW = datetime(2026, 3, 31, 23, tzinfo=UTC)
QUERY = StatsQuery("semicomplete.com").fields("visitors", "pages", "histogram")
FAILING = QUERY.website("nobody.example")
PLAIN = (str, bytes, int, float, bool, date, enum.Enum, type(None))


def results() -> dict[str, Any]:
    """A result of every kind."""
    client = Emulator.demo().client()
    websites = client.websites.list()
    query = QUERY.last(days=4)
    outcomes = client.stats.get_many([query, FAILING.last(days=4)]).collect()
    stats = outcomes[0].result()
    compared = client.stats.compare([query])
    return {
        "stats": stats,
        "entries": stats.pages,
        "entry": stats.pages[0],
        "histogram": stats.histogram,
        "outcomes": outcomes,
        "succeeded": outcomes[0],
        "failed": outcomes[1],
        "websites": websites,
        "website": websites[0],
        "added": client.websites.add("new.example"),
        "comparisons": compared,
        "comparison": compared[0],
        "changes": compared[0]["pages"],
        "change": compared[0]["pages"][0],
        "total": compared[0].totals["visitors"],
        "problem": StatsQuery("a.example").problems()[0],
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_copy_equals_its_original(name: str) -> None:
    """Pickles, copies and deep copies are equal, and have the same hash."""
    result = RESULTS[name]
    copies = [copy.copy(result), copy.deepcopy(result)]
    for other in (pickle.loads(pickle.dumps(result)), *copies):
        assert type(other) is type(result)
        assert other == result
        assert hash(other) == hash(result)


def digest(value: Any) -> Any:
    """What a tool such as Streamlit hashes: plain values, the names of classes, and
    otherwise what a pickle has.
    """
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, dict):
        return [(digest(name), digest(item)) for name, item in value.items()]
    if isinstance(value, tuple | list):
        return [*map(digest, value)]
    reduced = value.__reduce__()
    assert isinstance(reduced[0], type)
    return [*map(digest, reduced)]


@pytest.mark.parametrize("name", [name for name in RESULTS if "entr" not in name])
def test_tools_can_hash_results(name: str) -> None:
    """They find classes and plain values alone, and the same ones in a copy."""
    result = RESULTS[name]
    assert digest(result) == digest(pickle.loads(pickle.dumps(result)))


@pytest.mark.parametrize(
    "query",
    [
        QUERY.where(country="NL").path("/x").limit(3),
        QUERY.during("last-month", now=NOW),
        QUERY.last(weeks=2, now=NOW).timezone("Europe/Paris"),
        QUERY.website(RESULTS["website"]).during("this-week", now=NOW),
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
    website = Website(
        hostname="a.example",
        is_public=True,
        timezone="UTC",
        has_ssl=True,
        has_script=True,
        pageviews=1,
        events=0,
    )
    assert pickle.dumps(StatsQuery(website)) != pickle.dumps(StatsQuery("a.example"))


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
        ValueError, match=r"from_dict|limit|hostname|path|start|between"
    ):
        StatsQuery.from_dict(values)


@pytest.mark.parametrize("cls", [Client, AsyncClient])
def test_a_client_is_never_copied(cls: Any) -> None:
    """The error speaks of copies, which need no worker."""
    client = cls("https://stats.example", api_key="sa_made_up_for_a_test")
    for make in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"is not copied.*with_options"):
            make(client)
