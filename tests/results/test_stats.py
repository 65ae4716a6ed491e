"""Stats, a result that knows what was requested."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from fake_responses import entry, read_response, stats_json
from inside import FIELDS, SENT_VERSION
from sitestats import (
    FieldNotRequestedError,
    Stats,
    StatsQuery,
)

QUERY = StatsQuery("example.com").fields("visitors", "pages", "histogram")
DATA = stats_json(
    visitors=41,
    pages=[entry("/"), entry("/a", 1, 1)],
    histogram=[{"date": "2026-11-20", "pageviews": 3, "visitors": 2}],
)


def stats(query: StatsQuery = QUERY, **more: Any) -> Stats:
    """The statistics of a response to *query*."""
    return read_response(query, {**DATA, **more})


@pytest.mark.parametrize("name", [*FIELDS, "events"])
def test_what_was_not_requested_raises_by_name(name: str) -> None:
    """The error says which step to add, and is an AttributeError."""
    result = read_response(StatsQuery("example.com").version(1), {})
    with pytest.raises(FieldNotRequestedError, match=r"add it to the query") as caught:
        getattr(result, name)
    assert caught.value.name == name
    assert caught.value.obj is None
    assert getattr(result, name, None) is None
    assert name not in result


def test_the_error_shows_the_whole_step() -> None:
    """The step in the error names all fields, since it replaces an earlier call."""
    result = stats(QUERY.fields("pages"))
    with pytest.raises(
        FieldNotRequestedError, match=r"\.fields\('pages', 'visitors'\)"
    ):
        _ = result.visitors
    with pytest.raises(FieldNotRequestedError, match=r"\.events\('…'\)"):
        _ = result.events
    events = [{"name": "a", "total": 1}]
    nothing = stats(StatsQuery("example.com").events("a"), events=events)
    with pytest.raises(FieldNotRequestedError, match=r"\.fields\('visitors'\)"):
        _ = nothing.visitors


def test_zero_is_a_value() -> None:
    """Zero, None and not requested are three different things."""
    query = QUERY.fields("visitors", "seconds_on_page")
    result = read_response(query, stats_json(visitors=0, seconds_on_page=None))
    assert result.visitors == 0
    assert result.seconds_on_page is None
    assert "seconds_on_page" in result
    assert "pageviews" not in result


def test_what_was_requested_is_in_the_order_of_the_document() -> None:
    """The order of requested fields is the document's, however the query names them."""
    result = stats(QUERY.events("signup"), events=[{"name": "signup", "total": 7}])
    assert result.requested == ("visitors", "histogram", "pages", "events")
    assert [*result.to_dict()][-4:] == [*result.requested]


def test_results_are_equal_when_query_and_values_are() -> None:
    """Results compare by query and values, and by nothing else of the response."""
    assert stats() == stats(generated_in_ms=7, more=1)
    assert hash(stats()) == hash(stats(generated_in_ms=7))
    assert stats() != stats(visitors=42)
    assert stats() != stats(pages=[entry("/a", 1, 1), entry("/")])
    assert stats(QUERY.limit(7)) != stats()
    assert stats() != {"visitors": 41}


def test_results_pickle_and_copy() -> None:
    """Copies keep the values, what was requested, and the response; none of it can be
    changed.
    """
    result = stats(more=1)
    copies = (copy.copy(result), copy.deepcopy(result))
    for other in (pickle.loads(pickle.dumps(result)), *copies):
        assert other == result
        assert other.query == QUERY
        assert (other.body, other.extra) == (result.body, {"more": 1})
        assert other.pages.truncated is result.pages.truncated
        assert other.end == result.end
        with pytest.raises(FieldNotRequestedError):
            _ = other.events
    for name in ("visitors", "hostname", "more", "body"):
        with pytest.raises(AttributeError):
            setattr(result, name, 7)


def test_nothing_is_lost() -> None:
    """raw() has the whole response, and extra the unknown keys without the prose."""
    more = {"more": {"a": [1.5]}, "requested": 7, "extra": 8}
    result = stats(**more, __pages="prose")
    assert result.raw() == {**DATA, **more, "__pages": "prose"}
    assert result.extra == more
    assert json.loads(result.body) == result.raw()
    result.raw()["visitors"] = 7
    assert result.raw()["visitors"] == 41


def test_a_result_becomes_json() -> None:
    """to_dict has the query, the response's metadata and what was requested, as plain
    values, and names truncated lists, but no histogram.
    """
    query = QUERY.fields("visitors", "pages", "histogram").limit(1)
    assert json.loads(json.dumps(stats(query, pages=[entry()]).to_dict())) == {
        "query": query.to_dict(),
        "responded_at": None,
        "problems": [],
        "hostname": "example.com",
        "path": "*",
        "timezone": "UTC",
        "version": SENT_VERSION,
        "partial": False,
        "truncated": ["pages"],
        "generated_in_ms": 398,
        "start": "2026-10-20T00:00:00+00:00",
        "end": "2026-11-20T23:59:59.999000+00:00",
        "first_day": "2026-10-20",
        "last_day": "2026-11-20",
        "visitors": 41,
        "histogram": [{**DATA["histogram"][0], "partial": False, "clipped": False}],
        "pages": [{"value": "/", "pageviews": 3, "visitors": 2}],
    }


def test_the_repr_is_short() -> None:
    """The repr has the website, the period, totals, and the lengths of lists."""
    result = stats(QUERY.limit(2), pages=[entry()] * 1000)
    assert repr(result) == (
        "Stats('example.com', first_day=2026-10-20, last_day=2026-11-20, "
        "visitors=41, histogram=<1 entry>, pages=<1000 entries, truncated>)"
    )
    assert repr(read_response(QUERY.fields("visitors"), {"visitors": 41})) == (
        "Stats('example.com', visitors=41)"
    )
