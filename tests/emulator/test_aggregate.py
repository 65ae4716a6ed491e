"""The emulator's numbers, compared with the reference model's."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_model
import sitestats.emulator
from bare_client import bare_client
from reference_model import Row
from sitestats.emulator import Emulator
from sitestats.emulator._periods import FIRST, Period, count, midnight, zone_names

pytestmark = pytest.mark.slow

FIELDS = [
    "pageviews",
    "visitors",
    "histogram",
    *reference_model.LISTS,
    "seconds_on_page",
]
START, END = date(2015, 5, 16), date(2015, 5, 21)
DATA = Path(sitestats.emulator.__file__).parent / "data" / "semicomplete.csv.gz"


UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"]


class Traffic(NamedTuple):
    """The rows of the demo and of campaigns, and an emulator that has them."""

    rows: list[Row]
    client: httpx.Client

    def get_stats(self, **params: str) -> Any:
        """The response for all days of the real traffic."""
        params = {
            "version": "6",
            "info": "false",
            "start": START.isoformat(),
            "end": END.isoformat(),
            **params,
        }
        response = self.client.get("/semicomplete.com.json", params=params)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture(scope="module")
def traffic() -> Iterator[Traffic]:
    """The demo's rows with their original dates, in May 2015, and some campaigns."""
    emulator = Emulator()
    emulator.load(DATA)
    with (
        gzip.open(DATA, "rt", encoding="utf-8", newline="") as file,
        bare_client(emulator) as client,
    ):
        rows: list[Row] = list(csv.DictReader(file))
        # The demo has no contents and no terms.
        people = [row for row in rows if row["is_robot"] == "false"]
        campaigns = [
            {**row, "path": "/campaign", "device_type": "tv"}
            | {name: f"{name[4:]}{number % 3}" for name in UTM}
            for number, row in enumerate(people[:8])
        ]
        emulator.load(campaigns)
        yield Traffic([*rows, *campaigns], client)


def check(data: Any, rows: list[Row], zone: str, interval: str = "day") -> None:
    """Compare everything in a response with the reference model's for *rows*."""
    seen = reference_model.views(rows)
    assert {
        name: data[name] for name in ("pageviews", "visitors")
    } == reference_model.totals(seen)
    assert data["seconds_on_page"] == reference_model.seconds(seen)
    for field in reference_model.LISTS:
        assert data[field] == reference_model.entries(rows, field), field
    assert data["histogram"] == reference_model.histogram(
        rows, START, END, zone, interval
    )
    assert data["events"] == reference_model.events(rows)


@pytest.mark.parametrize(
    "zone",
    ["UTC", "Europe/Amsterdam", "America/New_York", "Asia/Kolkata", "Pacific/Apia"],
)
def test_every_field_of_the_real_traffic(traffic: Traffic, zone: str) -> None:
    """All fields are right in each time zone, without robots."""
    data = traffic.get_stats(fields=",".join(FIELDS), events="*", timezone=zone)
    check(data, reference_model.within(traffic.rows, START, END, zone), zone)


def test_null_entries_are_an_option(traffic: Traffic) -> None:
    """Page views without a referrer or a country have an entry if that is chosen."""
    emulator = Emulator(null_entries=True)
    emulator.load(
        [
            *traffic.rows,
            {"hostname": "semicomplete.com", "added_iso": "2015-05-20T00:00:00Z"},
        ]
    )
    params = {"version": "6", "start": START.isoformat(), "end": END.isoformat()}
    fields = {
        "fields": ",".join([*reference_model.LISTS, "seconds_on_page"]),
        "limit": "1000",
    }
    with bare_client(emulator) as client:
        data = client.get("/semicomplete.com.json", params=params | fields).json()
    rows = reference_model.within(traffic.rows, START, END, "UTC")
    rows.append({"added_iso": "2015-05-20T00:00:00Z"})
    for field in reference_model.LISTS:
        expected = reference_model.entries(rows, field, 1000, null=True)
        assert data[field] == expected, field
        has_null = None in [entry["value"] for entry in data[field]]
        assert has_null == (field in {"countries", "referrers"})


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_alone_is_what_it_is_among_all(traffic: Traffic, field: str) -> None:
    """A field does not depend on the other fields, except medians in entries."""
    alone = traffic.get_stats(fields=field)
    both = traffic.get_stats(fields=",".join(FIELDS))
    expected = both[field]
    if field in reference_model.LISTS:
        for entry in expected:
            del entry["seconds_on_page"]
    assert alone[field] == expected
    assert not set(FIELDS) - {field} & set(alone)


