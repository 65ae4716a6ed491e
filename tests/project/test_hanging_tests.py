"""A test that hangs fails, and shows where it hangs; the others run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
HANGING: Final = """
import threading

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

NEVER = threading.Event()


def wait_beside():
    NEVER.wait()


def test_a_thread():
    threading.Thread(target=wait_beside, daemon=True).start()
    NEVER.wait()


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_loop(loop):
    anyio.run(anyio.sleep_forever, backend=loop)


def test_a_loop_in_a_thread():
    with start_blocking_portal("asyncio") as portal:
        portal.call(anyio.sleep_forever)


def test_another():
    pass
"""


def run(folder: Path, tests: str) -> str:
    """What pytest prints of these tests, in a process of pytest-xdist, with this
    project's settings and a limit of a second.
    """
    path = folder / "test_these.py"
    path.write_text(tests, "utf-8")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += ["-p", "conftest", "-p", "no:cacheprovider", "-n", "1", "--timeout=1"]
    done = subprocess.run(
        [*command, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=100,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.long
def test_a_test_that_hangs_fails_with_all_stacks(tmp_path: Path) -> None:
    """Whatever it waits for: another thread, a loop of its own, a loop in a thread."""
    printed = run(tmp_path, HANGING)
    assert re.search(r"\b4 failed, 1 passed\b", printed), printed
    assert printed.count("from pytest-timeout") >= 4
    assert "in wait_beside" in printed
    assert "in run_blocking_portal" in printed
