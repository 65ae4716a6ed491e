"""Run sans-I/O flows: send, sleep, read the clock and log, blocking or awaited.

Log records of attempts, retries and pauses are those of the logger ``sitestats``. A
record holds a method, a path, a status and times: never a header, and never the value
of a parameter.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import attrs

from sitestats._common.errors import SiteStatsError
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
    from collections.abc import Awaitable, Callable

    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse
    from sitestats._protocol.flow import Flow, StepResult
    from sitestats._store.stored_responses import StoredResponses
    from sitestats._transport.sender import AsyncSender, Sender
    from sitestats._transport.stop import Stop

T = TypeVar("T")
Observer: TypeAlias = "Callable[[object], None]"
"""Is called with the events of a flow's notes."""
AsyncObserver: TypeAlias = "Callable[[object], Awaitable[None]]"
"""Is called with the events of a flow's notes."""

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
    if isinstance(event, (Retrying, Pausing)):
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


def _use_store(
    stored: StoredResponses | None, step: LookUp | StoreResponse
) -> HttpResponse | None:
    assert stored is not None, "only a client with a store has such a step"
    if isinstance(step, LookUp):
        return stored.look_up(step.requested, step.clock)
    stored.store(step.requested, step.response, step.stats, step.clock)
    return None


@attrs.frozen(eq=False)
class Runner:
    """Runs flows, blocking."""

    settings: Settings
    _sender: Sender
    _stored: StoredResponses | None = None
    _stop: Stop | None = None

    def stopped_by(self, stop: Stop) -> Runner:
        """A runner for other threads, which *stop* ends."""
        return attrs.evolve(self, stop=stop)

    def run(self, flow: Flow[T], on_note: Observer | None = None) -> T:
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
                error = None
                try:
                    outcome = (
                        self._send(step)
                        if isinstance(step, Send)
                        else self._run_step(step, on_note)
                    )
                except SiteStatsError as failure:
                    outcome, error = None, failure
        finally:
            # Break the reference cycle of the error, its traceback and this frame.
            error = None
            flow.close()

    def _send(self, step: Send) -> HttpResponse:
        started = time.perf_counter()
        cause: int | str = ""
        try:
            response = self._sender.send(
                step.request,
                until=step.until,
                timeout=self.settings.timeout,
                stop=self._stop,
            )
            cause = response.status
        except BaseException as error:
            cause = type(error).__name__
            raise
        finally:
            if LOGGER.isEnabledFor(logging.DEBUG):
                _log_attempt(step, cause, time.perf_counter() - started)
        return response

    def _run_step(self, step: Others, on_note: Observer | None) -> StepResult:
        match step:
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                if self._stop is None:
                    time.sleep(seconds)
                else:
                    self._stop.sleep(seconds)
            case Note(event):
                _log_note(event)
                if on_note is not None:
                    on_note(event)
            case LookUp() | StoreResponse():
                return _use_store(self._stored, step)
        return None


@attrs.frozen(eq=False)
class AsyncRunner:
    """Runs flows, awaiting."""

    settings: Settings
    _sender: AsyncSender
    _stored: StoredResponses | None = None

    async def run(self, flow: Flow[T], on_note: AsyncObserver | None = None) -> T:
        """As ``Runner.run``, awaited."""
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
                error = None
                try:
                    outcome = await (
                        self._send(step)
                        if isinstance(step, Send)
                        else self._run_step(step, on_note)
                    )
                except SiteStatsError as failure:
                    outcome, error = None, failure
        finally:
            # Break the reference cycle of the error, its traceback and this frame.
            error = None
            flow.close()

    async def _send(self, step: Send) -> HttpResponse:
        started = time.perf_counter()
        cause: int | str = ""
        try:
            response = await self._sender.send(
                step.request,
                until=step.until,
                timeout=self.settings.timeout,
            )
            cause = response.status
        except BaseException as error:
            cause = type(error).__name__
            raise
        finally:
            if LOGGER.isEnabledFor(logging.DEBUG):
                _log_attempt(step, cause, time.perf_counter() - started)
        return response

    async def _run_step(
        self, step: Others, on_note: AsyncObserver | None
    ) -> StepResult:
        match step:
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                await anyio.sleep(seconds)
            case Note(event):
                _log_note(event)
                if on_note is not None:
                    await on_note(event)
            case LookUp() | StoreResponse():
                # In a thread, since another process may have the file for a moment. All
                # of the loop's threads may be in use, so there are two limits.
                with anyio.move_on_after(2 * step.seconds):
                    return await anyio.to_thread.run_sync(
                        _use_store, self._stored, step, abandon_on_cancel=True
                    )
        return None
