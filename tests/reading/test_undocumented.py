"""What the document does not show: one policy, which docs/errors.md has as a table."""

from __future__ import annotations

import datetime as dt
import warnings
from pathlib import Path
from typing import Any

import pytest
import respx
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import entry, left_out, read_response, stats_json
from sitestats import (
    Client,
    HistogramEntry,
    InvalidResponseError,
    SiteStatsWarning,
    StatsQuery,
)

QUERY = StatsQuery("example.com").fields("pageviews", "countries", "histogram")
DAY = {"date": "2026-11-20", "pageviews": 3, "visitors": 2}
GOOD = stats_json(pageviews=66, countries=[entry("NL")], histogram=[DAY])
ABSENT = object()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(0, 1e300) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def with_value(data: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The *data* with another value, or without it."""
    changed = {**data, name: value}
    if value is ABSENT:
        del changed[name]
    return changed


@pytest.mark.parametrize("value", [None, ABSENT, "66", {}, True])
@pytest.mark.parametrize("name", ["pageviews", "countries", "histogram"])
def test_null_absent_and_unreadable_are_unknown_alike(name: Any, value: Any) -> None:
    """The rest is there; the unknown value has a problem, and reading it raises."""
    data = with_value(GOOD, name, value)
    with pytest.warns(SiteStatsWarning, match=f"'{name}' is left out") as caught:
        stats = read_response(QUERY, data)
    assert len(caught) == 1
    assert [problem.where for problem in stats.problems] == [f"$.{name}"]
    others = {"pageviews", "countries", "histogram"} - {name}
    assert {one for one in stats.requested if one in stats} == others
    with pytest.raises(InvalidResponseError, match=name):
        getattr(stats, name)


@given(
    st.dictionaries(
        st.sampled_from(
            ["docs", "url", "info", "generated_in_ms", "languages", "bounce_rate"]
        ),
        JSON,
    ),
    st.dictionaries(
        st.sampled_from(["hour", "week", "year", "month", "start", "partial", "bots"]),
        JSON,
    ),
    st.sampled_from(["*", "", "/", None, 7, ["/"], "all"]),
)
def test_what_nobody_requested_and_the_document_does_not_name_has_no_say(
    values: dict[str, Any], in_entries: dict[str, Any], path: Any
) -> None:
    """There is no warning and no problem, and the result is equal."""
    data = {**GOOD, **values, "path": path}
    data["histogram"] = [{**in_entries, **DAY}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stats = read_response(QUERY, data)
    assert stats == read_response(QUERY, GOOD)
    assert stats.problems == ()


@pytest.mark.parametrize("interval", ["day", "week", "month", "year"])
def test_keys_of_another_interval_do_not_matter(interval: Any) -> None:
    """A year in quotes does not refuse the months."""
    query = QUERY.interval(interval)
    rows = [{**DAY, "hour": "x", "year": "2026", "week": "47"}]
    stats = read_response(query, {**GOOD, "histogram": rows})
    assert stats.histogram[0].pageviews == 3
    assert (stats.histogram[0].hour, stats.histogram[0].week) == (None, None)


@pytest.mark.parametrize(
    ("entry_of", "hour"),
    [
        ({"date": "2026-11-20", "hour": 5}, 5),
        ({"date": "2026-11-20", "hour": "05"}, 5),
        ({"date": "2026-11-20", "hour": "5"}, 5),
        ({"date": "2026-11-20T04:00:00.000Z"}, 5),
        ({"date": "2026-11-20T05:00:00"}, 5),
        ({"date": "2026-11-20T05:00:00+01:00"}, 5),
        ({"date": "2026-11-20", "hour": "2026-11-20T04:00:00.000Z"}, 5),
        ({"date": "2026-11-20T00:00:00+01:00", "hour": 5}, 5),
        ({"date": "2026-11-19T23:00:00.000Z", "hour": "05"}, 5),
    ],
)
def test_an_hour_is_read_in_any_form(entry_of: dict[str, Any], hour: int) -> None:
    """It is a number, digits or a moment, of the website's zone."""
    rows = [{"pageviews": 3, "visitors": 2, **entry_of}]
    data = {**GOOD, "timezone": "Europe/Amsterdam", "histogram": rows}
    (found,) = read_response(QUERY.interval("hour"), data).histogram
    assert isinstance(found, HistogramEntry)
    assert (found.date, found.hour) == (dt.date(2026, 11, 20), hour)
    assert found.start is not None
    assert found.start.isoformat() == "2026-11-20T05:00:00+01:00"


@pytest.mark.parametrize(
    "entry_of",
    [
        {"date": "2026-11-20"},
        {"date": "2026-11-20", "hour": 24},
        {"date": "2026-11-20", "hour": None},
        {"date": "2026-11-20", "hour": "noon"},
        {"date": "2026-11-20", "hour": True},
    ],
)
def test_an_hour_that_can_not_be_read_is_a_problem(entry_of: dict[str, Any]) -> None:
    """It does not become an entry without an hour."""
    rows = [{"pageviews": 3, "visitors": 2, **entry_of}]
    (problem,) = left_out(QUERY.interval("hour"), {**GOOD, "histogram": rows})
    assert problem.startswith("$.histogram[0].hour: ")


@given(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)))
def test_weeks_and_years_are_read_as_iso_8601_writes_them(day: dt.date) -> None:
    """A week may be 2026-W10, and a year a number."""
    year, week, _ = day.isocalendar()
    rows = [{**DAY, "date": f"{year}-W{week:02}"}]
    stats = read_response(QUERY.interval("week"), {**GOOD, "histogram": rows})
    assert stats.histogram[0].date == day - dt.timedelta(days=day.weekday())
    rows = [{**DAY, "date": day.year}]
    stats = read_response(QUERY.interval("year"), {**GOOD, "histogram": rows})
    assert stats.histogram[0].date == dt.date(day.year, 1, 1)


