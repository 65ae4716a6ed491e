"""Values and steps that change nothing, or match nothing, are told."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from sitestats import Client, SiteStatsWarning, Stats, StatsQuery
from sitestats.emulator import Emulator

HOST = "a.example"
QUERY = StatsQuery(HOST).fields("pageviews", "countries").last(days=3)


@pytest.fixture
def client() -> Client:
    """A client of an emulator with three page views from Great Britain."""
    emulator = Emulator()
    visit = {
        "path": "/blog/a",
        "country_code": "GB",
        "browser_name": "Chrome",
        "os_name": "macOS",
        "document_referrer": "https://www.google.com/",
    }
    emulator.load([visit] * 3, hostname=HOST)
    return emulator.client()


def told(call: Callable[[], Any]) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    assert all(one.category is SiteStatsWarning for one in seen)
    return [str(one.message) for one in seen]


@pytest.mark.parametrize(
    ("filters", "meant"),
    [
        ({"country": "UK"}, "did you mean 'GB'?"),
        ({"country": "EN"}, "did you mean 'GB'?"),
        ({"country": "nl"}, "did you mean 'NL'?"),
        ({"referrer": "google.com"}, "did you mean 'google'?"),
        ({"referrer": "Google"}, "did you mean 'google'?"),
        ({"referrer": "google.de/search"}, "did you mean 'google'?"),
        ({"utm_source": "news%"}, "did you mean 'news*'?"),
        ({"browser_name": "chrome"}, "did you mean 'Chrome'?"),
        ({"browser_name": "chrom*"}, ""),
        ({"os_name": "MacOS"}, "did you mean 'macOS'?"),
        ({"os_name": "macos*"}, "did you mean 'macOS*'?"),
        ({"browser_name": "Firefox 120"}, "did you mean 'Firefox'?"),
        ({"os_name": "Mac OS"}, "did you mean 'macOS'?"),
        ({"os_name": "Windows 11"}, "did you mean 'Windows'?"),
        ({"os_name": "Mac OS X 10.15"}, "did you mean 'macOS'?"),
        ({"browser_name": "Mobile Safari"}, "did you mean 'Safari'?"),
        ({"browser_name": "Google Chrome"}, "did you mean 'Chrome'?"),
        ({"referrer": "Direct / None"}, "whose value is None"),
        ({"referrer": "(direct)"}, "whose value is None"),
        ({"utm_source": "(not set)"}, "whose value is None"),
        ({"page": "/shop%"}, "did you mean '/shop*'?"),
        ({"page": "/shop/ "}, "did you mean '/shop/'?"),
        ({"utm_source": "a|b"}, "taken literally"),
        ({"utm_source": "a,b"}, "make a query of each"),
        ({"pages": ["/blog/a", "/caf%C3%A9"]}, ""),
        ({"page": "/caf%C3%A9"}, "did you mean '/café'?"),
        ({"country": "GB"}, ""),
        ({"country": "NL"}, ""),
        ({"country": "EU"}, ""),
        ({"country": "XX"}, ""),
        ({"referrer": "reddit.com"}, ""),
        ({"referrer": "google"}, ""),
        ({"utm_source": "newsletter"}, ""),
    ],
)
def test_a_value_is_judged_after_a_response_that_counted_nothing(
    client: Client, filters: Any, meant: str
) -> None:
    """A value that matched nothing, and that is known in another form, is told with
    what was meant; no other value is, and none whose numbers are right.
    """
    found = told(lambda: client.stats.get(QUERY.where(**filters)))
    assert len(found) == bool(meant)
    assert all(meant in text for text in found)
    many = told(lambda: client.stats.get_many([QUERY.where(**filters)]).collect())
    assert many == found


def test_a_value_that_counted_is_right(client: Client) -> None:
    """The service may have a code of its own: where it counts, it is right."""
    query = QUERY.where(country="UK")
    body = b'{"pageviews": 1, "countries": []}'
    assert told(lambda: Stats.from_body(query, body)) == []
    events = b'{"events": [{"name": "signup", "total": 2}]}'
    counted = StatsQuery(HOST).events("signup").where(country="UK")
    assert told(lambda: Stats.from_body(counted, events)) == []
    nothing = b'{"pageviews": 0, "countries": []}'
    (text,) = told(lambda: Stats.from_body(query, nothing))
    assert "'GB'" in text


def test_a_period_that_has_not_begun_is_told(client: Client) -> None:
    """The zeros of a year that was mistyped are not numbers; a period that has begun,
    and lasts until later, is ``partial`` without a warning.
    """
    today = dt.datetime.now(dt.UTC).date()
    query = StatsQuery(HOST).fields("pageviews", "histogram")
    ahead = query.during(today.year + 1)
    for call in (client.stats.get, lambda one: client.stats.get_many([one]).collect()):
        (text,) = told(lambda call=call: call(ahead))
        assert f"the period begins after {today}" in text
    begun = query.between(today, today + dt.timedelta(400))
    assert told(lambda: client.stats.get(begun)) == []
    assert client.stats.get(begun).partial


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"page": "/blog/a?utm_source=x"}, "ends before '[?]'"),
        ({"page": "/blog/a#top"}, "ends before '[?]'"),
        ({"pages": ["/a", "/b?c"]}, "ends before '[?]'"),
        ({"pages": "/blog/.*"}, "regular expression"),
        ({"page": "^/blog"}, "regular expression"),
        ({"page": "/blog/[0-9]+"}, "regular expression"),
        ({"page": "/(blog|news)"}, "regular expression"),
    ],
)
def test_what_can_be_no_path_is_told_before_it_is_sent(
    filters: Any, words: str
) -> None:
    """A query string, a fragment and a regular expression are not paths."""
    with pytest.warns(SiteStatsWarning, match=words):
        QUERY.where(**filters)


def test_a_step_without_effect_is_told_when_it_is_sent(client: Client) -> None:
    """An interval without the histogram, and a limit without a list, are told with the
    step to add, by every call that sends them; a builder stays silent.
    """
    base = StatsQuery(HOST).last(days=3)
    queries = [
        base.fields("pageviews").interval("day"),
        base.events("signup").interval("day"),
        base.fields("visitors").limit(5),
        base.fields("histogram").all_events().limit(5),
    ]
    steps = ["'histogram'", "'histogram'", "'pages'", "'pages'"]
    for query, step in zip(queries, steps, strict=True):
        for call in (
            lambda query=query: client.stats.get(query),
            lambda query=query: client.stats.get_many([query] * 3).collect(),
            lambda query=query: client.stats.compare(query),
        ):
            (text,) = told(call)
            assert f"add {step}" in text or f"such as {step}" in text
    both = [queries[0], queries[0].website("b.example"), queries[2]]
    client.websites.add("b.example")
    assert len(told(lambda: client.stats.get_many(both).collect())) == 2


def test_steps_with_an_effect_are_not_told(client: Client) -> None:
    """A limit is used by every list, and by version 1, which always has lists; what an
    address of a dashboard has was not a step.
    """
    base = StatsQuery(HOST).last(days=3)
    for query in (
        base.fields("pages").limit(5),
        base.fields("histogram").interval("day"),
        base.fields("pageviews").version(1).limit(5),
        StatsQuery.from_url(f"https://x.example/{HOST}?interval=day&limit=3").fields(
            "visitors"
        ),
    ):
        assert told(lambda query=query: client.stats.get(query)) == []
