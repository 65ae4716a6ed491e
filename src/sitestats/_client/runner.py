"""Run sans-I/O flows: send, sleep, read the clock and log, blocking or awaited; and
end from one thread what others wait for.

It is written once, with ``async``: what ``Runner.run`` runs only blocks.

The logger ``sitestats`` gets records of attempts, retries and pauses. A
record holds a method, a path, a status and times: never a header, and never the value
of a parameter.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from inspect import isawaitable, isbuiltin
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from sitestats._base.errors import SiteStatsError
from sitestats._protocol.flow import (
    LookUp,
    Moment,
    Note,
    Now,
    Pausing,
    Retrying,
    Send,
    Sleep,
    StoreResponse,
)

from .family import Part, closed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator

    from sitestats._protocol.flow import Flow
    from sitestats._protocol.session import Session
    from sitestats._store.stored_responses import StoredResponses
    from sitestats._wire.messages import HttpResponse

T = TypeVar("T")
Observer: TypeAlias = "Callable[[object], Awaitable[None] | None]"
"""Is called with what a flow notes, and awaited where it is asynchronous."""
OtherAction: TypeAlias = "Now | Sleep | Note | LookUp | StoreResponse"
"""The actions that send nothing."""

LOGGER: Final = logging.getLogger("sitestats")


def _log(
    level: int, text: str, about: Send | Retrying, cause: int | str, **measured: float
) -> None:
    request, attempt = about.request, about.attempt
    extra = {
        "method": request.method,
        "path": request.path,
        "attempt": attempt,
        "status": cause if isinstance(cause, int) else None,
        "error": cause if isinstance(cause, str) else None,
    }
    # The repr of a request has the values of its parameters, which some tools send on.
    values = str(request), attempt, cause, *measured.values()
    LOGGER.log(level, text, *values, extra=extra | measured)


class StoppedError(BaseException):
    """Another thread has stopped this one.

    Not an ``Exception``, so that nothing takes it for a failure to retry.
    """


class Stop:
    """Shared by threads that another thread may stop, once and for all."""

    def __init__(self) -> None:
        self._is_stopped = False
        self._ends: set[Callable[[], object]] = set()

    def stop(self) -> None:
        """End the calls under way, and let no other call begin."""
        self._is_stopped = True
        # A call that begins now sees the flag, and a call that is over ignores its end.
        for end in self._ends.copy():
            end()

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Generator[None]:
        """Have a stop call *end*, which makes the block fail.

        Raises:
            StoppedError: Another thread stopped it, now or before.
        """
        self._ends.add(end)
        try:
            self._check()
            yield
        except Exception:
            self._check()
            raise
        finally:
            self._ends.discard(end)

    def sleep(self, seconds: float) -> None:
        """Wait for *seconds*.

        Raises:
            StoppedError: It was stopped before that.
        """
        # All of it is in C: Ctrl-C can come within a threading.Event, which then keeps
        # its lock for ever.
        stopped = SimpleQueue[None]()
        with self.ending(partial(stopped.put, None)), suppress(Empty):
            stopped.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        self._check()

    def _check(self) -> None:
        if self._is_stopped:
            raise StoppedError


class _Runner:
    """What both runners have in common."""

    _stop: Stop | None = None

    def __init__(self, session: Session, sender: Any, part: Part) -> None:
        self.session = session
        self._part = part
        self.settings = settings = session.settings
        self._send: Callable[..., Awaitable[HttpResponse]] = sender.send
        self.run_blocking: Callable[..., Any] = sender.run_blocking
        self.redact: Callable[[str], str] = sender.redact
        self.clock: Callable[[], float] | None = sender.clock
        """The clock of an emulator; None for this machine's."""
        self._stored: StoredResponses | None = None
        if settings.store is not None:
            # Few programs have a store.
            from sitestats._store.stored_responses import StoredResponses

            self._stored = StoredResponses(settings.store, settings)

    async def run_actions(self, flow: Flow[T], on_note: Observer | None = None) -> T:
        """Run the actions of *flow*; the value is what it returns.

        *on_note* is called with what is noted. An error of this package from an action
        is raised in the flow, any other one ends it.
        """
        outcome: Any = None
        error: SiteStatsError | None = None
        try:
            while True:
                # Only the flow is here: a transport's StopIteration is not a result.
                try:
                    action = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as done:
                    result: T = done.value
                    return result
                outcome = error = None
                began = time.perf_counter()
                try:
                    if not self._part.is_open and isinstance(action, (Send, LookUp)):
                        raise closed()
                    if isinstance(action, Send):
                        timeout = self.settings.timeout
                        outcome = await self._send(
                            action.request, until=action.until, timeout=timeout
                        )
                    else:
                        outcome = await self._run_action(action, on_note)
                except SiteStatsError as failure:
                    error = failure
                if isinstance(action, Send) and LOGGER.isEnabledFor(logging.DEBUG):
                    cause = outcome.status if error is None else type(error).__name__
                    milliseconds = round((time.perf_counter() - began) * 1_000, 3)
                    text = "%s: attempt %d got %s after %.0f ms"
                    _log(logging.DEBUG, text, action, cause, milliseconds=milliseconds)
        finally:
            # Break the reference cycle of the error, its traceback and this frame.
            error = None
            flow.close()

    async def _run_action(self, action: OtherAction, on_note: Observer | None) -> Any:
        match action:
            case Now():
                clock = self.clock or time.time
                return Moment(time.monotonic(), clock())
            case Sleep(seconds):
                await self._sleep(seconds)
            case Note(content):
                if isinstance(content, Retrying):
                    what = "retried in %.3g s"
                    if isinstance(content, Pausing):
                        what = "a pause of %.3g s for all that it concerns"
                    text = f"%s: attempt %d got %s, {what}"
                    cause, seconds = content.cause, content.seconds
                    _log(logging.INFO, text, content, cause, seconds=seconds)
                if on_note is not None and isawaitable(noting := on_note(content)):
                    await noting
            case LookUp() | StoreResponse():
                return await self._use_store(action)
        return None

    async def _sleep(self, seconds: float) -> None:
        (self._stop or time).sleep(seconds)

    async def _use_store(self, action: LookUp | StoreResponse) -> HttpResponse | None:
        assert self._stored is not None, "only a client with a store has such an action"
        if isinstance(action, LookUp):
            return await self._stored.look_up(action.parameters, action.clock)
        stored = action.parameters, action.response, action.stats, action.clock
        await self._stored.store(*stored)
        return None


