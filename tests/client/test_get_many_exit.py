"""Leaving get_many: break, errors, cancellation, Ctrl-C; nothing is left behind."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from concurrency import (
    GOOD,
    QUICK,
    GetMany,
    name_of,
    our_threads,
    query,
    respond_by_name,
)
from loopback import Connection, serve
from sitestats import AsyncClient, Client, Outcome, StatsQuery
from sitestats._common.settings import resolve
from sitestats._protocol.requests import stats_request
from sitestats._query.builder import requested
from sitestats._transport.interrupt import Stop
from sitestats._transport.sender import Sender

BACKENDS = ["blocking", "asyncio", "trio"]
LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


@pytest.fixture(params=BACKENDS)
def get_many(request: pytest.FixtureRequest) -> GetMany:
    """get_many of each client variant."""
    return GetMany(request.param)


class SilentServer:
    """Responds to the quick queries once all silent ones have arrived."""

    def __init__(self, silent: int) -> None:
        self._missing = silent
        self._lock = threading.Lock()
        self._arrived = threading.Event()
        self.left = threading.Semaphore(0)
        """Released once for each silent request whose client hung up."""

    def script(self, connection: Connection) -> None:
        while request := connection.request():
            if name_of(request) == "silent":
                with self._lock:
                    self._missing -= 1
                    if not self._missing:
                        self._arrived.set()
                connection.wait()
                self.left.release()
                return
            self._arrived.wait(30)
            connection.respond(GOOD)


SILENT = 6
QUERIES = [query("silent")] * SILENT + [query()] * 2


def check_that_all_disconnected(silent: SilentServer) -> Callable[[], None]:
    """A function for *after* that checks threads and connections."""

    def check() -> None:
        for _ in range(SILENT):
            assert silent.left.acquire(timeout=30)
        for thread in our_threads():
            if "get-many" in thread.name:
                thread.join(30)
                assert not thread.is_alive()

    return check


def test_breaking_out(get_many: GetMany) -> None:
    """A break at once ends threads, tasks and connections of queries in progress."""
    silent = SilentServer(SILENT)
    with serve(silent.script) as server:
        got = get_many(
            server.address, QUERIES, lambda _: True, check_that_all_disconnected(silent)
        )
    assert len(got) == 1
    assert our_threads() == []


class MineError(Exception):
    """An error of the caller."""


@pytest.mark.parametrize("error", [MineError("mine"), SystemExit(3)])
def test_an_error_in_the_block(get_many: GetMany, error: BaseException) -> None:
    """An error in the block is raised unchanged, and ends what is in progress."""
    silent = SilentServer(SILENT)

    def visit(_outcome: Outcome) -> None:
        raise error

    with serve(silent.script) as server:
        with pytest.raises(type(error)) as caught:
            get_many(server.address, QUERIES, visit)
        assert caught.value is error
        check_that_all_disconnected(silent)()
    assert our_threads() == []


def test_an_error_of_the_queries(get_many: GetMany) -> None:
    """An error of the iterable is raised unchanged, and ends what is in progress."""
    silent = SilentServer(SILENT)
    error = MineError("mine")

    def queries() -> Iterator[StatsQuery]:
        yield from QUERIES
        raise error

    with serve(silent.script) as server:
        with pytest.raises(MineError) as caught:
            # It comes when the first outcome has made room for one more query.
            get_many(server.address, queries(), concurrency=len(QUERIES))
        assert caught.value is error
        check_that_all_disconnected(silent)()
    assert our_threads() == []


def test_an_error_of_the_progress(get_many: GetMany) -> None:
    """An error of the callback is raised unchanged, and ends what is in progress."""
    silent = SilentServer(SILENT)
    error = MineError("mine")

    def hear(_done: int, _total: int | None) -> None:
        raise error

    with serve(silent.script) as server:
        with pytest.raises(MineError) as caught:
            get_many(server.address, QUERIES, progress=hear)
        assert caught.value is error
        check_that_all_disconnected(silent)()


def test_a_mistake_in_a_transport(get_many: GetMany) -> None:
    """An error that is no SiteStatsError is raised unchanged, and is no outcome."""
    error = ZeroDivisionError("mine")

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith("/wrong"):
            raise error
        return httpx.Response(200, content=GOOD)

    def make(cls: Any) -> Any:
        transport = httpx.MockTransport(respond)
        return cls("https://analytics.example", transport=transport)

    with pytest.raises(ZeroDivisionError) as caught:
        get_many(make, [query(), query(), query("wrong"), *[query()] * 5])
    assert caught.value is error
    assert our_threads() == []


def test_leaving_in_a_pause(get_many: GetMany) -> None:
    """Leaving ends the pauses before retries, too."""

    def script(connection: Connection) -> None:
        while request := connection.request():
            if name_of(request) == "unwell":
                connection.respond(b"{}", 503, "Retry-After: 100")
                traced.release()
            else:
                for _ in range(5):
                    traced.acquire(timeout=30)
                connection.respond(GOOD)

    traced = threading.Semaphore(0)
    queries = [*[query("unwell")] * 5, query()]
    with serve(script) as server:
        got = get_many(server.address, queries, lambda _: True)
    assert [outcome.index for outcome in got] == [5]
    assert our_threads() == []


def test_a_call_that_waits_for_a_connection_is_stopped() -> None:
    """Leaving ends a thread that waits for a connection."""
    arrived = threading.Event()

    def script(connection: Connection) -> None:
        while connection.request():
            arrived.set()
            connection.wait()

    request = stats_request(requested(query()))
    ended: list[BaseException] = []
    with serve(script) as server:
        settings = resolve(
            base_url=server.address,
            api_key=None,
            user_id=None,
            timeout=100,
            total_timeout=100,
            retries=0,
            max_connections=1,
            max_response_bytes=1_000,
            read_only=True,
            proxy=None,
            verify=True,
            share_pauses=True,
        )
        sender = Sender(settings)
        stop = Stop()

        def get_one() -> None:
            try:
                sender.send(request, until=1e9, timeout=100, stop=stop)
            except BaseException as error:  # noqa: BLE001 - looked at below
                ended.append(error)

        threads = [threading.Thread(target=get_one, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert arrived.wait(30)
        stop.stop()
        for thread in threads:
            thread.join(30)
        assert len(ended) == 4
        assert server.connections == 1
        stop.close()
        sender.close()


POINTS = [*range(12), *range(12, 60, 4), *range(60, 300, 30)]
"""After how many steps of the event loop to cancel."""


@LOOPS
def test_cancelled_at_any_point(loop: str) -> None:
    """Cancelled at any step, no task is left, and the client works afterwards."""

    async def main(address: str) -> None:
        async def run_block(scope: anyio.CancelScope) -> None:
            with scope:
                async with client.stats.get_many(
                    [query(), query("silent")] * 10, concurrency=3
                ) as stream:
                    async for outcome in stream:
                        outcome.result()

        async with AsyncClient(address, max_connections=3, retries=QUICK) as client:
            for steps in POINTS:
                async with anyio.create_task_group() as group:
                    scope = anyio.CancelScope()
                    group.start_soon(run_block, scope)
                    for _ in range(steps):
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()
                async with client.stats.get_many([query()] * 3) as stream:
                    assert [o.error async for o in stream] == [None] * 3

    gone = threading.Semaphore(0)

    def script(connection: Connection) -> None:
        respond_by_name(connection)
        gone.release()

    with serve(script) as server:
        anyio.run(main, server.address, backend=loop)
        # Every connection was closed by the client, at the latest with it.
        for _ in range(server.connections):
            assert gone.acquire(timeout=30)


def test_a_task_cancelled_at_any_point() -> None:
    """task.cancel() ends all queries of the task, and raises CancelledError."""

    async def main(address: str) -> None:
        async def run_block() -> None:
            async with client.stats.get_many(
                [query(), query("silent")] * 10, concurrency=3
            ) as stream:
                async for outcome in stream:
                    outcome.result()

        async with AsyncClient(address, max_connections=3, retries=QUICK) as client:
            for steps in POINTS:
                task = asyncio.create_task(run_block())
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert asyncio.all_tasks() == {asyncio.current_task()}
            assert (await client.stats.get(query())).pageviews == 1

    with serve(respond_by_name) as server:
        asyncio.run(main(server.address))


def test_asyncios_own_limits() -> None:
    """asyncio.timeout and asyncio.TaskGroup work around a block."""

    async def main(address: str) -> None:
        async with AsyncClient(address, retries=QUICK) as client:

            async def ask_for_ever() -> None:
                async with (
                    asyncio.timeout(0.05),
                    client.stats.get_many([query("silent")] * 3) as stream,
                ):
                    async for _ in stream:
                        pass

            with pytest.raises(TimeoutError):
                await ask_for_ever()

            async def run_block() -> int:
                async with client.stats.get_many([query()] * 4) as stream:
                    return sum([o.result().pageviews async for o in stream])

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(run_block()) for _ in range(5)]
            assert [task.result() for task in tasks] == [4] * 5
            assert asyncio.all_tasks() == {asyncio.current_task()}

    with serve(respond_by_name) as server:
        asyncio.run(main(server.address))


@pytest.mark.parametrize("after", [1, 2, 5, 9, 14])
def test_ctrl_c(get_many: GetMany, after: int) -> None:
    """Ctrl-C raises KeyboardInterrupt, and leaves nothing behind."""
    lock = threading.Lock()
    arrived = 0
    main = threading.main_thread().ident
    assert main is not None

    def script(connection: Connection) -> None:
        nonlocal arrived
        while request := connection.request():
            with lock:
                arrived += 1
                if arrived == after:
                    signal.pthread_kill(main, signal.SIGINT)
            if name_of(request) == "silent":
                connection.wait()
                return
            connection.respond(GOOD)

    queries = [query(), query(), query("silent")] * 8
    with serve(script) as server:
        with pytest.raises(KeyboardInterrupt):
            get_many(server.address, queries, concurrency=6)
        assert our_threads() == []


def test_interrupted_while_leaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Ctrl-C while the block is left keeps no thread running."""
    silent = SilentServer(SILENT)

    def interrupted(timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    with (
        serve(silent.script) as server,
        Client(server.address) as client,
        client.stats.get_many(QUERIES) as stream,
    ):
        next(stream)
        monkeypatch.setattr(stream._threads[0], "join", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stream.__exit__(None, None, None)
        monkeypatch.undo()
        # A thread that is about to wake up still looks at it.
        assert stream._stop.wakes.fileno() != -1
        check_that_all_disconnected(silent)()


@LOOPS
def test_abandoned_without_leaving(loop: str) -> None:
    """A loop that ends in the middle of a block ends its queries."""
    silent = SilentServer(SILENT)

    async def main(address: str) -> None:
        client = AsyncClient(address)

        async def run_block() -> None:
            async with client.stats.get_many(QUERIES) as stream:
                async for _ in stream:
                    raise MineError

        with pytest.raises(MineError):
            await run_block()
        await client.aclose()

    with serve(silent.script) as server:
        anyio.run(main, server.address, backend=loop)
        check_that_all_disconnected(silent)()
