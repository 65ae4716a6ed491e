"""What runs the queries of a ``get_many`` block: threads, or tasks of an event loop.

The tasks belong to the event loop, and to no task of the user's. So a block can be left
in another task than it was entered in, as an async generator is that its user left
early: Python has another task close it. No cancel scope is open while the user's code
runs.

Workers do not know the block, so that a block which nobody left can be collected, and
ends them.
"""

from __future__ import annotations

import contextvars
import os
from abc import abstractmethod
from collections import deque
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

import anyio
import attrs

from sitestats._base.errors import UnexpectedError, UsageError
from sitestats._base.loops import call_soon, running_loop, start_task
from sitestats._protocol import operations
from sitestats._query.builder import StatsQuery
from sitestats._results.outcomes import Failed

from .runner import AsyncRunner, Runner, Stop

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from sitestats._protocol.flow import Deadline
    from sitestats._results.outcomes import Outcome

RunnerT = TypeVar("RunnerT", bound=Runner | AsyncRunner)

Job: TypeAlias = tuple[StatsQuery, int]
"""A query and its index."""
Result: TypeAlias = "Outcome | BaseException"
"""The outcome of a query, or what is raised where the outcomes are used."""

_NAME: Final = "sitestats-get-many"
"""The name of threads and tasks, for whoever lists them."""
_END: Final = object()
"""Marks the end of all threads' queries."""
_POLL_SECONDS: Final = 0.5
"""On Windows a thread that waits for a queue does not see Ctrl-C."""


class Workers(Generic[RunnerT]):
    """Run queries, some at a time. In threads actions block, and are never awaited."""

    def __init__(self, runner: RunnerT, deadline: Deadline, *, fresh: bool) -> None:
        self._runner = runner
        self._deadline = deadline
        self._fresh = fresh
        self._results = SimpleQueue[Result]()
        self._under_way = 0
        self._process = os.getpid()

    @property
    def has_results(self) -> bool:
        """Whether a result can be taken at once."""
        return not self._results.empty()

    @property
    def is_of_this_process(self) -> bool:
        """Whether they run here: a forked child has no thread and no task of its
        parent.
        """
        return self._process == os.getpid()

    def begin(self, job: Job) -> None:
        """Have a worker run *job*, a new one where all are busy."""
        self._under_way += 1
        self._give(job)

    async def next_result(self) -> Result:
        """Wait for a result.

        Raises:
            UsageError: This is a forked child, and its parent gets them.
        """
        if not self.is_of_this_process:
            raise UsageError(
                "this get_many block was entered before the process was forked, and "
                "its outcomes arrive in the parent: call get_many in the child"
            )
        result = await self._wait_for_result()
        self._under_way -= 1
        return result

    @abstractmethod
    def abandon(self) -> None:
        """End all workers, from any thread, and wait for none."""

    @abstractmethod
    def _give(self, job: Job) -> None:
        """Give *job* to a worker."""

    @abstractmethod
    async def _wait_for_result(self) -> Result:
        """Wait for a result in this process."""

    def _sent(self, job: Job) -> Coroutine[Any, Any, Outcome]:
        """Send a query. It raises only what a hook of the user's raised, or an end."""
        session = self._runner.session
        flow = operations.get_outcome(session, *job, self._deadline, fresh=self._fresh)
        return self._runner.run_actions(flow)

    def _failed(self, job: Job, error: BaseException | None) -> Failed:
        """The outcome of a query that something else than this package ended: *error*,
        or None where its task never began.
        """
        return Failed(*job, UnexpectedError.by(error, self._runner.redact))


# --- threads ----------------------------------------------------------------------


