"""The logger ``sitestats``: attempts, retries and pauses, and never a secret."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from both_clients import VARIANTS, opened
from query_strategies import queries
from sitestats import RateLimitedError, SiteStatsError, StatsQuery
from sitestats.emulator import Emulator

HOSTNAME = "semicomplete.com"
QUERY = StatsQuery(HOSTNAME).fields("pageviews")
PATH = f"/{HOSTNAME}.json"
BOTH = pytest.mark.parametrize("variant", VARIANTS)


@pytest.fixture
def emulator() -> Emulator:
    """An emulator with the demo's traffic."""
    return Emulator.demo()


def records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Our records."""
    return [record for record in caplog.records if record.name == "sitestats"]


def values(record: logging.LogRecord, *names: str) -> tuple[Any, ...]:
    """The values of these fields of a record."""
    return tuple(getattr(record, name) for name in names)


@BOTH
def test_attempts_and_retries(
    variant: str, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """An attempt is a DEBUG record, with method, path, status, time and number; a retry
    between two of them an INFO record, with its reason and seconds.
    """
    caplog.set_level(logging.DEBUG, "sitestats")
    emulator.fail_next(status=503)
    emulator.fail_next(reset=True)
    with opened(variant, emulator) as client:
        client.stats.get(QUERY)
    found = records(caplog)
    levels = [record.levelname for record in found]
    assert levels == ["DEBUG", "INFO", "DEBUG", "INFO", "DEBUG"]
    names = ("method", "path", "attempt", "status", "error")
    assert [values(record, *names) for record in found[::2]] == [
        ("GET", PATH, 1, 503, None),
        ("GET", PATH, 2, None, "ConnectionFailedError"),
        ("GET", PATH, 3, 200, None),
    ]
    last, retry = vars(found[4]), vars(found[1])
    assert 0 < last["milliseconds"] < 60_000
    assert found[4].getMessage() == (
        f"GET {PATH}: attempt 3 got 200 after {last['milliseconds']:.0f} ms"
    )
    assert 0 < retry["seconds"] <= 0.002
    assert found[1].getMessage() == (
        f"GET {PATH}: attempt 1 got 503, retried in {retry['seconds']:.3g} s"
    )


@BOTH
def test_a_pause_is_an_info_record(
    variant: str, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    """A pause that the service asks for is one INFO record, also without a retry."""
    emulator.fail_next(status=429, retry_after=7)
    caplog.set_level(logging.INFO, "sitestats")
    with opened(variant, emulator, retries=0) as client:
        (outcome,) = client.stats.get_many([QUERY]).collect()
    assert isinstance(outcome.error, RateLimitedError)
    (record,) = records(caplog)
    assert values(record, "seconds", "status", "attempt") == (7.0, 429, 1)
    assert "pause" in record.getMessage()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries())
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_no_parameter_is_logged(
    emulator: Emulator, caplog: pytest.LogCaptureFixture, query: StatsQuery
) -> None:
    """No record holds a parameter, a header or a key, whatever the query."""
    caplog.clear()
    caplog.set_level(logging.DEBUG, "sitestats")
    with (
        opened("blocking", emulator, retries=0) as client,
        suppress(SiteStatsError),
    ):
        client.stats.get(query)
    assert records(caplog)
    for record in records(caplog):
        own = vars(record)
        assert "?" not in own["path"]
        assert emulator.api_key not in f"{record.getMessage()} {own}"
        assert "params" not in f"{own}"
        known = {"method", "path", "status", "error", "milliseconds", "attempt"}
        known |= {"message", "asctime"}  # a handler adds these
        assert vars(logging.makeLogRecord({})).keys() | known >= own.keys()
