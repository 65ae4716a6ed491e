"""The example programs run, each as a user would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """The variables that lead a program to an emulator on a socket."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        yield os.environ | {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
            "PYTHONIOENCODING": "utf-8",
        }


def run(environment: dict[str, str], program: str, *arguments: str) -> str:
    """What *program* prints."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / program, *arguments],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_dashboard_shows_every_website(environment: dict[str, str]) -> None:
    """An application gets the numbers of all websites, and a refusal spoils none."""
    shown = run(environment, "dashboard.py")
    assert "semicomplete.com" in shown
    assert "1,586" in shown
    shown = run(environment, "dashboard.py", "semicomplete.com", "nobody.example.com")
    assert "1,586" in shown
    assert "nobody.example.com" in shown


def test_the_analyst_sees_what_was_read(environment: dict[str, str]) -> None:
    """An analyst gets totals, days, pages and referrers of real traffic."""
    shown = run(environment, "readers.py", "semicomplete.com")
    assert "/projects/xdotool/" in shown
    assert shown.count("█") > 10
    assert "google" in shown


def test_the_operator_adds_once(environment: dict[str, str]) -> None:
    """An operator who runs the program twice adds each website once."""
    names = ("example.com", "shop.example.com")
    first = run(environment, "add_websites.py", *names)
    assert first.count(": added, Europe/Amsterdam") == 2
    second = run(environment, "add_websites.py", *names)
    assert second.count(": present") == 2


def test_every_example_is_tested() -> None:
    """No program is put into examples/ without a test that runs it."""
    source = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{path.name}"' in source for path in EXAMPLES.glob("*.py"))
