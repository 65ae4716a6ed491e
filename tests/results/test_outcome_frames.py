"""Frames of outcomes: one tidy table, in order, with no query left out silently."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sitestats import (
    AsyncOutcomeStream,
    FieldNotRequestedError,
    NotFoundError,
    Outcomes,
    OutcomeStream,
    QueryError,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitestats import Client

HOST, BLOG, PROJECTS = (
    "semicomplete.com",
    "blog.semicomplete.com",
    "projects.semicomplete.com",
)
QUERY = StatsQuery(HOST).fields("pageviews", "pages").last(days=4).limit(3)
NOBODY = QUERY.website("nobody.example")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    emulator = Emulator.demo(
        now=dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC), null_entries=True
    )
    with emulator.client() as client:
        yield client


def collect(client: Client, *queries: StatsQuery) -> Outcomes:
    """The outcomes of *queries*."""
    return client.stats.get_many(queries).collect()


def test_a_list_of_many_websites(client: Client) -> None:
    """The host name comes first, then the entry's columns, in the queries' order."""
    frame = collect(client, QUERY.website(BLOG), QUERY).to_polars("pages")
    assert dict(frame.schema) == {
        "hostname": pl.String,
        "timezone": pl.String,
        "first_day": pl.Date,
        "last_day": pl.Date,
        "value": pl.String,
        "pageviews": pl.Int64,
        "visitors": pl.Int64,
        "truncated": pl.Boolean,
        "query": pl.Int64,
    }
    assert frame["hostname"].to_list() == [BLOG] * 3 + [HOST] * 3
    assert frame["query"].to_list() == [0] * 3 + [1] * 3
    alone = client.stats.get(QUERY).pages
    assert frame.filter(query=1)["value"].to_list() == alone.column("value")
    assert frame.filter(query=1)["visitors"].to_list() == alone.column("visitors")
    assert frame["truncated"].all()


def test_totals_of_many_websites(client: Client) -> None:
    """Without a field each query, also a failed one, has a row of totals."""
    outcomes = collect(client, QUERY, NOBODY, QUERY.website(PROJECTS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = outcomes.to_polars()
    assert frame.columns == [
        *("hostname", "timezone", "first_day", "last_day", "start", "end"),
        *("pageviews", "partial", "error", "query"),
    ]
    assert frame["partial"].to_list() == [False, None, False]
    assert frame["hostname"].to_list() == [HOST, "nobody.example", PROJECTS]
    assert frame["pageviews"].to_list() == [1586, None, 387]
    assert frame["query"].to_list() == [0, 1, 2]
    first, second, third = frame["error"].to_list()
    assert (first, third) == (None, None)
    assert second.startswith("NotFoundError: ")
    assert frame["start"][0] == dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    assert frame["start"][1] is None
    (failed,) = outcomes.failed
    assert failed.query == NOBODY
    assert isinstance(failed.error, NotFoundError)


def test_a_failed_query_without_rows_warns(client: Client) -> None:
    """A frame of a list warns of failed queries, at the caller's line."""
    nobodies = [QUERY.website(f"nobody{number}.example") for number in range(5)]
    outcomes = collect(client, QUERY, *nobodies)
    with pytest.warns(SiteStatsWarning) as caught:
        frame = outcomes.to_pandas("pages")
    assert set(frame["hostname"]) == {HOST}
    (warning,) = caught
    assert warning.filename == __file__
    for words in (
        "5 queries failed",
        "of 6",
        "nobody0.example (NotFoundError",
        "2 more",
    ):
        assert words in str(warning.message)
    assert [one.index for one in outcomes.failed] == [1, 2, 3, 4, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outcomes.columns("pages") == [*frame.columns]


@pytest.mark.parametrize("field", [None, "pages", "histogram", "events", "countries"])
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_the_schema_does_not_depend_on_success(client: Client, field: Any) -> None:
    """Columns and types are the same when every query fails."""
    query = (
        StatsQuery(HOST)
        .fields("visitors", "pages", "histogram", "countries", "seconds_on_page")
        .all_events()
        .last(days=2)
        .interval("hour")
        .timezone("Asia/Kolkata")
    )
    expected = collect(client, query).to_polars(field)
    found = collect(client, query.website("nobody.example")).to_polars(field)
    assert found.columns == expected.columns
    kinds = [dtype.base_type() for dtype in found.dtypes]
    assert kinds == [dtype.base_type() for dtype in expected.dtypes]
    assert found.height == (field is None)


@pytest.mark.parametrize("field", [None, "pages", "histogram", "events", "countries"])
def test_no_query_at_all(client: Client, field: Any) -> None:
    """Without a query the frame is empty, with columns."""
    frame = collect(client).to_pandas(field)
    assert len(frame) == 0
    assert frame.columns[0] == "hostname"
    assert frame.columns[-1] == "query"
    assert len(frame.columns) > 3


def test_queries_that_requested_different_things(client: Client) -> None:
    """A column that one query requested is null for the others."""
    timed = QUERY.fields("pages", "seconds_on_page", "visitors")
    frame = collect(client, QUERY, timed).to_polars("pages")
    assert frame.columns == [
        *("hostname", "timezone", "first_day", "last_day"),
        *("value", "pageviews", "visitors", "seconds_on_page", "truncated", "query"),
    ]
    assert frame["seconds_on_page"].is_null().to_list() == [True] * 3 + [False] * 3
    totals = collect(client, timed, QUERY).to_polars()
    assert totals.columns[6:9] == ["pageviews", "visitors", "seconds_on_page"]
    assert totals["pageviews"].to_list() == [None, 1586]
    assert totals["visitors"].to_list() == [953, None]


def test_hours_of_many_zones(client: Client) -> None:
    """Hours of one zone stay in it; those of several zones are in UTC."""
    hours = QUERY.fields("histogram").interval("hour").on("yesterday")
    delhi, tokyo = hours.timezone("Asia/Kolkata"), hours.timezone("Asia/Tokyo")
    frame = collect(client, delhi, delhi.website(BLOG)).to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "Asia/Kolkata")
    assert frame["start"].dt.hour().to_list() == frame["hour"].to_list()
    assert "truncated" not in frame.columns
    outcomes = collect(client, delhi, delhi.website("nobody.example"))
    with pytest.warns(SiteStatsWarning):
        frame = outcomes.to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "Asia/Kolkata")
    frame = collect(client, delhi, tokyo).to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "UTC")
    assert frame["start"][0] == client.stats.get(delhi).histogram[0].start


