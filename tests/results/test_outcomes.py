"""Outcomes of many queries: one sequence, tidy frames, retries, nothing left out."""

from __future__ import annotations

import copy
import datetime as dt
import io
import json
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import anyio
import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from displayed import terminal
from sitestats import (
    AsyncOutcomes,
    Client,
    FieldNotRequestedError,
    NotFoundError,
    Outcomes,
    ServerError,
    SiteStatsWarning,
    Stats,
    StatsQuery,
    Succeeded,
    UsageError,
)
from sitestats.emulator import Emulator

# The periods of a comparison are none of these tests' matter.
pytestmark = pytest.mark.filterwarnings("ignore:the two periods")

HOST, BLOG, PROJECTS = (
    "semicomplete.com",
    "blog.semicomplete.com",
    "projects.semicomplete.com",
)
QUERY = StatsQuery(HOST).fields("pageviews", "visitors", "pages").last(days=4).limit(3)
NOBODY = QUERY.website("nobody.example")
DAYS = ("timezone", "first_day", "last_day")


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    """The demo's traffic at a fixed time."""
    now = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
    return Emulator.demo(now=now, null_entries=True)


@pytest.fixture(scope="module")
def client(emulator: Emulator) -> Iterator[Client]:
    """A client of that emulator, which does not retry."""
    with emulator.client(retries=0) as client:
        yield client


def collect(client: Client, *queries: StatsQuery) -> Outcomes:
    """The outcomes of *queries*."""
    return client.stats.get_many(queries).collect()


# --- a sequence -------------------------------------------------------------------


def test_outcomes_are_in_the_order_of_the_queries(client: Client) -> None:
    """Position, index and query agree, whichever response came first; a slice makes
    frames, shows a table, and can be retried.
    """
    queries = [QUERY.limit(n) for n in range(1, 30)] + [NOBODY]
    outcomes = client.stats.get_many(queries, concurrency=7).collect()
    assert [outcome.index for outcome in outcomes] == [*range(30)]
    assert [outcome.query for outcome in outcomes] == queries
    assert outcomes.succeeded == tuple(outcomes)[:29]
    assert [type(one.error) for one in outcomes.failed] == [NotFoundError]
    assert outcomes[3] in outcomes
    part = outcomes[28:]
    assert isinstance(part, Outcomes)
    assert part.to_pandas()["query"].tolist() == [28, 29]
    assert repr(part).startswith("2 queries, 2026-")
    assert [one.index for one in part.retry()] == [28, 29]


def test_a_result_is_found_by_its_host_name(client: Client) -> None:
    """An analyst knows the name of a website and not its place in a list; the first
    one of several months would pass for all of them.
    """
    websites = client.websites.list()
    outcomes = collect(client, *QUERY.each(websites=websites))
    name = "Blog.semicomplete.com"
    for found in (websites, outcomes):
        assert name in found
        assert found[1] in found
        assert found.get(name) is found[name] is found[1]
        assert (found.get("a.example"), None in found, 1 in found) == (
            None,
            False,
            False,
        )
    assert copy.copy(outcomes)[name].query == outcomes[1].query
    days = collect(client, *QUERY.each("day"))
    for found, wrong, words in (
        (days, HOST, r"4 are 'semicomplete\.com': take one by its place"),
        (days, "semicomplet.com", r"did you mean 'semicomplete\.com'"),
        (websites, "no host", "none of 3 is 'no host'"),
    ):
        with pytest.raises(KeyError, match=words):
            found[wrong]


def test_a_pickle_has_no_client(emulator: Emulator, client: Client) -> None:
    """Outcomes are pickled without the key, and say so when they are retried."""
    outcomes = collect(client, QUERY, NOBODY)
    data = pickle.dumps(outcomes)
    assert emulator.api_key.encode() not in data
    again = pickle.loads(data)
    assert again.to_pandas().equals(outcomes.to_pandas())
    with pytest.raises(UsageError, match="pickled"):
        again.retry()


def test_outcomes_show_themselves(client: Client) -> None:
    """Each way to show outcomes has websites, days, totals, and what failed; each
    outcome shows its result or its error.
    """
    outcomes = collect(client, QUERY, NOBODY.between("2026-01-01", "2026-01-31"))
    html, text = outcomes._repr_html_(), terminal(outcomes, width=120)
    for words in (
        *("2 queries", HOST, "2026-03-01", "2026-03-04", "1,586", "page views"),
        *("nobody.example", "2026-01-31", "NotFoundError: the service", "1 failed"),
    ):
        assert all(words in shown for shown in (repr(outcomes), html, text))
    # The days of a query that failed may not be known: all others have one period.
    title = "2 queries, 2026-03-01 to 2026-03-04"
    assert title in repr(collect(client, QUERY, NOBODY))
    succeeded, failed = outcomes
    assert succeeded._repr_html_() == succeeded.result()._repr_html_()
    assert terminal(succeeded) == terminal(succeeded.result())
    assert "NotFoundError: " in failed._repr_html_()
    assert "nobody.example" in terminal(failed)


