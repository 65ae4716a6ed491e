"""The histogram's entries: when they begin, and which are not over."""

from __future__ import annotations

import datetime as dt
import os
import pickle
from bisect import bisect_left
from collections.abc import Iterator
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats._common.errors import FieldNotRequestedError
from sitestats._results.histogram import (
    Bucket,
    HistogramEntry,
    IncompleteHistogramEntry,
    read_histogram,
)

AMSTERDAM = "Europe/Amsterdam"
MOMENTS = st.none() | st.datetimes(timezones=st.just(dt.UTC))


def utc(text: str) -> dt.datetime:
    """A moment in UTC."""
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def days(first: str, count: int) -> list[Bucket]:
    """Days in a row."""
    start = dt.date.fromisoformat(first)
    return [Bucket(start + dt.timedelta(days=n), 3, 2) for n in range(count)]


def partial(
    buckets: list[Bucket],
    moment: str | None,
    *,
    end: str | None = None,
    interval: str | None = None,
    timezone: str | None = "UTC",
) -> list[bool]:
    """Which of the entries are partial."""
    entries = read_histogram(
        buckets,
        interval=interval,
        timezone=timezone,
        end=None if end is None else utc(end),
        moment=None if moment is None else utc(moment),
    )
    return [entry.partial for entry in entries]


def test_the_current_day_is_partial() -> None:
    """The day of the response is partial, and those before are not."""
    buckets = days("2026-11-18", 3)
    end = "2026-11-20T23:59:59.999"
    assert partial(buckets, "2026-11-20T12:00", end=end) == [False, False, True]
    assert partial(buckets, "2026-11-21T00:00", end=end) == [False, False, False]
    assert partial(buckets, "2026-11-20T12:00") == [False, False, True]


def test_a_day_ends_in_its_own_zone() -> None:
    """Whether a day is over depends on the zone of the response."""
    buckets = days("2026-07-18", 2)
    assert partial(buckets, "2026-07-19T22:30", timezone="Europe/London")[-1]
    assert not partial(buckets, "2026-07-19T22:30", timezone=AMSTERDAM)[-1]


def test_an_end_that_is_late_by_an_hour_marks_nothing() -> None:
    """An end an hour after midnight, seen with summer time, marks no day partial."""
    buckets = days("2026-07-18", 2)
    end = "2026-07-19T22:59:59.999"
    assert not any(partial(buckets, "2026-07-19T22:30", end=end, timezone=AMSTERDAM))


def test_hours_to_come_are_partial() -> None:
    """Hours of today that have not begun are partial too."""
    buckets = [Bucket(dt.date(2026, 11, 20), 3, 2, hour=hour) for hour in range(24)]
    marked = partial(buckets, "2026-11-20T12:30", interval="hour")
    assert marked == [False] * 12 + [True] * 12


@pytest.mark.parametrize(
    ("interval", "first", "over"),
    [
        ("week", "2026-11-16", "2026-11-23"),
        ("week", "2026-11-18", "2026-11-23"),
        ("month", "2026-11-01", "2026-12-01"),
        ("month", "2026-12-15", "2027-01-01"),
        ("year", "2026-01-01", "2027-01-01"),
    ],
)
def test_longer_intervals_are_over_at_their_end(
    interval: str, first: str, over: str
) -> None:
    """A week, month or year is partial until its own last day is over."""
    buckets = [Bucket(dt.date.fromisoformat(first), 3, 2)]
    before = (utc(over) - dt.timedelta(seconds=1)).replace(tzinfo=None).isoformat()
    assert partial(buckets, before, interval=interval) == [True]
    assert partial(buckets, over, interval=interval) == [False]


def test_a_week_whose_period_is_over_is_not_partial() -> None:
    """The last week is complete once its period is over."""
    buckets = [Bucket(dt.date(2026, 11, 16), 3, 2)]
    end = "2026-11-19T23:59:59.999"
    assert partial(buckets, "2026-11-20T12:00", end=end, interval="week") == [False]


def test_without_a_clock_nothing_is_partial() -> None:
    """Without any date of the response no entry is marked partial."""
    assert partial(days("2999-01-01", 2), None) == [False, False]


@pytest.mark.parametrize("timezone", [None, "Moon/Crater", "", "/etc", "Europe"])
def test_without_a_zone_the_end_of_the_period_decides(timezone: str | None) -> None:
    """Without a zone only the last entry may be partial."""
    buckets = days("2026-11-18", 3)
    end = "2026-11-20T23:59:59.999"
    here = {"end": end, "timezone": timezone}
    assert partial(buckets, "2026-11-20T12:00", **here) == [False, False, True]
    assert partial(buckets, "2026-11-21T12:00", **here) == [False] * 3
    assert partial(buckets, "2026-11-20T12:00", timezone=timezone) == [False] * 3


