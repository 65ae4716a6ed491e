"""Flows that run: what is sent again, and what a call waits for."""

from __future__ import annotations

import pytest

from client_calls import TOTALS, ClientVariant
from sitestats import RateLimitedError, ServerError

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
