"""Collected outcomes: a sequence in order, frames of it, tables of it, and retries."""

from __future__ import annotations

import datetime as dt
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sitestats import (
    AsyncOutcomes,
    Client,
    ConfigurationError,
    Failed,
    NotFoundError,
    Outcomes,
    ServerError,
    SiteStatsWarning,
    StatsQuery,
    Succeeded,
)
from sitestats.emulator import Emulator

HOST, BLOG, PROJECTS = (
    "semicomplete.com",
    "blog.semicomplete.com",
    "projects.semicomplete.com",
)
QUERY = StatsQuery(HOST).fields("pageviews", "visitors", "pages").last(days=4).limit(3)
NOBODY = QUERY.website("nobody.example")
NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    """The demo's traffic at a fixed time."""
    return Emulator.demo(now=NOW)


@pytest.fixture(scope="module")
def client(emulator: Emulator) -> Iterator[Client]:
    """A client of that emulator."""
    with emulator.client() as client:
        yield client


def collect(emulator: Emulator, backend: str, queries: Any, **options: Any) -> Any:
    """The collected outcomes of each client variant."""
    if backend == "blocking":
        with emulator.client(retries=0) as client:
            return client.stats.get_many(queries, **options).collect()

    async def main() -> AsyncOutcomes:
        async with emulator.async_client(retries=0) as client:
            return await client.stats.get_many(queries, **options).collect()

    return anyio.run(main, backend=backend)


VARIANTS = pytest.mark.parametrize("backend", ["blocking", "asyncio", "trio"])


@VARIANTS
def test_outcomes_are_in_the_order_of_the_queries(
    emulator: Emulator, backend: str
) -> None:
    """Position, index and query agree, whichever response came first."""
    queries = [QUERY.limit(n) for n in range(1, 30)] + [NOBODY]
    outcomes = collect(emulator, backend, queries, concurrency=7)
    assert [outcome.index for outcome in outcomes] == [*range(30)]
    assert [outcome.query for outcome in outcomes] == queries
    assert [one.index for one in outcomes.succeeded] == [*range(29)]
    assert [type(one.error) for one in outcomes.failed] == [NotFoundError]
    assert isinstance(outcomes[0], Succeeded)
    assert isinstance(outcomes[-1], Failed)
    assert len(outcomes) == 30
    assert outcomes[3] in outcomes


@pytest.mark.parametrize("backend", ["blocking", "asyncio"])
@given(
    failing=st.lists(st.booleans(), max_size=8),
    concurrency=st.integers(1, 5),
    again=st.lists(st.booleans(), max_size=8),
)
def test_collect_holds_each_query_once(
    emulator: Emulator,
    backend: str,
    failing: list[bool],
    concurrency: int,
    again: list[bool],
) -> None:
    """Whatever fails, each query has one outcome, at its place, and after a retry."""
    # A limit of its own tells the queries apart.
    queries = [QUERY.fields("pages").limit(1 + n) for n in range(len(failing))]
    bad = {str(1 + n) for n, fails in enumerate(failing) if fails}
    worse = {str(1 + n) for n, fails in enumerate(again) if fails}

    def fail(of: set[str]) -> None:
        emulator.clear_faults()
        if of:
            emulator.fail_next(
                len(of), status=503, when=lambda one: dict(one.pairs)["limit"] in of
            )

    def hold_each_once(outcomes: Outcomes | AsyncOutcomes, failed: set[str]) -> None:
        assert [outcome.query for outcome in outcomes] == queries
        assert [outcome.index for outcome in outcomes] == [*range(len(queries))]
        found = {one.query.params()["limit"] for one in outcomes.failed}
        assert found == failed
        assert len(outcomes.succeeded) + len(outcomes.failed) == len(queries)
        assert len(outcomes.to_pandas()) == len(queries)

    async def main() -> None:
        async with emulator.async_client(retries=0) as client:
            fail(bad)
            stream = client.stats.get_many(queries, concurrency=concurrency)
            outcomes = await stream.collect()
            hold_each_once(outcomes, bad)
            fail(bad & worse)
            hold_each_once(await outcomes.retry(), bad & worse)

    if backend != "blocking":
        anyio.run(main, backend=backend)
        return
    with emulator.client(retries=0) as client:
        fail(bad)
        outcomes = client.stats.get_many(queries, concurrency=concurrency).collect()
        hold_each_once(outcomes, bad)
        fail(bad & worse)
        hold_each_once(outcomes.retry(), bad & worse)


