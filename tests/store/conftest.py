"""What the tests of a store's file share: where it is, and an empty store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sitestats import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(path) as store:
        yield store