# --- collected --------------------------------------------------------------------


def test_a_total_of_another_type_is_null_in_its_own_row(client: Client) -> None:
    """What the service gets wrong about one website hides no other one."""
    outcomes = collect(client, QUERY, QUERY.website(BLOG))
    body = json.dumps(outcomes[0].result().raw() | {"visitors": None}).encode()
    with pytest.warns(SiteStatsWarning, match="'visitors' is left out"):
        wrong = Succeeded(QUERY, 0, Stats.from_body(QUERY, body))
    found = Outcomes([wrong, outcomes[1]])
    changes = ["visitors_change", "visitors_percent"]
    for result, unknown in (
        (found, ["visitors"]),
        (found.compare_to(outcomes), ["visitors", *changes]),
        (outcomes.compare_to(found), ["visitors_before", *changes]),
    ):
        row = result.to_polars().drop("error").row(0, named=True)
        assert [name for name, value in row.items() if value is None] == unknown
        assert f"{HOST} " in repr(result)


def test_the_entries_that_can_be_read_are_in_every_frame(client: Client) -> None:
    """One that can't be read is left out alone, and of a comparison it is unknown, not
    gone; a total that can't be read is unknown as well.
    """
    query = QUERY.fields("pageviews", "visitors", "countries").limit(5)
    (outcome,) = collect(client, query)
    raw = outcome.result().raw()
    first, *rest = raw["countries"]
    raw |= {"visitors": "?", "countries": [first | {"pageviews": "1"}, *rest]}
    with pytest.warns(SiteStatsWarning):
        stats = Stats.from_body(query, json.dumps(raw).encode())
    found = Outcomes([Succeeded(query, 0, stats)])
    rows = stats.to_dicts("countries")
    assert [row["value"] for row in rows] == [one["value"] for one in rest]
    several = ("hostname", "timezone", "first_day", "last_day", "truncated", "query")
    for frame in (
        found.to_pandas("countries").to_dict("records"),
        found.to_polars("countries").to_dicts(),
        found.to_arrow("countries").to_pylist(),
    ):
        assert [
            {k: v for k, v in row.items() if k not in several} for row in frame
        ] == rows
    file = io.BytesIO()
    found.to_excel(file)
    assert openpyxl.load_workbook(file)["countries"].max_row == 1 + len(rest)
    comparison = stats.compare_to(outcome.result())
    assert comparison.totals["visitors"].absolute is None
    assert comparison["countries"][first["value"]].direction == "unknown"
    assert first["value"] not in {
        row["value"] for row in comparison.largest(99).to_dicts()
    }
    known = query.website(BLOG)
    both = Outcomes([*found, *collect(client, known)])
    ranked = both.compare_to(Outcomes([outcome, *collect(client, known)]))
    assert [name for name, _ in ranked.largest("visitors")] == [BLOG, HOST]


def test_a_list_of_another_type_has_no_rows(client: Client) -> None:
    """The others have theirs, and a warning names the website that has none."""
    query = QUERY.fields("visitors", "pages")
    outcomes = collect(client, query, query.website(BLOG))
    body = json.dumps(outcomes[0].result().raw() | {"pages": "none"}).encode()
    with pytest.warns(SiteStatsWarning, match="'pages' is left out"):
        wrong = Succeeded(query, 0, Stats.from_body(query, body))
    found = Outcomes([wrong, outcomes[1]])
    for result in (found, found.compare_to(outcomes), outcomes.compare_to(found)):
        with pytest.warns(SiteStatsWarning, match=rf"here: {HOST} \(pages can't be"):
            rows = result.to_dicts("pages")
        assert {row["hostname"] for row in rows} == {BLOG}