def test_each_entry_that_can_not_be_read_has_its_place_and_its_value() -> None:
    """The first hundred have; the others are left out, too."""
    rows = [entry("NL"), "DE", entry("FR", "7"), *["?"] * 200, entry("BE")]
    with pytest.warns(SiteStatsWarning, match="; and 99 more"):
        stats = read_response(QUERY, {**GOOD, "countries": rows})
    assert stats.countries.column("value") == ["NL", "BE"]
    assert stats.countries.incomplete
    first, second, *_ = stats.problems
    assert str(first).startswith("$.countries[1]: expected an object, got the string")
    assert second.where == "$.countries[2].pageviews"
    assert "'7'" in second.message
    assert len(stats.problems) == 100


def test_plain_strings_in_a_list_are_a_problem_and_in_raw() -> None:
    """Section 2.3 calls countries "country codes", which have no counts: an empty list
    would look as if nobody had come.
    """
    with pytest.warns(SiteStatsWarning, match="'countries' is left out"):
        stats = read_response(QUERY, {**GOOD, "countries": ["NL", "DE"]})
    assert stats.raw()["countries"] == ["NL", "DE"]
    with pytest.raises(InvalidResponseError, match=r"\$\.countries\[0\]"):
        _ = stats.countries


def test_unknown_values_of_entries_are_where_those_of_the_root_are() -> None:
    """A new value of the service can be used before this package knows it."""
    rows = [entry("NL", continent="EU", seconds_on_page=3), entry("DE")]
    data = {**GOOD, "countries": rows, "bots": 7, "__bots": "prose"}
    stats = read_response(QUERY, data)
    assert stats.extra == {"bots": 7, "countries": [{"continent": "EU"}, {}]}


NOON = {"Date": "Fri, 20 Nov 2026 12:00:00 GMT"}
PAST_DAY = stats_json(
    pageviews=66,
    visitors=41,
    start="2026-11-10T00:00:00.000Z",
    end="2026-11-10T23:59:59.999Z",
)
PAST = StatsQuery("example.com").on("2026-11-10").timezone("UTC")
PAST_TOTALS = PAST.fields("pageviews", "visitors")


@pytest.mark.parametrize("unknown", [{"generated_in_ms": 398.2}, {"path": 7}])
def test_a_store_keeps_what_differs_in_undocumented_values(
    unknown: dict[str, Any], tmp_path: Path, respx_mock: respx.MockRouter
) -> None:
    """A past day is requested once."""
    route = respx_mock.get("https://stats.test/example.com.json")
    route.respond(json={**PAST_DAY, **unknown}, headers=NOON)
    with Client("https://stats.test", store=tmp_path / "s.db") as client:
        results = [client.stats.get(PAST_TOTALS) for _ in range(3)]
    assert [stats.pageviews for stats in results] == [66] * 3
    assert route.call_count == 1


@pytest.mark.parametrize("value", [None, "66"])
def test_an_unknown_value_does_not_replace_a_stored_one(
    value: Any, tmp_path: Path, respx_mock: respx.MockRouter
) -> None:
    """A later response that can't be read whole is not stored."""
    route = respx_mock.get("https://stats.test/example.com.json")
    with Client("https://stats.test", store=tmp_path / "s.db") as client:
        route.respond(json=PAST_DAY, headers=NOON)
        client.stats.get(PAST_TOTALS)
        route.respond(json={**PAST_DAY, "pageviews": value}, headers=NOON)
        with pytest.warns(SiteStatsWarning, match="'pageviews' is left out"):
            client.stats.get(PAST_TOTALS, fresh=True)
        assert client.stats.get(PAST_TOTALS).pageviews == 66


def test_a_problem_quotes_no_credential(respx_mock: respx.MockRouter) -> None:
    """The service may repeat a key where a number belongs."""
    key = "a-key-of-twenty-letters"
    body = stats_json(pageviews=key, visitors=3)
    respx_mock.get("https://stats.test/example.com.json").respond(json=body)
    query = StatsQuery("example.com")
    with Client("https://stats.test", api_key=key) as client:
        with pytest.warns(SiteStatsWarning) as caught:
            stats = client.stats.get(query.fields("pageviews", "visitors"))
        with pytest.raises(InvalidResponseError) as refused:
            client.stats.get(query.fields("pageviews"))
    told = f"{caught[0].message} {stats.problems} {refused.value!r} {refused.value}"
    assert "$.pageviews: expected an integer, got the string" in told
    assert key not in told
    assert key.encode() not in refused.value.body
