"""Runs of ``ensure`` in real processes, against an emulator on a socket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitestats.emulator import Emulator

NAMES = ["a.example", "b.example", "c.example"]
PATIENCE = 600
"""Seconds that one request may take: how long a pending add is waited for."""

PROGRAM = f"""\
import json, sys
from sitestats import BusyError, Client, WebsiteSpec

options = json.loads(sys.argv[1])
journal = options.pop("journal")
specs = [WebsiteSpec(name) for name in {NAMES!r}]
try:
    with Client(proxy=None, **{{"total_timeout": {PATIENCE}}} | options) as client:
        report = client.websites.ensure(specs, journal=journal)
except BusyError as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps([item.state for item in report.items]))
"""


class ProcessRunner:
    """Runs ``ensure`` in processes, against an emulator on a socket."""

    def __init__(self, emulator: Emulator, address: str, journal: Path) -> None:
        self.emulator = emulator
        self.journal = journal
        self.environment = os.environ | {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
        }

    def start(
        self, *, journal: Path | str | None = "", **options: object
    ) -> subprocess.Popen[str]:
        """Start a run in a new process; None for a run without a journal."""
        name = None if journal is None else str(journal or self.journal)
        arguments = json.dumps({"journal": name, **options})
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill_when(self, reached: Callable[[], bool], **options: Any) -> None:
        """Start a run, and kill it as soon as *reached*."""
        process = self.start(**options)
        wait_until(lambda: reached() or process.poll() is not None)
        process.kill()
        process.communicate(timeout=30)
        assert process.returncode == -signal.SIGKILL

    def finish(self, process: subprocess.Popen[str], *, waited: bool = False) -> Any:
        """The states that a run reports, or why another one excluded it."""
        out, err = process.communicate(timeout=60)
        assert ("SiteStatsWarning: an earlier run sent" in err) == waited, err
        assert waited or err == ""
        return json.loads(out)

    @property
    def sent(self) -> list[str]:
        """The host names of all adds that the emulator got."""
        return [
            json.loads(request.body)["hostname"]
            for request in self.emulator.requests
            if request.method == "POST"
        ]

    @property
    def lists(self) -> int:
        """How often the list was read."""
        return sum(request.method == "GET" for request in self.emulator.requests)


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
