"""A response is held against its query: an error, a warning, and never a wrong one."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fake_responses import left_out, problems, read_response, stats_json
from inside import FIELDS, SENT_VERSION, zone_names
from sitestats import EventCount, SiteStatsWarning, StatsQuery
from sitestats.emulator import Emulator

QUERY = StatsQuery("example.com")
TOTALS = QUERY.fields("pageviews", "visitors")
GOOD = stats_json(pageviews=66, visitors=41)
SEPTEMBER = TOTALS.between("2026-09-01", "2026-09-30")
REQUESTED = "'example.com' was requested"
BERLIN = "Europe/Berlin"
NOON = "Fri, 20 Nov 2026 12:00:00 GMT"
"""The service's Date, when today is 20 November in most zones."""


def warned(query: StatsQuery, data: Any, **headers: str) -> list[str]:
    """The warnings about this response to *query*."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_response(query, data, **headers)
    return [str(one.message) for one in caught]


def echoing(start: Any, end: Any, **more: Any) -> dict[str, Any]:
    """A response about the period from *start* to *end*; days are whole, in UTC."""
    if start and len(start) == len("2026-11-20"):
        start, end = f"{start}T00:00:00.000Z", f"{end}T23:59:59.999Z"
    return {**GOOD, "start": start, "end": end, **more}


# --- errors -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "seconds_on_page"])
def test_a_response_without_what_was_requested_is_an_error(name: Any) -> None:
    """Where nothing that was requested is there, the response is an error."""
    query = QUERY.fields(name)
    assert problems(query, stats_json()) == [f"$.{name}: was requested and is missing"]


def test_one_error_lists_all_problems() -> None:
    """What is wrong, missing and another's comes together, and a warning hides none."""
    data = {**GOOD, "hostname": "other.example", "visitors": None, "version": "x"}
    query = QUERY.fields("visitors", "pageviews", "pages")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = problems(query, data)
    assert found == [
        "$.visitors: expected an integer, got null",
        "$.pages: was requested and is missing",
        f"$.hostname: the response is about 'other.example', but {REQUESTED}",
    ]


@pytest.mark.parametrize("hostname", ["other.example", "", "www.example.com", "/"])
def test_another_website_is_an_error(hostname: Any) -> None:
    """A response about another website raises."""
    (problem,) = problems(TOTALS, {**GOOD, "hostname": hostname})
    assert problem.startswith("$.hostname: ")


@pytest.mark.parametrize(
    ("requested", "received"),
    [
        ("example.com", "Example.COM."),
        ("bücher.example", "Bücher.example"),
        ("xn--bcher-kva.example", "bücher.example"),
    ],
)
def test_a_host_name_may_be_written_otherwise(requested: str, received: str) -> None:
    """Case, a final dot and the script make no other website."""
    query = StatsQuery(requested).fields("visitors")
    assert read_response(query, stats_json(visitors=1, hostname=received)).visitors == 1


def test_a_page_where_none_was_requested_is_an_error() -> None:
    """With the website's name in the base address the service takes it for a page."""
    (problem,) = problems(TOTALS, {**GOOD, "path": "/example.com"})
    assert "leave the website's name out of the base address" in problem


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"name": "refund", "total": "2"}], r"events\[1\].total"),
        ([], "no entry of 'purchase', 'refund'"),
    ],
)
def test_a_requested_event_without_a_count_is_unknown(
    rows: list[Any], problem: str
) -> None:
    """An entry that is missing or wrong does not count 0; names are in any case."""
    query = QUERY.fields("visitors").events("SignUp", "Purchase", "purchase", "refund")
    rows = [{"name": "signup", "total": 7}, *rows]
    with pytest.warns(SiteStatsWarning, match=problem):
        stats = read_response(query, stats_json(visitors=1, events=rows))
    assert [*stats.events] == [EventCount("signup", 7)]
    assert stats.events.incomplete
    with pytest.warns(SiteStatsWarning, match="'events' is left out"):
        stats = read_response(query, stats_json(visitors=1, events=rows[1:]))
    assert (stats.visitors, "events" in stats) == (1, False)
    assert problems(QUERY.events("a"), stats_json(events=[])) == [
        "$.events: has no entry of 'a'"
    ]
    assert left_out(query, stats_json(visitors=1)) == [
        "$.events: was requested and is missing"
    ]
    assert len(read_response(QUERY.all_events(), stats_json(events=[])).events) == 0


