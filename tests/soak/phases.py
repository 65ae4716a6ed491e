"""The phases of the run: each way to use a client, measured five times."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import anyio

from faults.mixture import MIXTURE
from sitestats import AsyncClient, Client, RetryPolicy, SiteStatsError, StatsQuery

from .measure import Held, held

QUERY = StatsQuery("example.com").fields("pageviews")
OPTIONS: dict[str, Any] = {
    "api_key": "sa_api_key_of_the_soak",
    "timeout": 0.5,
    "total_timeout": 20.0,
    "retries": RetryPolicy(retries=1, wait_initial=0.001, wait_max=0.002),
    "max_response_bytes": 256 * 1024,
    "proxy": None,
}
AT_ONCE = 8
"""Calls under way at the same time; as many connections may be open."""

MOMENTS = ("before", "first", "half", "end", "closed")
"""When it is measured: before the client is made, after its first calls, after
half of them and all of them, and when it is closed."""


@dataclass
class Phase:
    """What one way to use a client came to."""

    way: str
    calls: int
    held: list[Held] = field(default_factory=list[Held])
    """What the process held, at each of the moments."""
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter[str])

    def at(self, moment: str) -> Held:
        """What the process held at one of the moments."""
        return self.held[MOMENTS.index(moment)]


def run(way: str, origin: str, calls: int, first: int) -> Phase:
    """Make *calls* calls one way, and measure at each of the moments."""
    phase, half = Phase(way, calls), calls // 2
    shares = (first, half - first, calls - half)
    start = time.monotonic()
    if way in BLOCKING:
        _block(phase, origin, shares)
    else:
        _, backend = ASYNC[way]
        anyio.run(_await, phase, origin, shares, backend=backend)
    phase.seconds = time.monotonic() - start
    return phase


def warm_up(origin: str) -> None:
    """Meet each fault once: what handles it may be imported only then."""
    with Client(origin, max_connections=AT_ONCE, **OPTIONS) as client:
        _in_threads(client, len(MIXTURE.scripts), Counter())


def _block(phase: Phase, origin: str, shares: tuple[int, ...]) -> None:
    ask = BLOCKING[phase.way]
    phase.held.append(held())
    with Client(origin, max_connections=AT_ONCE, **OPTIONS) as client:
        for share in shares:
            ask(client, share, phase.outcomes)
            phase.held.append(held())
    phase.held.append(held())


def _in_threads(client: Client, calls: int, outcomes: Counter[str]) -> None:
    def work(calls: int) -> Counter[str]:
        came = Counter[str]()
        for _ in range(calls):
            try:
                came[str(client.stats.get(QUERY).pageviews)] += 1
            except SiteStatsError as error:
                came[type(error).__name__] += 1
        return came

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for came in pool.map(work, _shared_out(calls)):
            outcomes.update(came)


def _many(client: Client, calls: int, outcomes: Counter[str]) -> None:
    with client.stats.get_many(repeat(QUERY, calls), concurrency=AT_ONCE) as many:
        for outcome in many:
            outcomes[_name(outcome)] += 1


async def _await(phase: Phase, origin: str, shares: tuple[int, ...]) -> None:
    ask, backend = ASYNC[phase.way]
    count = _asyncio_tasks if backend == "asyncio" else _trio_tasks
    phase.held.append(held(count()))
    async with AsyncClient(origin, max_connections=AT_ONCE, **OPTIONS) as client:
        for share in shares:
            await ask(client, share, phase.outcomes)
            phase.held.append(held(count()))
    # The loop closes its sockets at one of its next turns.
    await anyio.sleep(0.1)
    phase.held.append(held(count()))


async def _in_tasks(client: AsyncClient, calls: int, outcomes: Counter[str]) -> None:
    async def work(calls: int) -> None:
        for _ in range(calls):
            try:
                outcomes[str((await client.stats.get(QUERY)).pageviews)] += 1
            except SiteStatsError as error:
                outcomes[type(error).__name__] += 1

    async with anyio.create_task_group() as group:
        for share in _shared_out(calls):
            group.start_soon(work, share)


async def _async_many(client: AsyncClient, calls: int, outcomes: Counter[str]) -> None:
    queries = repeat(QUERY, calls)
    async with client.stats.get_many(queries, concurrency=AT_ONCE) as many:
        async for outcome in many:
            outcomes[_name(outcome)] += 1


def _name(outcome: Any) -> str:
    if outcome.error is None:
        return str(outcome.stats.pageviews)
    return type(outcome.error).__name__


def _shared_out(calls: int) -> list[int]:
    return [calls // AT_ONCE + (one < calls % AT_ONCE) for one in range(AT_ONCE)]


def _asyncio_tasks() -> int:
    return len(asyncio.all_tasks())


def _trio_tasks() -> int:
    import trio

    return trio.lowlevel.current_statistics().tasks_living


BLOCKING: dict[str, Callable[[Client, int, Counter[str]], None]] = {
    "threads": _in_threads,
    "`get_many`": _many,
}
ASYNC: dict[
    str, tuple[Callable[[AsyncClient, int, Counter[str]], Awaitable[None]], str]
] = {
    "asyncio": (_in_tasks, "asyncio"),
    "trio": (_in_tasks, "trio"),
    "`get_many`, asyncio": (_async_many, "asyncio"),
    "`get_many`, trio": (_async_many, "trio"),
}
WAYS = (*BLOCKING, *ASYNC)
