"""Type checks of get_many; read by type checkers, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import assert_type

from sitestats import (
    Answered,
    AsyncClient,
    Client,
    Failed,
    Outcome,
    SiteStatsError,
    Stats,
    StatsQuery,
)


def one_or_the_other(outcome: Outcome) -> None:
    """Testing for an error narrows to statistics, and the reverse."""
    assert_type(outcome.query, StatsQuery)
    assert_type(outcome.index, int)
    assert_type(outcome.result(), Stats)
    if outcome.error is None:
        assert_type(outcome, Answered)
        assert_type(outcome.stats, Stats)
    else:
        assert_type(outcome, Failed)
        assert_type(outcome.error, SiteStatsError)
        assert_type(outcome.stats, None)


def the_other_or_one(outcome: Outcome) -> None:
    """Testing for statistics narrows in the same way."""
    if outcome.stats is not None:
        assert_type(outcome.stats, Stats)
        assert_type(outcome.error, None)
    else:
        assert_type(outcome.error, SiteStatsError)


def by_truth(outcome: Outcome) -> None:
    """An error is always true, so that a test of it leaves None for the rest."""
    if outcome.error:
        assert_type(outcome.error, SiteStatsError)
    else:
        assert_type(outcome.error, None)


def by_class(outcome: Outcome) -> Stats | SiteStatsError:
    """A match over the two classes is exhaustive."""
    match outcome:
        case Answered(stats=stats):
            return stats
        case Failed(error=error):
            return error


def blocking(client: Client, queries: Iterable[StatsQuery]) -> None:
    """Any iterable is accepted, and each outcome is one of the two classes."""
    with client.stats.get_many(queries, concurrency=5, progress=True) as outcomes:
        for outcome in outcomes:
            assert_type(outcome, Answered | Failed)
        outcomes.to_polars()
        outcomes.to_pandas("histogram")
        outcomes.to_arrow("events")
        outcomes.to_pandas("visitors")  # type: ignore[arg-type] # a total
        outcomes.to_polars("page")  # type: ignore[arg-type] # misspelt
        outcomes.to_arrow("pageviews")  # type: ignore[arg-type] # a total
    client.stats.get_many([None])  # type: ignore[list-item] # no query


async def awaited(client: AsyncClient, queries: AsyncIterator[StatsQuery]) -> None:
    """An async iterable or generator of queries is accepted as well."""
    async with client.stats.get_many(queries, progress=print) as outcomes:
        async for outcome in outcomes:
            assert_type(outcome, Answered | Failed)
    async with client.stats.get_many(StatsQuery(n) for n in ("a.b", "c.d")) as several:
        assert_type([outcome async for outcome in several], list[Answered | Failed])
