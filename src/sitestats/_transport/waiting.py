"""Wait for sockets: blocking, or with asyncio and trio.

A stream is written once, as a generator that yields what it waits for. Its sockets
never block. ``run`` and ``run_async`` do the waiting, within the limits of the attempt.
"""

from __future__ import annotations

import math
import selectors
import socket
import time
from collections.abc import Generator, Sequence
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar, cast

import anyio
import attrs

if TYPE_CHECKING:
    from .interrupt import Stop

T = TypeVar("T")

_LONGEST: Final = 86_400.0
"""Seconds: a socket refuses to wait for some weeks."""

_Selector: type[selectors.BaseSelector] = getattr(
    # Windows has no poll, and there select takes sockets of any number.
    selectors,
    "PollSelector",
    selectors.SelectSelector,
)


@attrs.frozen
class Ready:
    """Wait until at least one of the sockets is ready; the outcome are those.

    It is none of them when that took too long.
    """

    sockets: Sequence[socket.socket]
    events: int
    """``EVENT_READ`` or ``EVENT_WRITE`` of ``selectors``, or both."""
    seconds: float = math.inf
    """How long it takes at most, where the timeout is longer."""


Waiting: TypeAlias = Generator[Ready, Any, T]
"""A generator that yields what it waits for, and returns a value."""


class SilenceError(Exception):
    """One wait took longer than the timeout; the argument says what it was for."""

    step = "tcp"
    """The step of connecting that it was part of."""

    def within(self, step: str) -> Self:
        """This error, as one of another *step*."""
        self.step = step
        return self


class OutOfTimeError(Exception):
    """The time for the whole call is up."""


# --- blocking ---------------------------------------------------------------------


def run(
    waiting: Waiting[T], *, until: float, timeout: float, stop: Stop | None = None
) -> T:
    """Run *waiting* to its end, blocking.

    Args:
        waiting: What to run.
        until: What the monotonic clock shows when it must have ended.
        timeout: Seconds for each wait.
        stop: What another thread may end it by.

    Raises:
        OutOfTimeError: The clock shows *until*.
        StoppedError: Another thread ended it.
    """
    ready: list[socket.socket] | None = None
    try:
        if stop is not None:
            stop.check()
        while True:
            step = waiting.send(ready)
            left = until - time.monotonic()
            if left <= 0:
                raise OutOfTimeError
            ready = _select(step, min(timeout, step.seconds, left, _LONGEST), stop)
    except StopIteration as done:
        return cast("T", done.value)
    finally:
        waiting.close()


def _select(step: Ready, seconds: float, stop: Stop | None) -> list[socket.socket]:
    with _Selector() as selector:
        for sock in step.sockets:
            selector.register(sock, step.events)
        if stop is not None:
            selector.register(stop.wakes, EVENT_READ)
        ready = [key.fileobj for key, _ in selector.select(seconds)]
    if stop is not None:
        stop.check()
    return cast("list[socket.socket]", ready)


# --- asyncio and trio -------------------------------------------------------------


async def run_async(
    waiting: Waiting[T],
    *,
    timeout: float,  # noqa: ASYNC109 - for each wait
) -> T:
    """The same, awaited; the time for the whole is a cancel scope of the caller's."""
    ready: Sequence[socket.socket] | None = None
    try:
        while True:
            step = waiting.send(ready)
            ready = ()
            with anyio.move_on_after(min(timeout, step.seconds)):
                ready = await _ready(step)
    except StopIteration as done:
        return cast("T", done.value)
    finally:
        waiting.close()


async def _ready(step: Ready) -> Sequence[socket.socket]:
    if step.events == EVENT_READ:
        # Of those that are to be read there is only one.
        (sock,) = step.sockets
        await anyio.wait_readable(sock)
        return (sock,)
    waits = [(anyio.wait_writable, sock) for sock in step.sockets]
    if step.events & EVENT_READ:
        waits += [(anyio.wait_readable, sock) for sock in step.sockets]
    ready: list[socket.socket] = []

    async def wait_for(wait: Any, sock: socket.socket) -> None:
        await wait(sock)
        ready.append(sock)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for wait, sock in waits:
            group.start_soon(wait_for, wait, sock)
    # One may be ready for both.
    return [*dict.fromkeys(ready)]
