"""The period of a response is held against the query's, and never warned of wrongly."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from fake_responses import read_response, stats_json
from query_strategies import around
from same_text import SameText
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._query.builder import StatsQuery
from sitestats.emulator import Emulator

pytestmark = pytest.mark.standard_library


QUERY = StatsQuery("example.com").fields("visitors")
SEPTEMBER = QUERY.between("2026-09-01", "2026-09-30")
BERLIN = "Europe/Berlin"
NOON = "Fri, 20 Nov 2026 12:00:00 GMT"
"""The service's Date, when today is 20 November in most zones."""


def warned(query: StatsQuery, start: Any, end: Any, **more: Any) -> list[str]:
    """The warnings about this response to *query*."""
    headers = {"date": more.pop("date")} if "date" in more else {}
    data = stats_json(visitors=1, start=start, end=end, **more)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_response(query, data, **headers)
    return [str(one.message) for one in caught]


def period(first: str, last: str) -> tuple[str, str]:
    """The start and end of a response about these days in UTC."""
    return f"{first}T00:00:00.000Z", f"{last}T23:59:59.999Z"


# --- dates ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("echoed", "words"),
    [
        (period("2026-10-01", "2026-10-31"), ["starts on 2026-10-01", "ends on 2026"]),
        (period("2025-09-01", "2025-09-30"), ["starts on 2025-09-01", "ends on 2025"]),
        (period("2026-09-01", "2026-09-29"), ["ends on 2026-09-29"]),
        (period("2026-09-02", "2026-09-30"), ["starts on 2026-09-02"]),
        # An end that the service takes as exclusive, in both ways to write it.
        (("2026-09-01T00:00:00.000Z", "2026-09-30T00:00:00.000Z"), ["2026-09-29"]),
        (("2026-09-01T00:00:00.000Z", "2026-09-29T23:59:59.999Z"), ["2026-09-29"]),
        # A day too many by two hours is no change of daylight time.
        (("2026-09-01T00:00:00.000Z", "2026-10-01T01:59:59.999Z"), ["2026-10-01"]),
        # Without a time of day.
        (("2026-09-01", "2026-09-29"), ["ends on 2026-09-29"]),
        # Without an offset, which may be in any zone, a day off is not certain.
        (("2026-09-01T00:00:00", "2026-09-27T23:59:59"), ["ends on 2026-09-27"]),
    ],
)
def test_another_period_than_requested_warns(
    echoed: tuple[str, str], words: list[str], same_text: SameText
) -> None:
    """Numbers of other days than requested would pass without a word."""
    sentences = warned(SEPTEMBER, *echoed)
    assert len(sentences) == len(words)
    for sentence, word in zip(sentences, words, strict=True):
        assert word in sentence
        assert "was requested" in sentence
        same_text(sentence)


