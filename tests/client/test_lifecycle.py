"""Both clients in real programs: event loops, threads, forks, interrupts, their end."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

from both_clients import QUERY, QUICK, WITH_TRIO, opened
from loopback import (
    COUNTED,
    Connection,
    Server,
    contexts,
    counting,
    serve,
    served,
    wait_until,
)
from sitestats import AsyncClient, Client, ClientClosedError

pytestmark = pytest.mark.slow

PLENTY = 30.0
"""Seconds that pass only when a test fails."""
LOOPS = WITH_TRIO[1:]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_with = pytest.mark.skipif(
    sys.version_info[:2] == (3, 14),
    reason="an interrupted with can leave a lock held: CPython issue 148874",
)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that responds to each request."""
    with serve(counting) as server:
        yield server


def awaited(server: Server, **options: Any) -> AsyncClient:
    """An async client, to be used in loops of the test."""
    return AsyncClient(server.address, proxy=None, retries=QUICK, **options)


async def get(client: AsyncClient) -> int:
    """The number that every response has."""
    return (await client.stats.get(QUERY)).pageviews


# -- event loops and threads


def test_the_blocking_client_in_a_running_loop(server: Server) -> None:
    """Client works in a thread whose loop is running, as in a notebook."""

    async def cell() -> int:
        with opened("blocking", server.address) as client:
            return int(client.stats.get(QUERY).pageviews)

    assert asyncio.run(cell()) == 3


def test_one_loop_that_runs_several_times(server: Server) -> None:
    """In a loop that runs in turns, as in a notebook, the connection is kept."""
    with asyncio.Runner() as runner:
        client = awaited(server)
        for _ in range(5):
            assert runner.run(get(client)) == 3
        runner.run(client.aclose())
    assert server.connections == 1


def test_loops_of_many_threads_at_once(server: Server) -> None:
    """Ten threads, each with its own loop, share one async client."""
    client = awaited(server)

    async def several() -> list[int]:
        return await asyncio.gather(*(get(client) for _ in range(10)))

    with ThreadPoolExecutor(10) as pool:
        runs = [pool.submit(asyncio.run, several()) for _ in range(10)]
        assert [run.result(PLENTY) for run in runs] == [[3] * 10] * 10
    asyncio.run(client.aclose())


# -- interrupts and cancellation


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_ctrl_c(variant: str) -> None:
    """Ctrl-C ends a call to a silent server, and the next call succeeds over the only
    connection.
    """
    main = threading.main_thread().ident
    assert main is not None
    first = threading.Event()

    def script(connection: Connection) -> None:
        while connection.request():
            if not first.is_set():
                first.set()
                signal.pthread_kill(main, signal.SIGINT)
                connection.wait()
                return
            connection.respond(COUNTED)

    with serve(script) as server:
        options: dict[str, Any] = {"max_connections": 1, "proxy": None}
        if variant == "blocking":
            with Client(server.address, **options) as client:
                with pytest.raises(KeyboardInterrupt):
                    client.stats.get(QUERY)
                assert client.stats.get(QUERY).pageviews == 3
            return
        awaiting = AsyncClient(server.address, **options)
        with pytest.raises(KeyboardInterrupt):
            anyio.run(get, awaiting, backend=variant)
        assert anyio.run(get, awaiting, backend=variant) == 3
        anyio.run(awaiting.aclose, backend=variant)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("connected", [False, True])
def test_cancelled_at_any_step(loop: str, encrypted: bool, connected: bool) -> None:  # noqa: FBT001 - parametrized
    """A call that is cancelled at any step of the loop loses no connection: the next
    call succeeds over the only one.
    """
    behind, trusting = contexts("localhost")

    async def cancelled_after(steps: int, address: str) -> None:
        options: dict[str, Any] = {"max_connections": 1, "verify": trusting}
        async with AsyncClient(address, proxy=None, **options) as client:
            if connected:
                assert await get(client) == 3
            async with anyio.create_task_group() as group:
                group.start_soon(get, client)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            assert await get(client) == 3

    async def main(address: str) -> None:
        for steps in (*range(8), 12, 20, 40, 80):
            await cancelled_after(steps, address)

    with serve(counting, tls=behind if encrypted else None) as server:
        anyio.run(main, server.address, backend=loop)


