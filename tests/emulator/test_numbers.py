"""The emulator's numbers, compared with the reference model's."""

from __future__ import annotations

import csv
import gzip
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sitestats.emulator
from bare_client import exactly
from emulator import reference_model
from emulator.reference_model import UTM, Row
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow

FIELDS = ["pageviews", "visitors", "histogram", "seconds_on_page"]
FIELDS += reference_model.LISTS
START, END = date(2015, 5, 16), date(2015, 5, 21)
DATA = Path(sitestats.emulator.__file__).parent / "data" / "semicomplete.csv.gz"


class Traffic(NamedTuple):
    """The rows of the demo and of campaigns, and an emulator that has them."""

    rows: list[Row]
    emulator: Emulator

    def get_stats(self, **params: str) -> Any:
        """The response for all days of the real traffic, with all fields and events."""
        everything = {"fields": ",".join(FIELDS), "events": "*"}
        days = {"start": START.isoformat(), "end": END.isoformat()}
        params = everything | days | params
        return exactly(self.emulator, params, "semicomplete.com")

    def within(self, zone: str = "UTC") -> list[Row]:
        """The rows of people on those days."""
        return reference_model.within(self.rows, START, END, zone)


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    """The demo's rows with their original dates, in May 2015, and some campaigns."""
    emulator = Emulator()
    emulator.load(DATA)
    with gzip.open(DATA, "rt", encoding="utf-8", newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    # The demo has no contents and no terms.
    people = [row for row in rows if row["is_robot"] == "false"]
    campaigns = [
        {**row, "path": "/campaign", "device_type": "tv"}
        | {name: f"{name[4:]}{number % 3}" for name in UTM}
        for number, row in enumerate(people[:8])
    ]
    emulator.load(campaigns)
    return Traffic([*rows, *campaigns], emulator)


def check(
    data: Any,
    rows: list[Row],
    zone: str = "UTC",
    interval: str = "day",
    period: tuple[date, date] = (START, END),
    *,
    visitors_return: bool = False,
) -> None:
    """Compare everything in a response with the reference model's for *rows*."""
    visitors = reference_model.unique
    if visitors_return:
        visitors = partial(reference_model.returning, zone=zone)
    seen = reference_model.totals(reference_model.views(rows), visitors)
    assert {name: data[name] for name in seen} == seen
    times = reference_model.seconds(reference_model.views(rows))
    assert data["seconds_on_page"] == times
    for field in reference_model.LISTS:
        listed = reference_model.entries(rows, field, visitors=visitors)
        assert data[field] == listed, field
    histogram = reference_model.histogram(
        rows, *period, zone, interval, visitors=visitors
    )
    assert data["histogram"] == histogram
    totals = [event["total"] for event in data["events"]]
    assert totals == sorted(totals, reverse=True)
    found = sorted(data["events"], key=str)
    assert found == sorted(reference_model.events(rows), key=str)


@pytest.mark.parametrize(
    ("zone", "interval"),
    [
        *(("UTC", "day"), ("Europe/Amsterdam", "hour"), ("America/New_York", "week")),
        *(("Asia/Kolkata", "month"), ("Pacific/Apia", "year")),
    ],
)
def test_every_field_of_the_real_traffic(
    traffic: Traffic, zone: str, interval: str
) -> None:
    """All fields are right in each time zone, without robots."""
    data = traffic.get_stats(timezone=zone, interval=interval)
    check(data, traffic.within(zone), zone, interval)


def test_returning_visitors_are_an_option() -> None:
    """A period has the visitors of its busiest day, and each day has those it had."""
    emulator = Emulator.made_up(days=60, visitors_return=True)
    usual = Emulator.made_up(days=60)
    found: list[Any] = []
    for one in (usual, emulator):
        params = {"fields": "visitors,histogram", "start": "today-90d"}
        found.append(exactly(one, params, "shop.example"))
        # The days of ten thousand years are not counted one by one.
        ever = {"fields": "visitors", "start": "0002-01-01", "end": "9998-01-01"}
        found_ever = exactly(one, ever, "shop.example")
        assert found_ever["visitors"] == found[-1]["visitors"]
    assert found[0]["histogram"] == found[1]["histogram"]
    days = [day["visitors"] for day in found[0]["histogram"]]
    assert found[0]["visitors"] == sum(days) > found[1]["visitors"] == max(days)


def test_null_entries_are_an_option() -> None:
    """Page views without a referrer or a country have an entry if that is chosen."""
    emulator = Emulator(null_entries=True)
    emulator.load([{"hostname": "example.com"}])
    data = exactly(emulator, {"fields": ",".join(reference_model.LISTS)})
    null = {"value": None, "pageviews": 1, "visitors": 0}
    filled = {field: data[field] for field in reference_model.LISTS if data[field]}
    assert filled == {"countries": [null], "referrers": [null]}


def test_a_field_alone_is_what_it_is_among_all(traffic: Traffic) -> None:
    """A field does not depend on the other fields, except medians in entries."""
    both = traffic.get_stats()
    for field in FIELDS:
        alone = traffic.get_stats(fields=field)
        expected = both[field]
        if field in reference_model.LISTS:
            for entry in expected:
                del entry["seconds_on_page"]
        assert alone[field] == expected, field
        assert not set(FIELDS) - {field} & set(alone)


FILTERED = [
    *(("page", "/projects/xdotool/"), ("page", "/blog*"), ("country", "U*")),
    *(("pages", "/,/projects/xdotool/"), ("pages", "/blog*,/articles*,/")),
    *(("country", "DE"), ("country", "de"), ("referrer", "google")),
    *(("referrer", "semi*"), ("utm_source", "feedburner"), ("utm_medium", "fe*")),
    ("utm_campaign", "Feed: semicomplete/main (semicomplete.com - Jordan Sissel)"),
    *(("utm_content", "content1"), ("utm_term", "*"), ("browser_name", "Chrome*")),
    *(("os_name", "Mac OS X"), ("device_type", "mobile"), ("device_type", "t*")),
]
TOGETHER = {"country": "US", "browser_name": "Firefox", "page": "/p*", "os_name": "*"}


def test_every_filter(traffic: Traffic) -> None:
    """Each filter counts the rows that match it, events included. If there are several,
    all have to match.
    """
    for wanted in (*({name: text} for name, text in FILTERED), TOGETHER):
        rows = [
            row
            for row in traffic.within()
            if all(reference_model.passes(row, *item) for item in wanted.items())
        ]
        assert rows, wanted
        check(traffic.get_stats(**wanted), rows)


def test_limit_cuts_the_lists_alone(traffic: Traffic) -> None:
    """The limit applies to each list, and to neither histogram nor events."""
    rows = traffic.within()
    for limit in (1, 3, 1000):
        data = traffic.get_stats(limit=str(limit))
        for field in reference_model.LISTS:
            assert data[field] == reference_model.entries(rows, field, limit)
        assert data["histogram"] == reference_model.histogram(rows, START, END, "UTC")
        assert len(data["events"]) == 2


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
PATHS = HOSTILE.map(lambda text: text and f"/{text}")
REFERRERS = [
    *(None, "https://www.google.co.uk/search?q=a", "https://google.com"),
    *("http://WWW.Example.org:8080/a?b#c", "android-app://com.example.app/x"),
    *("news.example.org/item?id=1", "https://mygoogle.com/", "https://"),
]
# Around both changes of a year, a leap day, and the turns of three years.
MOMENTS = [
    *("2023-12-31T22:59:59.999Z", "2023-12-31T23:00:00Z", "2024-02-28T23:30:00Z"),
    *("2024-02-29T12:00:00Z", "2024-03-31T00:59:59Z", "2024-03-31T01:00:00Z"),
    *("2024-10-26T22:00:00Z", "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"),
    *("2024-12-29T23:00:00Z", "2024-12-30T05:00:00Z", "2025-01-01T00:00:00Z"),
    "2024-12-31T23:59:59.999999Z",
]
CELLS = {
    "datapoint": ["pageview", None, "signup", "buy it", "É,"],
    "is_unique": ["true", "false", None],
    "is_robot": ["false", "true", None],
    "document_referrer": REFERRERS,
    "country_code": ["NL", "DE", None],
    "device_type": ["mobile", "tablet", "desktop", "tv", None],
    "duration_seconds": ["0", "4", "4.999", "5", "6", "11", "7.25", None],
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {"added_iso": st.sampled_from(MOMENTS), "hostname": st.just("example.com")},
        optional={
            **{name: st.sampled_from(cells) for name, cells in CELLS.items()},
            **dict.fromkeys(("utm_source", "browser_name"), HOSTILE),
            "path": PATHS,
        },
    ),
    max_size=25,
)
PERIODS = [
    (date(2023, 12, 1), date(2025, 1, 15)),
    (date(2024, 2, 28), date(2024, 3, 1)),
    (date(2024, 3, 30), date(2024, 4, 1)),
    (date(2024, 10, 26), date(2024, 10, 28)),
    (date(2024, 12, 29), date(2025, 1, 1)),
]
ZONES = ["UTC", "Europe/Amsterdam", "America/New_York", "Pacific/Auckland"]


