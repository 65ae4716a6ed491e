"""``sitestats demo``: what a new user sees first."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run_demo(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the demo as a user does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", *options, "-m", "sitestats", "demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_demo_shows_statistics() -> None:
    """The demo succeeds, and shows totals, a chart, tables, and how to go on."""
    done = run_demo("-X", "utf8")
    assert done.stderr == ""
    assert done.returncode == 0
    for words in (
        "http://127.0.0.1:",
        "blog.semicomplete.com",
        "Added shop.example, in Europe/Amsterdam.",
        "1,586 page views",
        "█",
        "/projects/xdotool/ ",
        " 203 ",
        "countries ",
        "referrers ",
        "download ",
        "from sitestats import Client, StatsQuery",
        "export SITESTATS_BASE_URL=https://…",
    ):
        assert words in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


MISSING = """\
import sys
sys.modules[{library!r}] = None
from sitestats.cli import main
sys.argv = ["sitestats", "demo"]
main()
"""


@pytest.mark.parametrize(
    ("library", "extra"), [("click", "cli"), ("rich", "cli"), ("duckdb", "emulator")]
)
def test_a_missing_extra_is_one_line(library: str, extra: str) -> None:
    """Without an extra's library the error says what to install, with code 2."""
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(library=library)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert library in line
    assert line.endswith(f"pip install 'sitestats[{extra}]'")
    assert done.stdout == ""
