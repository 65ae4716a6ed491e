"""A response that differs from its query: an error, or a warning."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from fake_responses import problems, read_response, stats_json
from same_text import SameText
from sitestats._common.errors import SiteStatsWarning
from sitestats._common.fields import FIELDS
from sitestats._query.builder import StatsQuery
from sitestats._results.entries import EventCount

QUERY = StatsQuery("example.com")
TOTALS = QUERY.fields("pageviews", "visitors")
GOOD = stats_json(pageviews=66, visitors=41)
REQUESTED = "'example.com' was requested"


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "seconds_on_page"])
def test_a_requested_field_that_is_missing_is_an_error(name: Any) -> None:
    """A requested field that is missing raises, rather than being absent."""
    query = QUERY.fields(name).events("signup")
    assert problems(query, stats_json(events=[{"name": "signup", "total": 7}])) == [
        f"$.{name}: was requested and is missing"
    ]


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("pageviews", -1, "-1 as pageviews"),
        (
            "pages",
            [
                {"value": ":-", "pageviews": 1, "visitors": 1},
                {"value": "/", "pageviews": 1, "visitors": -7},
            ],
            r"-7 as pages\[1\].visitors",
        ),
        (
            "histogram",
            [{"date": "2026-11-20", "pageviews": -2, "visitors": 1}],
            r"-2 as histogram\[0\].pageviews",
        ),
    ],
)
def test_a_count_below_zero_is_a_warning(name: Any, value: Any, where: str) -> None:
    """A negative count stays as it is, and a warning tells its place."""
    with pytest.warns(SiteStatsWarning, match=f"has {where}, and no count is below 0"):
        stats = read_response(QUERY.fields(name), stats_json(**{name: value}))
    assert "-" in str(stats.raw()[name])


def test_a_requested_event_that_is_missing_counts_nothing(same_text: SameText) -> None:
    """Beside others, a missing event is a warning and 0, and no lost response."""
    query = QUERY.events("signup", "Purchase", "purchase", "refund")
    data = stats_json(events=[{"name": "signup", "total": 7}])
    with pytest.warns(SiteStatsWarning) as caught:
        stats = read_response(query, data)
    same_text(caught[0].message)
    assert {*stats.events} == {
        *(EventCount("signup", 7), EventCount("purchase", 0), EventCount("refund", 0))
    }
    assert len(stats.events) == 3
    (warning,) = caught
    assert "no count of 'purchase', 'refund', which counts 0" in str(warning.message)
    many = QUERY.events("signup", *(f"event{number}" for number in range(9)))
    with pytest.warns(SiteStatsWarning, match="'event2' and 6 more") as caught:
        assert sum(event.total for event in read_response(many, data).events) == 7
    same_text(caught[0].message)


def test_a_response_without_any_requested_event_is_an_error() -> None:
    """With none of the names the service may not have read them, so 0 is not sure."""
    query = QUERY.events("signup", "purchase")
    data = stats_json(events=[{"name": "other", "total": 7}])
    assert problems(query, data) == [
        f"$.events: the event {name!r} was requested and is missing"
        for name in ("signup", "purchase")
    ]
    assert problems(query, stats_json()) == ["$.events: was requested and is missing"]
    assert len(read_response(QUERY.all_events(), stats_json(events=[])).events) == 0


@pytest.mark.parametrize("hostname", ["other.example", "", "www.example.com", "/"])
def test_another_website_is_an_error(hostname: str) -> None:
    """A response about another website raises."""
    assert problems(TOTALS, {**GOOD, "hostname": hostname}) == [
        f"$.hostname: the response is about {hostname!r}, but {REQUESTED}"
    ]


def test_a_host_name_may_be_written_otherwise() -> None:
    """Case, a final dot and the script make no other website."""
    for requested_name, received_name in (
        ("example.com", "Example.COM."),
        ("bücher.example", "Bücher.example"),
        ("xn--bcher-kva.example", "bücher.example"),
    ):
        query = StatsQuery(requested_name).fields("visitors")
        assert (
            read_response(
                query, stats_json(visitors=1, hostname=received_name)
            ).visitors
            == 1
        )


@pytest.mark.parametrize(
    ("query", "differing", "words"),
    [
        (TOTALS.timezone("Europe/Paris"), {}, ["time zone", "'UTC'", "'Europe/Paris'"]),
        (TOTALS, {"version": 5}, ["version", "5", "6"]),
        (TOTALS.path("/a"), {"path": "*"}, ["page", "'*'", "'/a'"]),
        (TOTALS, {"path": "/a"}, ["page", "'/a'", "all pages"]),
        (TOTALS.where(page="/a"), {"path": "/b"}, ["page", "'/b'", "'/a'"]),
        (TOTALS, {"version": "6"}, ["version", 'expected int, got "6"']),
        (TOTALS, {"generated_in_ms": 0.5}, ["generated_in_ms", "0.5"]),
        (TOTALS, {"start": "soon"}, ["start", "'soon'", "no date"]),
        (TOTALS, {"end": 7}, ["end", "7"]),
        (TOTALS, {"end": "0001-01-01T00:00:00+14:00"}, ["end", "no date"]),
        (TOTALS, {"version": 7}, ["version", "7", "6"]),
    ],
)
def test_a_difference_from_the_query_is_a_warning(
    query: StatsQuery, differing: dict[str, Any], words: list[str], same_text: SameText
) -> None:
    """Another zone, version or page than requested, and unusable values, warn."""
    with pytest.warns(SiteStatsWarning) as caught:
        stats = read_response(query, {**GOOD, **differing})
    same_text(caught[0].message)
    assert len(caught) == 1
    assert all(word in str(caught[0].message) for word in words)
    assert caught[0].filename.endswith("fake_responses.py")
    assert stats.visitors == 41


@pytest.mark.parametrize(
    ("query", "path"),
    [
        (TOTALS.path("/a b/ü"), "/a b/ü"),
        (TOTALS.path("/a b/ü"), "/a%20b/%C3%BC"),
        (TOTALS.where(page="/a"), "/a"),
        (TOTALS.where(page="/a b"), "/a%20b"),
        (TOTALS.where(page="/a"), "*"),
        (TOTALS.where(page="/a*"), "/abc"),
        (TOTALS.where(pages=["/a*"]), "/a*"),
        (TOTALS, "*"),
        (TOTALS, None),
    ],
)
def test_a_requested_page_is_no_warning(query: StatsQuery, path: str | None) -> None:
    """The requested page does not warn, encoded or not, in the path or a filter."""
    assert read_response(query, {**GOOD, "path": path}).path == path


def test_a_warning_does_not_hide_an_error() -> None:
    """A warning that is raised as an error does not hide the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problems(TOTALS, {**GOOD, "visitors": None, "version": "6"})
