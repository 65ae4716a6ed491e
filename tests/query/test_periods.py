"""Days, placeholders, time zones, and the period before."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rule_cases import Step, assert_refused, refused_by
from same_text import SameText
from sitestats._common.errors import QueryError
from sitestats._common.zones import zone_names
from sitestats._query.builder import StatsQuery
from sitestats._query.periods import (
    MOST_DAYS,
    day,
    days_back,
    last_days,
    order_problems,
    placeholder,
)

pytestmark = pytest.mark.standard_library


DAYS_BACK = st.integers(0, MOST_DAYS)
ZONES = st.sampled_from(sorted(zone_names()))


@given(DAYS_BACK)
def test_a_placeholder_reads_back(days: int) -> None:
    """Every number of days has one placeholder, which is accepted."""
    text = placeholder(days)
    assert days_back(text) == days
    assert day(text, "start") == text
    shown = [placeholder(back) for back in (0, 1, 30)]
    assert shown == ["today", "yesterday", "today-30d"]


@given(st.integers(1, MOST_DAYS), st.booleans())
def test_the_last_days_are_as_many_as_requested(days: int, today: object) -> None:
    """last() gives that many days, both ends included, and the requested end."""
    period = last_days(days, today)
    assert isinstance(period, tuple)
    first, final = map(days_back, period)
    assert first is not None
    assert final == (0 if today else 1)
    assert first - final + 1 == days


@given(st.dates())
def test_dates_texts_and_datetimes_are_days(given_day: date) -> None:
    """A date, its text and a naive datetime at midnight are the same day."""
    text = given_day.isoformat()
    midnight = datetime.combine(given_day, time.min)
    assert day(given_day, "start") == day(text, "start") == text
    assert day(midnight, "start") == text


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.timezones()),  # noqa: DTZ001 - bounds
    ZONES,
)
def test_a_moment_is_its_day_in_the_zone(moment: datetime, zone: str) -> None:
    """An aware datetime is sent as its day in the query's zone."""
    query = StatsQuery("example.com").timezone(zone).on(moment)
    shown = moment.astimezone(zoneinfo.ZoneInfo(zone)).date().isoformat()
    assert query.params()["start"] == query.params()["end"] == shown
    assert query == StatsQuery("example.com").timezone(zone).on(shown)


def test_a_moment_on_a_day_of_changing_clocks() -> None:
    """The zone's offset at the moment decides the day, not the current one."""
    query = StatsQuery("example.com").timezone("Europe/Amsterdam")
    summer = datetime(2026, 7, 1, 22, tzinfo=UTC)
    winter = datetime(2026, 1, 1, 22, tzinfo=UTC)
    assert query.on(summer).params()["start"] == "2026-07-02"
    assert query.on(winter).params()["start"] == "2026-01-01"


class NoOffset(tzinfo):
    """A time zone that knows no offset."""

    def __repr__(self) -> str:
        return "no zone"

    def utcoffset(self, _: datetime | None) -> timedelta | None:
        return None

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> None:
        return None


class BrokenZone(NoOffset):
    """A time zone that raises."""

    def utcoffset(self, _: datetime | None) -> timedelta:
        raise RuntimeError


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 1, tzinfo=NoOffset()),
        datetime(2026, 3, 1, tzinfo=BrokenZone()),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))),
    ],
    ids=["no offset", "broken", "before the first day", "after the last day"],
)
def test_a_moment_in_a_broken_zone_is_refused(
    moment: datetime, same_text: SameText
) -> None:
    """A tzinfo that fails becomes a QueryError, like every wrong value."""
    with pytest.raises(QueryError, match="a day is a date") as caught:
        StatsQuery("example.com").on(moment)
    same_text(caught.value)
    with pytest.raises(QueryError, match="with a time zone") as caught:
        StatsQuery("example.com").where_metadata(at=moment)
    same_text(caught.value)


def test_the_days_of_pandas(same_text: SameText) -> None:
    """A Timestamp is its day, and NaT is none."""
    pandas = pytest.importorskip("pandas")
    assert day(pandas.Timestamp("2026-03-01"), "start") == "2026-03-01"
    query = StatsQuery("example.com")
    with pytest.raises(QueryError, match="no time zone") as caught:
        query.on(pandas.Timestamp("2026-03-01 12:00"))
    same_text(caught.value)
    with pytest.raises(QueryError, match="no time zone") as caught:
        query.on(pandas.Timestamp("2026-03-01 00:00:00.000000001"))
    same_text(caught.value)
    with pytest.raises(QueryError, match="a day is a date") as caught:
        query.on(pandas.NaT)
    same_text(caught.value)
    with pytest.raises(QueryError, match="with a time zone") as caught:
        query.where_metadata(at=pandas.NaT)
    same_text(caught.value)
    aware = pandas.Timestamp("2026-03-01 23:30", tz="Europe/London")
    berlin = query.timezone("Europe/Berlin")
    assert berlin.on(aware).params()["start"] == "2026-03-02"
    assert query.where_metadata(at=aware).params()["metadata.at"] == (
        "2026-03-01T23:30:00Z"
    )


@given(st.dates() | DAYS_BACK, st.dates() | DAYS_BACK)
def test_the_end_is_not_before_the_start(start: date | int, end: date | int) -> None:
    """Two dates or two placeholders are compared, one of each is not."""
    texts = [
        value.isoformat() if isinstance(value, date) else placeholder(value)
        for value in (start, end)
    ]
    if isinstance(start, date) and isinstance(end, date):
        backwards = end < start
    elif isinstance(start, int) and isinstance(end, int):
        backwards = end > start
    else:
        backwards = False
    assert bool(order_problems(*texts)) == backwards


@pytest.mark.parametrize(("rule", "build"), **refused_by("periods"))
def test_refused_at_once(rule: str, build: Step, same_text: SameText) -> None:
    """What the document forbids is refused by its step, citing the section."""
    assert_refused(rule, build, same_text)
