"""Measure six figures of speed, each beside the same by hand, and print them.

    python docs/_tools/benchmarks                # some two minutes
    python docs/_tools/benchmarks --short        # only check that it runs
    python docs/_tools/benchmarks --write        # into docs/contributing.md

Machines are noisy. So the two that are compared take turns, the best turn of each
counts, since the machine only ever makes a turn slower, and the figure is their ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import httpx

from service import DAYS, TOTALS, body_of, pages, serving
from sitestats import AsyncClient, Client, Stats, StatsQuery

PAGE: Final = Path(__file__).parents[2] / "contributing.md"
MARK: Final = "<!-- figures -->\n"
KEY: Final = "sa_api_key_0123456789"
HEADERS: Final = {"Api-Key": KEY}
QUERY: Final = StatsQuery("example.com").fields("pageviews", "visitors").between(*DAYS)
LARGE: Final = StatsQuery("example.com").fields("pages").limit(1000).between(*DAYS)
DELAY: Final = 0.05
"""Seconds that the server takes for a response where many wait for one."""
AT_ONCE: Final = 200
OPTIONS: Final[Any] = {"api_key": KEY, "max_connections": AT_ONCE, "proxy": None}

Work = Callable[[], object]


@attrs.frozen
class Figure:
    """A ratio, and the most that it should be."""

    what: str
    beside: str
    ratio: float
    goal: float


@attrs.frozen
class Turn:
    """The best turn of a work, in seconds of the clock and of the processor."""

    clock: float
    processor: float


def in_turn(works: Sequence[Work], rounds: int, calls: int = 1) -> list[Turn]:
    """The best turn of each, for one of its calls."""
    times: list[list[Turn]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for work, found in zip(works, times, strict=True):
            # So that none pays for the garbage of the one before.
            gc.collect()
            clock, processor = time.perf_counter(), time.process_time()
            for _ in range(calls):
                work()
            took = time.perf_counter() - clock, time.process_time() - processor
            found.append(Turn(took[0] / calls, took[1] / calls))
    return [
        Turn(min(one.clock for one in found), min(one.processor for one in found))
        for found in times
    ]


def one_call(*, short: bool) -> Iterator[Figure]:
    """A small and a large response on an open connection."""
    calls, rounds = (5, 1) if short else (100, 20)
    beside = "`httpx.Client.get(…).json()`"
    for what, members, query, goal in (
        ("one call, two totals", TOTALS, QUERY, 0.6),
        ("one call, 1,000 pages", pages(1000), LARGE, 0.9),
    ):
        with (
            serving(members=members) as address,
            httpx.Client(trust_env=False) as http,
            Client(address, **OPTIONS) as client,
        ):
            get = partial(http.get, query.url(address), headers=HEADERS)
            theirs, ours = in_turn(
                [partial(decoded, get), partial(client.stats.get, query)], rounds, calls
            )
        yield Figure(what, beside, ours.clock / theirs.clock, goal)


def decoded(get: Callable[[], httpx.Response]) -> Any:
    """The JSON of a response."""
    return get().json()


def many(*, short: bool) -> Iterator[Figure]:
    """Many queries at a time, awaited and in threads."""
    count, rounds = (AT_ONCE, 1) if short else (1000, 4)
    with serving(DELAY) as address:
        url = QUERY.url(address)

        async def by_aiohttp() -> int:
            import aiohttp

            connector = aiohttp.TCPConnector(limit=AT_ONCE)
            async with aiohttp.ClientSession(connector=connector) as session:

                async def get() -> int:
                    async with session.get(url, headers=HEADERS) as response:
                        return int((await response.json())["pageviews"])

                return sum(await asyncio.gather(*(get() for _ in range(count))))

        async def awaited() -> int:
            async with (
                AsyncClient(address, **OPTIONS) as client,
                client.stats.get_many([QUERY] * count, concurrency=AT_ONCE) as outcomes,
            ):
                return sum([one.result().pageviews async for one in outcomes])

        def in_threads() -> int:
            with (
                Client(address, **OPTIONS) as client,
                client.stats.get_many([QUERY] * count, concurrency=AT_ONCE) as outcomes,
            ):
                return sum(one.result().pageviews for one in outcomes)

        theirs, *ours = in_turn(
            [
                lambda: asyncio.run(by_aiohttp()),
                lambda: asyncio.run(awaited()),
                in_threads,
            ],
            rounds,
        )
    for how, turn, processor, clock in zip(
        ("awaited", "in threads"), ours, (2.0, 3.0), (1.3, 1.6), strict=True
    ):
        what = f"{AT_ONCE} at a time, {how}"
        cpu = turn.processor / theirs.processor
        yield Figure(f"{what}: processor", "aiohttp", cpu, processor)
        yield Figure(f"{what}: time", "aiohttp", turn.clock / theirs.clock, clock)


def reading(*, short: bool) -> Iterator[Figure]:
    """A large list, from the bytes to typed and checked values."""
    body = body_of(pages(1000))
    theirs, ours = in_turn(
        [lambda: json.loads(body), lambda: Stats.from_body(LARGE, body)],
        1 if short else 25,
        1 if short else 20,
    )
    ratio = ours.processor / theirs.processor
    yield Figure("reading 1,000 pages, typed and checked", "`json.loads`", ratio, 0.7)


def importing(*, short: bool) -> Iterator[Figure]:
    """The first client of a program, each in a new interpreter."""

    def program(code: str) -> Work:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    theirs, ours = in_turn(
        [
            program("import httpx; httpx.Client()"),
            program("import sitestats; sitestats.Client('http://127.0.0.1').stats"),
        ],
        1 if short else 15,
    )
    beside = "a program with an `httpx.Client`"
    yield Figure(
        "a program with a `Client`", beside, ours.clock / theirs.clock, goal=1.3
    )


def figures(*, short: bool = False) -> list[Figure]:
    """All of them."""
    return [
        figure
        for measure in (one_call, many, reading, importing)
        for figure in measure(short=short)
    ]


def table(found: Sequence[Figure]) -> str:
    """The figures as Markdown."""
    rows = [
        f"| {one.what} | {one.beside} | {one.ratio:.2f} | {one.goal} |" for one in found
    ]
    head = ["| What | Beside | Ratio | Goal |", "| --- | --- | ---: | ---: |"]
    where = f"On Python {platform.python_version()}, {platform.machine()}."
    return "\n".join([*head, *rows, "", where, ""])


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--write", action="store_true", help="write the page")
    given = parser.parse_args()
    text = table(figures(short=given.short))
    print(text)
    if given.write:
        before, _, after = PAGE.read_text("utf-8").split(MARK)
        PAGE.write_text(f"{before}{MARK}\n{text}\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
