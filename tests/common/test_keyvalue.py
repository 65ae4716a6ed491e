"""A store of one's own: what it needs, and that its errors spoil no call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sitestats import SiteStatsWarning, StatsQuery
from sitestats.emulator import Emulator

HOSTNAME = "semicomplete.com"
# The demo's traffic is on the four days before today.
DATE = datetime.now(UTC).date() - timedelta(days=2)
DAY = StatsQuery(HOSTNAME).fields("visitors", "pages").on(DATE)


@pytest.fixture
def emulator() -> Emulator:
    """An emulator with the demo's traffic."""
    return Emulator.demo()


def test_a_store_that_fails_is_a_warning_once(emulator: Emulator) -> None:
    """An error of a store of one's own is one warning, and requests are sent."""

    class Broken:
        def __repr__(self) -> str:
            return "Broken(password='secret')"

        def get(self, key: str) -> bytes | None:
            raise RuntimeError("no connection to the store")

        def set(self, key: str, value: bytes) -> None:
            raise AssertionError

    with emulator.client(store=Broken()) as client:
        with pytest.warns(SiteStatsWarning, match="no connection to the store") as told:
            client.stats.get_many([DAY, DAY]).collect()
        [warning] = told
        assert str(warning.message).startswith("the store Broken is not used")
        assert "secret" not in str(warning.message)
    assert len(emulator.requests) == 2
