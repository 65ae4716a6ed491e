"""``get_many``: concurrent queries, in threads (sync) or in tasks (async).

``Schedule`` decides when to take a query, and a flow the outcome of a query.
"""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar

import anyio
import attrs

from sitestats._common.fields import FieldsT_contra
from sitestats._common.settings import NOT_GIVEN
from sitestats._protocol import operations
from sitestats._results.outcomes import AsyncOutcomes, Outcomes
from sitestats._transport.stop import Stop, StoppedError

from .schedule import END, BlockOptions, Job, Schedule

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from sitestats._protocol.flow import Flow
    from sitestats._results.outcomes import Outcome, OutcomeOf

    from .runner import AsyncRunner, Runner

RunnerT = TypeVar("RunnerT", bound="Runner | AsyncRunner")

_POLL_SECONDS: Final = 0.5
"""On Windows a thread that waits for a queue does not see Ctrl-C."""


class _Block(Generic[RunnerT]):
    """What both streams have; in a thread a step blocks, and is never awaited."""

    _begin: Any
    _next_result: Any
    _takes_awaited: ClassVar = False

    def __init__(self, runner: RunnerT, queries: Any, options: BlockOptions) -> None:
        self._runner = runner
        self._options = options
        self._schedule = Schedule(queries, options, runner.settings.max_connections)
        is_awaited = self._takes_awaited and hasattr(queries, "__aiter__")
        self._queries: Any = aiter(queries) if is_awaited else iter(queries)
        self._results: SimpleQueue[Outcome | BaseException] = SimpleQueue()

    async def _next(self) -> Any:
        """The next outcome; None after the last one."""
        schedule = self._schedule
        schedule.check_open()
        outcome = None
        while outcome is None:
            while schedule.wants_one(ready=not self._results.empty()):
                is_awaited = hasattr(self._queries, "__anext__")
                take: Any = anext if is_awaited else next
                query = take(self._queries, END)
                job = schedule.take(await query if is_awaited else query)
                if job is not None:
                    self._begin(job)
            outcome = schedule.next_in_order()
            if outcome is None:
                if not schedule.under_way:
                    return None
                outcome = schedule.give(await self._next_result())
        return outcome

    def _flow(self, job: Job) -> Flow[Outcome]:
        settings, deadline = self._runner.settings, self._schedule.deadline
        return operations.get_outcome(
            settings, *job, deadline, fresh=self._options.fresh
        )

    def _collect_others(self, others: Any, deadline: Any) -> Any:
        options = self._options
        if deadline is not NOT_GIVEN:
            options = attrs.evolve(options, deadline=deadline)
        stream: Any = type(self)(self._runner, others, options)
        return stream.collect()


class OutcomeStream(_Block["Runner"], Generic[FieldsT_contra]):
    """The outcomes of many queries, one by one as they arrive: ``get_many``.

    They come in the order of completion, with ``in_order`` in that of the queries.
    It is used in a ``with`` block and iterated over once. Leaving the block ends what
    is still under way. ``collect`` needs no block, and returns all outcomes, for
    frames, plots, comparisons and retries.

    Example:
        >>> queries = [StatsQuery("semicomplete.com").fields("pageviews")] * 3
        >>> with client.stats.get_many(queries) as stream:
        ...     sorted(outcome.index for outcome in stream)
        [0, 1, 2]
    """

    _stop: Stop

    def __enter__(self) -> Self:
        self._schedule.begin()
        self._stop = Stop()
        self._stopped = self._runner.stopped_by(self._stop)
        self._pool = ThreadPoolExecutor(self._schedule.limit, "sitestats-get-many")
        return self

    def __iter__(self) -> Iterator[OutcomeOf[FieldsT_contra]]:
        self._schedule.check_open()
        return self

    def __next__(self) -> OutcomeOf[FieldsT_contra]:
        try:
            self._next().send(None)
        except StopIteration as done:
            if done.value is None:
                raise
            outcome: OutcomeOf[FieldsT_contra] = done.value
            return outcome
        raise AssertionError("a step of a blocking client was awaited")

    def collect(self) -> Outcomes[FieldsT_contra]:
        """Return the outcomes of all queries, in the order of the queries.

        It needs no ``with`` block: it enters one, and leaves it when it returns.
        Within a block it returns the outcomes that are left.

        Raises:
            ConfigurationError: The outcomes were taken already.

        Example:
            >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages")
            >>> queries = [query.on("yesterday"), query.on("today-2d")]
            >>> outcomes = client.stats.get_many(queries).collect()
            >>> len(outcomes.to_pandas()), len(outcomes.to_pandas("pages"))
            (2, 100)
        """
        with nullcontext() if self._schedule.is_begun else self:
            self._schedule.begin_to_collect()
            return Outcomes(self, self._collect_others)

    def _begin(self, job: Job) -> None:
        # Each runs in a copy of the caller's context, as tasks do.
        self._pool.submit(contextvars.copy_context().run, self._work, job)

    def _work(self, job: Job) -> None:
        try:
            self._results.put(self._stopped.run(self._flow(job)))
        except StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again by __next__
            self._results.put(error)

    async def _next_result(self) -> Outcome | BaseException:
        while True:
            with suppress(Empty):
                return self._results.get(timeout=_POLL_SECONDS)

    def __exit__(self, *_exc_info: object) -> None:
        try:
            self._stop.stop()
            self._pool.shutdown(cancel_futures=True)
        finally:
            self._schedule.end()


