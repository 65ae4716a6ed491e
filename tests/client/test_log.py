"""The logger ``sitestats``: attempts, retries and pauses, and never a secret."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings

from client_variants import QUICK, VARIANTS
from query_strategies import queries
from sitestats import Failed, RetryPolicy, SiteStatsError, StatsQuery
from sitestats.emulator import Emulator

HOSTNAME = "semicomplete.com"
QUERY = StatsQuery(HOSTNAME).fields("pageviews")
PATH = f"/{HOSTNAME}.json"

Call = Callable[[StatsQuery], None]


@pytest.fixture
def emulator() -> Emulator:
    """An emulator with the demo's traffic."""
    return Emulator.demo()


@pytest.fixture(params=VARIANTS)
def get(request: pytest.FixtureRequest, emulator: Emulator) -> Call:
    """Gets a query with one client variant."""

    async def get_async(query: StatsQuery) -> None:
        async with emulator.async_client(retries=QUICK) as client:
            await client.stats.get(query)

    def get(query: StatsQuery) -> None:
        if request.param == "blocking":
            with emulator.client(retries=QUICK) as client:
                client.stats.get(query)
        else:
            anyio.run(get_async, query, backend=request.param)

    return get


def fields(record: logging.LogRecord, *names: str) -> tuple[Any, ...]:
    """The values of these fields of a record."""
    return tuple(getattr(record, name) for name in names)


def records(caplog: pytest.LogCaptureFixture, level: int) -> list[logging.LogRecord]:
    """Our records of one level."""
    return [
        record
        for record in caplog.records
        if record.name == "sitestats" and record.levelno == level
    ]


def test_an_attempt_is_a_debug_record(
    get: Call, caplog: pytest.LogCaptureFixture
) -> None:
    """An attempt that gets a response is one DEBUG record, which tells the method, the
    path, the status, the time and the number of the attempt.
    """
    caplog.set_level(logging.DEBUG, "sitestats")
    get(QUERY)
    (record,) = records(caplog, logging.DEBUG)
    assert fields(record, "method", "path", "status", "error", "attempt") == (
        "GET",
        PATH,
        200,
        None,
        1,
    )
    milliseconds = vars(record)["milliseconds"]
    assert 0 < milliseconds < 60_000
    assert record.getMessage() == (
        f"GET {PATH}: attempt 1 got 200 after {milliseconds:.0f} ms"
    )


def test_a_retry_is_an_info_record(
    get: Call, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """Each retry is one INFO record with its reason and seconds, between the records
    of the two attempts.
    """
    caplog.set_level(logging.DEBUG, "sitestats")
    emulator.fail_next(status=503)
    emulator.fail_next(reset=True)
    get(QUERY)
    ours = [record for record in caplog.records if record.name == "sitestats"]
    assert [record.levelname for record in ours] == [
        "DEBUG",
        "INFO",
        "DEBUG",
        "INFO",
        "DEBUG",
    ]
    attempts = [
        fields(record, "attempt", "status", "error")
        for record in records(caplog, logging.DEBUG)
    ]
    assert attempts == [
        (1, 503, None),
        (2, None, "ConnectionFailedError"),
        (3, 200, None),
    ]
    first, second = records(caplog, logging.INFO)
    assert fields(first, "attempt", "status", "error") == (1, 503, None)
    assert fields(second, "attempt", "status", "error") == (
        2,
        None,
        "ConnectionFailedError",
    )
    seconds = vars(first)["seconds"]
    assert 0.005 <= seconds <= 0.01
    assert first.getMessage() == (
        f"GET {PATH}: attempt 1 got 503, retried in {seconds:.3g} s"
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_pause_is_an_info_record(
    emulator: Emulator, caplog: pytest.LogCaptureFixture, variant: str
) -> None:
    """In ``get_many``, a pause that the service asks for is one INFO record, even when
    the request that began it is not retried.
    """

    async def get_many() -> list[Any]:
        async with (
            emulator.async_client(retries=0) as client,
            client.stats.get_many([QUERY]) as stream,
        ):
            return [outcome async for outcome in stream]

    emulator.fail_next(status=429, retry_after=7)
    caplog.set_level(logging.INFO, "sitestats")
    if variant == "blocking":
        with (
            emulator.client(retries=0) as client,
            client.stats.get_many([QUERY]) as stream,
        ):
            (outcome,) = stream
    else:
        (outcome,) = anyio.run(get_many, backend=variant)
    assert isinstance(outcome, Failed)
    (record,) = records(caplog, logging.INFO)
    assert fields(record, "seconds", "status", "attempt") == (7.0, 429, 1)
    assert "pause" in record.getMessage()


def test_a_single_call_begins_no_pause(
    emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """A 429 to a single call delays no other call, so only its retry is logged."""
    caplog.set_level(logging.INFO, "sitestats")
    emulator.fail_next(status=429, retry_after=0)
    with emulator.client(retries=QUICK) as client:
        client.stats.get(QUERY)
    (record,) = records(caplog, logging.INFO)
    assert "retried in" in record.getMessage()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries())
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_no_parameter_is_logged(
    emulator: Emulator, caplog: pytest.LogCaptureFixture, query: StatsQuery
) -> None:
    """No record holds a parameter, a header or a key, whatever the query."""
    caplog.clear()
    caplog.set_level(logging.DEBUG, "sitestats")
    with emulator.client(retries=0) as client, suppress(SiteStatsError):
        client.stats.get(query)
    for record in records(caplog, logging.DEBUG):
        own = vars(record)
        assert "?" not in own["path"]
        assert emulator.api_key not in f"{record.getMessage()} {own}"
        known = {"method", "path", "status", "error", "milliseconds", "attempt"}
        known |= {"message", "asctime"}  # a handler adds these
        assert vars(logging.makeLogRecord({})).keys() | known >= own.keys()


def test_nothing_is_made_when_the_level_is_off(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody listens, no record is made of a retry, an attempt or a pause."""
    monkeypatch.setattr(logging.getLogger("sitestats"), "makeRecord", None)
    with emulator.client(retries=RetryPolicy(wait_initial=0.001)) as client:
        emulator.fail_next(status=503)
        client.stats.get(StatsQuery("semicomplete.com").fields("visitors"))