def clipped(
    interval: str, dates: list[str], first: str | None, last: str | None
) -> list[bool]:
    """Which of the entries are clipped by this period."""
    entries = read_histogram(
        [Bucket(dt.date.fromisoformat(date), 3, 2) for date in dates],
        interval=interval,
        timezone="UTC",
        period=(
            None if first is None else dt.date.fromisoformat(first),
            None if last is None else dt.date.fromisoformat(last),
        ),
        end=None,
        moment=None,
    )
    return [entry.clipped for entry in entries]


@pytest.mark.parametrize(
    ("interval", "dates", "days_of", "expected"),
    [
        ("month", ["2026-08-01", "2026-09-01", "2026-10-01"], ("20", "05"), [1, 0, 1]),
        ("month", ["2026-08-20", "2026-09-01", "2026-10-01"], ("20", "31"), [1, 0, 0]),
        ("month", ["2026-08-01", "2026-09-01", "2026-10-01"], ("01", "30"), [0, 0, 1]),
        ("week", ["2026-08-17", "2026-08-24", "2026-10-05"], ("20", "05"), [1, 0, 1]),
        ("week", ["2026-08-17", "2026-08-24", "2026-09-28"], ("17", "04"), [0, 0, 0]),
        ("year", ["2026-01-01"], ("20", "05"), [1]),
        ("day", ["2026-08-20", "2026-10-05"], ("20", "05"), [0, 0]),
        ("hour", ["2026-08-20", "2026-10-05"], ("20", "05"), [0, 0]),
    ],
)
def test_a_bucket_that_the_period_cuts_is_clipped(
    interval: str,
    dates: list[str],
    days_of: tuple[str, str],
    expected: list[int],
) -> None:
    """A part of a month would look like a fall beside whole months."""
    period = f"2026-08-{days_of[0]}", f"2026-10-{days_of[1]}"
    assert clipped(interval, dates, *period) == [*map(bool, expected)]


def test_what_is_not_known_clips_nothing() -> None:
    """Without a first day, a last day or its own day no entry is called a part."""
    assert clipped("month", ["2026-08-01"], None, None) == [False]
    assert clipped("month", ["2026-08-01"], "2026-08-20", None) == [True]
    assert clipped("month", ["2026-08-01"], None, "2026-08-20") == [True]
    assert clipped("week", ["9999-12-31"], "9999-12-31", None) == [False]
    (entry,) = read_histogram(
        [Bucket(pageviews=3)],
        interval="month",
        timezone="UTC",
        period=(dt.date(2026, 8, 20), dt.date(2026, 8, 21)),
        end=None,
        moment=None,
    )
    assert entry.clipped is False


def hours(*names: int, date: str, timezone: str | None) -> list[dt.datetime | None]:
    """When the hours of these names begin."""
    buckets = [Bucket(dt.date.fromisoformat(date), 3, 2, hour=name) for name in names]
    entries = read_histogram(
        buckets, interval="hour", timezone=timezone, end=None, moment=None
    )
    return [entry.start for entry in entries]


WHOLE = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
"""Whether to try every change of every zone, which takes minutes."""
Change = tuple[str, dt.datetime]


