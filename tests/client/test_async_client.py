"""The async client: its loops, cancellation, and closing."""

from __future__ import annotations

import asyncio
import gc
import ssl
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio

from client_variants import QUERY
from faults import FaultServer, ServedCase, authority
from served_cases import PLENTY, get_once, options
from sitestats import AsyncClient, ClientClosedError

pytestmark = [pytest.mark.slow, pytest.mark.standard_library]


def open_files() -> int:
    """How many files this process has open."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def open_files_settle_at(most: int) -> bool:
    """Whether at most *most* files stay open, once the server has noticed closings."""
    until = time.monotonic() + PLENTY
    while open_files() > most:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_two_loops_one_after_the_other(good: ServedCase) -> None:
    """An async client works in a second asyncio.run, in trio.run, and in a third."""
    client = AsyncClient(good.origin, **options())
    for backend in ("asyncio", "asyncio", "trio", "asyncio", "trio"):
        assert anyio.run(get_once, client, backend=backend) == 3
    asyncio.run(client.aclose())


@on_linux
def test_loops_that_ended_leave_no_files_open(good: ServedCase) -> None:
    """Connections of ended loops are closed, not left to be collected."""
    client = AsyncClient(good.origin, **options())
    asyncio.run(get_once(client))
    before = open_files()
    for _ in range(20):
        asyncio.run(get_once(client))
    assert open_files_settle_at(before)
    asyncio.run(client.aclose())


def test_one_loop_that_runs_several_times(good: ServedCase) -> None:
    """In a loop that runs in turns, as in a notebook, the connection is kept."""
    with asyncio.Runner() as runner:
        client = AsyncClient(good.origin, **options())
        for _ in range(5):
            assert runner.run(get_once(client)) == 3
        runner.run(client.aclose())
    assert good.connections == 1


def test_loops_of_many_threads_at_once(good: ServedCase) -> None:
    """Ten threads, each with its own loop, share one async client."""
    client = AsyncClient(good.origin, **options())

    async def several() -> list[int]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(get_once(client)) for _ in range(10)]
        return [task.result() for task in tasks]

    with ThreadPoolExecutor(10) as pool:
        runs = [pool.submit(asyncio.run, several()) for _ in range(10)]
        assert [run.result(PLENTY) for run in runs] == [[3] * 10] * 10
    asyncio.run(client.aclose())


class CancelledAt:
    """Runs a coroutine, and calls *cancel* at its *step*-th suspension."""

    def __init__(
        self, work: Coroutine[Any, Any, Any], step: int, cancel: Callable[[], object]
    ) -> None:
        self._work = work
        self._step = step
        self._cancel = cancel
        self.steps = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        work, error, value = self._work, None, None
        while True:
            try:
                trap = work.send(value) if error is None else work.throw(error)
            except StopIteration as done:
                return done.value
            self.steps += 1
            if self.steps == self._step:
                self._cancel()
            error = value = None
            try:
                value = yield trap
            except BaseException as thrown:  # noqa: BLE001  it is handed on
                error = thrown


async def cancelled_asyncio(work: Coroutine[Any, Any, Any], step: int) -> bool:
    """Cancel *work* at *step*; whether it got that far."""
    # The task is there by then, and not yet.
    run = CancelledAt(work, step, lambda: task.cancel())  # noqa: PLW0108 - as above

    async def main() -> None:
        await run

    task = asyncio.create_task(main())
    await asyncio.wait([task])
    assert task.cancelled() or task.exception() is None
    return run.steps >= step


async def cancelled_trio(work: Coroutine[Any, Any, Any], step: int) -> bool:
    """Cancel *work* at *step*; whether it got that far."""
    with trio.CancelScope() as scope:
        run = CancelledAt(work, step, scope.cancel)
        await run
    return run.steps >= step


CANCELLED = {"asyncio": cancelled_asyncio, "trio": cancelled_trio}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("case", "connected"),
    [("good", True), ("good", False), ("flaky", True), ("tls", False)],
)
def test_cancellation_at_every_await_point(
    server: FaultServer,
    backend: str,
    case: str,
    connected: bool,  # noqa: FBT001 - pytest passes it by name
) -> None:
    """A call that is cancelled at any of its awaits loses no connection: with a single
    one, the next call succeeds. No file stays open.
    """
    place, cancelled = server[case], CANCELLED[backend]
    context = ssl.create_default_context(cafile=authority())

    async def came_to(step: int) -> bool:
        made = options(max_connections=1, verify=context, total_timeout=PLENTY)
        async with AsyncClient(place.origin, **made) as client:
            if connected:
                assert await get_once(client) == 3
            reached = await cancelled(client.stats.get(QUERY), step)
            assert await get_once(client) == 3
        return reached

    async def main() -> int:
        step = 1
        while await came_to(step):
            step += 1
        return step

    before = open_files() if sys.platform == "linux" else 0
    steps = anyio.run(main, backend=backend)
    assert steps > 1
    if sys.platform == "linux":
        assert open_files_settle_at(before)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancellation_while_waiting_for_a_connection(
    server: FaultServer, backend: str
) -> None:
    """A call that is cancelled while it waits leaves the queue to the others."""

    async def main() -> None:
        made = options(max_connections=1, total_timeout=PLENTY, timeout=PLENTY)
        async with AsyncClient(server["silent"].origin, **made) as client:
            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(client.stats.get, QUERY)
                await anyio.sleep(0.05)
                group.cancel_scope.cancel()
            (places,) = client._sender._pool._places.values()
            assert (places.free, len(places.waiting)) == (1, 0)

    anyio.run(main, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_closed_async_client_refuses_calls(good: ServedCase, backend: str) -> None:
    """After aclose a call is refused, in this loop and in the next."""

    async def main(client: AsyncClient) -> None:
        await get_once(client)
        await client.aclose()
        await client.aclose()
        with pytest.raises(ClientClosedError, match="closed"):
            await get_once(client)

    async def later(client: AsyncClient) -> None:
        with pytest.raises(ClientClosedError, match="closed"):
            await get_once(client)

    client = AsyncClient(good.origin, **options())
    anyio.run(main, client, backend=backend)
    anyio.run(later, client, backend=backend)


def test_an_async_client_that_was_never_closed(good: ServedCase) -> None:
    """An async client that is dropped with open connections in a running loop warns."""

    async def main() -> None:
        client = AsyncClient(good.origin, **options())
        await get_once(client)
        with pytest.warns(ResourceWarning, match="never closed"):  # noqa: PT031 - as one
            del client
            gc.collect()

    asyncio.run(main())
