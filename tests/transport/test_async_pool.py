"""AsyncPool, with plain objects as connections, on asyncio and trio."""

from __future__ import annotations

import asyncio
import gc
import math
import random
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio

from children import exit_code
from sitestats._common.errors import ClientClosedError
from sitestats._transport.pool import AsyncPool, Lease

LONG = 30.0
"""Seconds that pass only when a test fails."""


class Connection:
    """Counts its uses, and records when two tasks use it at once."""

    def __init__(self, made: list[Connection]) -> None:
        self.uses = 0
        self.busy = False
        self.closed = 0
        made.append(self)

    def is_open(self) -> bool:
        return True

    def close(self) -> None:
        self.closed += 1


class Connections:
    """A pool, and every connection that it made."""

    def __init__(self, limit: int = 3, idle_seconds: float = math.inf) -> None:
        self.made: list[Connection] = []
        self.pool = AsyncPool(
            lambda: Connection(self.made), limit=limit, idle_seconds=idle_seconds
        )

    async def work(self, connection: Connection) -> Connection:
        assert not connection.busy
        assert not connection.closed
        connection.busy = True
        connection.uses += 1
        # Left busy when cancelled here.
        await anyio.sleep(0.001)
        connection.busy = False
        return connection

    async def use(self, *, fresh: bool = False) -> Connection:
        return await self.pool.use(Lease(fresh_connection=fresh), self.work)

    async def use_at_once(self, count: int) -> list[Connection]:
        """Use *count* connections, all at the same time."""
        connections: list[Connection] = []
        everybody = anyio.Event()

        async def work(connection: Connection) -> None:
            connection.uses += 1
            connections.append(connection)
            if len(connections) == count:
                everybody.set()
            await everybody.wait()

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as group:
                for _ in range(count):
                    group.start_soon(self.pool.use, Lease(), work)
        return connections

    async def assert_whole(self, limit: int) -> None:
        """All connections can be used at once, and none is left over."""
        (state,) = self.pool._states.values()
        assert len(set(await self.use_at_once(limit))) == limit
        assert not state.using
        assert not state.waiting
        kept = [connection for connection, _ in state.idle]
        assert len(kept) == len(set(kept)) == limit
        assert {
            connection
            for connection in self.made
            if connection.uses and not connection.closed
        } == {*kept}
        assert all(connection.closed <= 1 for connection in self.made)


def test_sequential_uses_share_one_connection(run: Callable[..., Any]) -> None:
    """A connection is reused, the most recently used one first."""

    async def main() -> None:
        connections = Connections()
        assert not connections.pool.is_open
        first = await connections.use()
        assert await connections.use() is first
        await connections.use_at_once(3)
        last = await connections.use()
        assert [await connections.use() for _ in range(3)] == [last] * 3
        assert connections.pool.is_open
        assert len(connections.made) == 3

    run(main)


def test_tasks_wait_in_their_order(run: Callable[..., Any]) -> None:
    """Waiting tasks get a connection in the order in which they came."""

    async def main() -> list[int]:
        connections = Connections(1)
        order: list[int] = []

        async def work(number: int) -> None:
            async def note(connection: Connection) -> None:
                order.append(number)
                await anyio.lowlevel.checkpoint()

            await connections.pool.use(Lease(), note)

        async with anyio.create_task_group() as group:

            async def busy(connection: Connection) -> None:
                for number in range(5):
                    group.start_soon(work, number)
                    await anyio.wait_all_tasks_blocked()

            await connections.pool.use(Lease(), busy)
            group.start_soon(work, 5)
        return order

    assert run(main) == [0, 1, 2, 3, 4, 5]


