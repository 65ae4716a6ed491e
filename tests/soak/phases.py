"""Run each client variant against the fault server, and measure it five times."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
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
"""Concurrent calls, and the most open connections."""

IN_A_BLOCK = 100
"""Queries that are collected together."""

DEADLINE = 0.2
"""Seconds of each block that is collected: less than a client waits for a response, so
that it strikes while a request hangs."""

MOMENTS = ("before", "first", "half", "end", "closed")
"""When to measure: before the client is made, after its first calls, after half of
them and all of them, and when it is closed."""


@dataclass
class Phase:
    """The measurements and outcomes of one client variant."""

    variant: str
    calls: int
    held: list[Held] = field(default_factory=list[Held])
    """One measurement for each of the moments."""
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter[str])

    def at(self, moment: str) -> Held:
        """The measurement at one of the moments."""
        return self.held[MOMENTS.index(moment)]


def run(variant: str, origin: str, calls: int, first: int) -> Phase:
    """Make *calls* calls with a variant, and measure at each of the moments."""
    phase, half = Phase(variant, calls), calls // 2
    shares = (first, half - first, calls - half)
    start = time.monotonic()
    if variant in SYNC:
        _run_sync(phase, origin, shares)
    else:
        _, backend = ASYNC[variant]
        anyio.run(_run_async, phase, origin, shares, backend=backend)
    phase.seconds = time.monotonic() - start
    return phase


def warm_up(origin: str) -> None:
    """Make each fault happen once, since its handling may import modules."""
    with Client(origin, max_connections=AT_ONCE, **OPTIONS) as client:
        _in_threads(client, len(MIXTURE.scripts), Counter())
        with client.stats.get_many([QUERY]) as stream:
            for _ in stream:
                pass


def _run_sync(phase: Phase, origin: str, shares: tuple[int, ...]) -> None:
    make_calls = SYNC[phase.variant]
    phase.held.append(held())
    with Client(origin, max_connections=AT_ONCE, **OPTIONS) as client:
        for share in shares:
            make_calls(client, share, phase.outcomes)
            phase.held.append(held())
    phase.held.append(held())


def _in_threads(client: Client, calls: int, outcomes: Counter[str]) -> None:
    def work(calls: int) -> Counter[str]:
        counts = Counter[str]()
        for _ in range(calls):
            try:
                counts[str(client.stats.get(QUERY).pageviews)] += 1
            except SiteStatsError as error:
                counts[type(error).__name__] += 1
        return counts

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for counts in pool.map(work, _shared_out(calls)):
            outcomes.update(counts)


def _get_many(client: Client, calls: int, outcomes: Counter[str]) -> None:
    with client.stats.get_many(repeat(QUERY, calls), concurrency=AT_ONCE) as many:
        for outcome in many:
            outcomes[_name(outcome)] += 1


def _collect(client: Client, calls: int, outcomes: Counter[str]) -> None:
    for some in _blocks(calls):
        many = client.stats.get_many(
            repeat(QUERY, some), concurrency=AT_ONCE, deadline=DEADLINE
        )
        outcomes.update(map(_name, many.collect()))


async def _run_async(phase: Phase, origin: str, shares: tuple[int, ...]) -> None:
    make_calls, backend = ASYNC[phase.variant]
    count = _asyncio_tasks if backend == "asyncio" else _trio_tasks
    phase.held.append(held(count()))
    async with AsyncClient(origin, max_connections=AT_ONCE, **OPTIONS) as client:
        for share in shares:
            await make_calls(client, share, phase.outcomes)
            phase.held.append(held(count()))
    # The event loop closes its sockets in one of its next iterations.
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


async def _get_many_async(
    client: AsyncClient, calls: int, outcomes: Counter[str]
) -> None:
    queries = repeat(QUERY, calls)
    async with client.stats.get_many(queries, concurrency=AT_ONCE) as many:
        async for outcome in many:
            outcomes[_name(outcome)] += 1


async def _collect_async(
    client: AsyncClient, calls: int, outcomes: Counter[str]
) -> None:
    for some in _blocks(calls):
        many = client.stats.get_many(
            repeat(QUERY, some), concurrency=AT_ONCE, deadline=DEADLINE
        )
        outcomes.update(map(_name, await many.collect()))


def _blocks(calls: int) -> Iterator[int]:
    """How many queries each block has, of so many *calls*."""
    for begin in range(0, calls, IN_A_BLOCK):
        yield min(IN_A_BLOCK, calls - begin)


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


SYNC: dict[str, Callable[[Client, int, Counter[str]], None]] = {
    "threads": _in_threads,
    "`get_many`": _get_many,
    "`collect`": _collect,
}
ASYNC: dict[
    str, tuple[Callable[[AsyncClient, int, Counter[str]], Awaitable[None]], str]
] = {
    "asyncio": (_in_tasks, "asyncio"),
    "trio": (_in_tasks, "trio"),
    "`get_many`, asyncio": (_get_many_async, "asyncio"),
    "`get_many`, trio": (_get_many_async, "trio"),
    "`collect`, asyncio": (_collect_async, "asyncio"),
    "`collect`, trio": (_collect_async, "trio"),
}
VARIANTS = (*SYNC, *ASYNC)
