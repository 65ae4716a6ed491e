"""The page on the monthly report: its script runs in cron's environment."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest

if TYPE_CHECKING:
    from sitestats.emulator import Emulator

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no cron"),
]
PAGE = Path(__file__).parents[2] / "docs" / "reports.md"


def blocks(language: str) -> list[str]:
    """The blocks of the page in that language."""
    return re.findall(rf"(?ms)^```{language}\n(.+?)^```", PAGE.read_text("utf-8"))


@pytest.mark.parametrize("broken", [False, True], ids=["all", "one fails"])
def test_the_report_is_made_in_the_environment_of_cron(
    emulator: Emulator,
    tmp_path: Path,
    broken: bool,  # noqa: FBT001 - a case
) -> None:
    """The workbook has a row for each website; cron's mail has one that failed."""
    (script,) = blocks("sh")
    (crontab,) = blocks("text")
    assert crontab.splitlines()[-1].startswith("30 6 1 * * ")
    settings = tmp_path / "environment"
    settings.write_text(
        f"SITESTATS_BASE_URL={os.environ['SITESTATS_BASE_URL']}\n"
        f"SITESTATS_USER_ID={emulator.user_id}\n"
        f"SITESTATS_API_KEY={emulator.api_key}\n"
    )
    send = tmp_path / "send"
    send.write_text(f'#!/bin/sh\ncp "$@" {shlex.quote(str(tmp_path))}\n')
    send.chmod(0o755)
    script = script.replace("/etc/sitestats/environment", str(settings))
    script = script.replace("/var/lib/sitestats", str(tmp_path))
    script = script.replace("/opt/sitestats/bin", str(Path(sys.executable).parent))
    if broken:
        emulator.fail_next(None, status=404, path="/blog.semicomplete.com.json")
    bare = ("env", "-i", "HOME=/nonexistent", "PATH=/usr/bin:/bin", f"SEND={send}")
    done = subprocess.run(
        [*bare, "/bin/sh", "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == (3 if broken else 0), done.stderr
    sheet = openpyxl.load_workbook(tmp_path / "report.xlsx")["totals"]
    assert sheet.max_row == 1 + len(emulator.websites) - broken
    assert ("sitestats: blog.semicomplete.com" in done.stderr) is broken
