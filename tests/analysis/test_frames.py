"""Frames have one schema, whatever the rows are."""

from __future__ import annotations

import datetime as dt
import sys
from typing import TYPE_CHECKING, Any

import attrs
import duckdb
import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import polars as pl
import pytest

from sitestats import (
    Entries,
    EventCount,
    HistogramEntry,
    ListEntry,
    MissingExtraError,
    PageEntry,
    ResponseError,
    StatsQuery,
)
from sitestats._results.entries import TimedPageEntry
from sitestats._results.histogram import HourEntry, WeekEntry
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitestats import Client
    from sitestats._results.entries import Entry

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
PANDAS = {
    "value": "string",
    "name": "string",
    "pageviews": "int64",
    "visitors": "int64",
    "total": "int64",
    "seconds_on_page": "float64",
    "date": "datetime64[us]",
    "start": "datetime64[us, UTC]",
    "hour": "int64",
    "year": "int64",
    "week": "int64",
    "partial": "bool",
    "clipped": "bool",
}
POLARS = {
    "value": pl.String,
    "name": pl.String,
    "pageviews": pl.Int64,
    "visitors": pl.Int64,
    "total": pl.Int64,
    "seconds_on_page": pl.Float64,
    "date": pl.Date,
    "start": pl.Datetime("us", "UTC"),
    "hour": pl.Int64,
    "year": pl.Int64,
    "week": pl.Int64,
    "partial": pl.Boolean,
    "clipped": pl.Boolean,
}


def entries_of(kind: str, rows: int) -> Entries[Any]:
    """A list of one kind with so many rows."""
    entry_type, entry = KINDS[kind]
    return Entries([entry] * rows, name="pages", entry_type=entry_type)


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_of_pandas_does_not_depend_on_rows(kind: str, rows: int) -> None:
    """A pandas frame has the same columns and types with no, one and many rows."""
    frame = entries_of(kind, rows).to_pandas()
    assert len(frame) == rows
    types = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    assert types == {name: PANDAS[name] for name in frame.columns}
    assert list(frame.columns) == list(entries_of(kind, 1).to_pandas().columns)


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_of_polars_does_not_depend_on_rows(kind: str, rows: int) -> None:
    """A polars frame has the same columns and types with no, one and many rows."""
    frame = entries_of(kind, rows).to_polars()
    assert frame.height == rows
    assert dict(frame.schema) == {name: POLARS[name] for name in frame.columns}


@pytest.mark.parametrize("kind", KINDS)
def test_arrow_and_polars_agree(kind: str) -> None:
    """The Arrow table has the schema and the cells of the polars frame."""
    for rows in (0, 2):
        entries = entries_of(kind, rows)
        frame: Any = pl.from_arrow(entries.to_arrow())
        assert frame.schema == entries.to_polars().schema
        assert frame.equals(entries.to_polars())


@pytest.mark.parametrize("kind", ["days", "hours", "weeks"])
def test_a_histogram_begins_with_its_day(kind: str) -> None:
    """The columns of a histogram are date, pageviews, visitors first."""
    columns = list(entries_of(kind, 1).to_pandas().columns)
    assert columns[:3] == ["date", "pageviews", "visitors"]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    with Emulator.demo(null_entries=True).client() as client:
        yield client


@pytest.fixture
def query() -> StatsQuery:
    """The demo's traffic, four days."""
    return StatsQuery("semicomplete.com").last(days=4)


def test_totals_are_one_row(client: Client, query: StatsQuery) -> None:
    """A whole result is one row: the website, the period, the requested totals."""
    stats = client.stats.get(query.fields("pageviews", "pages"))
    frame = stats.to_pandas()
    assert list(frame.columns) == ["hostname", "start", "end", "pageviews", "partial"]
    assert frame["pageviews"].tolist() == [1586]
    assert frame["start"].dt.tz is not None
    assert frame["partial"].tolist() == [False]
    assert attrs.evolve(stats, partial=True).to_pandas()["partial"].tolist() == [True]


def test_hours_are_in_the_querys_zone(client: Client, query: StatsQuery) -> None:
    """Hours of a histogram are moments in the requested zone."""
    query = query.fields("histogram").interval("hour").timezone("Asia/Kolkata")
    histogram = client.stats.get(query).histogram
    starts = histogram.to_pandas()["start"]
    assert str(starts.dt.tz) == "Asia/Kolkata"
    assert starts.dt.hour.tolist() == [entry.hour for entry in histogram]
    assert histogram.to_polars()["start"].dtype == pl.Datetime("us", "Asia/Kolkata")