# --- warnings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "differing", "words"),
    [
        (TOTALS.timezone("Europe/Paris"), {}, ["time zone", "'UTC'", "'Europe/Paris'"]),
        (TOTALS.path("/a"), {"path": "*"}, ["page", "'*'", "'/a'"]),
        (TOTALS, {"path": "/a"}, ["page", "'/a'", "all pages"]),
        (TOTALS, {"version": 5}, ["version", "5", str(SENT_VERSION)]),
    ],
)
def test_a_difference_from_the_query_is_a_warning(
    query: StatsQuery, differing: dict[str, Any], words: list[str]
) -> None:
    """Another zone, version or page warns at the caller's line."""
    with pytest.warns(SiteStatsWarning) as caught:
        stats = read_response(query, {**GOOD, **differing})
    assert len(caught) == 1
    assert all(word in str(caught[0].message) for word in words)
    assert caught[0].filename.endswith("fake_responses.py")
    assert stats.visitors == 41


def test_several_entries_of_a_unit_are_a_warning() -> None:
    """A sum over them would count a day twice, or call days months. An hour comes twice
    when summer time ends.
    """
    histogram = QUERY.fields("histogram")
    days = [{"date": "2026-03-29", "pageviews": 1, "visitors": 1}] * 2
    body = stats_json(histogram=days)
    with pytest.warns(SiteStatsWarning, match="2 entries for the day of 2026-03-29"):
        assert len(read_response(histogram, body).histogram) == 2
    days[1] = days[1] | {"date": "2026-03-30"}
    assert len(read_response(histogram, stats_json(histogram=days)).histogram) == 2
    with pytest.warns(SiteStatsWarning, match="2 entries for the month of 2026-03-01"):
        read_response(histogram.interval("month"), stats_json(histogram=days))
    hours = [days[0] | {"hour": 2}] * 2
    read_response(histogram.interval("hour"), stats_json(histogram=hours))


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


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2026-10-01", "2026-10-31", ["starts on 2026-10-01", "ends on 2026-10-31"]),
        ("2026-09-01", "2026-09-29", ["ends on 2026-09-29"]),
        ("2026-09-02", "2026-09-30", ["starts on 2026-09-02"]),
        # An end that the service takes as exclusive.
        ("2026-09-01T00:00:00Z", "2026-09-30T00:00:00.000Z", ["ends on 2026-09-29"]),
        # A day too many by two hours is not a change of daylight time.
        ("2026-09-01T00:00:00Z", "2026-10-01T01:59:59.999Z", ["ends on 2026-10-01"]),
    ],
)
def test_another_period_than_requested_warns(
    start: str, end: str, words: list[str]
) -> None:
    """Numbers of other days than requested would pass without a word."""
    found = warned(SEPTEMBER, echoing(start, end))
    assert len(found) == len(words)
    assert all(word in one for word, one in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-09-01", "2026-09-30"),
        ("2026-09-01T00:00:00.000Z", "2026-10-01T00:00:00.000Z"),
        ("2026-09-01T00:00:00.000Z", "2026-10-01T00:59:59.999Z"),
        ("2026-08-31T23:00:00.000Z", "2026-09-30T22:59:59.999Z"),
        ("2026-09-01T00:00:00", "2026-09-30T23:59:59"),
        ("soon", "0001-01-01T00:00:00+14:00"),
        (None, None),
    ],
)
def test_the_requested_period_does_not_warn(start: str, end: str) -> None:
    """The hour that was seen, and other ways to write these days, do not warn."""
    assert warned(SEPTEMBER, echoing(start, end)) == []


def test_the_period_is_compared_in_the_zone_of_the_response() -> None:
    """Days begin in the zone of the response; in an unknown one nothing warns. A moment
    without a zone is in UTC, as all others are.
    """
    query = TOTALS.between("2023-04-26", "2023-05-26")
    echoed = ("2023-04-25T22:00:00.000Z", "2023-05-26T22:59:59.999Z")
    assert warned(query, echoing(*echoed, timezone=BERLIN)) == []
    bare = [text.removesuffix("Z") for text in echoed]
    assert warned(query, echoing(*bare, timezone=BERLIN)) == []
    (late,) = warned(query, echoing(*echoed))
    assert "starts on 2023-04-25 in UTC" in late
    assert warned(query, echoing(*echoed, timezone="Moon/Crater")) == []


