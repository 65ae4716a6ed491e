"""The histogram's entries: when they begin, which are cut, and which are not over."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_responses import read_response, stats_json
from sitestats import Entries, HistogramEntry, StatsQuery

AMSTERDAM = "Europe/Amsterdam"
QUERY = StatsQuery("example.com").fields("histogram")


def histogram(
    interval: Any, *dates: str, now: str | None = None, **envelope: Any
) -> Entries[HistogramEntry]:
    """The entries of a response, received *now*. A date may have an hour: "… 09"."""
    rows: list[dict[str, Any]] = []
    for date in dates:
        day, _, hour = date.partition(" ")
        rows.append({"date": day, "pageviews": 3, "visitors": 2})
        if hour:
            rows[-1]["hour"] = int(hour)
    received = None if now is None else dt.datetime.fromisoformat(f"{now}+00:00")
    period: dict[str, Any] = {"start": None, "end": None}
    data = stats_json(histogram=rows, **{**period, **envelope})
    return read_response(QUERY.interval(interval), data, received=received).histogram


WEEK = {"end": "2026-11-19T23:59:59.999Z"}


@pytest.mark.parametrize(
    ("interval", "dates", "now", "envelope", "expected"),
    [
        ("day", ["2026-07-18", "2026-07-19"], "2026-07-19T12:00", {}, [0, 1]),
        ("day", ["2026-07-18", "2026-07-19"], "2026-07-20T00:00", {}, [0, 0]),
        ("day", ["2026-07-19"], "2026-07-19T22:30", {"timezone": "Europe/London"}, [1]),
        ("day", ["2026-07-19"], "2026-07-19T22:30", {"timezone": AMSTERDAM}, [0]),
        ("day", ["2026-07-19"], None, {}, [0]),
        ("hour", ["2026-11-20 11", "2026-11-20 12"], "2026-11-20T12:30", {}, [0, 1]),
        ("hour", ["2026-11-20 12", "2026-11-20 13"], "2026-11-20T12:30", {}, [1, 1]),
        ("week", ["2026-11-16"], "2026-11-22T23:59", {}, [1]),
        ("week", ["2026-11-16"], "2026-11-23T00:00", {}, [0]),
        # What comes after the period counts in no entry.
        ("week", ["2026-11-16"], "2026-11-20T12:00", WEEK, [0]),
        ("month", ["2026-11-01", "2026-12-15"], "2026-12-31T23:59", {}, [0, 1]),
        ("month", ["2026-11-01", "2026-12-15"], "2027-01-01T00:00", {}, [0, 0]),
        ("year", ["2026-01-01"], "2026-12-31T23:59", {}, [1]),
        ("year", ["2026-01-01"], "2027-01-01T00:00", {}, [0]),
    ],
)
def test_what_is_not_over_is_partial(
    interval: str,
    dates: list[str],
    now: str | None,
    envelope: dict[str, Any],
    expected: list[int],
) -> None:
    """An entry is partial until its own end, in the zone of the response; also one
    that has not begun.
    """
    entries = histogram(interval, *dates, now=now, **envelope)
    assert entries.column("partial") == [*map(bool, expected)]


@pytest.mark.parametrize(
    ("interval", "dates", "days", "expected"),
    [
        ("month", ["2026-08-01", "2026-09-01", "2026-10-01"], ("20", "05"), [1, 0, 1]),
        ("month", ["2026-08-20", "2026-09-01", "2026-10-01"], ("20", "31"), [1, 0, 0]),
        ("month", ["2026-08-01", "2026-09-01", "2026-10-01"], ("01", "30"), [0, 0, 1]),
        ("week", ["2026-08-17", "2026-08-24", "2026-10-05"], ("20", "05"), [1, 0, 1]),
        ("week", ["2026-08-17", "2026-08-24", "2026-09-28"], ("17", "04"), [0, 0, 0]),
        ("year", ["2026-01-01"], ("20", "05"), [1]),
        ("day", ["2026-08-20", "2026-10-05"], ("20", "05"), [0, 0]),
    ],
)
def test_what_the_period_cuts_is_clipped(
    interval: str, dates: list[str], days: tuple[str, str], expected: list[int]
) -> None:
    """A part of a month would look like a fall beside whole months."""
    start, end = f"2026-08-{days[0]}T00:00:00Z", f"2026-10-{days[1]}T23:59:59.999Z"
    entries = histogram(interval, *dates, start=start, end=end)
    assert entries.column("clipped") == [*map(bool, expected)]
    assert not any(histogram(interval, *dates).column("clipped"))


def test_hours_begin_in_the_zone_of_the_response() -> None:
    """The hour that comes again at the end of summer time has fold=1."""
    hours = ["2026-10-25 1", "2026-10-25 2", "2026-10-25 2", "2026-10-25 3"]
    starts = histogram("hour", *hours, timezone=AMSTERDAM).column("start")
    assert [start.fold for start in starts] == [0, 0, 1, 0]
    utc = [start.astimezone(dt.UTC).hour for start in starts]
    assert utc == [23, 0, 1, 2]
    assert histogram("hour", *hours, timezone=None).column("start") == [None] * 4
    impossible = histogram("hour", f"2026-07-20 {10**30}", "2026-07-20 24")
    assert impossible.column("start") == [None] * 2


@given(
    st.lists(st.tuples(st.dates(), st.integers(-1, 24)), max_size=4),
    st.sampled_from(["hour", "day", "week", "month", "year"]),
    st.sampled_from([None, "UTC", AMSTERDAM, "Pacific/Kiritimati", "Moon/Crater"]),
    st.none() | st.datetimes(),
)
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_any_histogram_is_read(
    days: list[tuple[dt.date, int]],
    interval: str,
    timezone: str | None,
    now: dt.datetime | None,
) -> None:
    """No date, hour, zone or moment raises, and every entry keeps its counts."""
    dates = [f"{day.isoformat()} {hour}" for day, hour in days]
    moment = None if now is None else now.isoformat()
    entries = histogram(interval, *dates, now=moment, timezone=timezone)
    assert [(entry.date, entry.hour) for entry in entries] == days
    assert entries.column("visitors") == [2] * len(days)


def test_entries_are_values() -> None:
    """They pickle and become JSON, and the repr has what is not a default."""
    (entry,) = histogram("hour", "2026-11-20 9", now="2026-11-20T09:30")
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert entry.to_dict() == {
        "date": "2026-11-20",
        "start": "2026-11-20T09:00:00+00:00",
        "hour": 9,
        "pageviews": 3,
        "visitors": 2,
        "partial": True,
        "clipped": False,
    }
    assert entry != histogram("hour", "2026-11-20 8")[0]
    day = HistogramEntry(dt.date(2026, 11, 20), 3, 2)
    shown = "HistogramEntry(date=datetime.date(2026, 11, 20), pageviews=3, visitors=2)"
    assert repr(day) == shown
