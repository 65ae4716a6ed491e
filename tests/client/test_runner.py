"""Flows that run: what is sent again, and what a call waits for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import pytest

from client_calls import TOTALS, ClientVariant
from sitestats import Client, RateLimitedError, ServerError

pytestmark = pytest.mark.slow


def test_temporary_failures_are_retried(run: ClientVariant) -> None:
    """A GET that fails twice is retried, and the third attempt succeeds."""
    run.emulator.fail_next(2, status=503)
    assert run(lambda client: client.stats.get(TOTALS)).pageviews == 1586
    assert len(run.emulator.requests) == 3


def test_a_retry_after_beyond_the_timeout_is_raised_at_once(run: ClientVariant) -> None:
    """A Retry-After beyond the total timeout is raised as an error that has it."""
    run.emulator.fail_next(status=429, retry_after=7_000)
    with pytest.raises(RateLimitedError) as caught:
        run(lambda client: client.stats.get(TOTALS))
    assert caught.value.retry_after == 7_000


def test_a_write_is_not_repeated(run: ClientVariant) -> None:
    """A website is sent once, whatever the response is."""
    run.emulator.fail_next(status=503)
    with pytest.raises(ServerError):
        run(lambda client: client.websites.add("example.com"))
    assert len(run.emulator.requests) == 1


# --- pauses that the calls of a client share --------------------------------------


async def get(client: Any) -> RateLimitedError | None:
    """The error of one call, in a thread where the client blocks; None without."""
    try:
        if isinstance(client, Client):
            await anyio.to_thread.run_sync(client.stats.get, TOTALS)
        else:
            await client.stats.get(TOTALS)
    except RateLimitedError as error:
        return error
    return None


def follow(run: ClientVariant, calls: Callable[[Any], Any], **options: Any) -> Any:
    """What *calls* gives, which awaits calls of any kind of client."""

    def follow(client: Any) -> Any:
        if isinstance(client, Client):
            return anyio.run(calls, client)
        return calls(client)

    return run(follow, **options)


async def one_and_twenty(client: Any) -> list[RateLimitedError | None]:
    """The errors of one call, and of twenty at once, of a client and a view of it."""
    errors = [await get(client)]
    view = client.with_options(total_timeout=9.0)

    async def one_of_many(client: Any) -> None:
        errors.append(await get(client))

    async with anyio.create_task_group() as group:
        for call in [client, view] * 10:
            group.start_soon(one_of_many, call)
    return errors


def test_a_pause_is_the_clients(run: ClientVariant) -> None:
    """While a Retry-After runs, twenty calls of a client and a view of it, in threads
    or tasks, send nothing: each fails at once with the seconds that are left.
    """
    run.emulator.fail_next(status=429, retry_after=3_000)
    for error in follow(run, one_and_twenty):
        assert error is not None
        assert 2_000 < error.retry_after <= 3_000
    assert len(run.emulator.requests) == 1


def test_a_call_waits_for_the_pause_of_another(run: ClientVariant) -> None:
    """A call whose time is enough waits until the pause is over, and succeeds."""
    run.emulator.fail_next(status=429, retry_after=0.3)

    async def twice(client: Any) -> None:
        assert await get(client) is not None
        started = time.monotonic()
        assert await get(client) is None
        assert time.monotonic() - started > 0.1

    follow(run, twice, retries=0)
    assert len(run.emulator.requests) == 2
