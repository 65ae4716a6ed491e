"""Units of the calendar: named, split into, and those before."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
import re
import warnings
from datetime import UTC, date, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from query_strategies import MOMENTS, around, queries
from rule_cases import Step, assert_refused, refused_by
from same_text import SameText
from sitestats import Website, WebsiteSpec
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._query.builder import StatsQuery
from sitestats._query.units import WORDS, Unit, ending, named_period
from sitestats.emulator import Emulator

pytestmark = pytest.mark.once


QUERY = StatsQuery("example.com").fields("visitors")
UNITS = st.sampled_from(get_args(Unit))
DAY = timedelta(days=1)


def days_of(query: StatsQuery) -> tuple[date, date]:
    """The first and the last day of a query with dates."""
    params = query.params()
    return date.fromisoformat(params["start"]), date.fromisoformat(params["end"])


# --- during -----------------------------------------------------------------------

NAMED = {
    "2026": ("2026-01-01", "2026-12-31"),
    "9999": ("9999-01-01", "9999-12-31"),
    "2026-Q1": ("2026-01-01", "2026-03-31"),
    "2026Q4": ("2026-10-01", "2026-12-31"),
    "2026-03": ("2026-03-01", "2026-03-31"),
    "2024-02": ("2024-02-01", "2024-02-29"),
    "9999-12": ("9999-12-01", "9999-12-31"),
    "2026-W10": ("2026-03-02", "2026-03-08"),
    "2026W01": ("2025-12-29", "2026-01-04"),
    "2026-W53": ("2026-12-28", "2027-01-03"),
    "0001-W01": ("0001-01-01", "0001-01-07"),
    "2026-03-05": ("2026-03-05", "2026-03-05"),
}


def test_a_year_is_a_number_too() -> None:
    """2026 is as good as "2026", also numpy's; 7 would rather be days."""
    numpy = pytest.importorskip("numpy")
    year = QUERY.during("2026")
    assert QUERY.during(2026) == QUERY.during(numpy.int64(2026)) == year
    with pytest.raises(QueryError, match="a year, quarter"):
        QUERY.during(7)


@pytest.mark.parametrize(("name", "days"), NAMED.items(), ids=NAMED)
def test_a_period_has_a_name(name: str, days: tuple[str, str]) -> None:
    """A unit that lacks a day, or has one of another, would give wrong numbers."""
    assert QUERY.during(name) == QUERY.between(*days)


@given(st.dates(date(1, 1, 1), date(9999, 12, 25)))
def test_every_day_is_in_the_units_that_are_named_after_it(day: date) -> None:
    """The day's year, quarter, month, week and date contain it, and nest."""
    year, week, _ = day.isocalendar()
    assume(year > 0)
    names = [
        f"{day.year:04}",
        f"{day.year:04}-Q{(day.month + 2) // 3}",
        f"{day:%Y-%m}".rjust(7, "0"),
        day.isoformat(),
    ]
    periods = [days_of(QUERY.during(name)) for name in names]
    for (first, last), (start, end) in itertools.pairwise(periods):
        assert first <= start <= day <= end <= last
    first, last = days_of(QUERY.during(f"{year:04}-W{week:02}"))
    assert first <= day <= last == first + 6 * DAY
    assert first.weekday() == 0


@given(
    word=st.sampled_from(WORDS),
    now=MOMENTS,
    zone=st.sampled_from(["UTC", "Asia/Tokyo", "America/Los_Angeles"]),
)
def test_a_word_is_the_unit_before_today_or_until_today(
    word: str, now: datetime, zone: str
) -> None:
    """`last-…` is the whole unit that ends just before today's, and `this-…` is today's
    so far, in the query's zone whenever that is set.
    """
    today = now.astimezone(ZoneInfo(zone)).date()
    which, _, unit = word.partition("-")
    query = QUERY.during(word, now=now).timezone(zone)
    assert query == QUERY.timezone(zone).during(word, now=now)
    first, last = days_of(query)

    def name(day: date) -> tuple[int, int]:
        year, week, _ = day.isocalendar()
        quarter = (day.month + 2) // 3
        numbers = {"week": week, "month": day.month, "quarter": quarter, "year": 0}
        return (year if unit == "week" else day.year), numbers[unit]

    assert name(first) == name(last) != name(first - DAY)
    if which == "this":
        assert last == today
    else:
        assert name(last + DAY) == name(today) != name(last)
    assert not query.is_relative
    pinned = QUERY.during(word, now=now).pinned(zone)
    assert days_of(pinned) == (first, last)
    assert "timezone" not in pinned.params()
    assert pickle.loads(pickle.dumps(query)) == query
    names = {"StatsQuery": StatsQuery, "datetime": dt}
    assert eval(repr(query), names) == query


