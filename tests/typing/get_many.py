"""Type checks of get_many; read by type checkers, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import date
from typing import Protocol, assert_type

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sitestats import (
    Answered,
    Answers,
    AsyncAnswers,
    AsyncClient,
    AsyncStatistics,
    AsyncWebsites,
    Client,
    Failed,
    Outcome,
    PageEntry,
    SiteStatsError,
    Statistics,
    Stats,
    StatsQuery,
    WebsiteList,
    Websites,
)
from sitestats._common.jsontext import JsonValue
from sitestats.analysis import Comparison, Comparisons


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


def collected(client: Client, queries: Iterable[StatsQuery]) -> None:
    """Answers are a sequence of outcomes, and a slice is one again."""
    answers = client.stats.get_many(queries, deadline=30).collect()
    assert_type(answers, Answers)
    assert_type(answers[0], Answered | Failed)
    assert_type(answers[:3], Answers)
    assert_type(answers.answered, tuple[Answered, ...])
    assert_type(answers.failed[0].error, SiteStatsError)
    assert_type(answers.retry(), Answers)
    assert_type([one.stats.visitors for one in answers.answered], list[int])
    sequence: Sequence[Outcome] = answers
    assert_type(answers.to_dicts("pages")[0]["value"], JsonValue)
    answers.to_pandas("visitors")  # type: ignore[arg-type] # a total
    answers.to_dicts("page")  # type: ignore[arg-type] # misspelt
    growth = answers.compare_to(answers[:1])
    assert_type(growth, Comparisons)
    assert_type(growth[0], Comparison)
    assert_type(growth[1:], Comparisons)
    growth.to_pandas("pages")
    growth.to_pandas("histogram")  # type: ignore[arg-type] # is not compared
    growth.plot("visitrs")  # type: ignore[arg-type] # misspelt
    assert_type(answers.plot(sharey=True), NDArray[np.object_])
    answers.plot(Figure().subplots(2, 2))
    answers.plot([Figure().subplots()])
    answers.plot("histogram")  # type: ignore[arg-type] # no axes
    answers.compare_to([*sequence])  # type: ignore[arg-type] # no answers


async def collected_async(client: AsyncClient, queries: list[StatsQuery]) -> None:
    """The async client's are awaited once, and asked again by awaiting."""
    answers = await client.stats.get_many(queries, deadline=None).collect()
    assert_type(answers, AsyncAnswers)
    assert_type(answers[1:], AsyncAnswers)
    assert_type(await answers.retry(deadline=5), AsyncAnswers)
    answers.to_polars()


class _Gets(Protocol):
    def get(self, query: StatsQuery) -> Stats: ...


def parts(client: Client, other: AsyncClient, query: StatsQuery) -> None:
    """The parts of a client have names, and fit a protocol of their methods."""
    stats: Statistics = client.stats
    gets: _Gets = stats
    websites: Websites = client.websites
    many: AsyncStatistics = other.stats
    more: AsyncWebsites = other.websites
    assert_type((gets.get(query), websites.list()), tuple[Stats, WebsiteList])
    del many, more


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


async def awaited(client: AsyncClient, queries: AsyncIterator[StatsQuery]) -> None:
    """An async iterable or generator of queries is accepted as well."""
    async with client.stats.get_many(queries, progress=print) as outcomes:
        async for outcome in outcomes:
            assert_type(outcome, Answered | Failed)
    async with client.stats.get_many(StatsQuery(n) for n in ("a.b", "c.d")) as several:
        assert_type([outcome async for outcome in several], list[Answered | Failed])
