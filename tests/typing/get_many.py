"""Type checks of get_many; read by type checkers, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import date
from typing import Protocol, assert_type

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sitestats import (
    AsyncClient,
    AsyncOutcomes,
    Client,
    Failed,
    Outcome,
    Outcomes,
    PageEntry,
    SiteStatsError,
    Stats,
    StatsQuery,
    Succeeded,
)
from sitestats.types import Comparison, Comparisons, JsonValue


def one_or_the_other(outcome: Outcome) -> None:
    """Testing for an error narrows to statistics, and the reverse."""
    assert_type(outcome.query, StatsQuery)
    assert_type(outcome.index, int)
    assert_type(outcome.result(), Stats)
    if outcome.error is None:
        assert_type(outcome, Succeeded)
        assert_type(outcome.stats, Stats)
    else:
        assert_type(outcome, Failed)
        assert_type(outcome.error, SiteStatsError)
    if outcome.stats is None:
        assert_type(outcome, Failed)
    # An error is always true.
    if not outcome.error:
        assert_type(outcome.error, None)


def by_class(outcome: Outcome) -> Stats | SiteStatsError:
    """A match over the two classes is exhaustive."""
    match outcome:
        case Succeeded(stats=stats):
            return stats
        case Failed(error=error):
            return error


def blocking(client: Client, queries: Iterable[StatsQuery]) -> None:
    """Any iterable is accepted, and each outcome is one of the two classes."""
    with client.stats.get_many(queries, concurrency=5, progress=True) as stream:
        outcomes: Iterator[Outcome] = stream
        for outcome in outcomes:
            assert_type(outcome, Succeeded | Failed)
        stream.to_pandas()  # type: ignore[attr-defined] # it is to loop over
    client.stats.get_many([None])  # type: ignore[list-item] # no query


def collected(client: Client, queries: Iterable[StatsQuery]) -> None:
    """Collected outcomes are a sequence, and a slice is one again."""
    outcomes = client.stats.get_many(queries, deadline=30).collect()
    assert_type(outcomes, Outcomes)
    assert_type(outcomes[0], Succeeded | Failed)
    assert_type(outcomes[:3], Outcomes)
    assert_type(outcomes.succeeded, tuple[Succeeded, ...])
    assert_type(outcomes.failed[0].error, SiteStatsError)
    assert_type(outcomes.retry(), Outcomes)
    assert_type([one.stats.visitors for one in outcomes.succeeded], list[int])
    assert_type(outcomes["example.com"], Outcome)
    assert_type(outcomes.to_dicts("pages")[0]["value"], JsonValue)
    outcomes.to_polars()
    outcomes.to_pandas("histogram")
    outcomes.to_arrow("events")
    outcomes.to_pandas("visitors")  # type: ignore[arg-type] # a total
    outcomes.to_polars("page")  # type: ignore[arg-type] # misspelt
    outcomes.to_arrow("pageviews")  # type: ignore[arg-type] # a total
    outcomes.to_dicts("page")  # type: ignore[arg-type] # misspelt
    growth = outcomes.compare_to(outcomes[:1])
    assert_type(growth, Comparisons)
    assert_type(growth[0], Comparison)
    assert_type(growth[1:], Comparisons)
    growth.to_pandas("pages")
    growth.to_pandas("histogram")
    growth.plot("visitrs")  # type: ignore[arg-type] # misspelt
    assert_type(outcomes.plot(sharey=True), NDArray[np.object_])
    outcomes.plot(ax=Figure().subplots(2, 2))
    outcomes.plot(ax=[Figure().subplots()])
    outcomes.plot(ax="histogram")  # type: ignore[arg-type] # no axes
    outcomes.compare_to([*outcomes])  # type: ignore[arg-type] # no outcomes


async def awaited(client: AsyncClient, queries: AsyncIterator[StatsQuery]) -> None:
    """The async client takes async iterables too, and is awaited once."""
    stream = client.stats.get_many(queries, deadline=None, progress=print)
    each: AsyncIterator[Outcome] = stream
    async for outcome in each:
        assert_type(outcome, Succeeded | Failed)
    outcomes = await stream.collect()
    assert_type(outcomes[1:], AsyncOutcomes)
    assert_type(await outcomes.retry(deadline=5), AsyncOutcomes)


class _Gets(Protocol):
    def get(self, query: StatsQuery) -> Stats: ...


def parts(client: Client, query: StatsQuery) -> Stats:
    """The parts of a client fit a protocol of their methods."""
    gets: _Gets = client.stats
    return gets.get(query)


def made(query: StatsQuery) -> None:
    """A result is made of values of known types."""
    stats = Stats.of(
        query,
        visitors=3,
        pages=[("/a", 3, 1), PageEntry("/b", 1, 1), ("/c", 1, 1, 5.0)],
        histogram=[(date(2026, 3, 1), 3, 2)],
        countries=[(None, 3, 2)],
        events={"signup": 1},
    )
    assert_type(stats, Stats)
    assert_type(Stats.from_body(query, stats.body), Stats)
    Stats.of(query, visitors="3")  # type: ignore[arg-type] # no number
    Stats.of(query, visitrs=3)  # type: ignore[call-arg] # misspelt
    Stats.of(query, pages=["/a"])  # type: ignore[list-item] # no counts
