"""How commands end: signals, closed pipes, full disks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commands import start
from sitestats.emulator import Emulator

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")


@posix
def test_ctrl_c_ends_a_run_with_its_report(tmp_path: Path) -> None:
    """It ends a run at once, with the report so far: what was added, what was under
    way, and what was not tried.
    """
    path = tmp_path / "w.csv"
    path.write_text("hostname\na.example\nb.example\nc.example\n")
    emulator, came = Emulator(), threading.Event()
    emulator.fail_next(latency=60, when=lambda r: b'"b.ex' in r.body and not came.set())
    with emulator.serve() as address:
        process = start(
            *("websites", "ensure", str(path), "--yes", "--format", "json"),
            SITESTATS_BASE_URL=address,
            SITESTATS_API_KEY=emulator.api_key,
            SITESTATS_USER_ID=emulator.user_id,
        )
        assert came.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    report = json.loads(out)
    states = [one["state"] for one in report["items"]]
    assert states == ["added", "unknown", "not_tried"]
    assert report["stopped"] == "interrupted"
    assert err.splitlines()[-1] == "sitestats: interrupted; run it again to continue"


@posix
def test_the_end_of_an_output(emulator: Emulator) -> None:
    """A reader that stops to read and a disk that is full have a code each, and no
    traceback.
    """
    # A table, whose reader has ended before it comes.
    process = start("websites", "list")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(30) == 141
    process.stderr.close()
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sitestats", "url", "a.example"],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "sitestats: the output can't be written: No space left on device\n"
    )
