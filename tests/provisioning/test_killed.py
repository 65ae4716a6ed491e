"""A real process that is killed during an add, and continued with its journal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from connection_faults import let_time_pass

from sitestats.emulator import Emulator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")

NAMES = ["a.example", "b.example", "c.example"]
PATIENCE = 600
"""Seconds that one request may take: how long a pending add is waited for."""

PROGRAM = f"""\
import json, sys
from sitestats import Client, WebsiteSpec

specs = [WebsiteSpec(name) for name in {NAMES!r}]
with Client(proxy=None, total_timeout={PATIENCE}) as client:
    report = client.websites.ensure(specs, journal=sys.argv[1])
print(json.dumps([item.state for item in report.items]))
"""


class ProcessRunner:
    """Runs ``ensure`` in processes, against an emulator on a socket."""

    def __init__(self, emulator: Emulator, address: str, journal: Path) -> None:
        self.emulator = emulator
        self.journal = journal
        self._environment = os.environ | {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
        }

    def start(self) -> subprocess.Popen[str]:
        """Start a run in a new process."""
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.journal)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill_when(self, reached: Callable[[], bool]) -> None:
        """Start a run, and kill it as soon as *reached*."""
        process = self.start()
        wait_until(lambda: reached() or process.poll() is not None)
        process.kill()
        process.communicate(timeout=30)
        assert process.returncode == -signal.SIGKILL

    def finish(self, process: subprocess.Popen[str]) -> Any:
        """The states that a run reports."""
        out, err = process.communicate(timeout=60)
        assert err == ""
        return json.loads(out)

    @property
    def sent(self) -> list[str]:
        """The host names of all adds that the emulator got."""
        return [
            json.loads(request.body)["hostname"]
            for request in self.emulator.requests
            if request.method == "POST"
        ]


def wait_until(reached: Callable[[], bool]) -> None:
    """Wait until it is true, at most a minute."""
    for _ in range(6_000):
        if reached():
            return
        time.sleep(0.01)
    pytest.fail("it did not happen within a minute")


def about_b(request: Any) -> bool:
    """Whether *request* is the add of b.example."""
    return b'"b.example"' in request.body


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


def test_an_add_that_is_processed_late_is_waited_for(runner: ProcessRunner) -> None:
    """An add that is processed after the next run has begun is not sent again."""
    runner.emulator.fail_next(reset=True, latency=60, when=about_b)
    runner.kill_when(lambda: "b.example" in runner.sent)
    lists = sum(request.method == "GET" for request in runner.emulator.requests)
    process = runner.start()
    wait_until(
        lambda: (
            sum(request.method == "GET" for request in runner.emulator.requests) > lists
        )
    )
    assert "b.example" not in runner.emulator.websites
    runner.emulator.add_website("b.example")
    assert runner.finish(process) == ["added", "added", "added"]
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
