"""Periods and the buckets of histograms, in zones whose clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from bare_client import GetStats, exactly
from emulator import reference_model
from emulator.reference_model import Row
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow
# The changes of clocks in these zones, a leap day, and the turns of years that
# end in week 52, in week 53 of the same year, and in week 1 of the next.
ZONES = ["Europe/Amsterdam", "America/New_York", "Pacific/Auckland"]
TURNS = [
    (date(2020, 12, 24), date(2021, 1, 6)),
    (date(2023, 12, 30), date(2024, 1, 3)),
    (date(2024, 2, 28), date(2024, 3, 1)),
    (date(2024, 3, 9), date(2024, 3, 11)),
    (date(2024, 3, 30), date(2024, 4, 1)),
    (date(2024, 4, 6), date(2024, 4, 8)),
    (date(2024, 9, 28), date(2024, 9, 30)),
    (date(2024, 10, 26), date(2024, 10, 28)),
    (date(2024, 11, 2), date(2024, 11, 4)),
    (date(2024, 12, 29), date(2025, 1, 6)),
]
CHECKED = [*product(ZONES, ["hour", "day"])]
CHECKED += product(ZONES[:1], ["week", "month", "year"])


def get_histogram(
    emulator: Emulator, zone: str, interval: str, start: date, end: date
) -> Any:
    """The histogram of a period, with the totals."""
    params = {"timezone": zone, "interval": interval, "fields": "histogram,pageviews"}
    days = {"start": start.isoformat(), "end": end.isoformat()}
    return exactly(emulator, params | days)


def test_intervals_across_clock_changes() -> None:
    """Page views are in the right interval around changes of clocks and years."""
    rows: list[Row] = [
        {"hostname": "example.com", "added_iso": moment.isoformat()}
        for start, end in TURNS
        for number in range(-48, 48 * ((end - start).days + 2))
        for moment in [
            datetime(start.year, start.month, start.day, tzinfo=UTC)
            + number * timedelta(minutes=30)
        ]
    ]
    emulator = Emulator()
    emulator.load(rows)
    for (zone, interval), period in product(CHECKED, TURNS):
        data = get_histogram(emulator, zone, interval, *period)
        kept = reference_model.within(rows, *period, zone)
        expected = reference_model.histogram(kept, *period, zone, interval)
        assert data["histogram"] == expected
        # Two views an hour: a day with a change has two more or two less.
        assert data["pageviews"] - 48 * ((period[1] - period[0]).days + 1) in {-2, 0, 2}


ODD = """
Australia/Lord_Howe 2024-04-06 14:45:00 15:15:00 15:45:00 -> 2024-04-07 1:1 1:1 2:1
Europe/Amsterdam 2024-10-27 00:30:00 01:30:00 01:40:00 -> 2024-10-27 2:1 2:2
Europe/Amsterdam 2024-03-31 00:59:00 01:00:00 -> 2024-03-31 1:1 3:1
America/Havana 2024-11-03 04:30:00 05:30:00 -> 2024-11-03 0:1 0:1
Asia/Beirut 2024-03-30 22:00:00 22:59:00 -> 2024-03-31 1:2
Asia/Kathmandu 2024-01-01 00:15:00 -> 2024-01-01 6:1
Europe/Amsterdam 2999-07-01 10:15:00 -> 2999-07-01 12:1
"""
"""Visits in UTC, and the hours of a local day that have some, and how many: half an
hour and an hour that come twice, an hour that is left out, the same of a midnight, an
odd offset."""


@pytest.mark.parametrize("line", ODD.strip().splitlines())
def test_odd_zones(line: str) -> None:
    """Hours are right in zones with offsets and changes of fractions of an hour."""
    given, expected = (part.split() for part in line.split(" -> "))
    zone, day, *times = given
    emulator = Emulator()
    emulator.load(
        {"added_iso": f"{day}T{time}Z", "hostname": "example.com"} for time in times
    )
    local = date.fromisoformat(expected[0])
    found = get_histogram(emulator, zone, "hour", local, local)["histogram"]
    hours = [f"{one['hour']}:{one['pageviews']}" for one in found if one["pageviews"]]
    assert hours == expected[1:]


def test_periods_at_the_ends_of_the_calendar(get_stats: GetStats) -> None:
    """Centuries without rows are allowed, and a histogram too long is refused."""
    always = {"start": "0002-01-01", "end": "9998-12-31", "fields": "pageviews"}
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        assert get_stats(**always, timezone=zone).json()["pageviews"] == 0
    for day in ("0001-12-31", "9999-01-01"):
        assert "not a day" in get_stats(**always | {"start": day}).json()["error"]
    long = {"start": "1600-01-01", "end": "2100-12-31", "fields": "histogram"}
    assert len(get_stats(**long, interval="year").json()["histogram"]) == 501
    for params in (always | {"fields": "histogram"}, long | {"interval": "hour"}):
        response = get_stats(**params)
        assert response.status_code == 400
        assert "shorter period" in response.json()["error"]


@pytest.mark.parametrize(
    ("now", "zone", "start", "end"),
    [
        ("2026-03-15T12", "UTC", "2026-02-15T00:00", "2026-03-15T23:59"),
        ("2026-03-31T23", "Europe/Amsterdam", "2026-02-28T23:00", "2026-04-01T21:59"),
        ("2024-03-31T12", "UTC", "2024-02-29T00:00", "2024-03-31T23:59"),
        ("2026-01-05T03", "America/New_York", "2025-12-04T05:00", "2026-01-05T04:59"),
    ],
)
def test_the_default_period(now: str, zone: str, start: str, end: str) -> None:
    """It begins a month ago, clamped, and ends today, in the website's zone."""
    emulator = Emulator(now=datetime.fromisoformat(f"{now}:30Z"))
    emulator.add_website("example.com", timezone=zone)
    data = exactly(emulator, {"fields": "pageviews"})
    assert (data["start"], data["end"]) == (f"{start}:00.000Z", f"{end}:59.999Z")
    assert data["timezone"] == zone


def test_the_querys_zone_goes_before_the_websites(
    emulator: Emulator, get_stats: GetStats
) -> None:
    """Days are those of the requested zone."""
    emulator.change_website("example.com", timezone="Asia/Tokyo")
    day = {"fields": "pageviews", "start": "2026-01-01", "end": "2026-01-01"}
    assert get_stats(**day).json()["start"] == "2025-12-31T15:00:00.000Z"
    data = get_stats(**day, timezone="America/New_York").json()
    assert data["start"] == "2026-01-01T05:00:00.000Z"
    assert data["end"] == "2026-01-02T04:59:59.999Z"


def test_days_are_whole(emulator: Emulator, get_stats: GetStats) -> None:
    """A day has its first and its last microsecond, and no more."""
    inside = ("10T00:00:00", "10T23:59:59.999999")
    emulator.load(
        {"hostname": "example.com", "added_iso": f"2026-03-{moment}Z"}
        for moment in (*inside, "11T00:00:00", "09T23:59:59.999999")
    )
    day = {"fields": "pageviews", "start": "2026-03-10", "end": "2026-03-10"}
    assert get_stats(**day).json()["pageviews"] == len(inside)
