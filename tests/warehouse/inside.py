"""What the tests of warehouses know of the inside."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from sitestats.warehouse import _destinations, _pipelines, _source, _tables
from sitestats.warehouse._days import (
    DAY,
    FAILED_EVERYWHERE,
    Days,
    Totals,
    WebsiteDays,
)
from sitestats.warehouse._source import UnderWay
from sitestats.warehouse._tables import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "COLUMNS",
    "DAY",
    "FAILED_EVERYWHERE",
    "Days",
    "Totals",
    "WebsiteDays",
    "set_large",
    "set_most_held",
    "set_wait_for_a_file",
    "set_wait_for_a_look",
    "set_wait_for_dlts_files",
    "slow_down",
    "when_free",
    "without_adbc",
]


def when_free(work: Callable[[], Any], *, in_an_update: bool = False) -> Any:
    """Do *work* with a database; an update waits while another program has it open."""
    under_way = UnderWay(ExitStack()) if in_an_update else None
    return _pipelines.when_free(work, under_way)


def set_wait_for_a_file(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Wait so long for a file that another program has open."""
    patch.setattr(_pipelines, "_WAIT", seconds)


def set_wait_for_dlts_files(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Wait so long for dlt's files, which another process makes or empties."""
    patch.setattr(_pipelines, "_WAIT_FOR_FILES", seconds)


def set_wait_for_a_look(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Wait so long for a process that looks whether an update is under way."""
    patch.setattr(_pipelines, "_WAIT_FOR_A_LOOK", seconds)


def set_large(patch: pytest.MonkeyPatch, requests: int) -> None:
    """Take an update of more than so many requests for a large one."""
    patch.setattr(_source, "_LARGE", requests)


def set_most_held(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Hold so many rows in memory at most."""
    patch.setattr(_tables, "MOST_HELD", rows)


def slow_down(patch: pytest.MonkeyPatch) -> None:
    """Let a second pass with each request, so that a load ends after a few."""
    seconds = SimpleNamespace(monotonic=partial(next, count()))
    patch.setattr(_source, "time", seconds)


def without_adbc(patch: pytest.MonkeyPatch) -> None:
    """Have no driver that loads Parquet files into PostgreSQL."""
    patch.setattr(_destinations, "find_spec", lambda _: None)