@pytest.mark.parametrize("interval", ["hour", "day", "week", "month", "year"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Amsterdam", "America/New_York"])
def test_every_interval(traffic: Traffic, interval: str, zone: str) -> None:
    """Each interval has every bucket of the period, also those without visits."""
    data = traffic.get_stats(fields="histogram", interval=interval, timezone=zone)
    rows = reference_model.within(traffic.rows, START, END, zone)
    assert data["histogram"] == reference_model.histogram(
        rows, START, END, zone, interval
    )
    counted = sum(entry["pageviews"] for entry in data["histogram"])
    assert counted == len(reference_model.views(rows)) > 1500


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("page", "/projects/xdotool/"),
        ("page", "/blog*"),
        ("pages", "/,/projects/xdotool/"),
        ("pages", "/blog*,/articles*,/"),
        ("country", "DE"),
        ("country", "de"),
        ("country", "U*"),
        ("referrer", "google"),
        ("referrer", "semi*"),
        ("utm_source", "feedburner"),
        ("utm_medium", "fe*"),
        ("utm_campaign", "Feed: semicomplete/main (semicomplete.com - Jordan Sissel)"),
        ("utm_content", "content1"),
        ("utm_term", "*"),
        ("browser_name", "Chrome*"),
        ("browser_name", "Firefox"),
        ("os_name", "Mac OS X"),
        ("device_type", "mobile"),
        ("device_type", "t*"),
    ],
)
def test_every_filter(traffic: Traffic, name: str, wanted: str) -> None:
    """Each filter counts the rows that match it, events included."""
    data = traffic.get_stats(fields=",".join(FIELDS), events="*", **{name: wanted})
    rows = [
        row
        for row in reference_model.within(traffic.rows, START, END, "UTC")
        if reference_model.passes(row, name, wanted)
    ]
    assert rows
    check(data, rows, "UTC")


def test_filters_must_all_match(traffic: Traffic) -> None:
    """Several filters count the rows that match all of them."""
    wanted = {"country": "US", "browser_name": "Firefox", "page": "/p*", "os_name": "*"}
    data = traffic.get_stats(fields=",".join(FIELDS), events="*", **wanted)
    rows = [
        row
        for row in reference_model.within(traffic.rows, START, END, "UTC")
        if all(reference_model.passes(row, *item) for item in wanted.items())
    ]
    assert rows
    check(data, rows, "UTC")


def test_a_contains_search(traffic: Traffic) -> None:
    """A contains search finds its text anywhere in the path."""
    wanted = "*xdotool/xdotool*"
    data = traffic.get_stats(fields="pageviews,visitors,histogram", page=wanted)
    rows = [
        row
        for row in reference_model.within(traffic.rows, START, END, "UTC")
        if reference_model.passes(row, "page", wanted)
    ]
    seen = reference_model.views(rows)
    assert data["pageviews"] == len(seen) > 100
    assert data["histogram"] == reference_model.histogram(rows, START, END, "UTC")


def test_a_page_in_the_address(traffic: Traffic) -> None:
    """A page in the address counts that page alone."""
    response = traffic.client.get(
        "/semicomplete.com/projects/xdotool/.json",
        params={"version": "6", "fields": "pageviews", "start": "2015-05-16"},
    )
    data = response.json()
    assert (data["path"], data["pageviews"]) == ("/projects/xdotool/", 203)


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_limit_cuts_the_lists_alone(traffic: Traffic, limit: int) -> None:
    """The limit applies to each list, and to neither histogram nor events."""
    data = traffic.get_stats(fields=",".join(FIELDS), events="*", limit=str(limit))
    rows = reference_model.within(traffic.rows, START, END, "UTC")
    for field in reference_model.LISTS:
        assert data[field] == reference_model.entries(rows, field, limit)
    assert data["histogram"] == reference_model.histogram(rows, START, END, "UTC")
    assert len(data["events"]) == 2


