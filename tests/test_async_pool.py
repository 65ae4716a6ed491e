"""The asynchronous pool, with slots that are plain objects, on both loops."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import random
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio

from sitestats._errors import ClientClosedError
from sitestats._pool import AsyncPool, Turn

LONG = 30.0
"""Seconds that pass only when a test fails."""


class Slot:
    """Counts its uses, and tells when two use it at once."""

    def __init__(self, made: list[Slot]) -> None:
        self.uses = 0
        self.busy = False
        self.closed = 0
        made.append(self)


class Slots:
    """A pool, and every slot that it made."""

    def __init__(self, limit: int = 3, idle_seconds: float = math.inf) -> None:
        self.made: list[Slot] = []
        self.pool = AsyncPool(
            lambda: Slot(self.made), self._close, limit=limit, idle_seconds=idle_seconds
        )

    async def _close(self, slot: Slot) -> None:
        # A real one gives up control while it closes.
        await anyio.lowlevel.checkpoint()
        slot.closed += 1

    async def work(self, slot: Slot) -> Slot:
        assert not slot.busy
        assert not slot.closed
        slot.busy = True
        slot.uses += 1
        # Left busy when cancelled here.
        await anyio.sleep(0.001)
        slot.busy = False
        return slot

    async def use(self, *, fresh: bool = False) -> Slot:
        return await self.pool.use(Turn(fresh=fresh), self.work)

    async def use_at_once(self, count: int) -> list[Slot]:
        """Use *count* slots, all at the same time."""
        slots: list[Slot] = []
        everybody = anyio.Event()

        async def work(slot: Slot) -> None:
            slot.uses += 1
            slots.append(slot)
            if len(slots) == count:
                everybody.set()
            await everybody.wait()

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as group:
                for _ in range(count):
                    group.start_soon(self.pool.use, Turn(), work)
        return slots

    async def assert_whole(self, limit: int) -> None:
        """All slots can be used at once, and none is left over."""
        (book,) = self.pool._books.values()
        assert len(set(await self.use_at_once(limit))) == limit
        assert not book.using
        assert not book.waiting
        kept = [slot for slot, _ in book.idle]
        assert len(kept) == len(set(kept)) == limit
        assert {slot for slot in self.made if slot.uses and not slot.closed} == {*kept}
        assert all(slot.closed <= 1 for slot in self.made)


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run an asynchronous function on one of the two loops."""

    def run(function: Callable[[], Awaitable[Any]]) -> Any:
        return anyio.run(function, backend=request.param)

    return run


def test_one_after_the_other_takes_one_slot(run: Callable[..., Any]) -> None:
    """A slot is used again, and the last one first."""

    async def main() -> None:
        slots = Slots()
        assert not slots.pool.is_open
        first = await slots.use()
        assert await slots.use() is first
        await slots.use_at_once(3)
        last = await slots.use()
        assert [await slots.use() for _ in range(3)] == [last] * 3
        assert slots.pool.is_open
        assert len(slots.made) == 3

    run(main)


def test_tasks_wait_in_their_order(run: Callable[..., Any]) -> None:
    """Who came first goes first, and a newcomer goes last."""

    async def main() -> list[int]:
        slots = Slots(1)
        order: list[int] = []

        async def work(number: int) -> None:
            async def note(slot: Slot) -> None:
                order.append(number)
                await anyio.lowlevel.checkpoint()

            await slots.pool.use(Turn(), note)

        async with anyio.create_task_group() as group:

            async def busy(slot: Slot) -> None:
                for number in range(5):
                    group.start_soon(work, number)
                    await anyio.wait_all_tasks_blocked()

            await slots.pool.use(Turn(), busy)
            group.start_soon(work, 5)
        return order

    assert run(main) == [0, 1, 2, 3, 4, 5]