@settings(max_examples=settings().max_examples * 3 // 10)
@given(
    rows=ROWS,
    period=st.sampled_from(PERIODS),
    zone=st.sampled_from(ZONES),
    interval=st.sampled_from(["hour", "day", "week", "month", "year"]),
    wanted=PATHS,
    size=st.integers(1, 25),
    visitors_return=st.booleans(),
)
def test_hostile_rows(
    *,
    rows: list[Row],
    period: tuple[date, date],
    zone: str,
    interval: str,
    wanted: str | None,
    size: int,
    visitors_return: bool,
) -> None:
    """Numbers are right for any values, days and hours in rows and filters, whether one
    load brings the rows or many, and whether visitors return or not.
    """
    start, end = period
    if interval == "hour":
        start = max(start, end - timedelta(days=3))
    emulator = Emulator(visitors_return=visitors_return)
    emulator.add_website("example.com")
    for first in range(0, len(rows), size):
        emulator.load(rows[first : first + size])
    params = {"fields": ",".join(FIELDS), "events": "*", "timezone": zone}
    params |= {"start": start.isoformat(), "end": end.isoformat(), "interval": interval}
    kept = reference_model.within(rows, start, end, zone)
    if wanted and "*" not in wanted[:-1]:
        params["page"] = wanted
        kept = [row for row in kept if reference_model.passes(row, "page", wanted)]
    data = exactly(emulator, params)
    period = (start, end)
    check(data, kept, zone, interval, period, visitors_return=visitors_return)


@pytest.mark.parametrize("name", ["page", "pages", "utm_source"])
def test_hostile_filters(name: str) -> None:
    """Any text is matched as itself, and as a prefix."""
    slash = "" if name == "utm_source" else "/"
    hostile = [f"{slash}{text}" for text in HOSTILE_TEXTS]
    texts = [*hostile, *(f"{text}/more" for text in hostile), None]
    rows: list[Row] = [
        {"hostname": "example.com", reference_model.FILTERS[name]: text}
        for text in texts
    ]
    emulator = Emulator()
    emulator.load(rows)
    for text in hostile:
        several = {text, f"{text}*", f"{text},/a,/it's", f"/A,{text}*"}
        for wanted in several if name == "pages" else {text, f"{text}*"}:
            parts = wanted.split(",") if name == "pages" else [wanted]
            if not all(parts) or any("*" in part[:-1] for part in parts):
                continue
            kept = [row for row in rows if reference_model.passes(row, name, wanted)]
            data = exactly(emulator, {"fields": "pageviews,pages", name: wanted})
            assert data["pageviews"] == len(kept) >= 1, wanted
            found = {entry["value"]: entry["pageviews"] for entry in data["pages"]}
            expected = reference_model.entries(kept, "pages")
            assert found == {one["value"]: one["pageviews"] for one in expected}


def test_hostile_searches() -> None:
    """No character has a special meaning in a contains search."""
    for text in ("100%_of_a_b\\c", 'it\'s "quoted"', "日本語,日本語;日本語 %"):
        paths = [f"/{text}", f"/x{text}/y", f"/y{text}", f"/{text.upper()}", "/100xx"]
        paths += [f"/{text[:-1]}", f"/{text.replace('%', 'x').replace('_', 'x')}"]
        emulator = Emulator()
        emulator.load({"hostname": "example.com", "path": path} for path in paths)
        data = exactly(emulator, {"fields": "pageviews", "page": f"*{text}*"})
        assert data["pageviews"] == len([path for path in paths if text in path]) >= 3
