"""How commands end: signals, closed pipes, full disks, and the code of each outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from commands import start
from sitestats import (
    ConfigurationError,
    ConnectionFailedError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    WebsiteSpec,
)
from sitestats.cli._exits import Code
from sitestats.cli._websites import code_of_report
from sitestats.emulator import Emulator
from sitestats.provisioning import (
    Difference,
    ProvisionedWebsite,
    ProvisioningReport,
)

SPEC = WebsiteSpec("a.example")
DIFFERENCES = (Difference("public", wanted=False, found=True),)
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")


ERRORS = {
    "no": ServiceError("no such name", status=400),
    "denied": PermissionDeniedError("you may not", status=403),
    "later": RateLimitedError("slowly", status=429),
    "broken": ConnectionFailedError("the list can't be read back", maybe_sent=False),
    "journal": ConfigurationError("the journal x can't be written: no space"),
}
CODES = """
added present                   |         | OK
added differing                 |         | DIFFERS
added:differs                   |         | DIFFERS
differing refused:no            |         | GIVE_UP
refused:later added             |         | TRY_LATER
refused:later refused:no        |         | TRY_LATER
refused                         |         | GIVE_UP
not_tried:broken                |         | TRY_LATER
unknown:broken refused:no       |         | TRY_LATER
refused:no refused:denied not_tried | denied | GIVE_UP
refused:later not_tried         | later   | TRY_LATER
refused:no not_tried            | broken  | TRY_LATER
refused:no not_tried            | journal | WRONG_USE
unknown not_tried               | journal | TRY_LATER
"""
"""The states of a report, each with its error; what stopped the run; the code."""


def item(text: str) -> ProvisionedWebsite:
    """An item of a report."""
    state, _, error = text.partition(":")
    differs = DIFFERENCES if "differ" in text else ()
    return ProvisionedWebsite(
        SPEC, cast("Any", state), None, differs, ERRORS.get(error)
    )


@pytest.mark.parametrize("line", CODES.strip().splitlines())
def test_a_report_has_the_code_of_what_is_worst(line: str) -> None:
    """A job can tell what is refused, differs, is unknown, or stopped the run."""
    states, stopped, code = (cell.strip() for cell in line.split("|"))
    items = tuple(item(state) for state in states.split())
    report = ProvisioningReport(items, ERRORS.get(stopped))
    assert code_of_report(report) is Code[code]


def environment(address: str, emulator: Emulator) -> dict[str, str]:
    """The environment of a command."""
    return {
        "SITESTATS_BASE_URL": address,
        "SITESTATS_API_KEY": emulator.api_key,
        "SITESTATS_USER_ID": emulator.user_id,
    }


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
            **environment(address, emulator),
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
