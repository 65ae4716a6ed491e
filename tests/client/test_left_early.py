"""A block of get_many that ends in another way, and in another place, than others."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from both_clients import QUERY, opened
from children import exit_code
from loopback import COUNTED, Connection, Server, counting, serve, served
from sitestats import (
    AsyncClient,
    Stats,
    StatsQuery,
    UnexpectedError,
    UsageError,
)

pytestmark = [
    pytest.mark.slow,
    # Trio's own advice, for generators of any kind.
    pytest.mark.filterwarnings("ignore:Async generator .* was garbage collected"),
]
PLENTY = 30
"""Seconds that pass only when a test fails."""
SILENT = StatsQuery("silent.example.com").fields("pageviews")
QUERIES = [QUERY, *[SILENT] * 3, QUERY]
"""Three of them are under way for as long as the block is open."""
LOOPS = ("asyncio", "uvloop", "trio")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that leaves some queries without a response."""
    with serve(counting) as running:
        yield running


async def stats_of(client: AsyncClient) -> AsyncIterator[Any]:
    """What many users write around a block."""
    async with client.stats.get_many(QUERIES) as stream:
        async for outcome in stream:
            yield outcome


def run(loop: str, main: Callable[[], Awaitable[Any]]) -> Any:
    """Run *main* in a loop, which has to log nothing."""
    if loop == "trio":
        return anyio.run(main, backend="trio")
    logged = list[Any]()

    async def watched() -> Any:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, it: logged.append(it)
        )
        return await main()

    try:
        return anyio.run(watched, backend_options={"use_uvloop": loop == "uvloop"})
    finally:
        gc.collect()
        assert logged == []


def tasks() -> int:
    """How many tasks the running loop has."""
    with contextlib.suppress(RuntimeError):
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living


async def ended(most: int) -> None:
    """Wait until the loop has no more tasks than *most*."""
    with anyio.fail_after(PLENTY):
        # No event tells of the end of all tasks.
        while tasks() > most:  # noqa: ASYNC110
            await anyio.sleep(0.001)


# -- the ways in which an async generator ends


class MineError(Exception):
    """An error of the caller."""


async def by_break(client: AsyncClient) -> None:
    """Leave the loop, and the generator to Python."""
    async for _ in stats_of(client):
        break


async def by_an_error(client: AsyncClient) -> None:
    """Raise in the body."""
    with contextlib.suppress(MineError):
        async for _ in stats_of(client):
            raise MineError


async def by_a_cancelled_scope(client: AsyncClient) -> None:
    """Cancel the caller, who waits for an outcome."""
    with anyio.CancelScope() as scope:
        async for _ in stats_of(client):
            scope.cancel()


async def by_closing(client: AsyncClient) -> None:
    """Close the generator in the same task."""
    async with contextlib.aclosing(stats_of(client)) as items:
        await anext(items)


async def by_another_task(client: AsyncClient) -> None:
    """Close it in another task, as fixtures are, or streams of a web application."""
    items = stats_of(client)
    await anext(items)

    async def close() -> None:
        await items.aclose()

    async with anyio.create_task_group() as group:
        group.start_soon(close)


async def in_a_cancelled_task(client: AsyncClient) -> None:
    """Begin it in a task that is cancelled, and close it in another one."""
    items = stats_of(client)

    # anyio 4.7 starts coroutines alone.
    async def begin() -> None:
        await anext(items)

    async with anyio.create_task_group() as group:
        group.start_soon(begin)
        await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    await items.aclose()


async def by_nobody(client: AsyncClient) -> None:
    """Enter a block by hand, and forget it."""
    stream = client.stats.get_many(QUERIES)
    await stream.__aenter__()
    await anext(stream)


WAYS = (
    by_break,
    by_an_error,
    by_a_cancelled_scope,
    by_closing,
    by_another_task,
    in_a_cancelled_task,
    by_nobody,
)


@pytest.mark.parametrize("leave", WAYS)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_generator_that_is_left_early(
    server: Server, loop: str, leave: Callable[[AsyncClient], Awaitable[None]]
) -> None:
    """What is under way ends, nothing is logged, and the caller's task goes on."""

    async def main() -> None:
        async with AsyncClient(server.address) as client:
            before = tasks()
            for _ in range(3):
                await leave(client)
                gc.collect()
                await anyio.lowlevel.checkpoint()
                assert (await client.stats.get(QUERY)).pageviews == 3
            await ended(before)

    run(loop, main)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_generator_that_nobody_closes(server: Server, loop: str) -> None:
    """The end of the event loop ends its block, without a word."""
    kept = list[Any]()

    async def main() -> None:
        client = AsyncClient(server.address)
        kept.extend([client, stats_of(client)])
        await anext(kept[1])

    run(loop, main)
    asyncio.run(kept[0].aclose())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_task_that_is_cancelled(server: Server, loop: str) -> None:
    """A task that is cancelled while its generator is open raises that, and no more."""
    is_over = False

    async def main() -> None:
        async def use() -> None:
            async for _ in stats_of(client):
                begun.set()

        async with AsyncClient(server.address) as client:
            begun = anyio.Event()
            async with anyio.create_task_group() as group:
                group.start_soon(use)
                await begun.wait()
                group.cancel_scope.cancel()
            assert (await client.stats.get(QUERY)).pageviews == 3
            nonlocal is_over
            is_over = True

    run(loop, main)
    assert is_over


