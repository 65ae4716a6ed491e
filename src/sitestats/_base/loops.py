"""The two kinds of event loops, asyncio's (or uvloop's) and trio's: which one runs, and
tasks that belong to it, and not to the task that starts them.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

Loop: TypeAlias = Any
"""An event loop of asyncio, or the token of a run of trio."""
Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_TASKS: Final = set[Any]()
"""The tasks of all loops of asyncio: a loop has only weak references to its tasks, so a
collection of garbage could end them."""


def running_loop() -> Loop:
    """The event loop that runs this code.

    Raises:
        RuntimeError: No event loop runs it.
    """
    # Blocking calls need no asyncio, which takes as long to import as httpx.
    import asyncio

    trio = sys.modules.get("trio")
    if trio is None:
        return asyncio.get_running_loop()
    # If trio runs as a guest of asyncio, its tasks are not asyncio's.
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is not None:
        return asyncio.get_running_loop()
    return trio.lowlevel.current_trio_token()


def start_task(loop: Loop, work: Work, name: str, ended: Callable[[], object]) -> None:
    """Run *work* in a task of *loop*, which runs this code.

    The task has a copy of the context. It reports what it raises itself, since nobody
    else learns of that: only what ends the whole loop is raised there.

    Args:
        loop: The event loop, from ``running_loop``.
        work: What the task awaits.
        name: The task's name.
        ended: Called when the task is over, also if it was cancelled before it began.
    """
    if hasattr(loop, "create_task"):
        task = loop.create_task(work(), name=name)
        _TASKS.add(task)

        def forget(task: Any) -> None:
            _TASKS.discard(task)
            ended()
            if not task.cancelled():
                # What nobody retrieves is logged.
                task.exception()

        task.add_done_callback(forget)
        return
    trio = sys.modules["trio"]

    async def run_quietly() -> None:
        try:
            await work()
        except trio.Cancelled:
            # The run ends.
            raise
        except BaseException:  # noqa: BLE001, S110 - work has reported it
            # Trio would end the program with a TrioInternalError.
            pass
        finally:
            ended()

    context = contextvars.copy_context()
    trio.lowlevel.spawn_system_task(run_quietly, name=name, context=context)


def call_soon(loop: Loop, call: Callable[[], object]) -> None:
    """Have *loop* call *call*, from any thread; a loop that has ended calls nothing."""
    try:
        if hasattr(loop, "call_soon_threadsafe"):
            loop.call_soon_threadsafe(call)
        else:
            loop.run_sync_soon(call)
    except RuntimeError:
        # Its tasks have ended with it.
        return
