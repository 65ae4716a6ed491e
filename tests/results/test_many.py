"""Frames of get_many: one tidy table, in order, with no query left out silently."""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sitestats import (
    ConfigurationError,
    FieldNotRequestedError,
    MissingExtraError,
    NotFoundError,
    QueryError,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats._results.many import TableBuilder
from sitestats._results.outcomes import Answered, Failed
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitestats import Client, Outcomes

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


def outcomes_of(client: Client, *queries: StatsQuery) -> Outcomes:
    """The outcomes of *queries*."""
    return client.stats.get_many(queries)


def test_a_list_of_many_websites(client: Client) -> None:
    """The host name comes first, then the entry's columns, in the queries' order."""
    with outcomes_of(client, QUERY.website(BLOG), QUERY) as outcomes:
        frame = outcomes.to_polars("pages")
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
    queries = (QUERY, NOBODY, QUERY.website(PROJECTS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with outcomes_of(client, *queries) as outcomes:
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
    with (
        outcomes_of(client, QUERY, *nobodies) as outcomes,
        pytest.warns(SiteStatsWarning) as caught,
    ):
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


def test_without_failures_nothing_warns(client: Client) -> None:
    """Without failures there is no warning, and no failed outcome."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with outcomes_of(client, QUERY) as outcomes:
            outcomes.to_pandas("pages")
    assert outcomes.failed == ()


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
    with outcomes_of(client, query) as good:
        expected = good.to_polars(field)
    with outcomes_of(client, query.website("nobody.example")) as bad:
        found = bad.to_polars(field)
    assert found.columns == expected.columns
    kinds = [dtype.base_type() for dtype in found.dtypes]
    assert kinds == [dtype.base_type() for dtype in expected.dtypes]
    assert found.height == (field is None)


@pytest.mark.parametrize("field", [None, "pages", "histogram", "events", "countries"])
def test_no_query_at_all(client: Client, field: Any) -> None:
    """Without a query the frame is empty, with columns."""
    with outcomes_of(client) as outcomes:
        frame = outcomes.to_pandas(field)
    assert len(frame) == 0
    assert frame.columns[0] == "hostname"
    assert frame.columns[-1] == "query"
    assert len(frame.columns) > 3


def test_queries_that_requested_different_things(client: Client) -> None:
    """A column that one query requested is null for the others."""
    timed = QUERY.fields("pages", "seconds_on_page", "visitors")
    with outcomes_of(client, QUERY, timed) as outcomes:
        frame = outcomes.to_polars("pages")
    assert frame.columns == [
        *("hostname", "timezone", "first_day", "last_day"),
        *("value", "pageviews", "visitors", "seconds_on_page", "truncated", "query"),
    ]
    assert frame["seconds_on_page"].is_null().to_list() == [True] * 3 + [False] * 3
    with outcomes_of(client, timed, QUERY) as outcomes:
        totals = outcomes.to_polars()
    assert totals.columns[6:9] == ["pageviews", "visitors", "seconds_on_page"]
    assert totals["pageviews"].to_list() == [None, 1586]
    assert totals["visitors"].to_list() == [953, None]


def test_hours_of_many_zones(client: Client) -> None:
    """Hours of one zone stay in it; those of several zones are in UTC."""
    hours = QUERY.fields("histogram").interval("hour").on("yesterday")
    delhi, tokyo = hours.timezone("Asia/Kolkata"), hours.timezone("Asia/Tokyo")
    with outcomes_of(client, delhi, delhi.website(BLOG)) as outcomes:
        frame = outcomes.to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "Asia/Kolkata")
    assert frame["start"].dt.hour().to_list() == frame["hour"].to_list()
    assert "truncated" not in frame.columns
    with (
        outcomes_of(client, delhi, delhi.website("nobody.example")) as outcomes,
        pytest.warns(SiteStatsWarning),
    ):
        frame = outcomes.to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "Asia/Kolkata")
    with outcomes_of(client, delhi, tokyo) as outcomes:
        frame = outcomes.to_polars("histogram")
    assert frame["start"].dtype == pl.Datetime("us", "UTC")
    assert frame["start"][0] == client.stats.get(delhi).histogram[0].start


def test_pandas_polars_and_arrow_agree(client: Client) -> None:
    """All three have the same columns and the same cells."""
    frames: list[Any] = []
    for method in ("to_pandas", "to_polars", "to_arrow"):
        with outcomes_of(client, QUERY, QUERY.website(BLOG)) as outcomes:
            frames.append(getattr(outcomes, method)("pages"))
    pandas, polars, arrow = frames
    assert polars.equals(pl.from_arrow(arrow))
    days = {name: pandas[name].dt.date for name in ("first_day", "last_day")}
    assert pandas.assign(**days).to_dict("list") == polars.to_dict(as_series=False)


def test_the_async_client_has_the_same_frames(client: Client) -> None:
    """The async methods give the same frames as the sync ones."""
    emulator = Emulator.demo(now=dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC))

    async def get_frames() -> list[Any]:
        frames: list[Any] = []
        async with emulator.async_client() as asynchronous:
            for method in ("to_pandas", "to_polars", "to_arrow"):
                async with asynchronous.stats.get_many([QUERY, NOBODY]) as outcomes:
                    frames.append(await getattr(outcomes, method)())
                assert [failed.index for failed in outcomes.failed] == [1]
        return frames

    pandas, polars, arrow = asyncio.run(get_frames())
    with outcomes_of(client, QUERY, NOBODY) as outcomes:
        expected = outcomes.to_polars()
    assert polars.equals(expected)
    assert polars.equals(pl.from_arrow(arrow))
    assert pandas["query"].tolist() == [0, 1]


@pytest.mark.parametrize("method", ["to_pandas", "to_polars", "to_arrow"])
def test_a_second_frame_of_one_block_is_an_error(client: Client, method: str) -> None:
    """A second frame would have no rows, and no word about it: it raises."""
    with outcomes_of(client, QUERY) as outcomes:
        assert len(getattr(outcomes, method)("pages")) == 3
        for field in (None, "pages"):
            with pytest.raises(ConfigurationError, match=r"\.collect\(\)"):
                getattr(outcomes, method)(field)
        # It is an iterator still, and those end for good.
        assert [*outcomes] == []


def test_a_frame_after_a_loop_has_what_is_left_or_is_an_error(client: Client) -> None:
    """A frame after a whole loop would be empty; after a part it has the rest."""
    with outcomes_of(client, QUERY, QUERY, QUERY) as outcomes:
        next(outcomes)
        assert len(outcomes.to_polars()) == 2
    with outcomes_of(client, QUERY, QUERY) as outcomes:
        taken = [next(outcomes), next(outcomes)]
        # Whoever takes them one by one may still ask whether there are more.
        assert ([*outcomes], next(outcomes, None)) == ([], None)
        with pytest.raises(ConfigurationError, match="taken already"):
            outcomes.to_polars()
    assert len(taken) == 2


def test_a_frame_after_one_that_failed_is_an_error(client: Client) -> None:
    """A frame that ended in an error took rows, which the next one would lack."""
    with outcomes_of(client, QUERY, QUERY.fields("countries")) as outcomes:
        with pytest.raises(FieldNotRequestedError):
            outcomes.to_polars("events")
        with pytest.raises(ConfigurationError, match="taken already"):
            outcomes.to_polars()


def test_frames_of_no_queries_are_empty(client: Client) -> None:
    """Where no query was given nothing is lost, so a second frame is no error."""
    with outcomes_of(client) as outcomes:
        assert [len(outcomes.to_polars("pages")), *outcomes] == [0]


def test_a_second_frame_is_an_error_of_the_async_client_too() -> None:
    """The async block raises for a second frame as well."""

    async def twice() -> None:
        async with (
            Emulator.demo().async_client() as client,
            client.stats.get_many([QUERY]) as outcomes,
        ):
            await outcomes.to_polars()
            with pytest.raises(ConfigurationError, match="taken already"):
                await outcomes.to_polars()
            assert [outcome async for outcome in outcomes] == []

    asyncio.run(twice())


@pytest.mark.parametrize(
    ("field", "words"),
    [("page", "did you mean 'pages'"), ("pageviews", "it is a total"), ("x\n", "x")],
)
def test_what_is_no_list(client: Client, field: Any, words: str) -> None:
    """A misspelt list, or a total, is refused before anything is sent."""
    emulator = Emulator.demo()
    with (
        emulator.client() as other,
        outcomes_of(other, QUERY) as outcomes,
        pytest.raises(FieldNotRequestedError, match=words),
    ):
        outcomes.to_pandas(field)
    assert emulator.requests == ()


def test_a_list_that_a_query_did_not_request(client: Client) -> None:
    """A query without the list is an error that names it."""
    with (
        outcomes_of(client, QUERY, QUERY.fields("countries")) as outcomes,
        pytest.raises(FieldNotRequestedError, match="'pages' was not requested"),
    ):
        outcomes.to_pandas("pages")


def test_a_query_that_breaks_a_rule_has_a_row(client: Client) -> None:
    """A query that is invalid, and so was not sent, has a row of totals too."""
    broken = StatsQuery(HOST).between(dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC))
    with outcomes_of(client, broken.fields("visitors")) as outcomes:
        frame = outcomes.to_polars()
    assert frame["error"][0].startswith("QueryError: ")
    (failed,) = outcomes.failed
    assert isinstance(failed.error, QueryError)


def test_the_order_of_completion_does_not_matter(client: Client) -> None:
    """Outcomes in any order give the same table."""
    outcomes: list[Any] = [
        Answered(query=query, index=index, stats=client.stats.get(query))
        for index, query in enumerate([QUERY, QUERY.website(BLOG)])
    ]
    outcomes += [
        Failed(query=NOBODY, index=index, error=NotFoundError("no", status=404))
        for index in (2, 3)
    ]
    tables: list[Any] = []
    for ordered in (outcomes, outcomes[::-1]):
        builder = TableBuilder(None)
        for outcome in ordered:
            builder.add(outcome)
        tables.append(builder.columns())
        assert [failed.index for failed in builder.failed] == [2, 3]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("library", "extra"),
    [("pandas", "pandas"), ("polars", "polars"), ("pyarrow", "arrow")],
)
def test_a_missing_library_is_an_error_before_anything_is_sent(
    library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library the error comes before a thousand queries are sent."""
    monkeypatch.setitem(sys.modules, library, None)
    emulator = Emulator.demo()
    with (
        emulator.client() as client,
        client.stats.get_many([QUERY]) as outcomes,
        pytest.raises(MissingExtraError) as caught,
    ):
        getattr(outcomes, f"to_{extra}")("pages")
    assert (caught.value.library, caught.value.extra) == (library, extra)
    assert emulator.requests == ()
