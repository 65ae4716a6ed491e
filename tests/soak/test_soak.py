"""Many calls with one fault in ten: what a client holds does not grow.

``nox -s evidence`` makes 100,000 calls. The server is another process, so that what it
holds is not counted.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, repeat
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from both_clients import KEY, QUERY, USER, WITH_TRIO
from fault_cases import CASES, OK, ONE_RETRY
from loopback import Connection, serve
from sitestats import AsyncClient, Client, Outcome

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

CALLS = int(os.environ.get("SOAK_CALLS", "900"))
AT_ONCE = 8
FAULTS = [
    *("resets after the request", "hangs up after the request", "cuts the body"),
    *("resets within the body", "sends broken chunks", "breaks the gzip stream"),
    *("ends the gzip stream early", "sends HTML", "refuses with 200"),
    *("is silent within the body", "closes an idle connection"),
]
BLOCKS = 500
"""Memory blocks by which two measurements may differ."""


def serve_faults(pipe: Pipe) -> None:
    """Respond, every tenth time with the next fault, until the pipe is closed."""
    number = count(1)
    lock = threading.Lock()

    def script(connection: Connection) -> None:
        while connection.request():
            with lock:
                now = next(number)
            if now % 10:
                connection.send(OK)
                continue
            for step in CASES[FAULTS[now // 10 % len(FAULTS)]].attempts[0]:
                connection.send(step) if isinstance(step, bytes) else step(connection)

    with serve(script) as server:
        pipe.send(server.address)
        pipe.poll(None)


@contextmanager
def faulty_server() -> Iterator[str]:
    """The address of a server in another process."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_faults, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        process.join()


@attrs.frozen
class Held:
    """What this process holds."""

    blocks: int
    """Memory blocks that Python has allocated."""
    files: int
    threads: int
    tasks: int


def held(tasks: int = 0) -> Held:
    """Measure this process."""
    # Twice, since finalizers of the first collection may free more.
    gc.collect()
    gc.collect()
    # Python's cache of attributes grows to up to 4,096 entries.
    sys._clear_type_cache()  # noqa: SLF001 - Python's
    files = len([*Path("/proc/self/fd").iterdir()])
    return Held(sys.getallocatedblocks(), files, threading.active_count(), tasks)


@attrs.define
class Phase:
    """The calls of one client, measured before, twice meanwhile, and afterwards."""

    variant: str
    outcomes: Counter[str] = attrs.field(factory=Counter[str])
    held: list[Held] = attrs.field(factory=list[Held])

    def note(self, outcome: Outcome) -> None:
        """Count an outcome."""
        error = outcome.error
        self.outcomes["a result" if error is None else type(error).__name__] += 1


OPTIONS: dict[str, Any] = {
    "api_key": KEY,
    "user_id": USER,
    "timeout": 0.1,
    "total_timeout": 20.0,
    "retries": ONE_RETRY,
    "max_connections": AT_ONCE,
    "proxy": None,
}


def soak(variant: str, address: str, calls: int) -> Phase:
    """Make *calls* calls: the first third before what is compared."""
    phase, shares = Phase(variant), (calls // 3, calls - calls // 3)
    if variant != "blocking":
        anyio.run(soak_async, phase, address, shares, backend=variant)
        return phase
    phase.held.append(held())
    with Client(address, **OPTIONS) as client:
        for share in shares:
            queries = repeat(QUERY, share)
            with client.stats.get_many(queries, concurrency=AT_ONCE) as many:
                for outcome in many:
                    phase.note(outcome)
            # It holds the last outcome.
            del many, outcome
            # Nobody waits for the threads of a block that was left.
            until = time.monotonic() + 30
            while threading.active_count() > phase.held[0].threads:
                assert time.monotonic() < until
                time.sleep(0.01)
            phase.held.append(held())
    phase.held.append(held())
    return phase


async def soak_async(phase: Phase, address: str, shares: tuple[int, ...]) -> None:
    """The same, awaited."""
    phase.held.append(held(tasks(phase.variant)))
    async with AsyncClient(address, **OPTIONS) as client:
        for share in shares:
            queries = repeat(QUERY, share)
            async with client.stats.get_many(queries, concurrency=AT_ONCE) as many:
                async for outcome in many:
                    phase.note(outcome)
            del many, outcome
            phase.held.append(held(tasks(phase.variant)))
    # The event loop closes its sockets in one of its next iterations.
    await anyio.sleep(0.05)
    phase.held.append(held(tasks(phase.variant)))


def tasks(variant: str) -> int:
    """The tasks of the event loop."""
    if variant == "asyncio":
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living


def test_what_a_client_holds_does_not_grow() -> None:
    """After many calls it holds what it held after the first; closed, nothing."""
    # What other tests have left is not looked at in each of some fifty collections.
    gc.collect()
    gc.freeze()
    with faulty_server() as address:
        for variant in WITH_TRIO:
            # What is imported or cached at the first fault is not counted.
            soak(variant, address, 10 * len(FAULTS))
        for variant in WITH_TRIO:
            phase = soak(variant, address, CALLS // len(WITH_TRIO))
            assert phase.outcomes["a result"] > CALLS // len(WITH_TRIO) / 2
            before, early, late, closed = phase.held
            assert late.blocks <= early.blocks + BLOCKS
            # A connection that a fault has closed is opened again when it is needed.
            assert late.files <= early.files + AT_ONCE
            assert (late.threads, late.tasks) <= (early.threads, early.tasks)
            assert closed.blocks <= before.blocks + BLOCKS
            assert closed.files <= before.files
            assert (closed.threads, closed.tasks) <= (before.threads, before.tasks)
