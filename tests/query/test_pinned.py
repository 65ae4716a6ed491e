"""Words as dates: what the emulator takes for them at that moment."""

from __future__ import annotations

import warnings
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_strategies import ODD_DAYS, around, queries
from sitestats._common.errors import QueryError, SiteStatsWarning
from sitestats._common.zones import zone_names
from sitestats._query.builder import StatsQuery
from sitestats.emulator import Emulator
from sitestats.emulator._parameters import read

pytestmark = pytest.mark.once


QUERY = StatsQuery("example.com").fields("visitors")
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
PERIODS = {
    "week": QUERY.last(days=7),
    "today": QUERY.on("today"),
    "default": QUERY,
    "end": QUERY.between(None, "yesterday"),
    "mixed": QUERY.between("1800-01-01", "today-40d"),
}


def taken(query: StatsQuery, zone: str, now: datetime) -> tuple[str, str]:
    """The days that the emulator takes *query* for."""
    pairs = query.params().items()
    understood, problems = read(pairs, path=None, has_key=True, zone=zone, now=now)
    assert problems == []
    return understood.period.first.isoformat(), understood.period.last.isoformat()


def pinned(
    query: StatsQuery, zone: str | None, now: datetime | None
) -> tuple[str, str]:
    """The days that the client takes *query* for."""
    params = query.pinned(zone, now).params()
    return params["start"], params["end"]


@cache
def changes(year: int) -> list[tuple[str, datetime]]:
    """The noon after every change of an offset in a year, in every zone."""
    noon = datetime(year, 1, 1, 12, tzinfo=UTC)
    found: list[tuple[str, datetime]] = []
    for name in sorted(zone_names()):
        zone = ZoneInfo(name)
        offsets = [
            (noon + DAY * number).astimezone(zone).utcoffset() for number in range(366)
        ]
        found += [
            (name, noon + DAY * number)
            for number in range(1, 366)
            if offsets[number] != offsets[number - 1]
        ]
    return found


@pytest.mark.long
def test_words_are_what_the_emulator_takes_when_clocks_change() -> None:
    """A day too early or too late, an hour a year, in any zone of the tz database."""
    moments = changes(2026)
    assert len(moments) > 200
    moments += [
        (zone, datetime.combine(day + DAY * n, time(), UTC))
        for zone, day in ODD_DAYS
        for n in (0, 1, 2)
    ]
    # Zones without a change have midnights all the same, those of one offset one.
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    zones = {noon.astimezone(ZoneInfo(name)).utcoffset(): name for name in zone_names()}
    moments += [(zone, noon) for zone in zones.values()]
    query = QUERY.between("today-1d", "today")
    for zone, noon in moments:
        # From the noon before the change to that after it.
        for hours in range(-24, 1):
            now = noon + HOUR * hours
            assert pinned(query, zone, now) == taken(query, zone, now), (zone, now)


@given(around(), st.integers(0, 86_399), st.sampled_from([*PERIODS.values()]))
def test_words_are_what_the_emulator_takes(
    place: tuple[str, date], second: int, query: StatsQuery
) -> None:
    """At every second, for every form of a period, and in the query's own zone too."""
    zone, day = place
    midnight = datetime.combine(day, time(), ZoneInfo(zone))
    now = midnight.astimezone(UTC) + timedelta(seconds=second)
    expected = taken(query, zone, now)
    assert pinned(query, zone, now) == expected
    assert pinned(query.timezone(zone), None, now) == expected
    assert pinned(query.timezone(zone), zone, now) == expected
    assert taken(query.timezone(zone), "UTC", now) == expected