class Runner(_Runner):
    """Runs flows, blocking."""

    def run(self, flow: Flow[T], on_note: Observer | None = None) -> T:
        """Run *flow*, whose actions block."""
        result: T = self.run_blocking(self.run_actions(flow, on_note))
        return result

    def stopped_by(self, stop: Stop) -> Runner:
        """A runner for other threads, which *stop* ends."""
        runner = copy(self)
        runner._send = partial(self._send, ending=stop.ending)  # noqa: SLF001 - of this class
        runner._stop = stop  # noqa: SLF001 - as above
        return runner


class AsyncRunner(_Runner):
    """Runs flows, awaiting."""

    def run(
        self, flow: Flow[T], on_note: Observer | None = None
    ) -> Coroutine[Any, Any, T]:
        """Run *flow*, whose actions are awaited."""
        return self.run_actions(flow, on_note)

    async def _sleep(self, seconds: float) -> None:
        if isbuiltin(time.monotonic):
            await anyio.sleep(seconds)
        else:
            # A test has stopped the clock, by which an event loop waits as well.
            sleep = partial(time.sleep, seconds)
            await anyio.to_thread.run_sync(sleep, abandon_on_cancel=True)

    async def _use_store(self, action: LookUp | StoreResponse) -> HttpResponse | None:
        stored, use = self._stored, super()._use_store
        assert stored is not None, "only a client with a store has such an action"
        # Another process may have the file, and all of the loop's threads may be in
        # use, so there are two limits.
        seconds = min(2.0, self.settings.total_timeout / 4)
        with anyio.move_on_after(seconds):
            if stored.is_awaited:
                return await use(action)
            try:
                return await anyio.to_thread.run_sync(
                    lambda: self.run_blocking(use(action)), abandon_on_cancel=True
                )
            except RuntimeError:
                # The system refuses a further thread.
                return await use(action)
        stored.rest(f"it did not respond within {seconds:g} s")
        return None
