"""Run sans-I/O flows: send, sleep, read the clock and log, blocking or awaited.

It is written once, with ``async``: ``Runner.run`` takes a coroutine that only blocks.

Log records of attempts, retries and pauses are those of the logger ``sitestats``. A
record holds a method, a path, a status and times: never a header, and never the value
of a parameter.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Coroutine
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import anyio
import anyio.to_thread

from sitestats._common.errors import SiteStatsError
from sitestats._common.wire import HttpResponse
from sitestats._protocol.flow import (
    LookUp,
    Moment,
    Note,
    Now,
    Send,
    Sleep,
    StoreResponse,
)
from sitestats._protocol.retry import Pausing, Retrying

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest
    from sitestats._protocol.flow import Flow, StepResult
    from sitestats._store.stored_responses import StoredResponses
    from sitestats._transport.stop import Stop

T = TypeVar("T")
Observer: TypeAlias = "Callable[[object], Awaitable[None] | None]"
"""Is called with the events of a flow's notes, and awaited where it is asynchronous."""
Others: TypeAlias = "Now | Sleep | Note | LookUp | StoreResponse"
"""The steps that send nothing."""

LOGGER: Final = logging.getLogger("sitestats")
_MESSAGES: Final = {
    Retrying: "%s: attempt %d got %s, retried in %.3g s",
    Pausing: "%s: attempt %d got %s, a pause of %.3g s for all that it concerns",
}


def _log_attempt(step: Send, cause: int | str, seconds: float) -> None:
    milliseconds = round(seconds * 1_000, 3)
    request, attempt = step.request, step.attempt
    LOGGER.debug(
        "%s: attempt %d got %s after %.0f ms",
        *(request, attempt, cause, milliseconds),
        extra=_fields(request, attempt, cause) | {"milliseconds": milliseconds},
    )


def _log_note(event: object) -> None:
    if isinstance(event, Retrying):
        request, attempt, cause = event.request, event.attempt, event.cause
        LOGGER.info(
            _MESSAGES[type(event)],
            *(request, attempt, cause, event.seconds),
            extra=_fields(request, attempt, cause) | {"seconds": event.seconds},
        )


def _fields(
    request: HttpRequest, attempt: int, cause: int | str
) -> dict[str, str | float | None]:
    return {
        "method": request.method,
        "path": request.path,
        "attempt": attempt,
        "status": cause if isinstance(cause, int) else None,
        "error": cause if isinstance(cause, str) else None,
    }


class _Runner:
    """What both runners have in common; what their steps call may be awaitable."""

    def __init__(
        self, settings: Settings, sender: Any, stored: StoredResponses | None = None
    ) -> None:
        self.settings = settings
        self._send: Callable[..., Any] = sender.send
        self._stored = stored

    async def run_steps(self, flow: Flow[T], on_note: Observer | None = None) -> T:
        """Run the steps of *flow*; the value is what it returns.

        *on_note* is called with the events of notes. An error of this package
        from a step is raised in the flow, any other one ends it.
        """
        outcome: StepResult = None
        error: SiteStatsError | None = None
        try:
            while True:
                # Around the flow alone: a StopIteration from a transport is no result.
                try:
                    step = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as done:
                    result: T = done.value
                    return result
                outcome = error = None
                try:
                    if isinstance(step, Send):
                        outcome = await self._run_send(step)
                    else:
                        outcome = await _value(self._run_step(step, on_note))
                except SiteStatsError as failure:
                    error = failure
        finally:
            # Break the reference cycle of the error, its traceback and this frame.
            error = None
            flow.close()

    async def _run_send(self, step: Send) -> HttpResponse:
        started = time.perf_counter()
        cause: int | str = ""
        try:
            sent: HttpResponse | Awaitable[HttpResponse] = self._send(
                step.request, until=step.until, timeout=self.settings.timeout
            )
            response = sent if isinstance(sent, HttpResponse) else await sent
            cause = response.status
        except BaseException as error:
            cause = type(error).__name__
            raise
        finally:
            if LOGGER.isEnabledFor(logging.DEBUG):
                _log_attempt(step, cause, time.perf_counter() - started)
        return response

    def _run_step(self, step: Others, on_note: Observer | None) -> Any:
        match step:
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                return self._sleep(seconds)
            case Note(event):
                _log_note(event)
                return None if on_note is None else on_note(event)
            case LookUp() | StoreResponse():
                return self._use_store(step)

    def _sleep(self, seconds: float) -> Any:
        # Each of the two runners has its own: one blocks, the other is awaited.
        raise NotImplementedError

    def _use_store(self, step: LookUp | StoreResponse) -> Any:
        assert self._stored is not None, "only a client with a store has such a step"
        if isinstance(step, LookUp):
            return self._stored.look_up(step.requested, step.clock)
        self._stored.store(step.requested, step.response, step.stats, step.clock)
        return None


async def _value(result: Any) -> Any:
    is_awaited = isinstance(result, Awaitable)
    return await cast("Awaitable[Any]", result) if is_awaited else result


class Runner(_Runner):
    """Runs flows, blocking."""

    _stop: Stop | None = None

    def run(self, flow: Flow[T], on_note: Observer | None = None) -> T:
        """Run *flow*, whose steps block."""
        try:
            self.run_steps(flow, on_note).send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        raise AssertionError("a step of a blocking client was awaited")

    def stopped_by(self, stop: Stop) -> Runner:
        """A runner for other threads, which *stop* ends."""
        runner = copy(self)
        runner._send = partial(self._send, stop=stop)  # noqa: SLF001 - of this class
        runner._stop = stop  # noqa: SLF001 - as above
        return runner

    def _sleep(self, seconds: float) -> None:
        (self._stop or time).sleep(seconds)


class AsyncRunner(_Runner):
    """Runs flows, awaiting."""

    def run(
        self, flow: Flow[T], on_note: Observer | None = None
    ) -> Coroutine[Any, Any, T]:
        """Run *flow*, whose steps are awaited."""
        return self.run_steps(flow, on_note)

    async def _sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def _use_store(self, step: LookUp | StoreResponse) -> HttpResponse | None:
        # In a thread, since another process may have the file for a moment. All
        # of the loop's threads may be in use, so there are two limits.
        with anyio.move_on_after(2 * step.seconds):
            return await anyio.to_thread.run_sync(
                super()._use_store, step, abandon_on_cancel=True
            )
        return None