class AsyncOutcomeStream(_Block["AsyncRunner"], Generic[FieldsT_contra]):
    """The outcomes of many queries, one by one as they arrive: ``get_many``.

    It is used in an ``async with`` block and iterated over once. Leaving the block
    ends what is still under way. ``await stream.collect()`` needs no block, and
    returns all outcomes, for frames, plots, comparisons and retries.

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
    _group: TaskGroup
    _arrival: anyio.Event

    async def __aenter__(self) -> Self:
        self._schedule.begin()
        self._jobs: deque[Job] = deque()
        self._idle: list[anyio.Event] = []
        self._arrival = anyio.Event()
        # A task group in a plain class: if an async generator were abandoned, the
        # garbage collector would close its cancel scope in some other task.
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    def __aiter__(self) -> AsyncIterator[OutcomeOf[FieldsT_contra]]:
        self._schedule.check_open()
        return self

    async def __anext__(self) -> OutcomeOf[FieldsT_contra]:
        outcome: OutcomeOf[FieldsT_contra] | None = await self._next()
        if outcome is None:
            raise StopAsyncIteration
        return outcome

    async def collect(self) -> AsyncOutcomes[FieldsT_contra]:
        """As ``OutcomeStream.collect``, awaited."""
        async with nullcontext() if self._schedule.is_begun else self:
            self._schedule.begin_to_collect()
            outcomes = [outcome async for outcome in self]
            return AsyncOutcomes(outcomes, self._collect_others)

    def _begin(self, job: Job) -> None:
        """Give *job* to a task that waits for one, or to a new task."""
        self._jobs.append(job)
        if self._idle:
            self._idle.pop().set()
        else:
            # A new one for each query would take a tenth of the time.
            self._group.start_soon(self._work)

    async def _work(self) -> None:
        result: Outcome | BaseException
        while True:
            while not self._jobs:
                ready = anyio.Event()
                self._idle.append(ready)
                await ready.wait()
            job = self._jobs.popleft()
            try:
                result = await self._runner.run(self._flow(job))
            except Exception as error:  # noqa: BLE001 - raised again by __anext__
                result = error
            self._results.put(result)
            self._arrival.set()
            # Nothing is kept alive during the wait for a job.
            del job, result

    async def _next_result(self) -> Outcome | BaseException:
        if not self._results.empty():
            # A loop that never awaits would let no task finish.
            await anyio.sleep(0)  # noqa: ASYNC115 - checkpoint takes another import
        while self._results.empty():
            self._arrival = anyio.Event()
            await self._arrival.wait()
        return self._results.get_nowait()

    async def __aexit__(self, *_exc_info: object) -> None:
        try:
            self._group.cancel_scope.cancel()
            # Without the caller's error, which the group would wrap.
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise _interrupt_in(group) or group from None
        finally:
            self._schedule.end()


def _interrupt_in(error: BaseException) -> BaseException | None:
    """The interrupt in *error*, if any: trio may deliver Ctrl-C in any task.

    Ctrl-C is raised as itself, not in a group of exceptions.
    """
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        return error
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return next(filter(None, map(_interrupt_in, inner)), None)
