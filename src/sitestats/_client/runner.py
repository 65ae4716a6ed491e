"""Perform the steps of a flow, blocking or awaiting: all that the clients do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import anyio

from sitestats._common.errors import SiteStatsError
from sitestats._protocol.flow import Moment, Note, Now, Send, Sleep

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sitestats._common.settings import Settings
    from sitestats._protocol.flow import Flow, Step, StepResult
    from sitestats._transport.httpx_sender import AsyncSender, Sender
    from sitestats._transport.interrupt import Stop

T = TypeVar("T")
Observer: TypeAlias = "Callable[[object], None]"
"""Is given the events of a flow's notes."""
AsyncObserver: TypeAlias = "Callable[[object], Awaitable[None]]"
"""Is given the events of a flow's notes."""


class Runner:
    """Performs what flows ask for, blocking."""

    def __init__(
        self, settings: Settings, sender: Sender, stop: Stop | None = None
    ) -> None:
        self.settings = settings
        self._sender = sender
        self._stop = stop

    def stopped_by(self, stop: Stop) -> Runner:
        """One that does the same in other threads until *stop* ends it."""
        return Runner(self.settings, self._sender, stop)

    def run(self, flow: Flow[T], on_note: Observer | None = None) -> T:
        """Perform the steps of *flow*; the value is what it returns.

        *on_note* is given what the flow lets others know. An error of this
        package that it raises is raised in the flow, any other one ends it.
        """
        outcome: StepResult = None
        error: SiteStatsError | None = None
        try:
            while True:
                # Around the flow alone: a StopIteration of a transport's own
                # must not pass for a result.
                try:
                    step = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as done:
                    result: T = done.value
                    return result
                error = None
                try:
                    outcome = self._perform(step, on_note)
                except SiteStatsError as failure:
                    outcome, error = None, failure
        finally:
            # The error's traceback has this frame: without the cycle it is
            # freed at once, and not by the next garbage collection.
            error = None
            flow.close()

    def _perform(self, step: Step, on_note: Observer | None) -> StepResult:
        match step:
            case Send(request, until):
                return self._sender.send(
                    request,
                    until=until,
                    timeout=self.settings.timeout,
                    stop=self._stop,
                )
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                if self._stop is None:
                    time.sleep(seconds)
                else:
                    self._stop.sleep(seconds)
            case Note(event):
                if on_note is not None:
                    on_note(event)
        return None


class AsyncRunner:
    """Performs what flows ask for, awaiting."""

    def __init__(self, settings: Settings, sender: AsyncSender) -> None:
        self.settings = settings
        self._sender = sender

    async def run(self, flow: Flow[T], on_note: AsyncObserver | None = None) -> T:
        """Perform the steps of *flow*; the value is what it returns.

        *on_note* is given what the flow lets others know. An error of this
        package that it raises is raised in the flow, any other one ends it.
        """
        outcome: StepResult = None
        error: SiteStatsError | None = None
        try:
            while True:
                # Around the flow alone: a StopIteration of a transport's own
                # must not pass for a result.
                try:
                    step = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as done:
                    result: T = done.value
                    return result
                error = None
                try:
                    outcome = await self._perform(step, on_note)
                except SiteStatsError as failure:
                    outcome, error = None, failure
        finally:
            # The error's traceback has this frame: without the cycle it is
            # freed at once, and not by the next garbage collection.
            error = None
            flow.close()

    async def _perform(self, step: Step, on_note: AsyncObserver | None) -> StepResult:
        match step:
            case Send(request, until):
                return await self._sender.send(
                    request, until=until, timeout=self.settings.timeout
                )
            case Now():
                return Moment(time.monotonic(), time.time())
            case Sleep(seconds):
                await anyio.sleep(seconds)
            case Note(event):
                if on_note is not None:
                    await on_note(event)
        return None