@pytest.mark.parametrize("loop", LOOPS)
def test_ctrl_c(server: Server, loop: str) -> None:
    """Ctrl-C in the body of a generator's loop is a KeyboardInterrupt."""

    async def main() -> None:
        async with AsyncClient(server.address) as client:
            async for _ in stats_of(client):
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(loop, main)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_whoever_cancels_all_tasks_gets_outcomes(server: Server, loop: str) -> None:
    """If a program cancels all tasks but its own, the queries failed: nothing hangs."""

    async def main() -> None:
        async with (
            AsyncClient(server.address) as client,
            client.stats.get_many([*[SILENT] * 3, QUERY], concurrency=3) as stream,
        ):
            with anyio.move_on_after(0.1):
                await anext(stream)
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            with anyio.fail_after(PLENTY):
                outcomes = await stream.collect()
            kinds = [type(failed.error) for failed in outcomes.failed]
            assert kinds == [UnexpectedError] * 3

    run(loop, main)


# -- a stream of a web application


@pytest.mark.parametrize(
    "loop", ["asyncio", pytest.param("uvloop", marks=pytest.mark.long)]
)
def test_a_browser_that_goes_away(server: Server, loop: str) -> None:
    """An endpoint that yields what a block gives ends when its reader is gone."""
    fastapi = pytest.importorskip("fastapi")
    sse = pytest.importorskip("fastapi.sse")
    app, clients = fastapi.FastAPI(), list[AsyncClient]()

    @app.get("/", response_class=sse.EventSourceResponse)
    async def events() -> AsyncIterator[Stats]:
        async for outcome in stats_of(clients[0]):
            yield outcome.result()

    async def visit() -> None:
        gone = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if b"data:" in message.get("body", b""):
                gone.set()

        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        scope |= {"query_string": b"", "asgi": {"version": "3.0"}}
        await app(scope, receive, send)

    async def main() -> None:
        before = tasks()
        async with AsyncClient(server.address) as client:
            clients.append(client)
            for _ in range(12):
                await asyncio.wait_for(visit(), PLENTY)
                gc.collect()
                await ended(before)

    run(loop, main)


# -- forks


def test_a_child_that_is_forked_within_a_block(server: Server) -> None:
    """The child can leave the block, gets no outcome, and does not harm the parent."""

    def leave(stream: Any) -> None:
        with pytest.raises(UsageError, match="forked"):
            next(iter(stream))
        stream.__exit__(None, None, None)

    with (
        opened("blocking", server.address) as client,
        client.stats.get_many([QUERY] * 20) as stream,
    ):
        next(iter(stream))
        assert exit_code(lambda: leave(stream)) == 0
        assert len([*stream]) == 19


def test_a_child_that_leaves_ends_no_request_of_its_parent() -> None:
    """Both have the connections; those under way go on, also without a retry."""
    requests, requested, released = count(), threading.Semaphore(0), threading.Event()

    def script(connection: Connection) -> None:
        while connection.request():
            if next(requests):
                requested.release()
                assert released.wait(PLENTY)
            connection.respond(COUNTED)

    with (
        served("blocking", script, retries=0) as (client, _),
        client.stats.get_many([QUERY] * 3) as stream,
    ):
        next(iter(stream))
        assert all(requested.acquire(timeout=PLENTY) for _ in range(2))
        assert exit_code(lambda: stream.__exit__(None, None, None)) == 0
        released.set()
        assert [outcome.error for outcome in stream] == [None, None]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_child_that_is_forked_within_a_loop(server: Server, loop: str) -> None:
    """The same in an event loop, which does not run in the child."""

    def leave(stream: Any) -> None:
        for step in (stream.__anext__(), stream.__aexit__(None, None, None)):
            with pytest.raises((UsageError, StopIteration)):
                step.send(None)

    async def main() -> None:
        async with (
            AsyncClient(server.address) as client,
            client.stats.get_many([QUERY] * 20) as stream,
        ):
            await anext(stream)
            assert exit_code(lambda: leave(stream)) == 0
            assert len([outcome async for outcome in stream]) == 19

    run(loop, main)