@given(
    failing=st.lists(st.booleans(), max_size=8),
    concurrency=st.integers(1, 5),
    again=st.lists(st.booleans(), max_size=8),
)
def test_collect_holds_each_query_once(
    emulator: Emulator, failing: list[bool], concurrency: int, again: list[bool]
) -> None:
    """Whatever fails, each query has one outcome, at its place, and after a retry,
    which requests what failed alone.
    """
    # A limit of its own tells the queries apart.
    queries = [QUERY.limit(1 + n) for n in range(len(failing))]
    bad = {str(1 + n) for n, fails in enumerate(failing) if fails}
    worse = {str(1 + n) for n, fails in enumerate(again) if fails} & bad

    def fail(of: set[str]) -> None:
        emulator.clear_faults()
        if of:
            emulator.fail_next(
                len(of), status=503, when=lambda one: dict(one.pairs)["limit"] in of
            )

    def hold_each_once(outcomes: Outcomes | AsyncOutcomes, failed: set[str]) -> None:
        assert [outcome.query for outcome in outcomes] == queries
        assert [outcome.index for outcome in outcomes] == [*range(len(queries))]
        assert {one.query.params()["limit"] for one in outcomes.failed} == failed
        assert all(isinstance(one.error, ServerError) for one in outcomes.failed)
        assert len(outcomes.to_pandas()) == len(queries)

    async def main() -> None:
        async with emulator.async_client(retries=0) as client:
            fail(bad)
            stream = client.stats.get_many(queries, concurrency=concurrency)
            outcomes = await stream.collect()
            hold_each_once(outcomes, bad)
            fail(worse)
            hold_each_once(await outcomes.retry(), worse)

    anyio.run(main)
    with emulator.client(retries=0) as client:
        fail(bad)
        outcomes = client.stats.get_many(queries, concurrency=concurrency).collect()
        hold_each_once(outcomes, bad)
        fail(worse)
        before = len(emulator.requests)
        better = outcomes.retry()
        assert len(emulator.requests) == before + len(bad)
        hold_each_once(better, worse)
        hold_each_once(outcomes, bad)


def test_a_retry_reports_its_progress(emulator: Emulator, client: Client) -> None:
    """The progress and the concurrency of get_many serve the retry too."""
    seen: list[tuple[int, int | None]] = []
    emulator.fail_next(2, status=503)
    outcomes = client.stats.get_many(
        [QUERY] * 3, progress=lambda done, total: seen.append((done, total))
    ).collect()
    assert seen == [(1, 3), (2, 3), (3, 3)]
    better = outcomes.retry()
    assert seen[3:] == [(1, 2), (2, 2)]
    assert better.retry() is better


def test_async_outcomes_are_shown_and_framed_without_awaiting(
    emulator: Emulator, client: Client
) -> None:
    """Only a retry is awaited: what is there is there."""

    async def main() -> AsyncOutcomes:
        async with emulator.async_client(retries=0) as other:
            return await other.stats.get_many([QUERY, NOBODY]).collect()

    outcomes = anyio.run(main)
    assert isinstance(outcomes[:1], AsyncOutcomes)
    expected = collect(client, QUERY, NOBODY)
    assert outcomes.to_pandas().equals(expected.to_pandas())
    assert repr(outcomes) == repr(expected)


def test_collect_has_what_is_left_or_is_an_error(client: Client) -> None:
    """In a block collect keeps what is left; where that would be nothing, as after
    another collect or a whole loop, it is an error.
    """
    with client.stats.get_many([QUERY] * 4) as stream:
        taken = next(stream)
        outcomes = stream.collect()
        assert sorted([taken.index, *(one.index for one in outcomes)]) == [*range(4)]
        with pytest.raises(UsageError, match="taken already"):
            stream.collect()
    with pytest.raises(UsageError, match="was left"):
        stream.collect()


# --- frames -----------------------------------------------------------------------


def test_a_list_of_many_websites(client: Client) -> None:
    """What a row is of comes first, then the entry's columns, in the queries' order,
    and all libraries have the same cells.
    """
    outcomes = collect(client, QUERY.website(BLOG), QUERY)
    frame = outcomes.to_polars("pages")
    counts = ("pageviews", "visitors")
    columns = ["hostname", *DAYS, "value", *counts, "share", "truncated", "query"]
    assert frame.columns == outcomes.columns("pages") == columns
    assert frame["hostname"].to_list() == [BLOG] * 3 + [HOST] * 3
    assert frame["query"].to_list() == [0] * 3 + [1] * 3
    assert frame["first_day"].unique().to_list() == [dt.date(2026, 3, 1)]
    alone = client.stats.get(QUERY).pages
    assert frame.filter(query=1)["value"].to_list() == alone.column("value")
    assert frame["truncated"].all()
    assert frame.equals(pl.DataFrame(pl.from_arrow(outcomes.to_arrow("pages"))))
    pandas = outcomes.to_pandas("pages")
    days = {name: pandas[name].dt.date for name in ("first_day", "last_day")}
    assert pandas.assign(**days).to_dict("list") == frame.to_dict(as_series=False)
    assert outcomes.to_dicts("pages")[0]["first_day"] == "2026-03-01"


