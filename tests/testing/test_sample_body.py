"""Results of stored bodies, and results made of values for unit tests."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import read_response, stats_json
from inside import SENT_VERSION, parameters_of
from query_strategies import queries
from sitestats import (
    EventCount,
    HistogramEntry,
    InvalidInputError,
    InvalidResponseError,
    ListEntry,
    PageEntry,
    SiteStatsWarning,
    Stats,
    StatsQuery,
    StatusError,
)

DAY = dt.date(2026, 3, 1)
HOUR = dt.datetime(2026, 3, 1, 5)  # noqa: DTZ001 - in the query's zone
QUERY = StatsQuery("example.com").fields("visitors", "pages").on(DAY)
COUNTS = st.integers(0, 2**40)
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
MOMENTS = st.datetimes(dt.datetime(2026, 11, 1), timezones=st.just(dt.UTC))  # noqa: DTZ001 - a bound is naive
# In UTC these days may begin before the calendar, or end after it.
EDGES = {"0001-01-01", "9999-12-31"}


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@given(
    queries().filter(lambda one: EDGES.isdisjoint(one.params().values())),
    MOMENTS | st.none(),
    st.data(),
)
def test_any_result_can_be_made_and_stored(
    query: StatsQuery, moment: dt.datetime | None, data: st.DataObject
) -> None:
    """With all that it requests any query makes a result, which is equal to that of a
    response with these values, and to that of the stored body.
    """
    parameters = parameters_of(query)
    if parameters.version < 5:
        return
    seconds = [st.none() | st.floats(0, 900)] * ("seconds_on_page" in parameters.fields)
    values: dict[str, Any] = {}
    for name in parameters.fields:
        if name in {"pageviews", "visitors", "seconds_on_page"}:
            values[name] = data.draw(COUNTS)
        elif name == "histogram":
            is_hourly = parameters.interval == "hour"
            values[name] = [(HOUR if is_hourly else DAY, 3, 2)]
        else:
            row = st.tuples(TEXT, COUNTS, COUNTS, *seconds)
            values[name] = data.draw(st.lists(row, max_size=2))
    if parameters.events is not None:
        names = () if parameters.events == "*" else parameters.events
        values["events"] = dict.fromkeys(names, 1)
    made = Stats.of(query, **values, responded_at=moment)
    assert set(made.requested) == set(values)
    read = read_response(query, json.loads(made.body), received=moment)
    stored = Stats.from_body(query, read.body, responded_at=read.responded_at)
    for name in attrs.fields_dict(Stats).keys() - {"body"}:
        assert getattr(read, name) == getattr(made, name), name
        assert getattr(stored, name) == getattr(read, name), name
    assert stored == read == made
    assert hash(stored) == hash(read)
    assert not Stats.from_body(query, read.body).partial


def test_a_stored_body_is_checked_as_a_response_is() -> None:
    """A body of another website, without a field, or of an error is refused."""
    good = json.dumps(stats_json(visitors=1, pages=[])).encode()
    other = QUERY.website("other.example")
    with pytest.raises(InvalidResponseError, match=r"about 'example\.com'"):
        Stats.from_body(other, good)
    with pytest.raises(
        InvalidResponseError, match="pageviews: was requested and is missing"
    ):
        Stats.from_body(QUERY.fields("pageviews"), good)
    with pytest.raises(StatusError, match="not today"):
        Stats.from_body(QUERY, b'{"ok":false,"error":"not today"}')
    with pytest.raises(InvalidResponseError, match="JSON"):
        Stats.from_body(QUERY, b"<html>")
    with pytest.warns(SiteStatsWarning, match="time zone") as caught:
        Stats.from_body(QUERY.between().timezone("Asia/Tokyo"), good)
    assert caught[0].filename == __file__
    naive = dt.datetime(2026, 3, 1)  # noqa: DTZ001 - that is wrong
    with pytest.raises(
        InvalidInputError, match="responded_at is a datetime with a time"
    ):
        Stats.from_body(QUERY, good, responded_at=naive)


# --- made of values ---------------------------------------------------------------

ALL = (
    StatsQuery("example.com")
    .fields("pageviews", "visitors", "histogram", "pages", "countries")
    .events("signup", "purchase")
    .between("2026-03-01", "2026-03-02")
    .timezone("Europe/Amsterdam")
    .limit(2)
)
VALUES: dict[str, Any] = {
    "pageviews": 5,
    "visitors": 3,
    "histogram": [(DAY, 3, 2), ("2026-03-02", 2, 2)],
    "pages": [("/a", 3, 1), PageEntry("/b", 2, 2)],
    "countries": [("NL", 4, 3), (None, 1, 1)],
    "events": {"signup": 7, "purchase": 0},
}


def test_a_result_of_values() -> None:
    """A result that was made behaves as one of the service: typed and complete."""
    stats = Stats.of(ALL, **VALUES)
    assert (stats.pageviews, stats.visitors) == (5, 3)
    assert [*stats.pages] == [PageEntry("/a", 3, 1), PageEntry("/b", 2, 2)]
    assert stats.pages.truncated
    assert [*stats.countries] == [ListEntry("NL", 4, 3), ListEntry(None, 1, 1)]
    assert [*stats.events] == [EventCount("signup", 7), EventCount("purchase", 0)]
    assert [*stats.histogram] == [
        HistogramEntry(DAY, 3, 2),
        HistogramEntry(dt.date(2026, 3, 2), 2, 2),
    ]
    assert (stats.hostname, stats.path, stats.version) == (
        "example.com",
        "*",
        SENT_VERSION,
    )
    assert stats.timezone == "Europe/Amsterdam"
    assert (stats.first_day, stats.last_day) == (DAY, dt.date(2026, 3, 2))
    assert stats.start == dt.datetime(2026, 2, 28, 23, tzinfo=dt.UTC)
    assert not stats.partial
    assert stats.raw()["visitors"] == 3
    assert stats == Stats.from_body(ALL, stats.body)
    assert len(stats.pages.to_pandas()) == 2


def test_what_is_missing_and_what_was_not_requested_is_named() -> None:
    """Each field that is not given is in the error, and so is each value that the query
    does not request, with the name that may be meant.
    """
    with pytest.raises(InvalidInputError, match="give pages=…") as caught:
        Stats.of(ALL, pageviews=1, visitors=1, events={"signup": 1})
    named = [problem.where for problem in caught.value.problems]
    assert named == ["histogram", "pages", "countries"]
    more: dict[str, Any] = {"referrers": [], "page": []}
    with pytest.raises(InvalidInputError, match="did you mean 'pages'") as caught:
        Stats.of(QUERY, visitors=1, pages=[], events={"a": 1}, **more)
    named = [problem.where for problem in caught.value.problems]
    assert named == ["events", "referrers", "page"]


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"visitors": "3"}, InvalidResponseError, r"\$\.visitors"),
        ({"visitors": None}, InvalidResponseError, r"\$\.visitors"),
        ({"visitors": object()}, InvalidInputError, "such a value"),
        ({"pages": [("/a", 3)]}, InvalidInputError, "give a tuple of value, pageviews"),
        ({"pages": ["/a"]}, InvalidInputError, "not '/a'"),
        ({"pages": 5}, InvalidInputError, "not iterable"),
        ({"pages": [("/a", "3", 1)]}, InvalidResponseError, r"pages\[0\]"),
    ],
)
def test_a_value_that_no_response_has(
    values: dict[str, Any], error: type[Exception], words: str
) -> None:
    """A value of a wrong type is refused, and the error says which."""
    given: dict[str, Any] = {"visitors": 1, "pages": [], **values}
    with pytest.raises(error, match=words):
        Stats.of(QUERY, **given)


def test_seconds_and_hours_and_weeks() -> None:
    """Medians are a fourth value; hours are datetimes; weeks have their number."""
    timed = QUERY.fields("pages", "seconds_on_page")
    stats = Stats.of(timed, pages=[("/a", 3, 1, 12.5)], seconds_on_page=None)
    assert stats.pages[0].seconds_on_page == 12.5
    assert stats.seconds_on_page is None
    with pytest.raises(InvalidInputError, match="visitors, seconds_on_page, not"):
        Stats.of(timed, pages=[("/a", 3, 1)], seconds_on_page=None)
    hourly = QUERY.fields("histogram").interval("hour").timezone("Asia/Tokyo")
    found = Stats.of(hourly, histogram=[(HOUR, 3, 2)]).histogram[0]
    assert found.hour == 5
    assert found.start == dt.datetime(2026, 2, 28, 20, tzinfo=dt.UTC)
    aware = dt.datetime(2026, 2, 28, 23, tzinfo=dt.UTC)
    found = Stats.of(hourly, histogram=[(aware, 3, 2)]).histogram[0]
    assert (found.date, found.hour, found.start) == (DAY, 8, aware)
    weekly = QUERY.fields("histogram").interval("week")
    found = Stats.of(weekly, histogram=[(DAY, 3, 2)]).histogram[0]
    assert (found.year, found.week, found.clipped) == (2026, 9, True)
    kept = HistogramEntry(DAY, 3, 2, year=2026, week=9)
    assert Stats.of(weekly, histogram=[kept]).histogram[0].week == 9


def test_a_period_of_words_can_be_given() -> None:
    """Words have no days of their own, so a test may give them; so with the moment."""
    words = QUERY.last(days=7)
    plain = Stats.of(words, visitors=1, pages=[])
    assert (plain.first_day, plain.last_day, plain.timezone) == (None, None, "UTC")
    placed = Stats.of(
        words,
        visitors=1,
        pages=[],
        first_day=DAY,
        last_day=dt.date(2026, 3, 7),
        timezone="Asia/Tokyo",
        responded_at=dt.datetime(2026, 3, 7, 12, tzinfo=dt.UTC),
    )
    assert (placed.first_day, placed.last_day) == (DAY, dt.date(2026, 3, 7))
    assert placed.timezone == "Asia/Tokyo"
    assert placed.partial


def test_pages_and_versions() -> None:
    """A result about a page says so; older versions have forms of their own."""
    page = QUERY.fields("visitors")
    assert Stats.of(page.path("/a"), visitors=1).path == "/a"
    assert Stats.of(page.where(page="/b"), visitors=1).path == "/b"
    assert Stats.of(page.where(page="/b*"), visitors=1).path == "*"
    with pytest.raises(InvalidInputError, match="whose form is documented"):
        Stats.of(page.version(3), visitors=1)
