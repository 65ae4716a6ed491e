"""Frames have one schema, whatever the rows are."""

from __future__ import annotations

import datetime as dt
import io
import sys
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import attrs
import duckdb
import matplotlib as mpl
import openpyxl
import polars as pl
import pytest

from plotted import axes_of
from sitestats import (
    Entries,
    EventCount,
    HistogramEntry,
    ListEntry,
    MissingExtraError,
    PageEntry,
    StatsQuery,
    UsageError,
)
from sitestats.emulator import Emulator
from sitestats.types import HourEntry, TimedPageEntry, WeekEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from display.inside import Entry
    from sitestats import Client

mpl.use("agg")

DAY = dt.date(2026, 3, 29)
HOUR = dt.datetime(2026, 3, 29, 3, tzinfo=dt.UTC)
KINDS: dict[str, tuple[type[Entry], Any]] = {
    "list": (ListEntry, ListEntry("NL", 3, 2)),
    "unknown": (ListEntry, ListEntry(None, 3, 2)),
    "pages": (PageEntry, PageEntry("/", 3, 2)),
    "timed": (TimedPageEntry, TimedPageEntry("/", 3, 2, 1.5)),
    "untimed": (TimedPageEntry, TimedPageEntry("/", 3, 2, None)),
    "events": (EventCount, EventCount("signup", 7)),
    "days": (HistogramEntry, HistogramEntry(DAY, 3, 2)),
    "hours": (HourEntry, HourEntry(DAY, 3, 2, HOUR, 3)),
    "weeks": (WeekEntry, WeekEntry(DAY, 3, 2, None, None, 2026, 13)),
}
TYPES: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("value", "name"), ("string", pl.String)),
    **dict.fromkeys(("pageviews", "visitors", "total"), ("int64", pl.Int64)),
    **dict.fromkeys(("hour", "year", "week"), ("int64", pl.Int64)),
    **dict.fromkeys(("partial", "clipped"), ("boolean", pl.Boolean)),
    **dict.fromkeys(("seconds_on_page", "share"), ("float64", pl.Float64)),
    "date": ("datetime64[us]", pl.Date),
    "start": ("datetime64[us, UTC]", pl.Datetime("us", "UTC")),
}


def entries_of(kind: str, rows: int) -> Entries[Any]:
    """A list of one kind with so many rows."""
    entry_type, entry = KINDS[kind]
    return Entries([entry] * rows, name="pages", entry_type=entry_type)


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_does_not_depend_on_rows(kind: str, rows: int) -> None:
    """All libraries have the same columns and types with no, one and many rows, and
    DuckDB and polars read a list as it is.
    """
    entries = entries_of(kind, rows)
    pandas, polars = entries.to_pandas(), entries.to_polars()
    assert len(pandas) == polars.height == rows
    types = {name: str(dtype) for name, dtype in pandas.dtypes.items()}
    assert types == {name: TYPES[name][0] for name in entries.columns()}
    assert dict(polars.schema) == {name: TYPES[name][1] for name in entries.columns()}
    assert polars.equals(pl.DataFrame(pl.from_arrow(entries.to_arrow())))
    if "date" in entries.columns():
        assert [*pandas][:3] == ["date", "pageviews", "visitors"]
    # A list without entries has no columns then.
    frame = pl.DataFrame(entries)
    assert frame.equals(polars.select(frame.columns))
    assert {*frame.columns} == {*entries.columns()} - {"share"} or not rows
    # It gets what __arrow_c_stream__ gives, and knows nothing of the list.
    assert duckdb.sql("SELECT count(*) FROM entries").fetchall() == [(rows,)]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    with Emulator.demo(null_entries=True).client() as client:
        yield client


QUERY = StatsQuery("semicomplete.com").last(days=4)


def test_totals_are_one_row(client: Client) -> None:
    """A whole result is one row: what it is of, the days, the requested totals."""
    stats = client.stats.get(QUERY.fields("pageviews", "pages").where(country="US"))
    frame = stats.to_polars()
    assert frame.columns == [
        *("hostname", "filters", "timezone", "first_day", "last_day"),
        *("pageviews", "partial"),
    ]
    row = frame.row(0, named=True)
    assert (row["hostname"], row["filters"]) == ("semicomplete.com", "country=US")
    assert (row["first_day"], row["last_day"]) == (stats.first_day, stats.last_day)
    assert (row["pageviews"], row["partial"]) == (stats.pageviews, False)
    assert attrs.evolve(stats, partial=True).to_pandas()["partial"].tolist() == [True]


def test_a_share_is_of_all_page_views(client: Client) -> None:
    """Each entry has its share of the page views, None if those were not requested; a
    list that the limit cut never says 100 %, however small the rest is.
    """
    query = QUERY.fields("pageviews", "pages").limit(1)
    stats = client.stats.get(query)
    (page,) = stats.pages
    (row,) = client.stats.get_many([query]).collect().to_dicts("pages")
    assert row["share"] == page.pageviews / stats.pageviews < 0.2
    assert "12.8 %" in repr(stats.pages)
    assert (
        client.stats.get(QUERY.fields("pages"))
        .to_polars("pages")["share"]
        .is_null()
        .all()
    )
    nearly = attrs.evolve(stats.pages, total_pageviews=page.pageviews + 1e-3)
    file = io.BytesIO()
    nearly.to_excel(file)
    cell = openpyxl.load_workbook(file)["pages"]["D2"]
    assert (cell.value < 1, cell.number_format.count("99.9%")) == (True, 1)
    for shown in (repr(nearly), nearly._repr_html_()):
        assert "99.9 %" in shown
        assert "100.0 %" not in shown