def test_frames_as_often_as_you_like(client: Client) -> None:
    """Two frames of one fan-out: of the totals and of a list, again and again."""
    outcomes = client.stats.get_many([QUERY.website(BLOG), QUERY]).collect()
    for _ in range(2):
        assert outcomes.to_pandas()["visitors"].tolist() == [298, 953]
        pages = outcomes.to_polars("pages")
        assert pages["hostname"].to_list() == [BLOG] * 3 + [HOST] * 3
        assert outcomes.to_arrow("pages").num_rows == 6
    assert pages.columns[:4] == ["hostname", "timezone", "first_day", "last_day"]
    assert pages["first_day"].unique().to_list() == [dt.date(2026, 3, 1)]
    assert pages["last_day"].dtype == pl.Date
    rows = outcomes.to_dicts("pages")
    assert outcomes.columns("pages") == pages.columns == [*rows[0]]
    assert outcomes.columns() == outcomes.to_polars().columns
    assert [row["value"] for row in rows] == pages["value"].to_list()
    assert rows[0]["first_day"] == "2026-03-01"
    assert outcomes.to_dicts()[1]["visitors"] == 953


def test_the_days_of_a_failure(client: Client) -> None:
    """A failed query has the days that it requested as dates; words are not known."""
    dates = NOBODY.between("2026-01-01", dt.date(2026, 1, 31)).timezone("Asia/Tokyo")
    words = NOBODY.last(days=3)
    unchecked = NOBODY.extra_param("start", "01.02.2026")
    outcomes = client.stats.get_many([dates, words, unchecked]).collect()
    frame = outcomes.to_polars()
    assert frame["first_day"].to_list() == [dt.date(2026, 1, 1), None, None]
    assert frame["last_day"].to_list() == [dt.date(2026, 1, 31), None, None]
    assert frame["timezone"].to_list() == ["Asia/Tokyo", None, None]
    with pytest.warns(SiteStatsWarning, match="3 queries failed"):
        assert outcomes.to_polars("pages").is_empty()


def test_a_retry_requests_what_failed_alone(emulator: Emulator) -> None:
    """Only the failed queries are sent again, and every index stays."""
    with emulator.client(retries=0) as client:
        emulator.fail_next(3, status=503)
        queries = [QUERY.limit(1 + n) for n in range(8)]
        outcomes = client.stats.get_many(queries, concurrency=1).collect()
        assert [one.index for one in outcomes.failed] == [0, 1, 2]
        assert all(isinstance(one.error, ServerError) for one in outcomes.failed)
        before = len(emulator.requests)
        better = outcomes.retry()
        assert len(emulator.requests) == before + 3
        assert isinstance(better, Outcomes)
        assert better.failed == ()
        assert [one.index for one in better] == [*range(8)]
        assert [len(one.result().pages) for one in better] == [*range(1, 9)]
        # What there was is left as it was.
        assert len(outcomes.failed) == 3
        assert better.retry() is better
        assert len(emulator.requests) == before + 3


def test_a_retry_reports_its_progress(emulator: Emulator) -> None:
    """The progress and the concurrency of get_many serve the retry too."""
    seen: list[tuple[int, int | None]] = []
    with emulator.client(retries=0) as client:
        emulator.fail_next(2, status=503)
        outcomes = client.stats.get_many(
            [QUERY] * 3, progress=lambda done, total: seen.append((done, total))
        ).collect()
        assert seen == [(1, 3), (2, 3), (3, 3)]
        outcomes.retry()
    assert seen[3:] == [(1, 2), (2, 2)]


def test_a_slice_is_one_again(client: Client) -> None:
    """A slice makes frames, shows a table, and can be retried."""
    outcomes = client.stats.get_many([QUERY, NOBODY, QUERY.website(BLOG)]).collect()
    part = outcomes[1:]
    assert isinstance(part, Outcomes)
    assert part.to_pandas()["query"].tolist() == [1, 2]
    assert repr(part).startswith("2 queries\n")
    assert [one.index for one in part.retry()] == [1, 2]


def test_collect_within_a_block(client: Client) -> None:
    """In a block collect keeps what is left, and a second time is an error."""
    with client.stats.get_many([QUERY] * 4) as stream:
        taken = next(stream)
        outcomes = stream.collect()
        assert len(outcomes) == 3
        assert taken.index not in [one.index for one in outcomes]
        with pytest.raises(ConfigurationError, match=r"\.collect\(\)"):
            stream.collect()
    assert len(outcomes.to_pandas()) == 3


