"""A real process that is killed during an add, and continued with its journal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connection_faults import let_time_pass
from ensure_processes import NAMES, ProcessRunner, about_b, wait_until
from sitestats.emulator import Emulator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
]


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[ProcessRunner]:
    """An emulator without websites, on a loopback socket."""
    emulator = Emulator()
    with emulator.serve() as address:
        yield ProcessRunner(emulator, address, tmp_path / "journal")


def test_an_add_that_was_processed_is_not_sent_again(runner: ProcessRunner) -> None:
    """A process killed after the website was added does not add it again."""
    runner.emulator.fail_next(latency=60, when=about_b)
    runner.kill_when(lambda: "b.example" in runner.emulator.websites)
    assert runner.sent == ["a.example", "b.example"]
    states = runner.finish(runner.start())
    assert states == ["added", "added", "added"]
    assert runner.sent == NAMES


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"total_timeout": 2.0}),
        ({"journal": None}, {"journal": None}),
        ({}, {"journal": None}),
        ({"journal": None}, {"total_timeout": 2.0}),
    ],
    ids=["shorter timeout", "no journals", "no journal then", "no journal before"],
)
def test_an_add_that_is_processed_late_is_waited_for(
    runner: ProcessRunner, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """An add that is processed after the next run has begun is not sent again.

    Whatever the timeout and the journal of that run are.
    """
    runner.emulator.fail_next(reset=True, latency=60, when=about_b)
    runner.kill_when(lambda: "b.example" in runner.sent, **first)
    lists = runner.lists
    process = runner.start(**second)
    # The first list, and the one after the first pause.
    wait_until(lambda: runner.lists > lists + 1 or process.poll() is not None)
    assert runner.sent == ["a.example", "b.example"]
    runner.emulator.add_website("b.example")
    assert runner.finish(process, waited=True) == ["added", "added", "added"]
    assert runner.sent == NAMES


def test_an_add_that_was_never_processed_is_sent_again(runner: ProcessRunner) -> None:
    """An add that was never processed is sent again once its time is over."""
    runner.emulator.fail_next(reset=True, latency=60, when=about_b)
    runner.kill_when(lambda: "b.example" in runner.sent)
    let_time_pass(runner.journal)
    states = runner.finish(runner.start())
    assert states == ["added", "added", "added"]
    assert runner.sent == ["a.example", "b.example", "b.example", "c.example"]
    assert runner.emulator.websites == tuple(NAMES)