def test_the_types_are_the_same_when_a_website_fails(client: Client) -> None:
    """Frames of many queries, of comparisons and of websites have numbers that pandas
    pivots and matplotlib draws, gaps included.
    """
    query = QUERY.fields("visitors", "pages")
    queries = [query, query.website("nobody.example")]
    found = client.stats.get_many(queries).collect()
    assert [*found.to_pandas().dtypes] == [*found[:1].to_pandas().dtypes]
    before = client.stats.get_many([query.between("today-9d", "today-6d")]).collect()
    for frame in (found, found.compare_to(before)):
        pivoted = frame.to_pandas().pivot(
            index="first_day", columns="hostname", values="visitors"
        )
        assert pivoted.to_numpy().dtype == "float64"
        axes_of().imshow(pivoted)
    types = client.websites.list().to_pandas().dtypes
    assert (types["pageviews"], types["is_public"]) == ("float64", "boolean")


MAKERS: list[Callable[[Client, StatsQuery], Any]] = [
    lambda client, query: client.stats.get(query),
    lambda client, query: client.stats.get_many([query]).collect(),
    lambda client, query: client.stats.compare(query),
    lambda client, query: client.stats.compare([query]),
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_has_numbers(
    client: Client, make: Callable[[Client, StatsQuery], Any]
) -> None:
    """Without a name, a frame has the totals; without totals, the only list; of several
    lists, the error says how to name one.
    """
    for query, name in (
        (QUERY.fields("histogram"), "histogram"),
        (QUERY.fields("pages"), "pages"),
        (QUERY.events("download"), "events"),
    ):
        result = make(client, query)
        assert result.columns() == result.columns(name)
        assert result.to_dicts() == result.to_dicts(name) != []
        assert result.to_pandas().equals(result.to_pandas(name))
        assert result.to_arrow().equals(result.to_arrow(name))
    several = make(client, QUERY.fields("histogram", "pages"))
    for frame in (several.to_pandas, several.to_polars, several.columns):
        with pytest.raises(UsageError, match=r"to_pandas\('histogram'\): histogram, p"):
            frame()
    totals = make(client, QUERY.fields("visitors", "pages", "histogram"))
    assert "visitors" in totals.columns()
    assert "pages" in repr(totals)
    assert "histogram" in repr(totals)


def test_hours_are_in_the_querys_zone(client: Client) -> None:
    """Hours of a histogram are moments in the requested zone, also where none are; of
    a zone that this machine does not know they are in UTC.
    """
    query = QUERY.fields("histogram").interval("hour").timezone("Asia/Kolkata")
    histogram = client.stats.get(query).histogram
    starts = histogram.to_pandas()["start"]
    assert starts.dt.hour.tolist() == [entry.hour for entry in histogram]
    mars = attrs.evolve(histogram, timezone="Mars/Olympus")
    for hours, zone in (
        (histogram, "Asia/Kolkata"),
        (histogram[:0], "Asia/Kolkata"),
        (mars, "UTC"),
    ):
        assert str(hours.to_pandas()["start"].dt.tz) == zone
        assert hours.to_polars()["start"].dtype == pl.Datetime("us", zone)
        assert hours.to_arrow().schema.field("start").type.tz == zone


def test_the_hour_that_is_repeated() -> None:
    """Both hours of one name, when clocks are set back, keep their own moment."""
    first = dt.datetime(2026, 10, 25, 2, tzinfo=ZoneInfo("Europe/Amsterdam"))
    starts = [first, first.replace(fold=1)]
    hours = [HourEntry(first.date(), 1, 1, start, 2) for start in starts]
    histogram = Entries(hours, name="histogram", entry_type=HourEntry)
    for found in (
        histogram.to_pandas()["start"].to_list(),
        histogram.to_polars()["start"].to_list(),
        histogram.to_arrow()["start"].to_pylist(),
    ):
        assert [one.astimezone(dt.UTC).hour for one in found] == [0, 1]


@pytest.mark.parametrize(
    ("library", "extra", "method"),
    [
        ("pandas", "pandas", "to_pandas"),
        ("polars", "polars", "to_polars"),
        ("pyarrow", "arrow", "to_arrow"),
        ("matplotlib.pyplot", "plot", "plot"),
        ("xlsxwriter", "excel", "to_excel"),
    ],
)
def test_a_missing_library_names_its_extra(
    library: str, extra: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library the error says which extra to install; in a browser, where
    micropip adds no extra to a package that is installed, it names the library.
    """
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"sitestats\[{extra}\]") as caught:
        getattr(entries_of("list", 0), method)(*["x.xlsx"] * (method == "to_excel"))
    assert (caught.value.library, caught.value.extra) == (library, extra)
    monkeypatch.setattr(sys, "platform", "emscripten")
    command = f"await micropip.install({library.partition('.')[0]!r})"
    assert str(caught.value).endswith(command)
