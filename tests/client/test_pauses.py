"""The pause of a client after a 429: seen, waited for, ended."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from both_clients import QUERY, WITH_TRIO, opened
from sitestats import RateLimitedError, StatsQuery
from sitestats.emulator import Emulator

SEARCH = QUERY.where(page="*a-long-pattern*")


@pytest.fixture
def emulator() -> Emulator:
    """An emulator with one page view."""
    emulator = Emulator()
    emulator.load([{"hostname": "example.com", "is_unique": True}])
    return emulator


def refused(client: Any, query: StatsQuery = QUERY) -> float | None:
    """What the service asks for by the error of a call."""
    with pytest.raises(RateLimitedError) as raised:
        client.stats.get(query)
    return raised.value.retry_after


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_a_pause_can_be_seen_and_ended(variant: str, emulator: Emulator) -> None:
    """By the client and its copies, and by a check: none of them sends anything. The
    errors have what was requested, and not the hour that a client keeps.
    """
    with opened(variant, emulator) as client:
        assert client.pause_left() == 0.0
        emulator.fail_next(status=429, retry_after=86_400)
        assert refused(client) == 86_400
        for one in (client, client.with_options(total_timeout=9.0)):
            again = refused(one)
            assert again is not None
            assert 86_000 < again < 86_400
        assert 3_000 < client.with_options(retries=0).pause_left() <= 3_600
        wrong = [row.name for row in client.check().rows if row.ok is False]
        assert wrong == ["service"]
        assert len(emulator.requests) == 1
        client.end_pause()
        assert client.pause_left() == client.pause_left(contains=True) == 0.0
        assert client.stats.get(QUERY).pageviews == 1


def test_contains_searches_have_a_pause_of_their_own(emulator: Emulator) -> None:
    """It is told by itself, and holds nothing else."""
    with emulator.client() as client:
        emulator.fail_next(status=429, retry_after=600)
        assert refused(client, SEARCH) == 600
        assert client.pause_left() == 0.0
        assert client.pause_left(contains=True) > 500
        assert client.stats.get(QUERY).pageviews == 1


def test_an_emulator_clears_the_pause_with_its_failures(emulator: Emulator) -> None:
    """So the next test begins without it."""
    with emulator.client() as client:
        emulator.fail_next(status=429, retry_after=600)
        refused(client)
        emulator.clear_faults()
        assert client.stats.get(QUERY).pageviews == 1


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_a_call_that_waits_goes_on_when_the_pause_is_ended(
    variant: str, emulator: Emulator
) -> None:
    """Soon, and not after the minute that the service requested."""
    with opened(variant, emulator, total_timeout=70.0, retries=0) as client:
        emulator.fail_next(status=429, retry_after=60)
        refused(client)
        timer = threading.Timer(0.1, emulator.clear_faults)
        timer.start()
        began = time.monotonic()
        assert client.stats.get(QUERY).pageviews == 1
        assert time.monotonic() - began < 30
        timer.join()


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_a_stopped_clock(
    variant: str, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that wait for a pause end, although a test has stopped the clock, by which
    an event loop waits as well.
    """
    with opened(variant, emulator) as client:
        stopped = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: stopped)
        emulator.fail_next(status=429, retry_after=0.1)
        assert client.stats.get(QUERY).pageviews == 1
        emulator.fail_next(status=429, retry_after=0.1)
        outcomes = client.stats.get_many([QUERY] * 3, deadline=30.0).collect()
        assert len(outcomes.succeeded) == 3
        # The loop of the portal waits for the end of its tasks.
        monkeypatch.undo()
