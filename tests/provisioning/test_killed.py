"""A real process, killed between an add and its answer, and gone on with."""

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
from broken_lines import let_time_pass

from sitestats.emulator import Emulator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")

NAMES = ["a.example", "b.example", "c.example"]
PATIENCE = 600
"""Seconds that one request may take: how long an open add is waited for."""

PROGRAM = f"""\
import json, sys
from sitestats import Client, WebsiteSpec

specs = [WebsiteSpec(name) for name in {NAMES!r}]
with Client(proxy=None, total_timeout={PATIENCE}) as client:
    report = client.websites.ensure(specs, journal=sys.argv[1])
print(json.dumps([item.state for item in report.items]))
"""


class Bench:
    """An emulator on a socket, and processes that provision it."""

    def __init__(self, emulator: Emulator, address: str, journal: Path) -> None:
        self.emulator = emulator
        self.journal = journal
        self._environment = os.environ | {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
        }

    def start(self) -> subprocess.Popen[str]:
        """Begin a run in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.journal)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill_when(self, reached: Callable[[], bool]) -> None:
        """Begin a run, and kill it as soon as *reached*."""
        process = self.start()
        wait_until(lambda: reached() or process.poll() is not None)
        process.kill()
        process.communicate(timeout=30)
        assert process.returncode == -signal.SIGKILL

    def finish(self, process: subprocess.Popen[str]) -> Any:
        """The states that a run ends with."""
        out, err = process.communicate(timeout=60)
        assert err == ""
        return json.loads(out)

    @property
    def sent(self) -> list[str]:
        """The host names of all adds that arrived."""
        return [
            json.loads(request.body)["hostname"]
            for request in self.emulator.requests
            if request.method == "POST"
        ]


def wait_until(reached: Callable[[], bool]) -> None:
    """Look until it is so; for ever is a minute."""
    for _ in range(6_000):
        if reached():
            return
        time.sleep(0.01)
    pytest.fail("it was never reached")


def about_b(request: Any) -> bool:
    """Whether *request* is the add of b.example."""
    return b'"b.example"' in request.body


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """An emulator without websites, on a loopback socket."""
    emulator = Emulator()
    with emulator.serve() as address:
        yield Bench(emulator, address, tmp_path / "journal")


def test_an_add_that_came_through_is_not_sent_again(bench: Bench) -> None:
    """Killed after the service acted and before it answered: the list tells."""
    bench.emulator.fail_next(latency=60, when=about_b)
    bench.kill_when(lambda: "b.example" in bench.emulator.websites)
    assert bench.sent == ["a.example", "b.example"]
    states = bench.finish(bench.start())
    assert states == ["added", "added", "added"]
    assert bench.sent == NAMES


def test_an_add_that_comes_through_late_is_waited_for(bench: Bench) -> None:
    """Killed before the service acts, which it does when the next run has begun."""
    bench.emulator.fail_next(reset=True, latency=60, when=about_b)
    bench.kill_when(lambda: "b.example" in bench.sent)
    lists = sum(request.method == "GET" for request in bench.emulator.requests)
    process = bench.start()
    wait_until(
        lambda: (
            sum(request.method == "GET" for request in bench.emulator.requests) > lists
        )
    )
    assert "b.example" not in bench.emulator.websites
    bench.emulator.add_website("b.example")
    assert bench.finish(process) == ["added", "added", "added"]
    assert bench.sent == NAMES


def test_an_add_that_never_came_through_is_sent_again(bench: Bench) -> None:
    """Killed before the service acts, which it never does: the goal is reached."""
    bench.emulator.fail_next(reset=True, latency=60, when=about_b)
    bench.kill_when(lambda: "b.example" in bench.sent)
    let_time_pass(bench.journal)
    states = bench.finish(bench.start())
    assert states == ["added", "added", "added"]
    assert bench.sent == ["a.example", "b.example", "b.example", "c.example"]
    assert bench.emulator.websites == tuple(NAMES)