@pytest.mark.parametrize("hour", [0, 9, 12, 14, 23])
@pytest.mark.parametrize("zone", ["Pacific/Apia", "Asia/Kathmandu", "Etc/GMT+12"])
def test_responses_have_the_days_of_a_pinned_query(zone: str, hour: int) -> None:
    """The response to the words and that to the dates are of the same days."""
    emulator = Emulator(now=datetime(2026, 4, 5, hour, 30, tzinfo=UTC))
    emulator.add_website("example.com", timezone=zone)
    with emulator.client() as client, warnings.catch_warnings():
        warnings.simplefilter("error", SiteStatsWarning)
        (website,) = client.websites.list()
        for query in PERIODS.values():
            words = client.stats.get(query)
            dates = client.stats.get(query.pinned(website.timezone, emulator.now))
            assert (words.start, words.end) == (dates.start, dates.end)
            assert (words.first_day, words.last_day) == (
                dates.first_day,
                dates.last_day,
            )


MONTHS = {
    "2026-03-31": "2026-02-28",
    "2024-03-30": "2024-02-29",
    "2026-03-28": "2026-02-28",
    "2026-01-31": "2025-12-31",
    "2026-05-31": "2026-04-30",
}


@pytest.mark.parametrize(("today", "start"), MONTHS.items(), ids=MONTHS)
def test_what_is_left_to_the_service_is_a_month(today: str, start: str) -> None:
    """In a shorter month the day of a month ago is its last one."""
    now = datetime.fromisoformat(f"{today}T12:00Z")
    assert QUERY.pinned("UTC", now) == QUERY.between(start, today)
    assert QUERY.between(None, today).pinned("UTC", now) == QUERY.between(start, today)


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
@given(queries(), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))  # noqa: DTZ001 - bounds
def test_only_the_period_is_pinned(query: StatsQuery, now: datetime) -> None:
    """A pinned query stays the same one tomorrow, and requests the same."""
    zone = query.params().get("timezone", "Europe/Amsterdam")
    with suppress(QueryError):
        # A date in the future, up to a word, is refused.
        assert_pinned(query, zone, now.replace(tzinfo=UTC))


def assert_pinned(query: StatsQuery, zone: str, now: datetime) -> None:
    """The query has dates and is the same but for them, or it is refused."""
    pinned = query.pinned(zone, now)
    assert not pinned.is_relative
    assert pinned.pinned(zone, now + 400 * DAY) is pinned
    assert eval(repr(pinned)) == pinned
    if query.is_relative:
        period = {"start", "end"}
        kept = {n: v for n, v in query.params().items() if n not in period}
        assert {n: v for n, v in pinned.params().items() if n not in period} == kept
    else:
        assert pinned == query


def test_moments_are_pinned_in_the_zone() -> None:
    """A query with a moment and no zone can't be sent; one with its day can."""
    night = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    assert not QUERY.on(night).is_relative
    assert QUERY.on(night).pinned("Asia/Tokyo") == QUERY.on("2026-03-02")
    query = QUERY.between(night, "today").pinned("Asia/Tokyo", night + DAY)
    assert query == QUERY.between("2026-03-02", "2026-03-03")
    with pytest.raises(QueryError, match="only in a time zone"):
        QUERY.on(night).pinned()


def test_now_is_the_clock_of_this_machine() -> None:
    """Without a moment the words are those of the present."""
    before = datetime.now(UTC).date()
    day, _ = pinned(QUERY.on("today"), "UTC", None)
    assert before.isoformat() <= day <= datetime.now(UTC).date().isoformat()


RELATIVE = {
    "nothing": (QUERY, True),
    "dates": (QUERY.between("2026-03-01", "2026-03-31"), False),
    "words": (QUERY.last(days=7), True),
    "a date and today": (QUERY.since("2026-03-01"), True),
    "no start": (QUERY.between(None, "2026-03-01"), True),
    "a moment": (QUERY.on(datetime(2026, 3, 1, tzinfo=UTC)), False),
    "another form": (QUERY.during("2026").extra_param("end", "2026-W10"), True),
    "no day": (QUERY.during("2026").extra_param("end", "2026-02-30"), True),
}


@pytest.mark.parametrize(("query", "relative"), RELATIVE.values(), ids=RELATIVE)
def test_what_is_relative(query: StatsQuery, *, relative: bool) -> None:
    """A store of what is relative would give the days of yesterday."""
    assert query.is_relative is relative
