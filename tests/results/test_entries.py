"""Entries and their container."""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from display.inside import Entry
from displayed import pages_of
from fake_responses import read_response, stats_json
from sitestats import (
    Entries,
    EventCount,
    FieldNotRequestedError,
    HistogramEntry,
    ListEntry,
    PageEntry,
    StatsQuery,
)
from sitestats.types import TimedListEntry, TimedPageEntry

Timed: Any = TimedPageEntry
TIMED, UNTIMED = Timed("/", 3, 2, 12.5), Timed("/", 3, 2, None)
ENTRIES: list[Entry] = [
    ListEntry("NL", 3, 2),
    ListEntry(None, 3, 2),
    TimedListEntry("NL", 3, 2, 12.5),  # type: ignore[call-arg]  # hidden from checkers
    PageEntry("/", 3, 2),
    *(TIMED, UNTIMED),
    EventCount("signup", 7),
    HistogramEntry(dt.date(2026, 11, 20), 3, 2),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=repr)
def test_entries_are_values(entry: Entry) -> None:
    """None can be changed, and none has a dict of its own; JSON has the columns."""
    assert entry != "NL"
    assert tuple(entry.to_dict()) == entry.columns
    with pytest.raises(AttributeError, match="immutable"):
        entry.value = "/other"  # type: ignore[attr-defined]  # the point
    assert not hasattr(entry, "__dict__")
    assert not hasattr(entry, "__weakref__")


def test_seconds_are_there_where_they_were_requested() -> None:
    """Unknown ones are None; without a request the error says which field to add, of
    one entry and of a list.
    """
    assert (TIMED.seconds_on_page, UNTIMED.seconds_on_page) == (12.5, None)
    for entry in (ListEntry("NL", 3, 2), PageEntry("/", 3, 2)):
        with pytest.raises(FieldNotRequestedError, match=r"\.fields") as caught:
            _ = entry.seconds_on_page
        assert caught.value.name == "seconds_on_page"
        assert not hasattr(entry, "seconds_on_page")
    for name in ("seconds_on_page", "pageview", "_items"):
        with pytest.raises(FieldNotRequestedError, match="value, pageviews, vis") as no:
            pages_of("/").column(name)
        assert no.value.name == name


def test_the_container_is_a_sequence() -> None:
    """It has length, order and items, and functions that take a sequence take it."""
    container = pages_of("/", "/a", "/b")
    assert len(container) == 3
    assert [page.value for page in container] == ["/", "/a", "/b"]
    assert container[-1] == PageEntry("/b", 9, 3)
    assert [page.value for page in reversed(container)] == ["/b", "/a", "/"]
    assert container
    assert not pages_of()
    assert isinstance(container, Sequence)
    assert container.index(container[1]) == container.count(container[1]) == 1
    with pytest.raises(IndexError):
        _ = container[3]


def test_an_entry_is_found_by_its_value() -> None:
    """What is not there is an error with a suggestion, and so is a name of several."""
    countries = Entries(
        [ListEntry(None, 9, 9), ListEntry("NL", 3, 2), ListEntry("DE", 2, 2)],
        name="countries",
        entry_type=ListEntry,
    )
    assert countries.get("NL") is countries["NL"] is countries[1]
    assert countries[None].pageviews == 9
    assert [name in countries for name in ("DE", None, countries[2], "nl")] == [
        1,
        1,
        1,
        0,
    ]
    with pytest.raises(KeyError, match="did you mean 'NL'"):
        _ = countries["nl"]
    days = [HistogramEntry(dt.date(2026, 3, day), day, 2) for day in (1, 2, 2)]
    by_day = Entries(days, name="histogram", entry_type=HistogramEntry)
    day = dt.date(2026, 3, 1)
    for key in (day, "2026-03-01", dt.datetime.combine(day, dt.time())):
        assert key in by_day
        assert by_day[key].pageviews == 1
    assert dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC) not in by_day
    with pytest.raises(KeyError, match="2 are '2026-03-02': take one by its place"):
        _ = by_day["2026-03-02"]


@given(st.lists(st.text(max_size=2), max_size=5), st.data())
def test_a_slice_is_a_container(values: list[str], data: st.DataObject) -> None:
    """A slice keeps type, name and mark, and selects as lists do."""
    part = data.draw(st.slices(len(values)))
    sliced = pages_of(*values, truncated=True)[part]
    assert [page.value for page in sliced] == values[part]
    assert (sliced.name, sliced.truncated) == ("pages", True)
    assert sliced.entry_type is PageEntry


def test_containers_are_values() -> None:
    """Containers of equal entries are equal, and can be pickled and hashed; an empty
    one has its columns.
    """
    container = pages_of("/", "/a")
    assert container == pages_of("/", "/a", truncated=True)
    assert container != pages_of("/")
    assert container != [*container]
    again = pickle.loads(pickle.dumps(container))
    assert (again, again.name, again.entry_type) == (container, "pages", PageEntry)
    assert hash(again) == hash(container)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        container.truncated = True  # type: ignore[misc]  # the point
    empty: Entries[PageEntry] = Entries(name="pages", entry_type=TimedPageEntry)
    timed = ["value", "pageviews", "visitors", "seconds_on_page", "share"]
    assert empty.columns() == timed
    assert [empty.column(name) for name in timed] == [[]] * len(timed)


def test_the_repr_is_a_short_table() -> None:
    """A notebook's neighbour is the plain console, which shows ten rows too."""
    shown = repr(pages_of("/")).splitlines()
    assert shown == ["pages  page views  visitors", "/               9         3"]
    lines = repr(pages_of(*map(str, range(1000)), truncated=True)).splitlines()
    assert len(lines) == 12
    assert lines[-1].startswith("… 990 more; others may be")
    first = dt.date(2026, 1, 1)
    days = [HistogramEntry(first + dt.timedelta(n), 3, 2) for n in range(300)]
    by_day = Entries(days, name="histogram", entry_type=HistogramEntry)
    assert repr(by_day).splitlines()[-1] == "… 290 more"


# --- histograms ----------------------------------------------------------------------

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


@given(
    st.lists(st.tuples(st.dates(), st.integers(0, 23)), max_size=4),
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
    hours = [hour if interval == "hour" else None for _, hour in days]
    assert [entry.date for entry in entries] == [day for day, _ in days]
    assert [entry.hour for entry in entries] == hours
    assert entries.column("visitors") == [2] * len(days)


def test_an_hour_becomes_json() -> None:
    """It has what is worked out too, and the repr of a day has no defaults."""
    (entry,) = histogram("hour", "2026-11-20 9", now="2026-11-20T09:30")
    assert entry.to_dict() == {
        "date": "2026-11-20",
        "start": "2026-11-20T09:00:00+00:00",
        "hour": 9,
        "pageviews": 3,
        "visitors": 2,
        "partial": True,
        "clipped": False,
    }
    day = HistogramEntry(dt.date(2026, 11, 20), 3, 2)
    shown = "HistogramEntry(date=datetime.date(2026, 11, 20), pageviews=3, visitors=2)"
    assert repr(day) == shown