@pytest.mark.parametrize(
    "echoed",
    [
        period("2026-09-01", "2026-09-30"),
        ("2026-09-01T00:00:00.000Z", "2026-10-01T00:00:00.000Z"),
        ("2026-09-01T00:00:00.000Z", "2026-10-01T00:59:59.999Z"),
        ("2026-08-31T23:00:00.000Z", "2026-09-30T22:59:59.999Z"),
        ("2026-09-01", "2026-09-30"),
        ("2026-09-01T00:00:00", "2026-09-30T23:59:59"),
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_the_requested_period_does_not_warn(echoed: tuple[str, str]) -> None:
    """The hour that was seen, and other ways to write these days, do not warn."""
    assert warned(SEPTEMBER, *echoed) == []


def test_the_period_is_compared_in_the_zone_of_the_response(
    same_text: SameText,
) -> None:
    """Days begin in the zone of the response, and the service's hour is allowed."""
    query = QUERY.between("2023-04-26", "2023-05-26")
    echoed = ("2023-04-25T22:00:00.000Z", "2023-05-26T22:59:59.999Z")
    assert warned(query, *echoed, timezone=BERLIN) == []
    (late,) = warned(query, *echoed)
    assert "starts on 2023-04-25 in UTC" in late
    # Without a zone, and in one that this machine does not know, a day is no news.
    for unknown in (None, "Moon/Crater"):
        assert warned(query, *echoed, timezone=unknown) == []
    (other,) = warned(
        query, "2023-04-23T22:00:00.000Z", echoed[1], timezone="Moon/Crater"
    )
    assert "starts on 2023-04-23" in other
    same_text(late)
    same_text(other)


def test_a_day_that_the_zone_skipped_does_not_warn() -> None:
    """30 December 2011 did not exist in Samoa, so no response can end on it."""
    query = QUERY.between("2011-12-30", "2011-12-30")
    echoed = ("2011-12-30T10:00:00.000Z", "2011-12-30T09:59:59.999Z")
    assert warned(query, *echoed, timezone="Pacific/Apia") == []


# --- words ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "echoed", "words"),
    [
        (QUERY.last(days=7), period("2026-11-13", "2026-11-19"), ""),
        (QUERY.last(days=7), period("2026-10-13", "2026-10-19"), "'today-7d' was"),
        (QUERY.on("yesterday"), period("2026-11-19", "2026-11-19"), ""),
        (QUERY.on("yesterday"), period("2026-11-16", "2026-11-16"), "'yesterday' was"),
        # A word on one side alone.
        (
            QUERY.between("yesterday", "2026-11-20"),
            period("2026-11-15", "2026-11-20"),
            "'yesterday' was",
        ),
        # Without an end the period ends today.
        (QUERY.since("2026-11-01"), period("2026-11-01", "2026-11-20"), ""),
        (QUERY.since("2026-11-01"), period("2026-11-01", "2026-11-18"), "'today' was"),
        # Without a start it is a month, whose days are not certain.
        (QUERY, period("2026-10-20", "2026-11-20"), ""),
        (QUERY, period("2026-10-21", "2026-11-20"), ""),
        (QUERY.between("today-99999d"), period("1753-02-05", "2026-11-20"), ""),
    ],
)
def test_words_go_by_the_service_s_own_date(
    query: StatsQuery, echoed: tuple[str, str], words: str
) -> None:
    """Words that the service took for other days than its own are warned about."""
    sentences = warned(query, *echoed, date=NOON)
    assert bool(sentences) is bool(words)
    assert words in " ".join(sentences)


@pytest.mark.parametrize(
    ("day", "fits"), [(17, False), (18, True), (20, True), (22, True), (23, False)]
)
def test_words_in_a_zone_that_is_not_known(day: int, fits: bool) -> None:  # noqa: FBT001 - a parameter
    """A zone that is not known may have today a day off, and its midnights, too."""
    echoed = period(f"2026-11-{day}", f"2026-11-{day}")
    found = warned(QUERY.on("today"), *echoed, timezone="Moon/Crater", date=NOON)
    assert (found == []) is fits


def test_words_have_a_length(same_text: SameText) -> None:
    """Without the service's date a day less than requested is still a day less."""
    assert warned(QUERY.last(days=7), *period("2020-01-01", "2020-01-07")) == []
    (less,) = warned(QUERY.last(days=7), *period("2020-01-01", "2020-01-06"))
    same_text(less)
    assert "2020-01-01 to 2020-01-06" in less
    assert "has 7 days" in less
    # Of a date and a word, and of this machine's clock, nothing is certain.
    assert warned(QUERY.since("2020-01-01"), *period("2020-01-01", "2020-01-06")) == []


def test_the_hour_around_midnight_is_not_certain() -> None:
    """Midnight may pass while a response is made: neither day is warned about."""
    query = QUERY.on("today")
    for date in ("Fri, 20 Nov 2026 23:59:59 GMT", "Sat, 21 Nov 2026 00:00:10 GMT"):
        for day in ("2026-11-20", "2026-11-21"):
            assert warned(query, *period(day, day), date=date) == []


# --- the histogram ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval", "dates", "outside"),
    [
        ("day", ["2026-09-01", "2026-09-30"], 0),
        ("day", ["2025-09-01", "2025-09-02"], 2),
        ("day", ["2026-08-31", "2026-09-01"], 1),
        ("hour", ["2026-09-30", "2026-10-01"], 1),
        ("week", ["2026-08-31", "2026-09-28"], 0),
        ("week", ["2026-08-30", "2026-09-27", "2026-10-06"], 0),
        ("week", ["2026-08-25", "2026-08-26", "2026-10-07"], 2),
        ("month", ["2026-09-01"], 0),
        ("month", ["2026-08-01", "2026-10-01"], 2),
        ("year", ["2026-01-01"], 0),
        ("year", ["2025-01-01", "2026-01-01"], 1),
    ],
)
def test_entries_outside_of_the_period_warn(
    interval: Any, dates: list[str], outside: int, same_text: SameText
) -> None:
    """A histogram of another time than its period says is warned about, once."""
    buckets = [{"date": date, "pageviews": 3, "visitors": 2} for date in dates]
    query = SEPTEMBER.fields("visitors", "histogram").interval(interval)
    in_period = period("2026-09-01", "2026-09-30")
    for start, end in (in_period, (None, None)):
        sentences = warned(query, start, end, histogram=buckets)
        assert len(sentences) == bool(outside)
        assert all(f"{outside} of {len(dates)} " in one for one in sentences)
        same_text(sentences)


