"""Wait for sockets: blocking, or with asyncio and trio.

A stream is written once, as a generator that yields what it waits for. Its sockets
never block. ``run`` and ``run_async`` do the waiting, within the limits of the attempt.
"""

from __future__ import annotations

import math
import select
import socket
import time
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import anyio
import attrs

if TYPE_CHECKING:
    from .interrupt import Stop

T = TypeVar("T")

_LONGEST: Final = 86_400.0
"""Seconds: a socket refuses to wait for some weeks."""


@attrs.frozen
class Ready:
    """Wait until at least one of the sockets is ready; the outcome are those."""

    sockets: Sequence[socket.socket]
    what: str
    """What was waited for, as the beginning of an error's text."""
    seconds: float | None = None
    """After so many seconds none is the outcome, instead of an error."""
    to_read: bool = False
    to_write: bool = False


Waiting: TypeAlias = Generator[Ready, Any, T]
"""A generator that yields what it waits for, and returns a value."""


class SilenceError(Exception):
    """One wait took longer than the timeout; the argument says what it was for."""


class OutOfTimeError(Exception):
    """The time for the whole call is up."""


def _over(what: str, until: float) -> Exception:
    """Why a wait for *what* ended."""
    return OutOfTimeError() if time.monotonic() >= until else SilenceError(what)


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
        SilenceError: A wait took longer than *timeout*.
        OutOfTimeError: The clock shows *until*.
        StoppedError: Another thread ended it.
    """
    outcome: object = None
    error: Exception | None = None
    try:
        if stop is not None:
            stop.check()
        while True:
            try:
                step = waiting.send(outcome) if error is None else waiting.throw(error)
            except StopIteration as done:
                return cast("T", done.value)
            left = until - time.monotonic()
            if left <= 0:
                raise OutOfTimeError
            seconds = min(timeout, left, _LONGEST)
            if step.seconds is not None:
                seconds = min(seconds, step.seconds)
            outcome = _poll(step, seconds, stop)
            is_over = not outcome and step.seconds is None
            error = _over(step.what, until) if is_over else None
    finally:
        # Its traceback has this frame: without the cycle it is freed at once.
        error = None
        waiting.close()


def _poll(step: Ready, seconds: float, stop: Stop | None) -> list[socket.socket]:
    if not hasattr(select, "poll"):
        return _select(step, seconds, stop)
    poll = select.poll()
    for sock in step.sockets:
        poll.register(
            sock, select.POLLIN * step.to_read | select.POLLOUT * step.to_write
        )
    if stop is not None:
        poll.register(stop.wakes, select.POLLIN)
    ready = {number for number, _ in poll.poll(math.ceil(seconds * 1000))}
    if stop is not None:
        stop.check()
    return [sock for sock in step.sockets if sock.fileno() in ready]


def _select(step: Ready, seconds: float, stop: Stop | None) -> list[socket.socket]:
    # Windows has no poll, and there select takes sockets of any number.
    writing = [*step.sockets] if step.to_write else []
    reading = [*step.sockets] if step.to_read else []
    reading += [] if stop is None else [stop.wakes]
    # A failed connection is reported as an exceptional condition there.
    found = select.select(reading, writing, writing, seconds)
    if stop is not None:
        stop.check()
    return [sock for sock in step.sockets if any(sock in part for part in found)]


# --- asyncio and trio -------------------------------------------------------------


async def run_async(
    waiting: Waiting[T],
    *,
    until: float,
    timeout: float,  # noqa: ASYNC109 - for each wait
) -> T:
    """The same, awaited, within a cancel scope of the caller's that ends at *until*."""
    outcome: object = None
    error: Exception | None = None
    try:
        while True:
            try:
                step = waiting.send(outcome) if error is None else waiting.throw(error)
            except StopIteration as done:
                return cast("T", done.value)
            seconds = timeout if step.seconds is None else min(timeout, step.seconds)
            outcome = ()
            with anyio.move_on_after(seconds):
                outcome = await _ready(step)
            is_over = not outcome and step.seconds is None
            error = _over(step.what, until) if is_over else None
    finally:
        error = None
        waiting.close()


async def _ready(step: Ready) -> Sequence[socket.socket]:
    functions = [anyio.wait_readable] * step.to_read
    functions += [anyio.wait_writable] * step.to_write
    waits = [(function, sock) for function in functions for sock in step.sockets]
    if len(waits) == 1:
        await functions[0](step.sockets[0])
        return step.sockets
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
