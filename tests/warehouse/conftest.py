"""These tests need the extra ``warehouse``, and share a database after one update."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from sitestats.emulator import Emulator

# Not in every environment: see noxfile.py. So the fixtures import what needs it.
collect_ignore_glob = ["test_*.py"] if find_spec("dlt") is None else []


@pytest.fixture(scope="session")
def emulator() -> Emulator:
    """Three websites in three zones, with five days of traffic."""
    from warehouse.updates import NOW

    return Emulator.made_up(3, days=5, now=NOW)


@pytest.fixture(scope="session")
def loaded(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a database after one update, in two loads."""
    from warehouse.inside import slow_down
    from warehouse.updates import run

    folder = tmp_path_factory.mktemp("loaded")
    shown: dict[int, int | None] = {}
    with pytest.MonkeyPatch.context() as patch:
        slow_down(patch)
        report = run(folder, emulator, max_seconds=9, progress=shown.__setitem__)
    assert (len(report.loads), report.failed) == (2, {})
    assert [*shown] == [*range(1, 17)]
    assert shown[16] == report.requests == 16
    return folder


@pytest.fixture
def folder(loaded: Path, tmp_path: Path) -> Path:
    """A copy of that database, with the pipeline's folder."""
    return shutil.copytree(loaded, tmp_path / "copy")