def test_a_histogram_without_any_period_does_not_warn() -> None:
    """Where neither side has dates, an entry is never outside."""
    buckets = [{"date": "2020-02-29", "pageviews": 3, "visitors": 2}]
    for interval in ("hour", "day", "week", "month", "year"):
        query = QUERY.fields("visitors", "histogram").interval(interval)
        data = stats_json(visitors=1, histogram=buckets, start=None, end=None)
        assert read_response(query, data).histogram[0].pageviews == 3


# --- the first and the last day -----------------------------------------------------


def days(query: StatsQuery, start: Any, end: Any, **more: Any) -> str:
    """The first and the last day of this response to *query*."""
    data = stats_json(visitors=1, start=start, end=end, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        stats = read_response(query, data)
    return f"{stats.first_day} {stats.last_day}"


WORDS = QUERY.last(days=7)
LOCAL = ("2023-04-25T22:00:00.000Z", "2023-05-26T22:59:59.999Z")
MADE_UP = "Moon/Crater"


@pytest.mark.parametrize(
    ("query", "echoed", "zone", "expected"),
    [
        (WORDS, period("2026-11-13", "2026-11-19"), "UTC", "2026-11-13 2026-11-19"),
        # In the zone of the response, or else in that of the query.
        (WORDS, LOCAL, BERLIN, "2023-04-26 2023-05-26"),
        (WORDS.timezone(BERLIN), LOCAL, None, "2023-04-26 2023-05-26"),
        # Other days than requested are those that the numbers are of.
        (SEPTEMBER, LOCAL, BERLIN, "2023-04-26 2023-05-26"),
        # Without a zone a moment may be on either of two days.
        (WORDS, LOCAL, MADE_UP, "None None"),
        (QUERY.between("2023-04-26", "2023-05-26"), LOCAL, MADE_UP, "2023-04-26 2023-"),
        (SEPTEMBER, LOCAL, MADE_UP, "None None"),
        # Days without a time of day are in no need of a zone.
        (SEPTEMBER, ("2026-09-01", "2026-09-30"), MADE_UP, "2026-09-01 2026-09-30"),
        (WORDS, ("2026-09-01", "2026-09-30"), "America/Lima", "2026-09-01 2026-09-30"),
        # Where the response does not say, as in version 1, it is what was requested.
        (SEPTEMBER, (None, None), "UTC", "2026-09-01 2026-09-30"),
        (SEPTEMBER, ("soon", "9999-12-31T23:59:59Z"), "UTC", "2026-09-01 2026-09-30"),
        (WORDS, (None, "soon"), "UTC", "None None"),
        (QUERY.extra_param("start", "2026-W10"), (None, None), "UTC", "None None"),
    ],
)
def test_a_result_knows_its_first_and_last_day(
    query: StatsQuery, echoed: tuple[Any, Any], zone: str | None, expected: str
) -> None:
    """A day in UTC, or of another response, would be the wrong row of a frame."""
    assert days(query, *echoed, timezone=zone).startswith(expected)


def test_a_zone_of_any_length_is_read() -> None:
    """Megabytes in the envelope would stay in the cache."""
    echoed = period("2026-09-01", "2026-09-30")
    assert days(SEPTEMBER, *echoed, timezone="x" * 1_000_000) == "2026-09-01 2026-09-30"


def test_an_end_that_is_late_by_an_hour_clips_nothing() -> None:
    """The last day of a month is whole with an end an hour after midnight."""
    query = SEPTEMBER.fields("histogram").interval("month")
    buckets = [{"date": "2026-09-01", "pageviews": 3, "visitors": 2}]
    late = period("2026-09-01", "2026-09-30")[0], "2026-10-01T00:59:59.999Z"
    data = stats_json(histogram=buckets, start=late[0], end=late[1])
    stats = read_response(query, data)
    assert stats.last_day == dt.date(2026, 9, 30)
    assert not stats.histogram[0].clipped


# --- never wrongly ----------------------------------------------------------------

EMULATOR = Emulator()
EMULATOR.add_website("example.com")

KINDS = st.sampled_from(["dates", "words", "from date", "to date", "nothing"])
INTERVALS = st.sampled_from(["day", "week", "month", "year", "hour"])
SECONDS = st.integers(0, 86_399)


@given(around(), st.integers(0, 800), KINDS, INTERVALS, SECONDS)
@example(("Pacific/Apia", dt.date(2011, 12, 30)), 0, "dates", "day", 0)
@example(("Pacific/Apia", dt.date(2011, 12, 29)), 1, "dates", "week", 0)
@example(("Pacific/Apia", dt.date(2011, 12, 31)), 0, "from date", "day", 0)
@example(("Asia/Manila", dt.date(1844, 12, 31)), 0, "dates", "month", 0)
def test_no_response_of_the_emulator_warns(
    place: tuple[str, dt.date], days: int, kind: str, interval: Any, second: int
) -> None:
    """A response about exactly what was requested never warns, in any zone, on any day
    and at any second of the service's clock.
    """
    zone, day = place
    assume(interval != "hour" or days < 40)
    now = dt.datetime.combine(day, dt.time(), ZoneInfo(zone)).astimezone(dt.UTC)
    EMULATOR.now = now + dt.timedelta(seconds=second)
    last = day + dt.timedelta(days=days)
    bounds: dict[str, tuple[Any, Any]] = {
        "dates": (day, last),
        "words": (f"today-{days}d", f"today-{days // 2}d"),
        "from date": (day - dt.timedelta(days=days + 2), "yesterday"),
        "to date": (f"today-{days + 2}d", last),
        "nothing": (None, None),
    }
    query = QUERY.fields("visitors", "histogram").between(*bounds[kind])
    query = query.interval(interval)
    # Every other day in the zone of the query, or in that of the website.
    if second % 2:
        EMULATOR.change_website("example.com", timezone="UTC")
        query = query.timezone(zone)
    else:
        EMULATOR.change_website("example.com", timezone=zone)
    with EMULATOR.client() as client, warnings.catch_warnings():
        warnings.simplefilter("error", SiteStatsWarning)
        stats = client.stats.get(query)
    assert stats.timezone == zone
    if kind == "dates":
        assert (stats.first_day, stats.last_day) == (day, last)


def test_a_query_of_no_day_is_refused_before(same_text: SameText) -> None:
    """The check may take a date of the query for one, as others are never sent."""
    with pytest.raises(QueryError) as caught:
        QUERY.on("2026-02-30")
    same_text(caught.value)
    data = stats_json(visitors=1)
    for text in ("2026-02-30", "soon", "today+1d"):
        query = QUERY.extra_param("start", text).extra_param("end", text)
        assert read_response(query, data).visitors == 1