# -- closing


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_closing_with_a_call_under_way(variant: str) -> None:
    """A request that was sent gets its response; its connection is closed then. Every
    later call is refused.
    """
    requested, release = threading.Event(), threading.Event()

    def script(connection: Connection) -> None:
        connection.request()
        requested.set()
        assert release.wait(PLENTY)
        connection.respond(COUNTED)
        connection.wait()

    with ThreadPoolExecutor(1) as pool, served(variant, script) as (client, server):
        under_way = pool.submit(client.stats.get, QUERY)
        assert requested.wait(PLENTY)
        close = client.close if variant == "blocking" else client.aclose
        close()
        close()
        with pytest.raises(ClientClosedError, match="closed"):
            client.stats.get(QUERY)
        release.set()
        assert under_way.result(PLENTY).pageviews == 3
        wait_until(lambda: server.open[0].closed)


def test_a_client_that_was_never_closed(server: Server) -> None:
    """A client that is dropped with open connections warns, once with all its copies;
    an unused one does not.
    """
    client = Client(server.address, proxy=None)
    copy = client.with_options(timeout=9.0)
    copy.stats.get(QUERY)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del client, copy
        gc.collect()
        assert sum("never closed" in str(one.message) for one in caught) == 1
        # A caught warning keeps the client, whose sockets warn as well.
        caught.clear()
        gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Client("https://analytics.example")
        assert gc.collect() >= 0


# -- processes

BEGIN = """
import asyncio, os, sys
from sitestats import AsyncClient, Client, StatsQuery
QUERY = StatsQuery("example.com").fields("pageviews")
"""
FORK_ASYNC = """
async def get():
    assert (await client.stats.get(QUERY)).pageviews == 3
client = AsyncClient(sys.argv[1], proxy=None)
with asyncio.Runner() as runner:
    runner.run(get())
    child = os.fork()
    if not child:
        asyncio.run(get())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    runner.run(get())
    runner.run(client.aclose())
"""
INTERRUPTED = """
import random, signal, threading, warnings
# Ctrl-C can strike before a coroutine has begun, which Python tells.
warnings.filterwarnings("ignore", "coroutine .* was never awaited")
def work():
    while not over.is_set():
        client.stats.get(QUERY)
over = threading.Event()
threads = [threading.Thread(target=work) for _ in range(4)]
signal.signal(signal.SIGALRM, signal.default_int_handler)
with Client(sys.argv[1], max_connections=1, retries=0, proxy=None) as client:
    for thread in threads:
        thread.start()
    for _ in range(200):
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.002))
            while True:
                client.stats.get(QUERY)
        except KeyboardInterrupt:
            pass
    over.set()
    for thread in threads:
        thread.join()
    client.stats.get(QUERY)
"""
BLOCKS = """
import codecs, contextlib, httpx
silent = StatsQuery("silent.example").fields("pageviews")
def queries():
    yield from [silent] * 3
    raise KeyboardInterrupt
for more in {"proxy": None}, {"http_client": httpx.Client()}:
    client = Client(sys.argv[1], timeout=900, total_timeout=900, **more)
    with contextlib.suppress(KeyboardInterrupt):
        client.stats.get_many(queries()).collect()
    stream = client.stats.get_many(queries()).__enter__()
    with contextlib.suppress(KeyboardInterrupt):
        next(stream)
client = codecs.kept = Client(sys.argv[1], proxy=None)
client.stats.get(QUERY)
"""
"""Leaves blocks by Ctrl-C, and ends with others open, while requests are under way."""
FEW_DESCRIPTORS = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
with Client(sys.argv[1], max_connections=80, retries=0, proxy=None) as client:
    outcomes = client.stats.get_many([QUERY] * 200, concurrency=80).collect()
kinds = {type(outcome.error).__name__ for outcome in outcomes.failed}
assert outcomes.succeeded
assert kinds <= {"ConnectionFailedError"}, kinds
"""
"""Opens more connections than it may have."""


def run(program: str, address: str) -> None:
    """Run a program, which must end without an error and without a word."""
    path = os.pathsep.join([str(Path(sys.path[0])), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program, address],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PLENTY * 2,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.long
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(INTERRUPTED, id="interrupts", marks=[needs_fork, needs_with]),
        pytest.param(BLOCKS, id="blocks"),
        pytest.param(FORK_ASYNC + FEW_DESCRIPTORS, id="descriptors", marks=needs_fork),
    ],
)
def test_a_program(server: Server, program: str) -> None:
    """Neither an open client nor an open block keeps a program from ending; Ctrl-C is
    raised as itself, and loses no place; a forked child has connections of its own;
    where descriptors run out, queries fail one by one.
    """
    run(program, server.address)
    assert server.requests