@given(st.sampled_from(["weeks", "months"]), st.integers(1, 200), MOMENTS)
def test_the_last_weeks_and_months_are_whole_ones(
    units: str, count: int, now: datetime
) -> None:
    """They are as many, and end where the present one begins: a month of today's, or
    one that is cut, would look like a fall.
    """
    query = QUERY.last(**{units: count}, now=now)  # type: ignore[arg-type]  # ints
    tokyo = query.timezone("Asia/Tokyo")
    last = QUERY.during(f"last-{units.removesuffix('s')}", now=now)
    parts = tokyo.each(units.removesuffix("s"))  # type: ignore[arg-type]  # a unit
    assert len(parts) == count
    assert days_of(parts[-1]) == days_of(last.timezone("Asia/Tokyo"))
    first = days_of(parts[0])[0]
    assert first.day == 1 if units == "months" else first.weekday() == 0
    assert not query.is_relative
    assert days_of(query.pinned("Asia/Tokyo")) == days_of(tokyo)
    assert pickle.loads(pickle.dumps(query)) == query
    names = {"StatsQuery": StatsQuery, "datetime": dt}
    assert eval(repr(query), names) == query


def test_the_last_months_of_many_websites() -> None:
    """Each website has the months of its own zone, which its list knows."""
    now = datetime(2026, 3, 31, 20, tzinfo=UTC)
    specs = [
        WebsiteSpec("a.example", timezone="UTC"),
        WebsiteSpec("b.example", timezone="Asia/Tokyo"),
    ]
    queries = QUERY.last(months=2, now=now).each("month", websites=specs)
    assert [query.params()["start"] for query in queries] == [
        *("2026-01-01", "2026-02-01", "2026-02-01", "2026-03-01")
    ]
    assert queries[0].previous("month").params()["start"] == "2025-12-01"


def test_a_word_needs_a_zone(same_text: SameText) -> None:
    """Without a zone a word is no dates, and the one problem says which step to add."""
    for query in (
        QUERY.during("last-month"),
        QUERY.last(months=18),
        QUERY.during("this-week").website("b.nl"),
    ):
        with pytest.raises(QueryError, match="timezone") as caught:
            query.validate()
        assert len(caught.value.problems) == 1
        same_text(caught.value)
        assert "now=" in repr(query)
    with pytest.raises(QueryError, match="did you mean 'last-month'") as caught:
        QUERY.during("last month")
    with pytest.raises(QueryError, match="now is a datetime with a time zone"):
        QUERY.during("last-month", now=datetime(2026, 3, 1))  # noqa: DTZ001 - that is the point
    early = datetime(1, 1, 1, 12, tzinfo=UTC)
    with pytest.raises(QueryError, match="too early"):
        QUERY.timezone("UTC").during("last-year", now=early).validate()
    before = datetime.now(UTC).date()
    _, today = days_of(QUERY.timezone("UTC").during("this-year"))
    assert before <= today <= datetime.now(UTC).date()


def test_dates_and_moments_are_days() -> None:
    """A date is one day, and a moment its day in the query's zone."""
    assert QUERY.during(date(2026, 3, 5)) == QUERY.on("2026-03-05")
    night = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
    tokyo = QUERY.timezone("Asia/Tokyo")
    assert tokyo.during(night) == tokyo.on("2026-03-06")


def test_periods_of_pandas() -> None:
    """A pandas.Period of whole days is that period, whatever its frequency."""
    pandas = pytest.importorskip("pandas")
    for args, days in {
        ("2026-03",): NAMED["2026-03"],
        ("2026Q1",): NAMED["2026-Q1"],
        ("2026-03-05",): NAMED["2026-03-05"],
        ("2026-03-05", "W"): NAMED["2026-W10"],
        ("2026-03-05", "W-SAT"): ("2026-03-01", "2026-03-07"),
        ("2026-03-05", "2D"): ("2026-03-05", "2026-03-06"),
        ("2026-03-05", "24h"): NAMED["2026-03-05"],
        ("2026-03-05", "Q-JAN"): ("2026-02-01", "2026-04-30"),
    }.items():
        assert QUERY.during(pandas.Period(*args)) == QUERY.between(*days)
    months = pandas.period_range("2026-01", "2026-12", freq="M")
    assert [*map(QUERY.during, months)] == [*QUERY.during("2026").each("month")]
    for args in (("2026-03-05", "h"), ("2026-03-05 12:00", "24h")):
        with pytest.raises(QueryError, match="not made of whole days"):
            QUERY.during(pandas.Period(*args))
    with pytest.raises(QueryError, match="a day is a date"):
        QUERY.during(pandas.NaT)


