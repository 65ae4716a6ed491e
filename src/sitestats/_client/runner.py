"""Run sans-I/O flows: send, sleep and read the clock, sync or async."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeAlias, TypeVar

import anyio
import attrs

from sitestats._common.errors import SiteStatsError
from sitestats._common.settings import credentials_from
from sitestats._protocol.flow import (
    LookUp,
    Moment,
    Note,
    Now,
    Send,
    Sleep,
    StoreResponse,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from logging import Logger

    from sitestats._common.settings import Settings
    from sitestats._common.wire import HttpRequest, HttpResponse
    from sitestats._protocol.flow import Flow, Step, StepResult
    from sitestats._store.stored_responses import StoredResponses
    from sitestats._transport.sender import AsyncSender, Sender
    from sitestats._transport.stop import Stop

T = TypeVar("T")
P = ParamSpec("P")
Operation: TypeAlias = "Callable[Concatenate[Settings, P], Flow[T]]"
"""A function of ``operations``: a flow for the settings of a client."""
Observer: TypeAlias = "Callable[[object], None]"
"""Is called with the events of a flow's notes."""
AsyncObserver: TypeAlias = "Callable[[object], Awaitable[None]]"
"""Is called with the events of a flow's notes."""

_UNAUTHORIZED: Final = 401
_DEBUG: Final = 10
_INFO: Final = 20
_LOGGER: Final[list[Logger]] = []
"""The logger, once it was needed: whoever has no client need not load logging."""


def _logs(level: int) -> bool:
    if not _LOGGER:
        from .log import LOGGER

        _LOGGER.append(LOGGER)
    return _LOGGER[0].isEnabledFor(level)


def _log(event: object) -> None:
    if _logs(_INFO):
        from .log import log_event

        log_event(event)


def _naming_credentials(
    response: HttpResponse, request: HttpRequest, settings: Settings
) -> HttpResponse:
    """*response*, a 401, with where the credentials of *request* are from."""
    found = credentials_from(settings, request.credentials)
    return attrs.evolve(response, credentials_from=found)


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

    def call(self, operation: Operation[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run *operation* with the settings of the client."""
        return self.run(operation(self.settings, *args, **options))

    def run(self, flow: Flow[T], on_note: Observer | None = None) -> T:
        """Run the steps of *flow*; the value is what it returns.

        *on_note* is called with the events of notes. An error of this package
        from a step is raised in the flow, any other one ends it.
        """
        outcome: StepResult = None
        error: SiteStatsError | None = None
        try:
            while True:
                # Around the flow alone: a StopIteration from a transport is no
                # result.
                try:
                    step = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as done:
                    result: T = done.value
                    return result
                error = None
                try:
                    outcome = self._run_step(step, on_note)
                except SiteStatsError as failure:
                    outcome, error = None, failure
        finally:
            # Break the reference cycle of the error, its traceback and this
            # frame.
            error = None
            flow.close()

    def _run_step(self, step: Step, on_note: Observer | None) -> StepResult:
        match step:
            case Send():
                if not _logs(_DEBUG):
                    return self._send(step)
                from .log import logged_attempt

                with logged_attempt(step) as responses:
                    responses.append(self._send(step))
                return responses[-1]
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                if self._stop is None:
                    time.sleep(seconds)
                else:
                    self._stop.sleep(seconds)
            case Note(event):
                _log(event)
                if on_note is not None:
                    on_note(event)
            case LookUp() | StoreResponse():
                return _use_store(self._stored, step)
        return None

    def _send(self, step: Send) -> HttpResponse:
        response = self._sender.send(
            step.request,
            until=step.until,
            timeout=self.settings.timeout,
            stop=self._stop,
        )
        if response.status == _UNAUTHORIZED:
            return _naming_credentials(response, step.request, self.settings)
        return response


@attrs.frozen(eq=False)
class AsyncRunner:
    """Runs flows, awaiting."""

    settings: Settings
    _sender: AsyncSender
    _stored: StoredResponses | None = None

    async def call(
        self, operation: Operation[P, T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Run *operation* with the settings of the client."""
        return await self.run(operation(self.settings, *args, **options))

    async def run(self, flow: Flow[T], on_note: AsyncObserver | None = None) -> T:
        """Run the steps of *flow*; the value is what it returns.

        *on_note* is called with the events of notes. An error of this package
        from a step is raised in the flow, any other one ends it.
        """
        outcome: StepResult = None
        error: SiteStatsError | None = None
        try:
            while True:
                # Around the flow alone: a StopIteration from a transport is no
                # result.
                try:
                    step = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as done:
                    result: T = done.value
                    return result
                error = None
                try:
                    outcome = await self._run_step(step, on_note)
                except SiteStatsError as failure:
                    outcome, error = None, failure
        finally:
            # Break the reference cycle of the error, its traceback and this
            # frame.
            error = None
            flow.close()

    async def _run_step(self, step: Step, on_note: AsyncObserver | None) -> StepResult:
        match step:
            case Send():
                if not _logs(_DEBUG):
                    return await self._send(step)
                from .log import logged_attempt

                with logged_attempt(step) as responses:
                    responses.append(await self._send(step))
                return responses[-1]
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                await anyio.sleep(seconds)
            case Note(event):
                _log(event)
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

    async def _send(self, step: Send) -> HttpResponse:
        response = await self._sender.send(
            step.request, until=step.until, timeout=self.settings.timeout
        )
        if response.status == _UNAUTHORIZED:
            return _naming_credentials(response, step.request, self.settings)
        return response