def test_totals_of_many_websites(client: Client) -> None:
    """Without a field each query, also one that failed or was not sent, has a row, with
    the days that it requested as dates; those of words are not known.
    """
    day = NOBODY.between("2026-01-01", dt.date(2026, 1, 31)).timezone("Asia/Tokyo")
    unsent = QUERY.during("last-month")
    outcomes = collect(client, QUERY, day, QUERY.website(PROJECTS), unsent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = outcomes.to_polars()
    totals = ("pageviews", "visitors", "partial", "error", "query")
    assert frame.columns == ["hostname", *DAYS, *totals]
    assert frame["partial"].to_list() == [False, None, False, None]
    assert frame["hostname"].to_list() == [HOST, "nobody.example", PROJECTS, HOST]
    assert frame["pageviews"].to_list() == [1586, None, 387, None]
    assert frame["query"].to_list() == [0, 1, 2, 3]
    errors = [error and error.partition(":")[0] for error in frame["error"]]
    assert errors == [None, "NotFoundError", None, "InvalidInputError"]
    tokyo = ("Asia/Tokyo", dt.date(2026, 1, 1), dt.date(2026, 1, 31))
    assert frame.select(DAYS).rows()[1::2] == [tokyo, (None, None, None)]


def test_a_row_has_the_requested_zone_if_the_response_has_none() -> None:
    """The days of a version without an envelope are days of that zone."""
    query = StatsQuery(HOST).fields("visitors").timezone("Asia/Tokyo")
    stats = Stats.from_body(query, b'{"visitors": 3}')
    (row,) = Outcomes([Succeeded(query, 0, stats)]).to_dicts()
    assert row["timezone"] == "Asia/Tokyo"


def test_what_a_row_is_of_has_columns(client: Client) -> None:
    """Rows of a page or of filters would pass for those of the website."""
    queries = [
        QUERY,
        QUERY.where(country="US", device_type="desktop"),
        QUERY.path("/projects/xdotool/"),
        QUERY.where(page="/blog/*"),
    ]
    outcomes = collect(client, *queries)
    for frame in (outcomes.to_polars(), outcomes.to_polars("pages").unique("query")):
        assert frame.columns[:6] == ["hostname", "page", "filters", *DAYS]
        rows = frame.sort("query").select("page", "filters").rows()
        assert rows == [
            (None, None),
            (None, "country=US, device_type=desktop"),
            ("/projects/xdotool/", None),
            ("/blog/*", None),
        ]


def test_a_failed_query_without_rows_warns(client: Client) -> None:
    """A frame of a list warns of failed queries, at the caller's line."""
    nobodies = [QUERY.website(f"nobody{number}.example") for number in range(5)]
    outcomes = collect(client, QUERY, *nobodies)
    words = r"5 of 6 queries are missing here: nobody0.example \(NotFound.* 2 more"
    with pytest.warns(SiteStatsWarning, match=words) as caught:
        frame = outcomes.to_pandas("pages")
    assert set(frame["hostname"]) == {HOST}
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outcomes.columns("pages") == [*frame.columns]


LISTS = [None, "pages", "histogram", "events", "countries"]


@pytest.mark.parametrize("field", LISTS)
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_the_schema_does_not_depend_on_success(client: Client, field: Any) -> None:
    """Columns and types are the same when every query fails, for each library."""
    query = (
        QUERY.fields("visitors", "pages", "histogram", "countries", "seconds_on_page")
        .all_events()
        .interval("hour")
        .timezone("Asia/Kolkata")
    )
    expected = collect(client, query).to_polars(field)
    outcomes = collect(client, query.website("nobody.example"))
    found = outcomes.to_polars(field)
    assert found.columns == expected.columns
    kinds = [dtype.base_type() for dtype in found.dtypes]
    assert kinds == [dtype.base_type() for dtype in expected.dtypes]
    assert found.height == outcomes.to_arrow(field).num_rows == (field is None)
    assert [*outcomes.to_pandas(field).columns] == expected.columns


@pytest.mark.parametrize("field", LISTS)
def test_no_query_at_all_is_a_table_with_types(client: Client, field: Any) -> None:
    """An empty list of websites breaks no notebook: all libraries read it."""
    outcomes = collect(client)
    for result in (outcomes, outcomes.compare_to(outcomes)):
        arrow = result.to_arrow(field)
        assert arrow.num_rows == len(result.to_pandas(field)) == 0
        assert arrow.column_names[0] == "hostname"
        assert arrow.column_names[-1] == "query"
        assert arrow.column_names == result.to_polars(field).columns
        assert len(arrow.column_names) > 3
        assert pl.DataFrame(result).height == 0
        assert duckdb.sql("SELECT count(*) FROM result").fetchall() == [(0,)]


def test_queries_that_requested_different_things(client: Client) -> None:
    """A column that one query requested is null for the others."""
    timed = QUERY.fields("pages", "seconds_on_page", "visitors")
    pageviews = QUERY.fields("pageviews", "pages")
    frame = collect(client, pageviews, timed).to_polars("pages")
    counts = ("value", "pageviews", "visitors", "share", "seconds_on_page")
    assert frame.columns == ["hostname", *DAYS, *counts, "truncated", "query"]
    assert frame["seconds_on_page"].is_null().to_list() == [True] * 3 + [False] * 3
    totals = collect(client, timed, pageviews).to_polars()
    assert totals["pageviews"].to_list() == [None, 1586]
    assert totals["visitors"].to_list() == [953, None]
    with pytest.raises(FieldNotRequestedError, match="'pages' was not requested"):
        collect(client, QUERY, QUERY.fields("countries")).to_pandas("pages")


@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_hours_of_many_zones(client: Client) -> None:
    """The start of an hour is in UTC, whichever other websites there are; its date and
    its hour beside it are in the zone of the website.
    """
    hours = QUERY.fields("histogram").interval("hour").on("yesterday")
    delhi, tokyo = hours.timezone("Asia/Kolkata"), hours.timezone("Asia/Tokyo")
    for others in (
        [],
        [delhi.website(BLOG), delhi.website("nobody.example")],
        [tokyo],
    ):
        outcomes = collect(client, delhi, *others)
        frame = outcomes.to_polars("histogram")
        assert frame["start"].dtype == pl.Datetime("us", "UTC")
        assert "truncated" not in frame.columns
        first = client.stats.get(delhi).histogram[0]
        row = frame.row(0, named=True)
        assert (row["start"], row["date"]) == (first.start, first.date)
        assert (row["timezone"], row["hour"]) == ("Asia/Kolkata", 0)
        compared = client.stats.compare([delhi, *others]).to_polars("histogram")
        assert compared["start"].dtype == pl.Datetime("us", "UTC")
        row = compared.row(0, named=True)
        assert (row["start"], row["date"], row["hour"]) == (first.start, first.date, 0)
        assert row["date_before"] == first.date - dt.timedelta(days=1)
        assert row["hour_before"] == 0


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("page", "did you mean 'pages'"),
        ("pageviews", r"comparison\.totals or to_pandas\(\) has totals"),
        (["pages", "histogram"], "is not a list"),
    ],
)
def test_what_is_no_list(client: Client, field: Any, words: str) -> None:
    """A misspelt list, a total, or several lists are refused by every result."""
    outcomes = collect(client, QUERY)
    for result in (
        *(outcomes, collect(client), outcomes.compare_to(outcomes)),
        *(outcomes[0].result(), outcomes.compare_to(outcomes)[0]),
    ):
        with pytest.raises(FieldNotRequestedError, match=words):
            result.to_pandas(field)


def test_libraries_of_frames_take_the_frame_or_say_what_to_call(client: Client) -> None:
    """A column of opaque objects, or an error about ``ndim``, would help nobody."""
    outcomes = collect(client, QUERY)
    stats = outcomes[0].result()
    assert stats.to_pandas("pages").equals(stats.pages.to_pandas())
    assert pl.DataFrame(stats).equals(stats.to_polars())
    pages = stats.pages
    counts = pages.to_polars().drop("share")
    assert pl.DataFrame(pages).equals(counts)
    assert pd.DataFrame(pages).to_dict("list") == counts.to_dict(as_series=False)
    compared = outcomes.compare_to(outcomes)
    plan = client.websites.plan(["new.example"])
    for result in (outcomes, compared, compared[0], compared[0].largest(), plan):
        assert pl.DataFrame(result).equals(result.to_polars())
        with pytest.raises(TypeError, match=r"call \.to_pandas\(\)"):
            pd.DataFrame(result)  # type: ignore[call-overload]  # no rows of pandas
