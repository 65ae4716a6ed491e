"""The emulator's numbers, compared with the reference model's."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_model
import sitestats.emulator
from bare_client import bare_client, exactly
from reference_model import Row
from sitestats.emulator import Emulator

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


def check(
    data: Any,
    rows: list[Row],
    zone: str,
    interval: str = "day",
    period: tuple[date, date] = (START, END),
) -> None:
    """Compare everything in a response with the reference model's for *rows*."""
    seen = reference_model.views(rows)
    assert {
        name: data[name] for name in ("pageviews", "visitors")
    } == reference_model.totals(seen)
    assert data["seconds_on_page"] == reference_model.seconds(seen)
    for field in reference_model.LISTS:
        assert data[field] == reference_model.entries(rows, field), field
    assert data["histogram"] == reference_model.histogram(rows, *period, zone, interval)
    totals = [event["total"] for event in data["events"]]
    assert totals == sorted(totals, reverse=True)
    found = sorted(data["events"], key=str)
    assert found == sorted(reference_model.events(rows), key=str)


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


def test_a_field_alone_is_what_it_is_among_all(traffic: Traffic) -> None:
    """A field does not depend on the other fields, except medians in entries."""
    both = traffic.get_stats(fields=",".join(FIELDS))
    for field in FIELDS:
        alone = traffic.get_stats(fields=field)
        expected = both[field]
        if field in reference_model.LISTS:
            for entry in expected:
                del entry["seconds_on_page"]
        assert alone[field] == expected, field
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


FILTERED = [
    *(("page", "/projects/xdotool/"), ("page", "/blog*"), ("country", "U*")),
    *(("pages", "/,/projects/xdotool/"), ("pages", "/blog*,/articles*,/")),
    *(("country", "DE"), ("country", "de"), ("referrer", "google")),
    *(("referrer", "semi*"), ("utm_source", "feedburner"), ("utm_medium", "fe*")),
    ("utm_campaign", "Feed: semicomplete/main (semicomplete.com - Jordan Sissel)"),
    *(("utm_content", "content1"), ("utm_term", "*"), ("browser_name", "Chrome*")),
    *(("os_name", "Mac OS X"), ("device_type", "mobile"), ("device_type", "t*")),
]


def test_every_filter(traffic: Traffic) -> None:
    """Each filter counts the rows that match it, events included."""
    for name, wanted in FILTERED:
        data = traffic.get_stats(fields=",".join(FIELDS), events="*", **{name: wanted})
        rows = [
            row
            for row in reference_model.within(traffic.rows, START, END, "UTC")
            if reference_model.passes(row, name, wanted)
        ]
        assert rows, wanted
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


def test_limit_cuts_the_lists_alone(traffic: Traffic) -> None:
    """The limit applies to each list, and to neither histogram nor events."""
    rows = reference_model.within(traffic.rows, START, END, "UTC")
    for limit in (1, 3, 1000):
        fields = ",".join(FIELDS)
        data = traffic.get_stats(fields=fields, events="*", limit=str(limit))
        for field in reference_model.LISTS:
            assert data[field] == reference_model.entries(rows, field, limit)
        assert data["histogram"] == reference_model.histogram(rows, START, END, "UTC")
        assert len(data["events"]) == 2


STORED = [
    ({"metadata.protocol": "HTTP/1.0"}, "metadata.protocol_text", {"HTTP/1.0"}),
    ({"metadata.bytes": "12292"}, "metadata.bytes_int", {"12292"}),
    ({"metadata.bytes": "012292.0"}, "metadata.bytes_int", {"12292"}),
    ({"metadata.cached": "true"}, "metadata.cached_bool", {"true"}),
    (
        {"metadata.hour": "2015-05-19T05:00:00.000Z"},
        "metadata.hour_date",
        {"2015-05-19T05:00:00Z"},
    ),
    ({"metadata.protocol": "HTTP*"}, "metadata.protocol_text", set[str]()),
]


def test_metadata_filters(traffic: Traffic) -> None:
    """The type of a metadata value is detected, and matched exactly."""
    everyone = reference_model.within(traffic.rows, START, END, "UTC")
    for filters, column, cells in STORED:
        data = traffic.get_stats(fields=",".join(FIELDS), events="*", **filters)
        rows = [row for row in everyone if row[column] in cells]
        assert bool(rows) == bool(cells)
        check(data, rows, "UTC")


# -- generated rows

HOSTILE_TEXTS = [
    *("", "/", "*", "/a*", "%", "_", "/100%", "/a_b", "/axb", "/a,b", "/a", "/A"),
    *('/"quoted"', "/it's", "'; DROP TABLE rows; --", "/é", "/e\u0301", "/日本語"),
    *("/😀", "/a\u2028b", "/tab\there", "/line\nbreak", "/zero\x00byte", " / "),
    *("NULL", "\\"),
]
HOSTILE = (
    st.none()
    | st.sampled_from(HOSTILE_TEXTS)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
)

REFERRERS = st.sampled_from(
    [
        *(None, "https://www.google.co.uk/search?q=a", "https://google.com"),
        *("http://WWW.Example.org:8080/a?b#c", "android-app://com.example.app/x"),
        *("news.example.org/item?id=1", "https://mygoogle.com/", "https://"),
    ]
)
# Around both changes of a year, a leap day, and the turns of three years.
MOMENTS = st.sampled_from(
    [
        *("2023-12-31T22:59:59.999Z", "2023-12-31T23:00:00Z", "2024-02-28T23:30:00Z"),
        *("2024-02-29T12:00:00Z", "2024-03-31T00:59:59Z", "2024-03-31T01:00:00Z"),
        *("2024-10-26T22:00:00Z", "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"),
        *("2024-12-29T23:00:00Z", "2024-12-30T05:00:00Z", "2025-01-01T00:00:00Z"),
        "2024-12-31T23:59:59.999999Z",
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "added_iso": MOMENTS,
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
    check(response.json(), kept, zone, interval, (start, end))


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
