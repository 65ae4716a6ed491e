"""These tests need the extra ``warehouse``, and share a database after one update."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from sitestats.warehouse import Update

# Not in every environment: see noxfile.py. So the fixtures import what needs it.
collect_ignore_glob = ["test_*.py"] if find_spec("dlt") is None else []


@pytest.fixture(scope="session")
def emulator() -> Emulator:
    """Three websites in three zones, with five days of traffic."""
    from updates import NOW

    return Emulator.made_up(3, days=5, now=NOW)


@pytest.fixture(scope="session")
def loaded(
    emulator: Emulator, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Update]:
    """A database after one update, and what that update returned."""
    from updates import run

    folder = tmp_path_factory.mktemp("loaded")
    return folder, run(folder, emulator)


@pytest.fixture
def folder(loaded: tuple[Path, Update], tmp_path: Path) -> Path:
    """A copy of that database, with the pipeline's folder."""
    return shutil.copytree(loaded[0], tmp_path / "copy")