def changes(name: str) -> Iterator[Change]:
    """The changes of a zone's offset from 2000 to 2037, to the minute, in UTC."""
    zone = ZoneInfo(name)

    def offset(moment: dt.datetime) -> dt.timedelta | None:
        return moment.astimezone(zone).utcoffset()

    # Few changes are closer together.
    step = dt.timedelta(days=1 if WHOLE else 28)
    before = utc("2000-01-01")
    while before.year < 2038:
        after = before + step
        if offset(before) != offset(after):
            minute = bisect_left(
                range(step // dt.timedelta(minutes=1)),
                True,  # noqa: FBT003 - the value to find
                key=lambda n: (
                    offset(before + dt.timedelta(minutes=n)) != offset(before)
                ),
            )
            yield name, before + dt.timedelta(minutes=minute)
        before = after


def kind(change: Change) -> object:
    """What the clocks show before and after a change."""
    zone, moment = ZoneInfo(change[0]), change[1]
    walls = [
        (moment - back).astimezone(zone)
        for back in (dt.timedelta(minutes=1), dt.timedelta())
    ]
    return [(str(wall.time()), wall.utcoffset()) for wall in walls]


@pytest.mark.standard_library
def test_hours_begin_when_the_clocks_first_show_them() -> None:
    """Around every change of every time zone each entry begins when the clocks first
    show its hour, and later than the one before; a change begins a new entry. Of
    changes of one kind one is tried, and all of them in the session of properties.
    """
    found = {
        change if WHOLE else str(kind(change)): change
        for name in sorted(available_timezones())
        for change in changes(name)
    }
    assert len(found) > 60
    for name, moment in found.values():
        zone = ZoneInfo(name)
        begin = moment.replace(minute=0) - dt.timedelta(hours=4)
        labels: list[tuple[dt.date, int, dt.timedelta | None]] = []
        expected: list[dt.datetime] = []
        for minutes in range(8 * 60):
            wall = (begin + dt.timedelta(minutes=minutes)).astimezone(zone)
            label = wall.date(), wall.hour, wall.utcoffset()
            if not labels or label != labels[-1]:
                labels.append(label)
                expected.append(wall.astimezone(dt.UTC))
        buckets = [Bucket(day, 3, 2, hour=hour) for day, hour, _ in labels]
        entries = read_histogram(
            buckets, interval="hour", timezone=name, end=None, moment=None
        )
        starts = [entry.start for entry in entries if entry.start is not None]
        in_utc = [start.astimezone(dt.UTC) for start in starts]
        # The first hour began before the first minute.
        assert in_utc[1:] == expected[1:], (name, moment)
        walls = [(start.date(), start.hour) for start in starts]
        assert walls == [label[:2] for label in labels], (name, moment)


def test_hours_without_a_zone_have_no_start() -> None:
    """Without a zone an hour has its day and number, and no start."""
    assert hours(9, date="2026-07-20", timezone=None) == [None]


@pytest.mark.parametrize("hour", [-1, 24, 10**30])
def test_an_impossible_hour_is_kept(hour: int) -> None:
    """The entry of an hour that does not exist is kept, without a start."""
    assert hours(hour, date="2026-07-20", timezone="UTC") == [None]


@pytest.mark.parametrize(
    ("hour", "day", "zone"),
    [(23, "9999-12-31", "America/New_York"), (0, "0001-01-01", AMSTERDAM)],
)
def test_an_hour_beyond_the_years_of_utc_has_no_start(
    hour: int, day: str, zone: str
) -> None:
    """An hour whose start has no year in UTC is kept, without a start."""
    assert hours(hour, date=day, timezone=zone) == [None]
    (start,) = hours(12, date=day, timezone=zone)
    assert start is not None
    assert start.astimezone(dt.UTC).hour in {11, 17}


@given(
    st.lists(
        st.builds(
            Bucket,
            st.dates(),
            st.none() | st.integers(),
            st.none() | st.integers(),
            hour=st.none() | st.integers(-1, 24),
        ),
        max_size=4,
    ),
    st.sampled_from([None, "hour", "day", "week", "month", "year"]),
    st.sampled_from([None, "UTC", AMSTERDAM, "Pacific/Kiritimati", "Etc/GMT+12"]),
    st.tuples(MOMENTS, MOMENTS),
    st.tuples(st.none() | st.dates(), st.none() | st.dates()),
)
def test_any_histogram_is_read(
    buckets: list[Bucket],
    interval: str | None,
    timezone: str | None,
    moments: tuple[dt.datetime | None, dt.datetime | None],
    period: tuple[dt.date | None, dt.date | None],
) -> None:
    """No date, hour, zone or moment raises, and every entry keeps its counts."""
    entries = read_histogram(
        buckets,
        interval=interval,
        timezone=timezone,
        period=period,
        end=moments[0],
        moment=moments[1],
    )
    assert [
        (entry.date, entry.get("pageviews"), entry.get("visitors")) for entry in entries
    ] == [(bucket.date, bucket.pageviews, bucket.visitors) for bucket in buckets]


def test_an_entry_without_counts_is_kept(same_text: SameText) -> None:
    """An entry without counts keeps its day, and reading a count raises by name."""
    (entry,) = read_histogram(
        [Bucket(dt.date(2026, 11, 20), pageviews=3)],
        interval=None,
        timezone=None,
        end=None,
        moment=None,
    )
    assert isinstance(entry, IncompleteHistogramEntry)
    assert (entry.date, entry.pageviews) == (dt.date(2026, 11, 20), 3)
    assert (entry.start, entry.hour, entry.partial) == (None, None, False)
    with pytest.raises(FieldNotRequestedError, match="visitors") as caught:
        _ = entry.visitors
    same_text(caught.value)
    assert entry.to_dict()["visitors"] is None
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert repr(entry).startswith("HistogramEntry(date=")


def test_entries_of_the_histogram_are_values() -> None:
    """They pickle and become JSON, and their repr leaves out what is empty."""
    (entry,) = read_histogram(
        [Bucket(dt.date(2026, 11, 20), 3, 2, hour=9)],
        interval="hour",
        timezone="UTC",
        end=None,
        moment=None,
    )
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert entry.to_dict() == {
        "date": "2026-11-20",
        "start": "2026-11-20T09:00:00+00:00",
        "hour": 9,
        "pageviews": 3,
        "visitors": 2,
        "partial": False,
        "clipped": False,
    }
    day = HistogramEntry(dt.date(2026, 11, 20), 3, 2)
    shown = "HistogramEntry(date=datetime.date(2026, 11, 20), pageviews=3, visitors=2)"
    assert repr(day) == shown
