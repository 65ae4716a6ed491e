"""An update that is killed, and run again, leaves what an uninterrupted one does."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest

from killed_updates import Kills
from sitestats.emulator import Emulator
from updates import NOW, tables

pytestmark = [
    pytest.mark.once,
    pytest.mark.long,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
]


def test_killed_updates_leave_no_trace(tmp_path: Path) -> None:
    """Killed while it reads, normalises and loads, an update is finished by the next
    one: each row is there, and once. ``nox -s warehouse`` tries many more moments.
    """
    emulator = Emulator.made_up(3, days=6, now=NOW + dt.timedelta(days=1))
    with emulator.serve() as address:
        kills = Kills(emulator, address)
        whole, killed = tmp_path / "whole", tmp_path / "killed"
        counted = kills.update(whole, 0, max_requests=100)
        for part in (0.5, 0.9):
            moment = int(counted * part)
            assert kills.update(killed, 0, moment, max_requests=100) == 0
        assert kills.update(killed, 0) > 0
    assert tables(killed) == tables(whole)