@pytest.mark.parametrize(
    ("filters", "column", "cells"),
    [
        ({"metadata.protocol": "HTTP/1.0"}, "metadata.protocol_text", {"HTTP/1.0"}),
        ({"metadata.bytes": "12292"}, "metadata.bytes_int", {"12292"}),
        ({"metadata.bytes": "012292.0"}, "metadata.bytes_int", {"12292"}),
        ({"metadata.cached": "true"}, "metadata.cached_bool", {"true"}),
        (
            {"metadata.hour": "2015-05-19T05:00:00.000Z"},
            "metadata.hour_date",
            {"2015-05-19T05:00:00Z"},
        ),
        ({"metadata.hour": "2015-05-19"}, "metadata.hour_date", set[str]()),
        ({"metadata.protocol": "HTTP*"}, "metadata.protocol_text", set[str]()),
        ({"metadata.protocol_text": "HTTP/1.0"}, "metadata.protocol_text", set[str]()),
    ],
)
def test_metadata_filters(
    traffic: Traffic, filters: dict[str, str], column: str, cells: set[str]
) -> None:
    """The type of a metadata value is detected, and matched exactly."""
    data = traffic.get_stats(fields=",".join(FIELDS), events="*", **filters)
    rows = [
        row
        for row in reference_model.within(traffic.rows, START, END, "UTC")
        if row[column] in cells
    ]
    assert bool(rows) == bool(cells)
    check(data, rows, "UTC")


# -- generated rows

HOSTILE_TEXTS = [
    "",
    "/",
    "*",
    "/a*",
    "%",
    "_",
    "/100%",
    "/a_b",
    "/axb",
    "/a,b",
    "/a",
    '/"quoted"',
    "/it's",
    "'; DROP TABLE rows; --",
    "/é",
    "/e\u0301",
    "/日本語",
    "/😀",
    "/a\u2028b",
    "/tab\there",
    "/line\nbreak",
    "/zero\x00byte",
    " / ",
    "NULL",
    "\\",
    "/A",
]
HOSTILE = (
    st.none()
    | st.sampled_from(HOSTILE_TEXTS)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
)

REFERRERS = st.sampled_from(
    [
        None,
        "https://www.google.co.uk/search?q=a",
        "https://google.com",
        "http://WWW.Example.org:8080/a?b#c",
        "android-app://com.example.app/x",
        "news.example.org/item?id=1",
        "https://mygoogle.com/",
        "https://",
    ]
)

# Around both changes of a year, a leap day, and the turns of three years.
MOMENTS = st.sampled_from(
    [
        datetime(2023, 12, 31, 22, 59, 59, 999000, tzinfo=UTC),
        datetime(2023, 12, 31, 23, 0, tzinfo=UTC),
        datetime(2024, 2, 28, 23, 30, tzinfo=UTC),
        datetime(2024, 2, 29, 12, 0, tzinfo=UTC),
        datetime(2024, 3, 31, 0, 59, 59, tzinfo=UTC),
        datetime(2024, 3, 31, 1, 0, tzinfo=UTC),
        datetime(2024, 10, 26, 22, 0, tzinfo=UTC),
        datetime(2024, 10, 27, 0, 30, tzinfo=UTC),
        datetime(2024, 10, 27, 1, 30, tzinfo=UTC),
        datetime(2024, 12, 29, 23, 0, tzinfo=UTC),
        datetime(2024, 12, 30, 5, 0, tzinfo=UTC),
        datetime(2024, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2025, 1, 1, tzinfo=UTC),
    ]
)

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "added_iso": MOMENTS.map(
                lambda moment: moment.isoformat().replace("+00:00", "Z")
            ),
            "hostname": st.just("example.com"),
        },
        optional={
            "datapoint": st.sampled_from(["pageview", None, "signup", "buy it", "É,"]),
            "path": HOSTILE,
            "is_unique": st.sampled_from(["true", "false", None]),
            "is_robot": st.sampled_from(["false", "true", None]),
            "document_referrer": REFERRERS,
            "utm_source": HOSTILE,
            "country_code": st.sampled_from(["NL", "DE", None]),
            "device_type": st.sampled_from(["mobile", "tablet", "desktop", "tv", None]),
            "browser_name": HOSTILE,
            "duration_seconds": st.sampled_from(
                ["0", "4", "4.999", "5", "6", "11", "7.25", None]
            ),
        },
    ),
    max_size=25,
)