class Compared(Turn[Slot]):
    """Counts how often it was compared with another turn."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return self is other

    __hash__ = Turn.__hash__


def test_a_turn_that_ends_is_not_looked_for(run: Callable[..., Any]) -> None:
    """Hundreds of tasks that wait cost each other nothing: none is compared."""
    slots = Slots()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(300):
                group.start_soon(slots.pool.use, Compared(), slots.work)

    run(main)
    assert Compared.times == 0
    assert sum(slot.uses for slot in slots.made) == 300


def test_all_free_slots_are_taken(run: Callable[..., Any]) -> None:
    """Fifty tasks share three slots, three at any time."""

    async def main() -> None:
        slots = Slots(3)
        most = now = 0

        async def work(slot: Slot) -> None:
            nonlocal most, now
            now += 1
            most = max(most, now)
            await slots.work(slot)
            now -= 1

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(slots.pool.use, Turn(), work)
        assert most == len(slots.made) == 3
        await slots.assert_whole(3)

    run(main)


def test_the_wait_is_counted(run: Callable[..., Any]) -> None:
    """A turn that was cancelled while waiting says how long it waited."""

    async def main() -> None:
        slots = Slots(1)
        turn: Turn[Slot] = Turn()

        async def busy(slot: Slot) -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(slots.pool.use, turn, slots.work)
                await anyio.wait_all_tasks_blocked()
                await anyio.sleep(0.02)
                group.cancel_scope.cancel()

        await slots.pool.use(Turn(), busy)
        assert turn.waited >= 0.02
        await slots.assert_whole(1)
        idle: Turn[Slot] = Turn()
        await slots.pool.use(idle, slots.work)
        assert idle.waited == 0

    run(main)


def test_a_slot_that_failed_is_never_used_again(run: Callable[..., Any]) -> None:
    """It is closed, once, even when its task is cancelled, and there is another."""

    async def main() -> None:
        slots = Slots(1)

        async def fail(slot: Slot) -> None:
            raise LookupError

        async def hang(slot: Slot) -> None:
            await anyio.sleep_forever()

        first = await slots.use()
        with pytest.raises(LookupError):
            await slots.pool.use(Turn(), fail)
        assert first.closed == 1
        second = await slots.use()
        with anyio.move_on_after(0.001):
            await slots.pool.use(Turn(), hang)
        assert second.closed == 1
        await slots.assert_whole(1)

    run(main)


def test_fresh_is_never_used_before(run: Callable[..., Any]) -> None:
    """A fresh slot is a new one, within the limit, and is kept for others."""

    async def main() -> None:
        slots = Slots(2)
        old = await slots.use_at_once(2)
        new = await slots.use(fresh=True)
        assert new not in old
        assert sum(slot.closed for slot in old) == 1
        assert await slots.use() is new

    run(main)


def test_idle_slots_grow_too_old(run: Callable[..., Any]) -> None:
    """What was idle for too long is closed by the next use, and not used."""

    async def main() -> None:
        slots = Slots(3, idle_seconds=0.01)
        old = await slots.use_at_once(3)
        await anyio.sleep(0.02)
        new = await slots.use()
        assert new not in old
        assert [slot.closed for slot in old] == [1, 1, 1]

    run(main)


def test_closing_closes_what_is_idle_and_then_the_rest(run: Callable[..., Any]) -> None:
    """A use under way may end, who waits is told, and nobody comes after."""

    async def main() -> None:
        slots = Slots(2)
        idle, _ = await slots.use_at_once(2)
        told: list[ClientClosedError] = []

        async def wait() -> None:
            try:
                await slots.use()
            except ClientClosedError as error:
                told.append(error)

        async with anyio.create_task_group() as group:

            async def busy(slot: Slot) -> Slot:
                group.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                await slots.pool.aclose()
                await anyio.wait_all_tasks_blocked()
                assert len(told) == 1
                assert slots.pool.is_open is False
                return await slots.work(slot)

            async def hold(slot: Slot) -> None:
                assert (await slots.pool.use(Turn(), busy)).closed == 1

            await slots.pool.use(Turn(), hold)
        assert idle.closed == 1
        await slots.pool.aclose()
        assert [slot.closed for slot in slots.made] == [1, 1]
        with pytest.raises(ClientClosedError):
            await slots.use()

    run(main)


def test_cancelling_after_each_step_leaves_the_pool_whole(
    run: Callable[..., Any],
) -> None:
    """A task that is cancelled at any of its steps gives back what it had."""

    async def main() -> None:
        slots = Slots(2)
        await slots.use_at_once(2)
        done: list[Slot] = []

        async def task(scope: anyio.CancelScope, fresh: bool) -> None:  # noqa: FBT001 - start_soon takes no keywords
            with scope:
                done.append(await slots.use(fresh=fresh))

        for steps in range(100):
            done.clear()
            async with anyio.create_task_group() as group:
                # With three for two slots, one has to wait.
                group.start_soon(slots.use)
                group.start_soon(slots.use)
                scope = anyio.CancelScope()
                group.start_soon(task, scope, steps % 2 == 1)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
            await slots.assert_whole(2)

    run(main)


def test_a_storm_of_cancelled_tasks_leaves_the_pool_whole(
    run: Callable[..., Any],
) -> None:
    """Of 600 tasks one in four is cancelled at random; the rest go on."""

    async def main() -> None:
        rng = random.Random(20261120)
        slots = Slots(10)
        done = 0

        async def task(patience: float) -> None:
            nonlocal done
            with anyio.move_on_after(patience):
                await slots.use()
                done += 1

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as group:
                for number in range(600):
                    cancelled = number % 4 == 0
                    group.start_soon(
                        task, rng.uniform(0, 0.1) if cancelled else math.inf
                    )
        assert done >= 450
        await slots.assert_whole(10)

    run(main)


def test_a_loop_that_ends_closes_its_own(run: Callable[..., Any]) -> None:
    """Without aclose, what is idle is closed before its loop is gone."""
    slots = Slots(2)

    async def main() -> None:
        await slots.use_at_once(2)

    run(main)
    assert [slot.closed for slot in slots.made] == [1, 1]


def test_one_pool_serves_many_loops_in_turn() -> None:
    """Each loop has slots of its own, and the books of ended loops are dropped."""
    slots = Slots(1)
    for _ in range(10):
        before = len(slots.made)
        anyio.run(slots.use, backend="asyncio")
        anyio.run(slots.use, backend="trio")
        assert len(slots.made) == before + 2
        assert len(slots.pool._books) <= 2
    assert not slots.pool.is_open
    anyio.run(slots.pool.aclose)
    with pytest.raises(ClientClosedError):
        anyio.run(slots.use)


def test_a_trio_guest_has_the_slots_of_trio() -> None:
    """Within a loop of asyncio's, a task of trio's has a book of its own."""

    async def host() -> None:
        loop = asyncio.get_running_loop()
        finished: asyncio.Future[Any] = loop.create_future()
        slots = Slots(1)
        mine = await slots.use()

        async def guest() -> Slot:
            return await slots.use()

        trio.lowlevel.start_guest_run(
            guest,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=finished.set_result,
        )
        theirs = (await finished).unwrap()
        assert theirs is not mine
        assert len(slots.pool._books) == 2
        await slots.pool.aclose()

    asyncio.run(host())


def test_two_loops_at_once(run: Callable[..., Any]) -> None:
    """Two threads with a loop each share a pool and no slot."""

    async def main() -> None:
        slots = Slots(1)
        mine = await slots.use()
        theirs = await anyio.to_thread.run_sync(lambda: asyncio.run(slots.use()))
        assert theirs is not mine
        assert theirs.closed == 1
        assert await slots.use() is mine
        await slots.pool.aclose()
        assert mine.closed == 1

    run(main)


def test_a_loop_can_be_used_again_after_its_generators_were_closed() -> None:
    """Whoever ends a loop by hand may go on with it; asyncio says what it leaves."""
    slots = Slots(1)
    loop = asyncio.new_event_loop()
    first = loop.run_until_complete(slots.use())
    loop.run_until_complete(loop.shutdown_asyncgens())
    assert first.closed == 1
    with pytest.warns(ResourceWarning, match="after loop.shutdown_asyncgens"):
        second = loop.run_until_complete(slots.use())
    assert second is not first
    loop.run_until_complete(slots.pool.aclose())
    assert second.closed == 1
    loop.close()


def test_a_forked_child_has_its_own() -> None:
    """The child's slots are new, and the parent's untouched."""
    slots = Slots(1)
    loop = asyncio.new_event_loop()
    mine = loop.run_until_complete(slots.use())
    child = os.fork()
    if child == 0:
        theirs = loop.run_until_complete(slots.use())
        loop.run_until_complete(slots.pool.aclose())
        good = theirs is not mine and theirs.closed == 1 and mine.closed == 0
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert loop.run_until_complete(slots.use()) is mine
    loop.run_until_complete(slots.pool.aclose())
    loop.close()


def test_a_pool_that_was_forgotten_closes_what_is_idle() -> None:
    """Under asyncio, what nobody closed is closed when it is collected."""

    async def main() -> None:
        slots = Slots(1)
        slot = await slots.use()
        del slots
        gc.collect()
        await anyio.wait_all_tasks_blocked()
        assert slot.closed == 1

    asyncio.run(main())