def test_pandas_polars_and_arrow_agree(client: Client) -> None:
    """All three have the same columns and the same cells."""
    outcomes = collect(client, QUERY, QUERY.website(BLOG))
    pandas, polars = outcomes.to_pandas("pages"), outcomes.to_polars("pages")
    arrow = outcomes.to_arrow("pages")
    assert polars.equals(pl.from_arrow(arrow))
    days = {name: pandas[name].dt.date for name in ("first_day", "last_day")}
    assert pandas.assign(**days).to_dict("list") == polars.to_dict(as_series=False)


def test_a_list_that_a_query_did_not_request(client: Client) -> None:
    """A query without the list is an error that names it."""
    outcomes = collect(client, QUERY, QUERY.fields("countries"))
    with pytest.raises(FieldNotRequestedError, match="'pages' was not requested"):
        outcomes.to_pandas("pages")


def test_a_query_that_breaks_a_rule_has_a_row(client: Client) -> None:
    """A query that is invalid, and so was not sent, has a row of totals too."""
    broken = StatsQuery(HOST).between(dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC))
    outcomes = collect(client, broken.fields("visitors"))
    frame = outcomes.to_polars()
    assert frame["error"][0].startswith("QueryError: ")
    (failed,) = outcomes.failed
    assert isinstance(failed.error, QueryError)


@pytest.mark.parametrize(
    ("field", "words"),
    [("page", "did you mean 'pages'"), ("pageviews", "it is a total"), ("x\n", "x")],
)
def test_what_is_no_list(client: Client, field: Any, words: str) -> None:
    """A misspelt list, or a total, is refused, also where there is no outcome."""
    for outcomes in (collect(client, QUERY), collect(client)):
        with pytest.raises(FieldNotRequestedError, match=words):
            outcomes.to_pandas(field)


@pytest.mark.parametrize("cls", [OutcomeStream, AsyncOutcomeStream])
def test_a_stream_has_no_frames(cls: type) -> None:
    """A stream is to loop over: what needs all outcomes is of those collected."""
    of_all = {"to_pandas", "to_polars", "to_arrow", "to_dicts", "plot", "compare_to"}
    assert of_all < {*dir(Outcomes)}
    assert not of_all & {*dir(cls)}
