"""Periods: days, words, units of the calendar, pinned, split, and the one before."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
import re
from contextlib import nullcontext, suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inside import WORDS, placeholder, zone_names
from query.inside import MOST_DAYS, days_back, query_against, read_by_the_emulator
from query_strategies import MOMENTS, queries
from sitestats import InvalidInputError, StatsQuery, WebsiteSpec
from sitestats.types import Unit

QUERY = StatsQuery("example.com").fields("visitors")
UNITS = st.sampled_from(get_args(Unit))
MIDNIGHTS = st.builds(datetime.combine, st.dates(), st.just(dt.time()))
DAY = timedelta(days=1)
NAMES = {"StatsQuery": StatsQuery, "datetime": dt}
"""What the repr of a query needs."""


def days_of(query: StatsQuery) -> tuple[date, date]:
    """The first and the last day of a query with dates."""
    params = query.params()
    return date.fromisoformat(params["start"]), date.fromisoformat(params["end"])


# --- days ---------------------------------------------------------------------------


@given(st.integers(0, MOST_DAYS), st.booleans())
def test_the_last_days_are_as_many_as_requested(days: int, today: bool) -> None:  # noqa: FBT001 - Hypothesis
    """Every number of days has one placeholder, and the period both of its ends."""
    assert days_back(placeholder(days)) == days
    params = QUERY.last(days + 1, today=today).params() if days < MOST_DAYS else {}
    if params:
        first, final = days_back(params["start"]), days_back(params["end"])
        assert (first, final) == (days + 1 - today, 1 - today)


@given(MIDNIGHTS | st.datetimes(timezones=st.none() | st.timezones()))
def test_a_datetime_is_a_day_at_midnight_alone(moment: datetime) -> None:
    """A time of the day would be lost, and a moment is another day in other zones."""
    is_day = moment.time() == dt.time() and moment.tzinfo is None
    refused = pytest.raises(InvalidInputError, match=r"give its \.date\(\)")
    for step in (QUERY.on, QUERY.since, QUERY.between, QUERY.during):
        with nullcontext() if is_day else refused:
            assert step(moment) == step(moment.date())


@given(*[st.dates() | st.integers(0, MOST_DAYS)] * 2)
def test_the_end_is_not_before_the_start(start: date | int, end: date | int) -> None:
    """Two dates or two placeholders are compared, one of each is not."""
    days = [one if isinstance(one, date) else placeholder(one) for one in (start, end)]
    is_wrong = False
    if isinstance(start, date) and isinstance(end, date):
        is_wrong = end < start
    elif isinstance(start, int) and isinstance(end, int):
        is_wrong = end > start
    if is_wrong:
        with pytest.raises(InvalidInputError, match="swap them"):
            QUERY.between(*days)
    else:
        assert QUERY.between(*days).problems() == ()


# --- periods by their names ---------------------------------------------------------

NAMED = {
    "2026": ("2026-01-01", "2026-12-31"),
    "2026-Q1": ("2026-01-01", "2026-03-31"),
    "2026Q4": ("2026-10-01", "2026-12-31"),
    "2024-02": ("2024-02-01", "2024-02-29"),
    "9999-12": ("9999-12-01", "9999-12-31"),
    "2026-W10": ("2026-03-02", "2026-03-08"),
    "2026W01": ("2025-12-29", "2026-01-04"),
    "2026-W53": ("2026-12-28", "2027-01-03"),
    "0001-W01": ("0001-01-01", "0001-01-07"),
    "2026-03-05": ("2026-03-05", "2026-03-05"),
}


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


def test_years_of_numpy_and_periods_of_pandas() -> None:
    """2026 is as good as "2026", and a pandas.Period of whole days is that period."""
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    assert QUERY.during(2026) == QUERY.during(numpy.int64(2026)) == QUERY.during("2026")
    for args, days in {
        ("2026-03",): ("2026-03-01", "2026-03-31"),
        ("2026Q1",): NAMED["2026-Q1"],
        ("2026-03-05",): NAMED["2026-03-05"],
        ("2026-03-05", "W"): NAMED["2026-W10"],
        ("2026-03-05", "2D"): ("2026-03-05", "2026-03-06"),
    }.items():
        assert QUERY.during(pandas.Period(*args)) == QUERY.between(*days)
    assert QUERY.on(pandas.Timestamp("2026-03-01")) == QUERY.on("2026-03-01")
    for wrong in (pandas.Period("2026-03-05", "h"), pandas.NaT, 7):
        with pytest.raises(InvalidInputError):
            QUERY.during(wrong)


# --- words --------------------------------------------------------------------------


@given(
    word=st.sampled_from(sorted(WORDS)),
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
    assert days_of(QUERY.during(word, now=now).pinned(timezone=zone)) == (first, last)
    assert pickle.loads(pickle.dumps(query)) == eval(repr(query), NAMES) == query


@given(st.sampled_from(["weeks", "months"]), st.integers(1, 200), MOMENTS)
def test_the_last_weeks_and_months_are_whole_ones(
    units: str, count: int, now: datetime
) -> None:
    """They are as many, and end where the present one begins: a month of today's, or
    one that is cut, would look like a fall.
    """
    unit: Any = units.removesuffix("s")
    query = QUERY.last(**{units: count}, now=now)  # type: ignore[arg-type]  # ints
    tokyo = query.timezone("Asia/Tokyo")
    parts = tokyo.each(unit)
    assert len(parts) == count
    last = QUERY.during(f"last-{unit}", now=now).timezone("Asia/Tokyo")
    assert days_of(parts[-1]) == days_of(last)
    first = days_of(parts[0])[0]
    assert first.day == 1 if unit == "month" else first.weekday() == 0
    assert days_of(query.pinned(timezone="Asia/Tokyo")) == days_of(tokyo)
    assert pickle.loads(pickle.dumps(query)) == eval(repr(query), NAMES) == query


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (QUERY.during("last-month"), "during: 'last-month' needs a time zone: add .ti"),
        (QUERY.last(months=3), "last: months=3 needs a time zone: add .timezone("),
    ],
)
def test_a_word_without_a_zone_blames_what_was_given(
    query: StatsQuery, words: str
) -> None:
    """The problem names the argument, and what it advises works."""
    for send in (query.params, query.validate, lambda: query.each("month")):
        with pytest.raises(InvalidInputError, match=re.escape(words)):
            send()
    site = WebsiteSpec("a.example", timezone="Asia/Tokyo")
    assert query.timezone("Asia/Tokyo").problems() == ()
    assert StatsQuery(site).during("last-month").fields("pages").problems() == ()
    assert query.extra_param("timezone", "Moon/Sea").problems()[0].rule == "period-zone"


# --- pinned -------------------------------------------------------------------------

PERIODS = [
    QUERY.last(days=7),
    QUERY.on("today"),
    QUERY,
    QUERY.between(None, "yesterday"),
    QUERY.between("1800-01-01", "today-40d"),
]


def taken(query: StatsQuery, zone: str, now: datetime) -> tuple[str, str]:
    """The days that the emulator takes *query* for."""
    pairs = query.params().items()
    understood, problems = read_by_the_emulator(
        pairs, path=None, has_key=True, zone=zone, now=now
    )
    assert problems == []
    return understood.period.first.isoformat(), understood.period.last.isoformat()


@given(MOMENTS, st.sampled_from(sorted(zone_names())), st.sampled_from(PERIODS))
def test_words_are_what_the_emulator_takes(
    now: datetime, zone: str, query: StatsQuery
) -> None:
    """Words name the same days at every moment, for every form of a period, and in the
    query's own zone, too.
    """
    expected = QUERY.between(*taken(query, zone, now))
    assert query.pinned(timezone=zone, now=now) == expected
    own = query.timezone(zone)
    # The zone of the website does not count where the query has its own.
    for other in (None, zone, "Asia/Tokyo"):
        assert own.pinned(timezone=other, now=now) == expected.timezone(zone)


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@given(queries(), MOMENTS)
def test_only_the_period_is_pinned(query: StatsQuery, now: datetime) -> None:
    """A pinned query stays the same one tomorrow, and requests the same."""
    zone = query.params().get("timezone", "Europe/Amsterdam")
    with suppress(InvalidInputError):  # a date in the future, up to a word
        pinned = query.pinned(timezone=zone, now=now)
        assert pinned.pinned(timezone=zone, now=now + 400 * DAY) is pinned
        assert pinned.between() == query.between()


def test_now_is_the_clock_of_this_machine() -> None:
    """Without a moment the words are those of the present."""
    before = datetime.now(UTC).date()
    day, _ = days_of(QUERY.on("today").pinned(timezone="UTC"))
    assert before <= day <= datetime.now(UTC).date()


@pytest.mark.parametrize(
    "query",
    [
        QUERY.last(days=30),
        QUERY,
        QUERY.last(weeks=1, now=datetime(1, 1, 3, tzinfo=UTC)),
        QUERY.during("last-year", now=datetime(1, 1, 3, tzinfo=UTC)),
    ],
)
def test_days_before_the_calendar_are_refused(query: StatsQuery) -> None:
    """A moment in the year 1 has no year before it."""
    for zone in ("UTC", "America/New_York"):
        with pytest.raises(InvalidInputError, match="the years 1 to 9999"):
            query.pinned(timezone=zone, now=datetime(1, 1, 1, tzinfo=UTC))


# --- each ---------------------------------------------------------------------------


@st.composite
def periods_of(draw: st.DrawFn, unit: str) -> tuple[date, date]:
    """A period of some hundred units at most, anywhere in the calendar."""
    most = {
        "day": 300,
        "week": 2_000,
        "month": 9_000,
        "quarter": 27_000,
        "year": 100_000,
    }[unit]
    first = draw(st.dates() | st.sampled_from([date.min, date.max - 400 * DAY]))
    length = draw(st.integers(0, min(most, (date.max - first).days)))
    return first, first + length * DAY


def unit_of(day: date, unit: str) -> tuple[int, ...]:
    """What the days of one unit have in common."""
    return {
        "day": (day.toordinal(),),
        "week": ((day.toordinal() - 1) // 7,),
        "month": (day.year, day.month),
        "quarter": (day.year, (day.month - 1) // 3),
        "year": (day.year,),
    }[unit]


@given(st.data(), UNITS)
def test_each_covers_the_period_exactly(data: st.DataObject, unit: Unit) -> None:
    """A gap loses visitors, an overlap counts them twice, and a part of a unit where
    there should be a whole one looks like a fall.
    """
    first, last = data.draw(periods_of(unit))
    pieces = [days_of(one) for one in QUERY.between(first, last).each(unit)]
    assert (pieces[0][0], pieces[-1][1]) == (first, last)
    for (start, end), (following, _) in itertools.pairwise(pieces):
        assert following == end + DAY
        assert unit_of(start, unit) == unit_of(end, unit) != unit_of(following, unit)
    assert unit_of(pieces[-1][0], unit) == unit_of(last, unit)


def test_words_stay_words_by_day() -> None:
    """A word is right in the zone of every website; a date would be of one alone."""
    assert QUERY.last(days=3, today=True).each("day") == (
        *map(QUERY.on, ("today-2d", "yesterday", "today")),
    )
    # The service's default for the end is today.
    assert len(QUERY.since("yesterday").each("day")) == 2


# --- the period before --------------------------------------------------------------

BEFORE = {
    ("2026-03-01/2026-03-01", "period"): "2026-02-28/2026-02-28",
    ("2026-03-01/2026-03-31", "period"): "2026-01-29/2026-02-28",
    ("today-7d/yesterday", "period"): "today-14d/today-8d",
    ("today/today", "period"): "yesterday/yesterday",
    ("2024-02-29/2024-03-01", "year"): "2023-02-28/2023-03-01",
    ("today-30d/yesterday", "year"): "today-395d/today-366d",
    ("2026-03-01/2026-03-31", "month"): "2026-02-01/2026-02-28",
    ("2026-01-01/2026-03-31", "month"): "2025-10-01/2025-12-31",
    ("2026-01-01/2026-03-31", "quarter"): "2025-10-01/2025-12-31",
    ("2026-01-01/2026-06-30", "quarter"): "2025-07-01/2025-12-31",
    ("2025-12-29/2026-01-04", "week"): "2025-12-22/2025-12-28",
    ("2026-03-01/2026-03-31", "week"): "2026-01-25/2026-02-24",
    ("today-7d/yesterday", "week"): "today-14d/today-8d",
    ("today-8d/yesterday", "week"): "today-22d/today-15d",
    ("yesterday/yesterday", "week"): "today-8d/today-8d",
}


@pytest.mark.parametrize(("given_days", "unit"), BEFORE, ids=str)
def test_the_period_before(given_days: str, unit: Any) -> None:
    """A month is compared with a whole month, a day of the week with the same one;
    words are shifted to words.
    """
    query = QUERY.between(*given_days.split("/"))
    before = QUERY.between(*BEFORE[given_days, unit].split("/"))
    assert query.previous(unit) == query_against(query, f"previous-{unit}") == before


@given(st.dates(date(4, 1, 1)), st.integers(0, 30))
def test_as_many_months_before(first: date, more: int) -> None:
    """The months before end where these begin, and are as many."""
    first = first.replace(day=1)
    end = first + min(31 * (more + 1), (date.max - first).days) * DAY
    months = QUERY.between(first, end).each("month")[: more + 1]
    query = QUERY.between(first, days_of(months[-1])[1])
    before = query.previous("month")
    assert days_of(before)[1] == first - DAY
    assert len([*before.each("month")]) == len(months)
    assert days_of(before)[0].day == 1


@pytest.mark.parametrize(
    ("query", "unit", "words"),
    [
        (QUERY, "week", "not known here"),
        (QUERY, "period", "not known here"),
        (QUERY.since("2026-03-01"), "year", "not known here"),
        (QUERY.between("2026-03-02", "2026-03-31"), "month", "is not whole months"),
        (QUERY.between("2026-03-01", "2026-03-30"), "month", "is not whole months"),
        (QUERY.during("2026-02"), "quarter", "is not whole quarters, such as 2026-Q1"),
        (QUERY.last(days=90), "quarter", r"during\('2026-Q1'\)"),
        (QUERY.between("today-99999d", "today"), "period", "up to 99999"),
        (QUERY.during("0001-01"), "period", "no such days"),
        (QUERY.during("0001-01"), "month", "no such days"),
    ],
)
def test_a_period_with_none_before_it_is_refused(
    query: StatsQuery, unit: Any, words: str
) -> None:
    """The error blames the argument that was given, of the step or of a comparison."""
    with pytest.raises(InvalidInputError, match=f"^previous: .*{words}"):
        query.previous(unit)
    with pytest.raises(InvalidInputError, match=f"^against: .*{words}"):
        query_against(query, f"previous-{unit}")
    with pytest.raises(
        InvalidInputError, match=r"^against: .*did you mean 'previous-week'"
    ):
        query_against(query, "previous-weak")