def test_a_block_is_collected_once(client: Client) -> None:
    """The block of collect is used up, and the error says to call get_many again."""
    stream = client.stats.get_many([QUERY])
    assert len(stream.collect()) == 1
    with pytest.raises(ConfigurationError, match="was left"):
        stream.collect()
    # Without a block the error names what needs none.
    with pytest.raises(ConfigurationError, match=r"without one, \.collect\(\)"):
        list(client.stats.get_many([QUERY]))


def test_collect_after_a_loop_has_what_is_left_or_is_an_error(client: Client) -> None:
    """What is collected after a whole loop would be empty, so it is an error."""
    with client.stats.get_many([QUERY] * 2) as stream:
        taken = [next(stream), next(stream)]
        # Whoever takes them one by one may still ask whether there are more.
        assert ([*stream], next(stream, None)) == ([], None)
        with pytest.raises(ConfigurationError, match="taken already"):
            stream.collect()
        # It is an iterator still, and those end for good.
        assert [*stream] == []
    assert len(taken) == 2


def test_collect_after_one_that_failed_is_an_error(client: Client) -> None:
    """One that ended in an error took outcomes, which the next one would lack."""

    def broken() -> Iterator[StatsQuery]:
        yield QUERY
        raise ZeroDivisionError

    with client.stats.get_many(broken(), concurrency=1) as stream:
        with pytest.raises(ZeroDivisionError):
            stream.collect()
        with pytest.raises(ConfigurationError, match="taken already"):
            stream.collect()


def test_no_queries_are_collected_as_often_as_you_like(client: Client) -> None:
    """Where no query was given nothing is lost, so a second time is no error."""
    with client.stats.get_many([]) as stream:
        assert [len(stream.collect()), *stream, len(stream.collect())] == [0, 0]


def test_queries_may_come_from_a_generator(emulator: Emulator) -> None:
    """Any iterable is collected; with the async client an asynchronous one too."""

    async def some() -> Any:
        for limit in (1, 2, 3):
            yield QUERY.limit(limit)

    with emulator.client() as client:
        assert len(client.stats.get_many(QUERY for _ in range(3)).collect()) == 3
    outcomes = collect(emulator, "trio", some())
    assert [len(one.result().pages) for one in outcomes] == [1, 2, 3]


def test_a_pickle_has_no_client(emulator: Emulator) -> None:
    """Outcomes are pickled without the key, and say so when they are retried."""
    outcomes: Outcomes = collect(emulator, "blocking", [QUERY, NOBODY])
    data = pickle.dumps(outcomes)
    assert emulator.api_key.encode() not in data
    copy = pickle.loads(data)
    assert isinstance(copy, Outcomes)
    assert copy.to_pandas().equals(outcomes.to_pandas())
    with pytest.raises(ConfigurationError, match="pickled"):
        copy.retry()


# --- tables -----------------------------------------------------------------------


def in_a_terminal(value: object) -> str:
    """What rich prints."""
    console = Console(file=io.StringIO(), width=120)
    console.print(value)
    printed = console.file
    assert isinstance(printed, io.StringIO)
    return printed.getvalue()


RENDER: list[Callable[[Any], str]] = [
    repr,
    lambda outcomes: outcomes._repr_html_(),
    in_a_terminal,
]


@pytest.mark.parametrize("render", RENDER, ids=["repr", "html", "terminal"])
def test_outcomes_show_themselves(client: Client, render: Callable[[Any], str]) -> None:
    """Each way to show outcomes has websites, days, totals, and what failed."""
    queries = [QUERY, NOBODY.between("2026-01-01", "2026-01-31")]
    shown = render(client.stats.get_many(queries).collect())
    for text in (
        *("2 queries", HOST, "2026-03-01", "2026-03-04", "1,586", "page views"),
        *("nobody.example", "2026-01-31", "NotFoundError: the service", "1 failed"),
    ):
        assert text in shown


def test_async_outcomes_are_shown_and_framed_without_awaiting(
    emulator: Emulator,
) -> None:
    """Only a retry is awaited: what is there is there."""
    outcomes = collect(emulator, "asyncio", [QUERY, NOBODY])
    assert isinstance(outcomes, AsyncOutcomes)
    assert isinstance(outcomes[:1], AsyncOutcomes)
    expected = collect(emulator, "blocking", [QUERY, NOBODY])
    assert outcomes.to_pandas().equals(expected.to_pandas())
    assert outcomes.to_polars().equals(expected.to_polars())
    assert outcomes.to_arrow().equals(expected.to_arrow())
    assert repr(outcomes).startswith("2 queries\n")