def test_no_hours_are_in_the_querys_zone_too(client: Client, query: StatsQuery) -> None:
    """An empty slice of hours keeps the zone in its schema."""
    query = query.fields("histogram").interval("hour").timezone("Asia/Kolkata")
    nothing = client.stats.get(query).histogram[:0]
    assert str(nothing.to_pandas()["start"].dt.tz) == "Asia/Kolkata"
    assert nothing.to_polars()["start"].dtype == pl.Datetime("us", "Asia/Kolkata")
    assert nothing.to_arrow().schema.field("start").type.tz == "Asia/Kolkata"


def test_a_zone_that_this_machine_does_not_know(
    client: Client, query: StatsQuery
) -> None:
    """Moments are in UTC when the response's zone is unknown here."""
    stats = client.stats.get(query.fields("pageviews"))
    frame = attrs.evolve(stats, timezone="Mars/Olympus_Mons").to_pandas()
    assert str(frame["start"].dt.tz) == "UTC"
    frame = attrs.evolve(stats, timezone="Asia/Kolkata").to_pandas()
    assert str(frame["start"].dt.tz) == "Asia/Kolkata"


def test_the_hour_that_is_repeated() -> None:
    """Both hours of one name, when clocks are set back, keep their own moment."""
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("Europe/Amsterdam")
    first = dt.datetime(2026, 10, 25, 2, tzinfo=zone)
    day = dt.date(2026, 10, 25)
    histogram = Entries(
        [
            HourEntry(day, 1, 1, first, 2),
            HourEntry(day, 1, 1, first.replace(fold=1), 2),
        ],
        name="histogram",
        entry_type=HourEntry,
    )
    starts = histogram.to_pandas()["start"]
    assert (starts.iloc[1] - starts.iloc[0]) == pd.Timedelta(hours=1)


@pytest.mark.parametrize("kind", KINDS)
def test_libraries_that_read_arrow_take_a_list_as_it_is(kind: str) -> None:
    """DuckDB and polars read all rows and types of a list, also without rows."""
    for rows in (0, 3):
        entries = entries_of(kind, rows)
        # They get what __arrow_c_stream__ gives, and know nothing of the list.
        frame = pl.DataFrame(entries)
        assert frame.equals(entries.to_polars())
        assert frame.schema == entries.to_polars().schema
        assert duckdb.sql("SELECT count(*) FROM entries").fetchall() == [(rows,)]


MOST = 2**63 - 1


@pytest.mark.parametrize("method", ["to_pandas", "to_polars", "to_arrow", "plot"])
def test_a_number_without_room_is_an_error_that_names_it(method: str) -> None:
    """A count beyond 64 bits is an error that names the row."""

    def of(*counts: int) -> Any:
        rows = [ListEntry(f"C{n}", n, 1) for n in counts]
        return Entries(rows, name="countries", entry_type=ListEntry)

    getattr(of(MOST, -MOST - 1), method)()
    plt.close("all")
    # The second one is more than a float can hold, and than Python writes out.
    for number in (MOST + 1, -MOST - 2, 10**400):
        with pytest.raises(ResponseError, match="pageviews of C") as caught:
            getattr(of(7, number), method)()
        (problem,) = caught.value.problems
        assert problem.where == f"pageviews of C{number}"
    median = TimedPageEntry("/", 1, 1, 10**400)
    timed = Entries([median], name="pages", entry_type=TimedPageEntry)
    with pytest.raises(ResponseError, match="seconds_on_page of /:"):
        getattr(timed, method)()


def test_a_number_without_room_is_shown_all_the_same(client: Client) -> None:
    """A count beyond 64 bits breaks no display and no comparison."""
    query = StatsQuery("semicomplete.com").fields("pageviews").last(days=2)
    stats = client.stats.get(query)
    absurd = attrs.evolve(stats, values={"pageviews": 10**400})
    assert "000,000" in absurd._repr_html_()
    change = absurd.compare_to(stats).totals["pageviews"]
    assert change.absolute == 10**400 - stats.pageviews
    assert change.percent is None
    assert "000,000" in absurd.compare_to(stats)._repr_html_()


@pytest.mark.parametrize(
    ("library", "extra", "method"),
    [
        ("pandas", "pandas", "to_pandas"),
        ("polars", "polars", "to_polars"),
        ("pyarrow", "arrow", "to_arrow"),
        ("matplotlib.pyplot", "plot", "plot"),
    ],
)
def test_a_missing_library_names_its_extra(
    library: str, extra: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library the error says which extra to install."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"sitestats\[{extra}\]") as caught:
        getattr(entries_of("list", 0), method)()
    assert (caught.value.library, caught.value.extra) == (library, extra)
