"""Benchmark of concurrent queries: the time beside the ideal, and the memory."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import anyio
import httpx

from calls import HEADERS, QUERY
from measuring import (
    Goal,
    Row,
    Scale,
    Table,
    Work,
    in_turn,
    installed,
    seconds,
)
from service import serving
from sitestats import AsyncClient, Client

DELAY: Final = 0.05
"""Seconds that the server takes for a response."""

KEY: Final = HEADERS["Api-Key"]


def _get_many_sync(address: str, count: int, at_once: int) -> int:
    with (
        Client(address, api_key=KEY, max_connections=at_once) as client,
        client.stats.get_many([QUERY] * count, concurrency=at_once) as stream,
    ):
        return sum(outcome.result().pageviews for outcome in stream)


async def _get_many_async(address: str, count: int, at_once: int) -> int:
    async with (
        AsyncClient(address, api_key=KEY, max_connections=at_once) as client,
        client.stats.get_many([QUERY] * count, concurrency=at_once) as stream,
    ):
        return sum([outcome.result().pageviews async for outcome in stream])


async def _gathered(address: str, count: int, at_once: int) -> int:
    async with AsyncClient(address, api_key=KEY, max_connections=at_once) as client:
        results = await asyncio.gather(*(client.stats.get(QUERY) for _ in range(count)))
    return sum(stats.pageviews for stats in results)


def _in_executor(address: str, count: int, at_once: int) -> int:
    with (
        Client(address, api_key=KEY, max_connections=at_once) as client,
        ThreadPoolExecutor(at_once) as executor,
    ):
        results = executor.map(client.stats.get, [QUERY] * count)
        return sum(stats.pageviews for stats in results)


async def _limited(
    request: Callable[[], Awaitable[int]], count: int, at_once: int
) -> int:
    limit = asyncio.Semaphore(at_once)

    async def one() -> int:
        async with limit:
            return await request()

    return sum(await asyncio.gather(*(one() for _ in range(count))))


async def _httpx_async(address: str, count: int, at_once: int) -> int:
    url = QUERY.url(address)
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as http:

        async def request() -> int:
            body: dict[str, int] = (await http.get(url, headers=HEADERS)).json()
            return body["pageviews"]

        return await _limited(request, count, at_once)


async def _aiohttp(address: str, count: int, at_once: int) -> int:
    import aiohttp

    url = QUERY.url(address)
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def request() -> int:
            async with session.get(url, headers=HEADERS) as response:
                body: dict[str, int] = await response.json()
                return body["pageviews"]

        return await _limited(request, count, at_once)


def _httpx_threads(address: str, count: int, at_once: int) -> int:
    url = QUERY.url(address)
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    with (
        httpx.Client(limits=limits, timeout=60, trust_env=False) as http,
        ThreadPoolExecutor(at_once) as executor,
    ):

        def request(_: int) -> int:
            body: dict[str, int] = http.get(url, headers=HEADERS).json()
            return body["pageviews"]

        return sum(executor.map(request, range(count)))


def _requests_threads(address: str, count: int, at_once: int) -> int:
    import requests
    from requests.adapters import HTTPAdapter

    url = QUERY.url(address)
    with requests.Session() as session, ThreadPoolExecutor(at_once) as executor:
        session.trust_env = False
        session.mount("http://", HTTPAdapter(pool_maxsize=at_once))

        def request(_: int) -> int:
            body: dict[str, int] = session.get(url, headers=HEADERS).json()
            return body["pageviews"]

        return sum(executor.map(request, range(count)))


def _if_installed(module: str, work: Work) -> Work | None:
    try:
        __import__(module)
    except ImportError:
        return None
    return work


_BUSY: Final = (
    "A client takes 0.7 to 0.9 ms of the processor for each request. With 50 at a time "
    "there is 1 ms for it, and 0.25 ms with 200. So what other programs take of the "
    "processor shows at once."
)


def _beside_ideal(ideal: float, names: list[str], bests: list[float]) -> list[Row]:
    return [
        Row("ideal: the server's time alone", 1.0, seconds(ideal)),
        *(
            Row(name, best / ideal, seconds(best))
            for name, best in zip(names, bests, strict=True)
        ),
    ]


MOST: Final = {50: (1.15, 1.15), 200: (2.5, 2.5)}
"""By concurrent queries: the goals, in ideal times, with event loops and threads."""


def tables(scale: Scale) -> list[Table]:
    """The time of concurrent queries with both clients, and the growth of memory."""
    found: list[Table] = []
    for at_once, (with_loops, with_threads) in MOST.items():
        found += _at_once(scale, scale.size(at_once, 5), with_loops, with_threads)
    return [*found, _growth(scale)]


def _at_once(
    scale: Scale, at_once: int, with_loops: float, with_threads: float
) -> list[Table]:
    count = scale.size(1000, 10)
    ideal = count / at_once * DELAY
    what = f"{at_once} at a time"

    with serving(DELAY) as address:
        given = (address, count, at_once)

        def run(work: Any, backend: str = "asyncio") -> Work:
            return partial(anyio.run, work, *given, backend=backend)

        names, variants = installed(
            {
                "sitestats, get_many on asyncio": run(_get_many_async),
                "sitestats, get_many on trio": run(_get_many_async, "trio"),
                "sitestats, asyncio.gather over get": run(_gathered),
                "aiohttp, gathered": _if_installed("aiohttp", run(_aiohttp)),
                "httpx.AsyncClient, gathered": run(_httpx_async),
            }
        )
        bests = in_turn(variants, scale.rounds(4))
        names_of_threads, variants = installed(
            {
                "sitestats, get_many": partial(_get_many_sync, *given),
                "sitestats, get in an executor": partial(_in_executor, *given),
                "requests.Session in an executor": _if_installed(
                    "requests", partial(_requests_threads, *given)
                ),
                "httpx.Client in an executor": partial(_httpx_threads, *given),
            }
        )
        bests_of_threads = in_turn(variants, scale.rounds(4))
    about = (
        f"{count:,} queries of {DELAY * 1000:.0f} ms, {what}, including the time to "
        "connect. The other libraries return dicts."
    )
    goals = (f"{what}, asyncio", f"{what}, trio", f"{what}, `asyncio.gather`")
    return [
        Table(
            f"{at_once} at a time, async",
            about,
            _beside_ideal(ideal, names, bests),
            [
                Goal(goal, best / ideal, with_loops, _BUSY)
                for goal, best in zip(goals, bests, strict=False)
            ],
        ),
        Table(
            f"{at_once} at a time, with threads",
            about,
            _beside_ideal(ideal, names_of_threads, bests_of_threads),
            [
                Goal(
                    f"{what}, threads",
                    bests_of_threads[0] / ideal,
                    with_threads,
                    "The threads of one interpreter take turns, and wait when other "
                    "programs use the processor.",
                )
            ],
        ),
    ]


def _growth(scale: Scale) -> Table:
    counts = [5, 20] if scale.short else [10, 100, 1_000, 10_000, 100_000]
    at = len(counts) // 2
    rows: list[Row] = []
    goals: list[Goal] = []
    with serving() as address:
        for kind, run in (
            ("sync", partial(_count_sync, address)),
            ("async", partial(_count_async, address)),
        ):
            run(counts[0], Held())
            most: list[int] = []
            for count in counts:
                held = Held()
                began = time.perf_counter()
                run(count, held)
                took = time.perf_counter() - began
                most.append(held.most)
                # With few queries, the number of open ones at a look is chance.
                ratio = held.most / most[at] if len(most) > at else None
                value = f"{held.most:,} blocks, {seconds(took / count)} each"
                rows.append(Row(f"{kind}, {count:,} queries", ratio, value))
            what = f"memory of {counts[-1]:,} queries beside {counts[at]:,}, {kind}"
            goals.append(Goal(what, most[-1] / most[at], 1.5))
    return Table(
        "Growth",
        "The most memory blocks that `get_many` and its client hold at a time, without "
        "garbage, with 20 concurrent queries from a generator; and the time for each "
        "query, with a server that responds immediately. The blocks of twenty calls "
        "vary a little, so 1.5 counts as constant.",
        rows,
        goals,
    )


class Held:
    """The most memory blocks above those at the beginning, from regular looks.

    Blocks, not bytes: counting bytes would take four times as long as the queries.
    """

    def __init__(self) -> None:
        self._until_next = 1
        self._every = 1
        self.most = 0
        gc.collect()
        self._before = sys.getallocatedblocks()

    def look(self) -> None:
        """Count the blocks when the number of calls has doubled, and each thousand."""
        self._until_next -= 1
        if self._until_next:
            return
        self._every = min(2 * self._every, 1000)
        self._until_next = self._every
        gc.collect()
        self.most = max(self.most, sys.getallocatedblocks() - self._before)


def _count_sync(address: str, count: int, held: Held) -> None:
    queries = (QUERY.limit(1 + n % 1000) for n in range(count))
    with (
        Client(address, api_key=KEY) as client,
        client.stats.get_many(queries) as stream,
    ):
        for outcome in stream:
            outcome.result()
            held.look()


def _count_async(address: str, count: int, held: Held) -> None:
    anyio.run(_count_in_loop, address, count, held)


async def _count_in_loop(address: str, count: int, held: Held) -> None:
    queries = (QUERY.limit(1 + n % 1000) for n in range(count))
    async with (
        AsyncClient(address, api_key=KEY) as client,
        client.stats.get_many(queries) as stream,
    ):
        async for outcome in stream:
            outcome.result()
            held.look()
