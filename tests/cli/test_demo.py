"""``sitestats demo``: what a new user sees first."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from sitestats import Client
from sitestats.cli._demo import PROGRAM, run_program
from sitestats.emulator import Emulator


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


def test_the_program_that_is_shown_is_what_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python code that the demo prints gives the demo's output."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    shown, repeated = Emulator.demo(), Emulator.demo()
    with (
        shown.serve() as address,
        Client(
            address, api_key=shown.api_key, user_id=shown.user_id, proxy=None
        ) as client,
    ):
        websites, added, stats = run_program(client)
    with repeated.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        monkeypatch.setenv("SITESTATS_API_KEY", repeated.api_key)
        monkeypatch.setenv("SITESTATS_USER_ID", repeated.user_id)
        names = runpy.run_path(str(program))
    assert names["websites"] == websites
    assert names["added"] == added
    assert names["stats"] == stats
    assert [(r.path, r.pairs, r.body) for r in shown.requests] == [
        (r.path, r.pairs, r.body) for r in repeated.requests
    ]


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