class Compared(Lease[Connection]):
    """A lease that counts how often it was compared with another."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return self is other

    __hash__ = Lease.__hash__


def test_ending_a_lease_does_not_scan_the_queue(run: Callable[..., Any]) -> None:
    """Releasing a connection compares no lease with hundreds that wait."""
    connections = Connections()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(300):
                group.start_soon(connections.pool.use, Compared(), connections.work)

    run(main)
    assert Compared.times == 0
    assert sum(connection.uses for connection in connections.made) == 300


def test_all_idle_connections_are_taken(run: Callable[..., Any]) -> None:
    """Fifty tasks use all three connections, and never more than three."""

    async def main() -> None:
        connections = Connections(3)
        most = now = 0

        async def work(connection: Connection) -> None:
            nonlocal most, now
            now += 1
            most = max(most, now)
            await connections.work(connection)
            now -= 1

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(connections.pool.use, Lease(), work)
        assert most == len(connections.made) == 3
        await connections.assert_whole(3)

    run(main)


def test_the_wait_is_counted(run: Callable[..., Any]) -> None:
    """A lease that was cancelled while it waited reports how long it waited."""

    async def main() -> None:
        connections = Connections(1)
        lease: Lease[Connection] = Lease()

        async def busy(connection: Connection) -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(connections.pool.use, lease, connections.work)
                await anyio.wait_all_tasks_blocked()
                await anyio.sleep(0.02)
                group.cancel_scope.cancel()

        await connections.pool.use(Lease(), busy)
        assert lease.waited >= 0.02
        await connections.assert_whole(1)
        idle: Lease[Connection] = Lease()
        await connections.pool.use(idle, connections.work)
        assert idle.waited == 0

    run(main)


def test_a_connection_that_failed_is_never_used_again(run: Callable[..., Any]) -> None:
    """A failed connection is closed once, also after a cancellation, and replaced."""

    async def main() -> None:
        connections = Connections(1)

        async def fail(connection: Connection) -> None:
            raise LookupError

        async def hang(connection: Connection) -> None:
            await anyio.sleep_forever()

        first = await connections.use()
        with pytest.raises(LookupError):
            await connections.pool.use(Lease(), fail)
        assert first.closed == 1
        second = await connections.use()
        with anyio.move_on_after(0.001):
            await connections.pool.use(Lease(), hang)
        assert second.closed == 1
        await connections.assert_whole(1)

    run(main)


def test_closing_closes_what_is_idle_and_then_the_rest(run: Callable[..., Any]) -> None:
    """Closing lets uses in progress end, fails those waiting, and refuses new ones."""

    async def main() -> None:
        connections = Connections(2)
        idle, _ = await connections.use_at_once(2)
        errors: list[ClientClosedError] = []

        async def wait() -> None:
            try:
                await connections.use()
            except ClientClosedError as error:
                errors.append(error)

        async with anyio.create_task_group() as group:

            async def busy(connection: Connection) -> Connection:
                group.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                await connections.pool.aclose()
                await anyio.wait_all_tasks_blocked()
                assert len(errors) == 1
                assert connections.pool.is_open is False
                return await connections.work(connection)

            async def hold(connection: Connection) -> None:
                assert (await connections.pool.use(Lease(), busy)).closed == 1

            await connections.pool.use(Lease(), hold)
        assert idle.closed == 1
        await connections.pool.aclose()
        assert [connection.closed for connection in connections.made] == [1, 1]
        with pytest.raises(ClientClosedError):
            await connections.use()

    run(main)


def test_cancelling_after_each_step_leaves_the_pool_whole(
    run: Callable[..., Any],
) -> None:
    """A task that is cancelled at any of its steps returns its connection."""

    async def main() -> None:
        connections = Connections(2)
        await connections.use_at_once(2)
        done: list[Connection] = []

        async def task(scope: anyio.CancelScope, fresh: bool) -> None:  # noqa: FBT001 - start_soon takes no keywords
            with scope:
                done.append(await connections.use(fresh=fresh))

        for steps in range(100):
            done.clear()
            async with anyio.create_task_group() as group:
                # With three for two connections, one has to wait.
                group.start_soon(connections.use)
                group.start_soon(connections.use)
                scope = anyio.CancelScope()
                group.start_soon(task, scope, steps % 2 == 1)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
            await connections.assert_whole(2)

    run(main)


def test_a_storm_of_cancelled_tasks_leaves_the_pool_whole(
    run: Callable[..., Any],
) -> None:
    """When a quarter of 600 tasks are cancelled at random, the others all finish."""

    async def main() -> None:
        rng = random.Random(20261120)
        connections = Connections(10)
        done = 0

        async def task(patience: float) -> None:
            nonlocal done
            with anyio.move_on_after(patience):
                await connections.use()
                done += 1

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as group:
                for number in range(600):
                    cancelled = number % 4 == 0
                    group.start_soon(
                        task, rng.uniform(0, 0.1) if cancelled else math.inf
                    )
        assert done >= 450
        await connections.assert_whole(10)

    run(main)


def test_the_end_of_a_loop_closes_its_connections(run: Callable[..., Any]) -> None:
    """Without aclose, idle connections are closed before their loop ends."""
    connections = Connections(2)

    async def main() -> None:
        await connections.use_at_once(2)

    run(main)
    assert [connection.closed for connection in connections.made] == [1, 1]


def test_one_pool_serves_many_loops_in_turn() -> None:
    """Each loop has its own connections, and the state of ended loops is dropped."""
    connections = Connections(1)
    for _ in range(10):
        before = len(connections.made)
        anyio.run(connections.use, backend="asyncio")
        anyio.run(connections.use, backend="trio")
        assert len(connections.made) == before + 2
        assert len(connections.pool._states) <= 2
    assert not connections.pool.is_open
    anyio.run(connections.pool.aclose)
    with pytest.raises(ClientClosedError):
        anyio.run(connections.use)


def test_a_trio_guest_has_the_connections_of_trio() -> None:
    """A trio guest within an asyncio loop has its own pool state."""

    async def host() -> None:
        loop = asyncio.get_running_loop()
        finished: asyncio.Future[Any] = loop.create_future()
        connections = Connections(1)
        mine = await connections.use()

        async def guest() -> Connection:
            return await connections.use()

        trio.lowlevel.start_guest_run(
            guest,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=finished.set_result,
        )
        theirs = (await finished).unwrap()
        assert theirs is not mine
        assert len(connections.pool._states) == 2
        await connections.pool.aclose()

    asyncio.run(host())


def test_two_loops_at_once(run: Callable[..., Any]) -> None:
    """Two threads with a loop each share a pool, but no connection."""

    async def main() -> None:
        connections = Connections(1)
        mine = await connections.use()
        theirs = await anyio.to_thread.run_sync(lambda: asyncio.run(connections.use()))
        assert theirs is not mine
        assert theirs.closed == 1
        assert await connections.use() is mine
        await connections.pool.aclose()
        assert mine.closed == 1

    run(main)


def test_a_loop_can_be_used_again_after_its_generators_were_closed() -> None:
    """The pool works on in a loop after ``shutdown_asyncgens``; asyncio warns."""
    connections = Connections(1)
    loop = asyncio.new_event_loop()
    first = loop.run_until_complete(connections.use())
    loop.run_until_complete(loop.shutdown_asyncgens())
    assert first.closed == 1
    with pytest.warns(ResourceWarning, match="after loop.shutdown_asyncgens"):
        second = loop.run_until_complete(connections.use())
    assert second is not first
    loop.run_until_complete(connections.pool.aclose())
    assert second.closed == 1
    loop.close()


def test_a_forked_child_has_its_own() -> None:
    """A forked child opens new connections, and leaves its parent's untouched."""
    connections = Connections(1)
    loop = asyncio.new_event_loop()
    mine = loop.run_until_complete(connections.use())

    def in_child() -> None:
        theirs = loop.run_until_complete(connections.use())
        loop.run_until_complete(connections.pool.aclose())
        assert theirs is not mine
        assert (theirs.closed, mine.closed) == (1, 0)

    assert exit_code(in_child) == 0
    assert loop.run_until_complete(connections.use()) is mine
    loop.run_until_complete(connections.pool.aclose())
    loop.close()


def test_a_pool_that_was_forgotten_closes_what_is_idle() -> None:
    """Under asyncio, a pool that nobody closed closes idle ones when collected."""

    async def main() -> None:
        connections = Connections(1)
        connection = await connections.use()
        del connections
        gc.collect()
        await anyio.wait_all_tasks_blocked()
        assert connection.closed == 1

    asyncio.run(main())