def test_during_needs_no_pandas() -> None:
    """What has a first and a last moment of whole days is a period."""

    class Sprint:
        start_time = datetime(2026, 3, 2)  # noqa: DTZ001 - as those of pandas
        end_time = datetime(2026, 3, 15, 23, 59, 59)  # noqa: DTZ001 - as above

    assert named_period(Sprint()) == ("2026-03-02", "2026-03-15")


# --- each -------------------------------------------------------------------------


@st.composite
def periods(draw: st.DrawFn, unit: str) -> tuple[date, date]:
    """A period of some hundred units at most, anywhere in the calendar."""
    most = {"day": 300, "week": 2_000, "month": 9_000, "year": 100_000}[unit]
    first = draw(st.dates() | st.sampled_from([date.min, date.max - 400 * DAY]))
    length = draw(st.integers(0, min(most, (date.max - first).days)))
    return first, first + length * DAY


def unit_of(day: date, unit: str) -> tuple[int, ...]:
    """What the days of one unit have in common."""
    return {
        "day": (day.toordinal(),),
        # Of Mondays, since the last week of the calendar is in no year of ISO 8601.
        "week": ((day.toordinal() - 1) // 7,),
        "month": (day.year, day.month),
        "year": (day.year,),
    }[unit]


@given(st.data(), UNITS)
def test_each_covers_the_period_exactly(data: st.DataObject, unit: Unit) -> None:
    """A gap loses visitors, an overlap counts them twice, and a part of a unit where
    there should be a whole one looks like a fall.
    """
    first, last = data.draw(periods(unit))
    pieces = [days_of(one) for one in QUERY.between(first, last).each(unit)]
    assert pieces[0][0] == first
    assert pieces[-1][1] == last
    for (start, end), (following, _) in itertools.pairwise(pieces):
        assert following == end + DAY
        # Two in a row are of two units, and each is of one.
        assert unit_of(start, unit) == unit_of(end, unit) != unit_of(following, unit)
    assert unit_of(pieces[-1][0], unit) == unit_of(last, unit)


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@given(queries(), st.data(), UNITS)
def test_each_changes_only_the_period(
    query: StatsQuery, data: st.DataObject, unit: Unit
) -> None:
    """Fields, filters and zone of a part are those of the whole."""
    whole = query.between(*data.draw(periods(unit)))
    for part in whole.each(unit)[:3]:
        assert part.between(*days_of(whole)) == whole
        assert eval(repr(part)) == part


EMULATOR = Emulator()
EMULATOR.add_website("example.com")


@given(around(), st.integers(0, 40), UNITS, st.sampled_from(["dates", "words"]))
def test_each_covers_every_moment_of_the_zone(
    place: tuple[str, date], length: int, unit: Unit, kind: str
) -> None:
    """The periods follow one another to the millisecond, also where a day was skipped,
    was longer or came twice.
    """
    zone, last = place
    EMULATOR.change_website("example.com", timezone=zone)
    EMULATOR.now = datetime.combine(
        last + 3 * DAY, datetime.min.time(), ZoneInfo(zone)
    ).astimezone(UTC)
    query = QUERY.between(last - length * DAY, last)
    if kind == "words":
        query, unit = QUERY.between(f"today-{length + 3}d", "today-3d"), "day"
    with EMULATOR.client() as client, warnings.catch_warnings():
        warnings.simplefilter("error", SiteStatsWarning)
        whole = client.stats.get(query)
        parts = [client.stats.get(part) for part in query.each(unit)]
    assert parts[0].start == whole.start
    assert parts[-1].end == whole.end
    for part, following in itertools.pairwise(parts):
        assert part.end is not None
        assert part.end + timedelta(milliseconds=1) == following.start
        if kind == "dates":
            assert part.last_day is not None
            assert part.last_day + DAY == following.first_day


def test_words_stay_words_by_day() -> None:
    """A word is right in the zone of every website; a date would be of one alone."""
    assert [*QUERY.last(days=3, today=True).each("day")] == [
        *map(QUERY.on, ("today-2d", "yesterday", "today"))
    ]
    # The service's default for the end is today.
    assert [*QUERY.since("yesterday").each("day")] == [
        *map(QUERY.on, ("yesterday", "today"))
    ]


def test_each_of_a_longer_unit_tells_of_pinned() -> None:
    """Where a month begins is not known of words: the error says what to do."""
    with pytest.raises(QueryError, match=r"use \.pinned\(.+\)\.each\('month'\)"):
        QUERY.since("today-30d").each("month")


@pytest.mark.parametrize(
    ("days", "unit", "instead"),
    [(30, "month", "months=1"), (365, "month", "months=12"), (28, "week", "weeks=4")],
)
def test_the_last_days_in_months_are_the_last_months(
    days: int, unit: Unit, instead: str
) -> None:
    """A first try at a history counts days: the error names the whole units, and they
    work.
    """
    match = re.escape(
        f"use .last({instead}).each({unit!r}) for whole {unit}s, or .pinn"
    )
    with pytest.raises(QueryError, match=match):
        QUERY.last(days=days).each(unit)
    name, _, count = instead.partition("=")
    whole = QUERY.last(**{name: int(count)}).timezone("UTC")  # type: ignore[arg-type]  # weeks or months
    assert len(whole.each(unit)) == int(count)


# --- each of many websites ----------------------------------------------------------


def test_each_of_many_websites() -> None:
    """The history of many websites is one call: the months of one follow each other,
    and one failure to keep the order would mix websites up in every frame.
    """
    quarter = QUERY.during("2026-Q1")
    names = iter(["b.example", "a.example", "b.example"])
    queries = quarter.each("month", websites=names)
    assert queries == tuple(
        QUERY.website(name).during(month)
        for name in ("b.example", "a.example", "b.example")
        for month in ("2026-01", "2026-02", "2026-03")
    )
    assert quarter.each(websites=["A.example"]) == (quarter.website("a.example"),)
    assert quarter.each("month", websites=()) == ()


def test_each_website_has_its_own_zone() -> None:
    """Words are days in the website's zone, which its list knows; a zone that the query
    has is the user's choice, and one that this machine does not know is left out.
    """
    emulator = Emulator()
    emulator.add_website("tokyo.example", timezone="Asia/Tokyo")
    with emulator.client() as client:
        (tokyo,) = websites = client.websites.list()
    assert QUERY.each(websites=websites) == (
        QUERY.website("tokyo.example").timezone("Asia/Tokyo"),
    )
    assert QUERY.each(websites=[WebsiteSpec("a.example", timezone="Asia/Tokyo")]) == (
        QUERY.website("a.example").timezone("Asia/Tokyo"),
    )
    utc = QUERY.timezone("UTC")
    assert utc.each(websites=websites) == (utc.website(tokyo),)
    unknown = attrs.evolve(tokyo, timezone="Moon/Tranquility")
    assert QUERY.each(websites=[unknown]) == (QUERY.website(tokyo),)


def test_every_website_that_is_wrong_is_named() -> None:
    """A list with a typo in two of its rows is mended at once."""
    with pytest.raises(QueryError) as caught:
        QUERY.each(websites=["a.example", "b_example.", 5])
    assert len(caught.value.problems) == 2


# --- a website in place of its host name ------------------------------------------


def test_a_query_is_made_for_a_website() -> None:
    """A website of the list is as good as its host name, in both places."""
    website = Website(
        hostname="example.com",
        is_public=False,
        timezone="UTC",
        has_ssl=True,
        has_script=True,
        own_hostname=None,
        label=None,
        pageviews=0,
        events=0,
    )
    assert StatsQuery(website) == StatsQuery("example.com")
    other = attrs.evolve(website, hostname="other.example")
    assert QUERY.website(other) == QUERY.website("other.example")
    with pytest.raises(QueryError, match="host name"):
        QUERY.website(attrs.evolve(website, hostname="https://example.com"))


def test_the_last_week_of_the_calendar_is_not_whole() -> None:
    """What reads histograms counts on this error."""
    with pytest.raises(OverflowError):
        ending(date.max, "week")


@pytest.mark.parametrize(("rule", "build"), **refused_by("units"))
def test_refused_at_once(rule: str, build: Step, same_text: SameText) -> None:
    """What the document forbids is refused by its step, citing the section."""
    assert_refused(rule, build, same_text)