PERIODS = st.sampled_from(
    [
        (date(2023, 12, 1), date(2025, 1, 15)),
        (date(2024, 2, 28), date(2024, 3, 1)),
        (date(2024, 3, 30), date(2024, 4, 1)),
        (date(2024, 10, 26), date(2024, 10, 28)),
        (date(2024, 12, 29), date(2025, 1, 1)),
    ]
)

ZONES = ["UTC", "Europe/Amsterdam", "America/New_York", "Pacific/Auckland"]


@settings(max_examples=settings().max_examples * 3 // 10)
@given(
    rows=ROWS,
    period=PERIODS,
    zone=st.sampled_from(ZONES),
    interval=st.sampled_from(["hour", "day", "week", "month", "year"]),
    wanted=st.none() | HOSTILE,
)
def test_hostile_rows(
    rows: list[Row],
    period: tuple[date, date],
    zone: str,
    interval: str,
    wanted: str | None,
) -> None:
    """Numbers are right for any values, days and hours in rows and filters."""
    start, end = period
    if interval == "hour":
        start = max(start, end - timedelta(days=3))
    emulator = Emulator()
    emulator.add_website("example.com")
    emulator.load(rows)
    params = {
        "version": "6",
        "info": "false",
        "fields": ",".join(FIELDS),
        "events": "*",
        "start": start.isoformat(),
        "end": end.isoformat(),
        "timezone": zone,
        "interval": interval,
    }
    kept = reference_model.within(rows, start, end, zone)
    if wanted and "*" not in wanted[:-1]:
        params["page"] = wanted
        kept = [row for row in kept if reference_model.passes(row, "page", wanted)]
    with bare_client(emulator) as client:
        response = client.get("/example.com.json", params=params)
    assert response.status_code == 200, response.text
    data = response.json()
    seen = reference_model.views(kept)
    assert {
        key: data[key] for key in ("pageviews", "visitors")
    } == reference_model.totals(seen)
    assert data["seconds_on_page"] == reference_model.seconds(seen)
    assert data["histogram"] == reference_model.histogram(
        kept, start, end, zone, interval
    )
    for field in reference_model.LISTS:
        assert data[field] == reference_model.entries(kept, field), field
    assert sorted(data["events"], key=str) == sorted(
        reference_model.events(kept), key=str
    )


def exactly(emulator: Emulator, params: dict[str, str]) -> Any:
    """The response for example.com, in version 6."""
    with bare_client(emulator) as client:
        response = client.get(
            "/example.com.json", params={"version": "6", "info": "false", **params}
        )
    assert response.status_code == 200, (params, response.text)
    return response.json()


@pytest.mark.parametrize("name", ["page", "pages", "utm_source", "browser_name"])
def test_hostile_filters(name: str) -> None:
    """Any text is matched as itself, and as a prefix."""
    column = reference_model.FILTERS[name]
    texts = [*HOSTILE_TEXTS, *(f"{text}/more" for text in HOSTILE_TEXTS), None]
    rows: list[Row] = [
        {"hostname": "example.com", "added_iso": "2024-02-29T12:00:00Z", column: text}
        for text in texts
    ]
    emulator = Emulator()
    emulator.load(rows)
    period = {"start": "2024-02-29", "end": "2024-02-29", "fields": "pageviews,pages"}
    found = 0
    for text in HOSTILE_TEXTS:
        several = {text, f"{text}*", f"{text},/a,/it's", f"/A,{text}*"}
        for wanted in several if name == "pages" else {text, f"{text}*"}:
            parts = wanted.split(",") if name == "pages" else [wanted]
            if not all(parts) or any("*" in part[:-1] for part in parts):
                continue
            kept = [row for row in rows if reference_model.passes(row, name, wanted)]
            data = exactly(emulator, {**period, name: wanted})
            assert data["pageviews"] == len(kept) >= 1, wanted
            assert data["pages"] == [
                {key: entry[key] for key in ("value", "pageviews", "visitors")}
                for entry in reference_model.entries(kept, "pages")
            ]
            found += 1
    assert found >= 45


@pytest.mark.parametrize(
    "text", ["100%_of_a_b\\c", 'it\'s "quoted"', "日本語,日本語;日本語 %"]
)
def test_hostile_searches(text: str) -> None:
    """No character has a special meaning in a contains search."""
    paths = [f"/{text}", f"/x{text}/y", text, f"/{text.upper()}", "/100xx"]
    paths += [f"/{text[:-1]}", f"/{text.replace('%', 'x').replace('_', 'x')}"]
    rows: list[Row] = [{"hostname": "example.com", "path": path} for path in paths]
    emulator = Emulator()
    emulator.load(rows)
    kept = [path for path in paths if text in path]
    data = exactly(emulator, {"fields": "pageviews", "page": f"*{text}*"})
    assert data["pageviews"] == len(kept) >= 3


# The changes of clocks in these zones, a leap day, and the turns of years that
# end in week 52, in week 53 of the same year, and in week 1 of the next.
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


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("interval", ["hour", "day", "week", "month", "year"])
def test_intervals_across_clock_changes(zone: str, interval: str) -> None:
    """Page views are in the right interval around changes of clocks and years."""
    half_hour = timedelta(minutes=30)
    rows: list[Row] = []
    for start, end in TURNS:
        moment = datetime(start.year, start.month, start.day, tzinfo=UTC)
        moment -= timedelta(days=1)
        while moment.date() <= end + timedelta(days=1):
            rows.append(
                {
                    "hostname": "example.com",
                    "added_iso": moment.isoformat().replace("+00:00", "Z"),
                }
            )
            moment += half_hour
    emulator = Emulator()
    emulator.load(rows)
    for start, end in TURNS:
        data = exactly(
            emulator,
            {
                "fields": "histogram,pageviews",
                "start": start.isoformat(),
                "end": end.isoformat(),
                "timezone": zone,
                "interval": interval,
            },
        )
        kept = reference_model.within(rows, start, end, zone)
        assert data["histogram"] == reference_model.histogram(
            kept, start, end, zone, interval
        )
        # Two views an hour: a day with a change has two more or two less.
        more = data["pageviews"] - 48 * ((end - start).days + 1)
        assert more in ({0} if zone == "UTC" else {-2, 0, 2})


def test_an_hour_that_comes_twice_and_one_that_is_left_out() -> None:
    """When clocks are set back an hour has two entries, when set forward none."""
    emulator = Emulator()
    emulator.load(
        [
            {"added_iso": f"2024-10-27T0{hour}:30:00Z", "hostname": "example.com"}
            for hour in (0, 1, 1)
        ]
    )
    params = {
        "version": "6",
        "fields": "histogram",
        "interval": "hour",
        "timezone": "Europe/Amsterdam",
    }
    with bare_client(emulator) as client:
        found = {
            day: client.get(
                "/example.com.json", params={**params, "start": day, "end": day}
            ).json()["histogram"]
            for day in ("2024-10-27", "2024-03-31")
        }
    assert [
        (entry["hour"], entry["pageviews"]) for entry in found["2024-10-27"][:5]
    ] == [(0, 0), (1, 0), (2, 1), (2, 2), (3, 0)]
    assert [entry["hour"] for entry in found["2024-03-31"][:4]] == [0, 1, 3, 4]
    assert [len(entries) for entries in found.values()] == [25, 23]


@pytest.mark.parametrize(
    ("zone", "moments", "expected"),
    [
        # The clocks go back by half an hour: an hour of which half comes twice.
        (
            "Australia/Lord_Howe",
            ["2024-04-06T14:45:00Z", "2024-04-06T15:15:00Z", "2024-04-06T15:45:00Z"],
            [("2024-04-07", 1, 1), ("2024-04-07", 1, 1), ("2024-04-07", 2, 1)],
        ),
        # Midnight comes twice: the day begins at the first of them.
        (
            "America/Havana",
            ["2024-11-03T04:30:00Z", "2024-11-03T05:30:00Z"],
            [("2024-11-03", 0, 1), ("2024-11-03", 0, 1)],
        ),
        # Midnight is left out: the day begins at one o'clock.
        (
            "Asia/Beirut",
            ["2024-03-30T21:59:59Z", "2024-03-30T22:00:00Z"],
            [("2024-03-30", 23, 1), ("2024-03-31", 1, 1)],
        ),
        # The clocks jumped over a whole day.
        (
            "Pacific/Apia",
            ["2011-12-30T09:30:00Z", "2011-12-30T10:30:00Z"],
            [("2011-12-29", 23, 1), ("2011-12-31", 0, 1)],
        ),
        ("Asia/Kathmandu", ["2024-01-01T00:15:00Z"], [("2024-01-01", 6, 1)]),
        # Local mean time: 4 hours, 56 minutes and 2 seconds behind.
        ("America/New_York", ["1883-11-18T04:56:01Z"], [("1883-11-17", 23, 1)]),
        # A change in the first second of a year.
        (
            "Africa/Niamey",
            ["1959-12-31T23:59:59Z", "1960-01-01T00:00:00Z"],
            [("1959-12-31", 23, 1), ("1960-01-01", 1, 1)],
        ),
        # Rules that go on for ever.
        ("Europe/Amsterdam", ["2999-07-01T10:15:00Z"], [("2999-07-01", 12, 1)]),
    ],
)
def test_odd_zones(
    zone: str, moments: list[str], expected: list[tuple[str, int, int]]
) -> None:
    """Hours are right in zones with offsets and changes of fractions of an hour."""
    emulator = Emulator()
    emulator.load({"added_iso": at, "hostname": "example.com"} for at in moments)
    with bare_client(emulator) as client:
        data = client.get(
            "/example.com.json",
            params={
                "version": "6",
                "fields": "histogram,pageviews",
                "interval": "hour",
                "timezone": zone,
                "start": expected[0][0],
                "end": expected[-1][0],
            },
        ).json()
    assert [
        (entry["date"], entry["hour"], entry["pageviews"])
        for entry in data["histogram"]
        if entry["pageviews"]
    ] == expected
    assert data["pageviews"] == len(moments)


@pytest.mark.parametrize(
    ("interval", "first", "entries"),
    [
        ("week", {"date": "2024-12-23", "year": 2024, "week": 52}, 2),
        ("month", {"date": "2024-12-01"}, 2),
        ("year", {"date": "2024-01-01"}, 2),
    ],
)
def test_an_interval_that_begins_before_the_period(
    interval: str, first: dict[str, object], entries: int
) -> None:
    """An entry has its interval's first day, and counts days of the period only."""
    emulator = Emulator()
    emulator.load(
        {"added_iso": f"{day}T12:00:00Z", "hostname": "example.com"}
        for day in ("2024-12-28", "2024-12-29", "2025-01-06")
    )
    with bare_client(emulator) as client:
        data = client.get(
            "/example.com.json",
            params={
                "version": "6",
                "fields": "histogram",
                "interval": interval,
                "start": "2024-12-29",
                "end": "2025-01-05",
            },
        ).json()
    assert data["histogram"][0] == {**first, "pageviews": 1, "visitors": 0}
    assert len(data["histogram"]) == entries


def test_the_first_day_begins_in_every_zone() -> None:
    """On the day before it, midnight in the east is before Python's first moment."""
    for name in zone_names():
        assert midnight(FIRST, ZoneInfo(name)).year == 1
    with pytest.raises(OverflowError):
        datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")).astimezone(UTC)
    assert date(1, 1, 1) + timedelta(days=1) == FIRST


def test_buckets_are_estimated_before_they_are_made() -> None:
    """Whether a histogram is too long is known from the days of its period alone."""
    zone = ZoneInfo("Europe/Berlin")
    february = Period(date(2026, 2, 1), date(2026, 2, 28), zone)
    year = Period(date(2026, 1, 1), date(2026, 12, 31), zone)
    assert [count(february, "hour"), count(february, "day")] == [28 * 24, 28]
    assert [count(february, "week"), count(february, "month")] == [4, 1]
    assert [count(year, "day"), count(year, "year")] == [365, 1]


def test_periods_at_the_ends_of_the_calendar() -> None:
    """Centuries without rows are allowed, and a histogram too long is refused."""
    emulator = Emulator()
    emulator.add_website("example.com")
    params = {"version": "6", "start": "0001-01-01", "end": "9999-12-31"}
    with bare_client(emulator) as client:
        for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
            response = client.get(
                "/example.com.json",
                params={**params, "fields": "histogram,pageviews", "interval": "year"}
                | {"timezone": zone},
            )
            assert response.status_code == 200
            data = response.json()
            assert len(data["histogram"]) == 9999
            if zone == "UTC":
                assert data["start"] == "0001-01-02T00:00:00.000Z"
                assert data["end"] == "9999-12-28T23:59:59.999Z"
        for interval in ("hour", "day"):
            response = client.get(
                "/example.com.json",
                params={**params, "fields": "histogram", "interval": interval},
            )
            assert response.status_code == 400
            assert "shorter period" in response.json()["error"]
