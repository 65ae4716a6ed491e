"""How commands end: signals, closed pipes, full disks."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commands import exists, start
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
    assert report["stopped"]["text"] == "interrupted"
    assert err.splitlines()[-1] == "sitestats: interrupted; run it again to continue"


@pytest.mark.long
@posix
def test_a_reader_that_has_ended(emulator: Emulator) -> None:
    """The command ends with the shell's code for it, and without a message."""
    # A table, whose reader has ended before it comes.
    process = start("websites", "list")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(30) == 141
    process.stderr.close()


NO_SPACE = "sitestats: the output can't be written: No space left on device\n"
CLOSED = "sitestats: the output can't be written: Bad file descriptor\n"


SHORT = [("--version >/dev/full", 2, NO_SPACE)]
LONG = [
    ("url a.example >&-", 2, CLOSED),
    ("websites plan - <&-", 2, "standard input: Bad file descriptor"),
    ("url a.example 2>&-", 0, "/a.example.json?"),
    ("websites list --format xlsx >/dev/full", 2, NO_SPACE),
    ("stats nobody.example --each day --last 2 2>&-", 3, "2 of 2 failed"),
    ("url a.example <&-", 0, "/a.example.json?"),
    ("url a.example >/dev/full", 2, NO_SPACE),
    ("websites list >&- <&-", 2, CLOSED),
    ("websites list >&- 2>&- <&-", 2, ""),
    ("stats nobody.example 2>&-", 3, "sitestats: the service does not know"),
    ("stats nobody.example 2>/dev/full", 3, ""),
    ("websites add semicomplete.com --private --yes 2>&-", 8, "should be false"),
]


@posix
@pytest.mark.parametrize(
    ("command", "code", "words"),
    [*SHORT, *(pytest.param(*one, marks=pytest.mark.long) for one in LONG)],
)
def test_streams_that_are_closed_or_full(
    emulator: Emulator, command: str, code: int, words: str
) -> None:
    """Without a stream, as in cron jobs, a command works, or says on what is left why
    not. What could not be written is never code 0.
    """
    without_streams = re.sub(r"[0-2]?[<>].*", "", command)
    assert exists(*without_streams.split())
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sitestats {command}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@posix
def test_json_stays_json_without_standard_error(emulator: Emulator) -> None:
    """The failures are objects there already, and no lines between them."""
    command = "stats nobody.example --each day --last 2 --format json 2>&-"
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sitestats {command}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert [row["status"] for row in json.loads(done.stdout)] == [404, 404]
