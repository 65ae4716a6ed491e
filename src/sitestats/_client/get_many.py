"""``get_many``: concurrent queries, in threads (sync) or in tasks (async).

Queries are taken, outcomes returned and progress reported in the caller's own
thread or task. So a generator of queries may use what belongs there, such as a
database's cursor, and its errors are raised where the outcomes are used.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sized
from contextlib import nullcontext
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import attrs
from attrs.validators import optional

from sitestats._base.errors import (
    SiteStatsWarning,
    UnexpectedError,
    UsageError,
    warn,
)
from sitestats._base.fields import FieldsT_contra
from sitestats._base.progress import Progress, ShowProgress, showing
from sitestats._configuration.settings import (
    NOT_GIVEN,
    check_seconds,
    checker,
    positive_count,
)
from sitestats._protocol.flow import NO_DEADLINE, Deadline
from sitestats._public import Public
from sitestats._query.builder import check_query, parameters_of, queries_in
from sitestats._results.outcomes import AsyncOutcomes, Failed, Outcome, Outcomes
from sitestats._results.stats import with_warnings

from .runner import AsyncRunner, Runner
from .workers import Tasks, Threads

RunnerT = TypeVar("RunnerT", bound=Runner | AsyncRunner)
WorkersT = TypeVar("WorkersT", Threads, Tasks)

_END: Final = object()
"""Marks the end of all queries."""
_MOST_AHEAD: Final = 5
"""Queries in order, for each that may be under way, that are taken before an outcome is
returned: a slow response does not stop the others, and memory stays bounded."""


@attrs.frozen
class StreamOptions:
    """What a caller may choose about a block of queries."""

    concurrency: int = attrs.field(validator=checker(positive_count))
    progress: Progress
    deadline: float | None = attrs.field(validator=optional(checker(check_seconds)))
    """Seconds for the whole block."""
    fresh: bool
    """Whether to send the request even where the store has the response."""
    in_order: bool
    """Whether the outcomes come in the order of the queries."""


class _Stream(Public, Generic[RunnerT, WorkersT]):
    """The base of both streams; in a thread an action blocks, and is never awaited."""

    _takes_awaited: ClassVar = False
    _workers_type: ClassVar[Any]
    _workers: WorkersT
    _is_begun = _is_left = False

    def __init__(self, runner: RunnerT, queries: Any, options: StreamOptions) -> None:
        self._runner = runner
        self._options = options
        queries = queries_in(queries, is_awaited=self._takes_awaited)
        is_awaited = self._takes_awaited and hasattr(queries, "__aiter__")
        self._queries: Any = aiter(queries) if is_awaited else iter(queries)
        self._total = len(queries) if isinstance(queries, Sized) else None
        # More requests would wait for a connection while their total_timeout runs.
        self._limit = min(options.concurrency, runner.settings.max_connections)
        self._showing = showing(options.progress, "queries")
        self._show: ShowProgress | None = None
        self._deadline = NO_DEADLINE
        # A warehouse issues the warnings itself, with the website and the day.
        self._warns = True
        self._told = set[str]()
        """What was said of queries, once for each kind of query."""
        self._are_all_taken = False
        self._taken = self._given = 0
        self._arrived: int = 0
        self._waiting: dict[int, Outcome] = {}
        self._turn = threading.Lock()
        """Is held by the thread or task that takes an outcome."""

    def __repr__(self) -> str:
        return "<outcomes of get_many: iterate in a with block, or call .collect()>"

    def _enter(self) -> None:
        if self._is_begun:
            raise UsageError(
                "this get_many block was already used: call get_many again"
            )
        if (seconds := self._options.deadline) is not None:
            self._deadline = Deadline(seconds, time.monotonic() + seconds)
        self._workers = self._workers_type(
            self._runner, self._deadline, fresh=self._options.fresh
        )
        self._is_begun = True
        self._show = self._showing.__enter__()

    def _leave(self) -> None:
        self._is_left = True
        self._showing.__exit__(None, None, None)

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the interpreter's end the names of modules are gone, but no default is.
        # Nothing warns: a collection of garbage may call this although a generator
        # around the block will be closed just then.
        if self._is_begun and not self._is_left and not _is_finalizing():
            self._workers.abandon()

    def _check_open(self) -> None:
        if not self._is_begun:
            raise UsageError(
                "get_many needs a block, which ends what is under way when it is left: "
                "“with client.stats.get_many(queries) as stream:” (“async with” for "
                "an AsyncClient); without one, .collect() returns all outcomes"
            )
        if self._is_left:
            raise UsageError(
                "the get_many block was left, which ended what was under way: take the "
                "outcomes within the block, or have .collect() return them all"
            )

    def _check_outcomes_left(self) -> None:
        self._check_open()
        if self._given and self._are_all_taken and self._given == self._taken:
            raise UsageError(
                "the outcomes of this get_many block were taken already, and each "
                "comes once: “outcomes = client.stats.get_many(…).collect()” holds "
                "them all, and makes frames as often as you like"
            )

    async def _next(self) -> Outcome | None:
        """The next outcome; None after the last one."""
        self._check_open()
        # Nobody waits for it: two that took outcomes at once would wait for the same.
        if not self._turn.acquire(blocking=False):
            raise UsageError(
                "another thread or task takes an outcome of this get_many block just "
                "now: take them in one, and hand them on, for example by a queue"
            )
        try:
            return await self._next_outcome()
        except StopAsyncIteration as error:
            # It would end the outcomes. Python does the same with StopIteration.
            raise RuntimeError(
                "the progress function or the queries of get_many raised "
                "StopAsyncIteration"
            ) from error
        finally:
            self._turn.release()

    async def _next_outcome(self) -> Outcome | None:
        in_order = self._options.in_order
        while True:
            await self._take_queries()
            outcome = self._waiting.pop(self._given, None)
            if outcome is not None:
                self._given += 1
                outcome = self._warned(outcome)
                if self._show is not None:
                    self._show(self._given, self._total)
                return outcome
            if self._taken == self._arrived:
                return None
            result = await self._workers.next_result()
            self._arrived += 1
            if isinstance(result, BaseException):
                raise result
            self._waiting[result.index if in_order else self._given] = result

    def _warned(self, outcome: Outcome) -> Outcome:
        """The *outcome*, after its warnings, which name the line of the caller."""
        if outcome.stats is None or not self._warns:
            return outcome
        try:
            for sentence in parameters_of(outcome.query).without_effect:
                if sentence not in self._told:
                    warn(sentence)
                    self._told.add(sentence)
            with_warnings(outcome.stats)
        except SiteStatsWarning as warning:
            # The user has made an error of it.
            cause = warning.with_traceback(None)
            error = UnexpectedError.by(cause, self._runner.redact)
            return Failed(outcome.query, outcome.index, error)
        return outcome

    async def _take_queries(self) -> None:
        """Begin as many queries as may be under way.

        Raises:
            InvalidInputError: One is not a query.
        """
        is_awaited = hasattr(self._queries, "__anext__")
        take: Any = anext if is_awaited else next
        ahead = _MOST_AHEAD if self._options.in_order else 1
        while (
            not self._are_all_taken
            and self._taken - self._arrived < self._limit
            and self._taken - self._given < self._limit * ahead
        ):
            query = take(self._queries, _END)
            query = await query if is_awaited else query
            if query is _END:
                self._are_all_taken = True
                return
            check_query(query, f"queries[{self._taken}]")
            self._taken += 1
            self._workers.begin((query, self._taken - 1))
            if self._workers.has_results:
                # A slow source of queries does not delay outcomes.
                return

    def _collect_others(self, others: Any, deadline: Any) -> Any:
        options = self._options
        if deadline is not NOT_GIVEN:
            options = attrs.evolve(options, deadline=deadline)
        stream: Any = type(self)(self._runner, others, options)
        return stream.collect()


class OutcomeStream(_Stream[Runner, Threads], Generic[FieldsT_contra]):
    """The outcomes of many queries, one by one as they arrive: ``get_many``.

    They come in the order of completion or, with ``in_order``, of the queries. Use it
    in a ``with`` block, and iterate over it once. Leaving the block stops the requests
    in progress. ``collect`` needs no block, and returns all outcomes, for frames,
    plots, comparisons and retries.

    Example:
        >>> queries = [StatsQuery("semicomplete.com").fields("pageviews")] * 3
        >>> with client.stats.get_many(queries) as stream:
        ...     sorted(outcome.index for outcome in stream)
        [0, 1, 2]
    """

    _workers_type = Threads

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __iter__(self) -> Iterator[Outcome[FieldsT_contra]]:
        self._check_open()
        return self

    def __next__(self) -> Outcome[FieldsT_contra]:
        outcome: Outcome[FieldsT_contra] | None = self._runner.run_blocking(
            self._next()
        )
        if outcome is None:
            raise StopIteration
        return outcome

    def collect(self) -> Outcomes[FieldsT_contra]:
        """Return the outcomes of all queries, in the order of the queries.

        It needs no ``with`` block: it enters one, and leaves it when it returns.
        Within a block it returns the outcomes that are left.

        Raises:
            UsageError: The outcomes were taken already.

        Example:
            >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages")
            >>> queries = [query.on("yesterday"), query.on("today-2d")]
            >>> outcomes = client.stats.get_many(queries).collect()
            >>> len(outcomes.to_pandas()), len(outcomes.to_pandas("pages"))
            (2, 100)
        """
        with nullcontext() if self._is_begun else self:
            self._check_outcomes_left()
            return Outcomes(self, self._collect_others)

    def __exit__(self, *_exc_info: object) -> None:
        try:
            self._workers.abandon()
        finally:
            self._leave()


class AsyncOutcomeStream(_Stream[AsyncRunner, Tasks], Generic[FieldsT_contra]):
    """The outcomes of many queries, one by one as they arrive: ``get_many``.

    Use it in an ``async with`` block, and iterate over it once. Leaving the block stops
    the requests in progress. ``await stream.collect()`` needs no block, and returns all
    outcomes, for frames, plots, comparisons and retries.

    Example:
        >>> queries = [StatsQuery("semicomplete.com").fields("pageviews")] * 3
        >>> async def main() -> list[int]:
        ...     async with (
        ...         emulator.async_client() as client,
        ...         client.stats.get_many(queries) as stream,
        ...     ):
        ...         return sorted([outcome.index async for outcome in stream])
        >>> asyncio.run(main())
        [0, 1, 2]
    """

    _takes_awaited = True
    _workers_type = Tasks

    async def __aenter__(self) -> Self:
        self._enter()
        return self

    def __aiter__(self) -> AsyncIterator[Outcome[FieldsT_contra]]:
        self._check_open()
        return self

    async def __anext__(self) -> Outcome[FieldsT_contra]:
        outcome: Outcome[FieldsT_contra] | None = await self._next()
        if outcome is None:
            raise StopAsyncIteration
        return outcome

    async def collect(self) -> AsyncOutcomes[FieldsT_contra]:
        """As ``OutcomeStream.collect``, awaited."""
        async with nullcontext() if self._is_begun else self:
            self._check_outcomes_left()
            outcomes = [outcome async for outcome in self]
            return AsyncOutcomes(outcomes, self._collect_others)

    async def __aexit__(self, *_exc_info: object) -> None:
        try:
            await self._workers.stop()
        finally:
            self._leave()
