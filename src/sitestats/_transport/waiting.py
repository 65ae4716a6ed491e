"""Wait for sockets: blocking, or with asyncio and trio.

A stream is written once, as a generator that yields what it waits for. Its sockets
never block. ``run`` and ``run_async`` do the waiting, within the limits of the attempt,
and fail as httpcore's own backends do.
"""

from __future__ import annotations

import math
import selectors
import socket
import time
from collections.abc import Generator, Sequence
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import anyio
import attrs
import httpcore

if TYPE_CHECKING:
    from .interrupt import Stop

T = TypeVar("T")

_LONGEST: Final = 86_400.0
"""The most seconds of one wait: a socket refuses to wait for some weeks."""

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


Limits: TypeAlias = "tuple[float, Stop | None]"
"""What the monotonic clock shows when a call must have ended, and what another thread
may end it by."""
NO_LIMITS: Final[Limits] = (math.inf, None)


class NoConnectionError(httpcore.ConnectTimeout):
    """A *step* of connecting took longer than the timeout."""

    def __init__(self, step: str, text: str = "no connection to") -> None:
        super().__init__(text)
        self.step = step


class OutOfTimeError(Exception):
    """The time for the whole call is up."""


# --- blocking ---------------------------------------------------------------------


def run(
    waiting: Waiting[T],
    limits: Limits,
    timeout: float | None,
    failure: type[httpcore.NetworkError],
) -> T:
    """Run *waiting* to its end, blocking.

    Args:
        waiting: What to run.
        limits: Those of the call.
        timeout: Seconds for each wait.
        failure: What an error of the system becomes.

    Raises:
        OutOfTimeError: The time of the call is up.
        StoppedError: Another thread ended it.
    """
    ready: list[socket.socket] | None = None
    until, stop = limits
    try:
        if stop is not None:
            stop.check()
        while True:
            step = waiting.send(ready)
            # However much arrives.
            left = until - time.monotonic()
            if left <= 0:
                raise OutOfTimeError
            seconds = min(_LONGEST if timeout is None else timeout, step.seconds, left)
            ready = _select(step, min(seconds, _LONGEST), stop)
    except StopIteration as done:
        return cast("T", done.value)
    except OSError as error:
        raise failure(str(error)) from error
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
    _limits: Limits,
    timeout: float | None,  # noqa: ASYNC109 - for each wait
    failure: type[httpcore.NetworkError],
) -> T:
    """The same, awaited; the time of the call is a cancel scope of the caller's."""
    ready: Sequence[socket.socket] | None = None
    try:
        while True:
            step = waiting.send(ready)
            ready = ()
            seconds = math.inf if timeout is None else timeout
            with anyio.move_on_after(min(seconds, step.seconds)):
                ready = await _ready(step)
    except StopIteration as done:
        return cast("T", done.value)
    except OSError as error:
        raise failure(str(error)) from error
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