@pytest.mark.parametrize(
    ("query", "first", "last", "words"),
    [
        (TOTALS.last(days=7), "2026-11-13", "2026-11-19", ""),
        (TOTALS.last(days=7), "2026-10-13", "2026-10-19", "'today-7d' was"),
        (TOTALS.on("yesterday"), "2026-11-19", "2026-11-19", ""),
        (TOTALS.on("yesterday"), "2026-11-16", "2026-11-16", "'yesterday' was"),
        # Midnight may pass while a response is made, and zones differ.
        (TOTALS.on("today"), "2026-11-21", "2026-11-21", ""),
        # Without an end the period ends today; without a start it is a month.
        (TOTALS.since("2026-11-01"), "2026-11-01", "2026-11-20", ""),
        (TOTALS.since("2026-11-01"), "2026-11-01", "2026-11-17", "'today' was"),
        (TOTALS, "2026-10-20", "2026-11-20", ""),
        (TOTALS.since("2026-12-01"), "2026-12-01", "2026-11-20", "name both days"),
    ],
)
def test_words_go_by_the_services_own_date(
    query: StatsQuery, first: str, last: str, words: str
) -> None:
    """Words that the service took for other days than its own are warned about."""
    found = warned(query, echoing(first, last), date=NOON)
    assert bool(found) is bool(words)
    assert words in " ".join(found)


# --- the first and the last day -----------------------------------------------------

WORDS = TOTALS.last(days=7)
LOCAL = ("2023-04-25T22:00:00.000Z", "2023-05-26T22:59:59.999Z")
MADE_UP = "Moon/Crater"


@pytest.mark.parametrize(
    ("query", "echoed", "zone", "expected"),
    [
        (WORDS, ("2026-11-13", "2026-11-19"), "UTC", "2026-11-13 2026-11-19"),
        # In the zone of the response, or else in that of the query.
        (WORDS, LOCAL, BERLIN, "2023-04-26 2023-05-26"),
        (WORDS.timezone(BERLIN), LOCAL, None, "2023-04-26 2023-05-26"),
        # Other days than requested are those that the numbers are of.
        (SEPTEMBER, LOCAL, BERLIN, "2023-04-26 2023-05-26"),
        # In an unknown zone, and where the response does not say, as in version 1, they
        # are those of the query.
        (WORDS, LOCAL, MADE_UP, "None None"),
        (SEPTEMBER, LOCAL, MADE_UP, "2026-09-01 2026-09-30"),
        (SEPTEMBER, (None, "soon"), "UTC", "2026-09-01 2026-09-30"),
        (WORDS, (None, "soon"), "UTC", "None None"),
    ],
)
def test_a_result_knows_its_first_and_last_day(
    query: StatsQuery, echoed: tuple[Any, Any], zone: str | None, expected: str
) -> None:
    """A day in UTC, or of another response, would be the wrong row of a frame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        stats = read_response(query, echoing(*echoed, timezone=zone))
    assert f"{stats.first_day} {stats.last_day}".startswith(expected)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_bounds_without_a_time_are_those_days(zone: str) -> None:
    """They are days of the response's zone, and not midnights in UTC."""
    bounds = {"start": "2026-09-01", "end": "2026-09-30"}
    stats = read_response(SEPTEMBER, echoing(None, None, timezone=zone) | bounds)
    assert f"{stats.first_day} {stats.last_day}" == "2026-09-01 2026-09-30"


EMULATOR = Emulator()
EMULATOR.add_website("example.com")


@given(
    st.sampled_from(sorted(zone_names())),
    # Samoa was the last to skip a day, in 2011.
    st.dates(dt.date(2012, 1, 1), dt.date(2099, 1, 1)),
    st.integers(0, 800),
    st.sampled_from(["dates", "words", "from date", "to date", "nothing"]),
    st.sampled_from(["day", "week", "month", "year", "hour"]),
    st.integers(0, 86_399),
)
def test_no_response_of_the_emulator_warns(  # noqa: PLR0917  drawn values
    zone: str, day: dt.date, days: int, kind: str, interval: Any, second: int
) -> None:
    """A response about exactly what was requested never warns, in any zone, on any day
    and at any second of the service's clock.
    """
    assume(interval != "hour" or days < 40)
    last = day + dt.timedelta(days=days)
    now = dt.datetime.combine(day, dt.time(), ZoneInfo(zone)).astimezone(dt.UTC)
    EMULATOR.now = now + dt.timedelta(seconds=second)
    bounds: dict[str, tuple[Any, Any]] = {
        "dates": (day, last),
        "words": (f"today-{days}d", f"today-{days // 2}d"),
        "from date": (day - dt.timedelta(days=days + 2), "yesterday"),
        "to date": (f"today-{days + 2}d", last),
        "nothing": (None, None),
    }
    query = QUERY.fields("visitors", "histogram").between(*bounds[kind])
    # Every other day in the zone of the query, or in that of the website.
    own = bool(second % 2)
    EMULATOR.change_website("example.com", timezone="UTC" if own else zone)
    query = query.interval(interval).timezone(zone) if own else query.interval(interval)
    with EMULATOR.client() as client, warnings.catch_warnings():
        warnings.simplefilter("error", SiteStatsWarning)
        stats = client.stats.get(query)
    assert stats.timezone == zone
    if kind == "dates":
        assert (stats.first_day, stats.last_day) == (day, last)
