"""An emulator with a clock in the past or in the future, and a client with a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from both_clients import VARIANTS, opened
from sitestats import StatsQuery
from sitestats.emulator import Emulator

PRESENTS = [
    datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2020, 3, 15, 12, tzinfo=UTC),
    datetime.now(UTC) + timedelta(minutes=5),
    datetime(2060, 2, 29, 12, tzinfo=UTC),
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("number", range(len(PRESENTS)))
def test_a_store_lives_in_the_emulators_present(
    tmp_path: Path, number: int, variant: str
) -> None:
    """A day that is over for the emulator is stored and used; today is not."""
    now = PRESENTS[number]
    emulator = Emulator(now=now)
    emulator.load([{"path": "/"}], hostname="example.com")
    query = StatsQuery("example.com").fields("pageviews").timezone("UTC")
    with opened(variant, emulator, store=tmp_path / "store.sqlite") as client:
        for over in (query.on(now.date() - timedelta(days=1)), query.last(days=7)):
            first, second = client.stats.get(over), client.stats.get(over)
            assert (first.from_store, second.from_store) == (False, True)
            assert first.pageviews == second.pageviews == 1
        for _ in range(2):
            assert not client.stats.get(query.on(now.date())).from_store


def test_what_is_stored_ages_with_the_emulator(tmp_path: Path) -> None:
    """A test moves the clock by a month, in place of waiting for one."""
    emulator = Emulator(now=datetime(2020, 3, 15, 12, tzinfo=UTC))
    emulator.add_website("example.com")
    query = StatsQuery("example.com").fields("pageviews").during("2020-02")
    with emulator.client(store=tmp_path / "store.sqlite") as client:
        for day, is_stored in ((15, False), (16, True), (46, False)):
            emulator.now = datetime(2020, 3, 1, tzinfo=UTC) + timedelta(days=day)
            assert client.stats.get(query).from_store is is_stored, day