class Threads(Workers[Runner]):
    """Threads, each of which runs one query after another.

    The system may refuse a thread, at a limit of a container or at the interpreter's
    end. Then there are fewer, and without any the caller's own thread runs the queries.
    """

    def __init__(self, runner: Runner, deadline: Deadline, *, fresh: bool) -> None:
        self._stop = Stop()
        super().__init__(runner.stopped_by(self._stop), deadline, fresh=fresh)
        self._jobs = SimpleQueue[Any]()
        self._threads = list[Thread]()

    def _give(self, job: Job) -> None:
        # Each runs in a copy of the caller's context, as tasks do.
        self._jobs.put((contextvars.copy_context(), job))
        if len(self._threads) < self._under_way:
            # The thread is a daemon, so that a program can end while a block is open.
            thread = Thread(target=self._work, name=_NAME, daemon=True)
            self._threads.append(thread)
            try:
                thread.start()
            except RuntimeError:
                self._threads.remove(thread)

    def _work(self) -> None:
        for context, job in iter(self._jobs.get, _END):
            context.run(self._run, job)
            # Nothing is kept alive during the wait for a query.
            del context, job
        # This is for the next thread.
        self._jobs.put(_END)

    def _run(self, job: Job) -> None:
        try:
            result: Result = self._runner.run_blocking(self._sent(job))
        except Exception as error:  # noqa: BLE001 - it is the outcome of this query
            result = self._failed(job, error)
        except BaseException as error:  # noqa: BLE001 - raised where outcomes are used
            result = error
        self._results.put(result)

    async def _wait_for_result(self) -> Result:
        while True:
            if not self._threads and self._results.empty():
                context, job = self._jobs.get()
                context.run(self._run, job)
            with suppress(Empty):
                return self._results.get(timeout=_POLL_SECONDS)
            # Ctrl-C may have come before a thread began.
            self._threads = [thread for thread in self._threads if thread.is_alive()]

    def abandon(self) -> None:
        """End all threads, and wait for none: a client of the user's may hold it up."""
        if not self.is_of_this_process:
            # In a forked child a stop would shut the connections of the parent.
            return
        self._stop.stop()
        self._jobs.put(_END)


# --- tasks ------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Task:
    """A task of an event loop that runs one query after another."""

    scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    """Cancels it."""
    over: anyio.Event = attrs.field(factory=anyio.Event)
    """Tells that it is over."""


class Tasks(Workers[AsyncRunner]):
    """Tasks of an event loop, each of which runs one query after another."""

    def __init__(self, runner: AsyncRunner, deadline: Deadline, *, fresh: bool) -> None:
        super().__init__(runner, deadline, fresh=fresh)
        self._loop: Any = running_loop()
        self._jobs = deque[Job]()
        self._tasks = dict[_Task, None]()
        self._idle = dict[_Task, anyio.Event]()
        self._arrival = anyio.Event()

    def _give(self, job: Job) -> None:
        self._jobs.append(job)
        if self._idle:
            _, ready = self._idle.popitem()
            ready.set()
        else:
            # A new task for each query would take a tenth of the time.
            task = _Task()
            self._tasks[task] = None
            work, ended = partial(self._work, task), partial(self._end, task)
            start_task(self._loop, work, _NAME, ended)

    async def _work(self, task: _Task) -> None:
        with task.scope:
            while True:
                while not self._jobs:
                    ready = self._idle[task] = anyio.Event()
                    await ready.wait()
                await self._run(self._jobs.popleft())

    async def _run(self, job: Job) -> None:
        try:
            result: Result = await self._sent(job)
        except Exception as error:  # noqa: BLE001 - it is the outcome of this query
            result = self._failed(job, error)
        except GeneratorExit:
            # The event loop is gone, and with it whoever waited.
            raise
        except BaseException as error:
            is_cancelled = isinstance(error, anyio.get_cancelled_exc_class())
            self._put(self._failed(job, error) if is_cancelled else error)
            raise
        self._put(result)

    def _end(self, task: _Task) -> None:
        self._idle.pop(task, None)
        del self._tasks[task]
        task.over.set()
        if not self._tasks:
            # What ended the last task, and not by a stop, leaves nobody to run these.
            for job in self._jobs:
                self._put(self._failed(job, None))
            self._jobs.clear()

    def _put(self, result: Result) -> None:
        self._results.put(result)
        self._arrival.set()

    async def _wait_for_result(self) -> Result:
        if not self._results.empty():
            # A loop that never awaits would let no task finish.
            await anyio.sleep(0)  # noqa: ASYNC115 - checkpoint takes another import
        while self._results.empty():
            self._arrival = anyio.Event()
            await self._arrival.wait()
        return self._results.get_nowait()

    async def stop(self) -> None:
        """End all tasks, and wait for their end."""
        if not self._runs_here():
            self.abandon()
            return
        self._cancel()
        with anyio.CancelScope(shield=True):
            for task in [*self._tasks]:
                await task.over.wait()

    def abandon(self) -> None:
        """End all tasks, and wait for none."""
        if self.is_of_this_process:
            call_soon(self._loop, self._cancel)

    def _cancel(self) -> None:
        for task in self._tasks:
            task.scope.cancel()

    def _runs_here(self) -> bool:
        """Whether the event loop of the tasks runs this code."""
        try:
            return self.is_of_this_process and running_loop() is self._loop
        except RuntimeError:
            return False
