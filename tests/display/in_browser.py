"""Attacks in displayed results do nothing in a real browser: CONTRIBUTING.md.

It is not part of the plain tests, which have no browser.
"""

from __future__ import annotations

import subprocess
from html import escape
from typing import TYPE_CHECKING

import pytest

from chromium import FLAGS, find_chromium
from display.sample_tables import ATTACKS, attacked
from displayed import Page, assert_harmless

if TYPE_CHECKING:
    from pathlib import Path

TRAP = """<!doctype html><meta charset="utf-8"><title>calm</title>
<script>window.alert = () => { document.title = "attacked" }</script>
<body>"""


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program; without one these tests fail, and never skip."""
    return find_chromium()


def seen(chromium: str, html: str, directory: Path) -> str:
    """The page after all its scripts have run."""
    path = directory / "page.html"
    path.write_text(TRAP + html, encoding="utf-8", errors="replace")
    done = subprocess.run(
        [
            *(chromium, *FLAGS, f"--user-data-dir={directory / 'profile'}"),
            *("--virtual-time-budget=3000", "--dump-dom", path.as_uri()),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert "</body>" in done.stdout, done.stderr
    return done.stdout


def title_of(page: str) -> str:
    """The final title of the page."""
    return page.partition("<title>")[2].partition("</title>")[0]


def test_the_trap_works(chromium: str, tmp_path: Path) -> None:
    """An attack that is not escaped runs, so the other tests can fail."""
    for number, attack in enumerate(ATTACKS[:3]):
        directory = tmp_path / str(number)
        directory.mkdir()
        assert title_of(seen(chromium, attack, directory)) == "attacked"


def test_no_attack_runs(chromium: str, tmp_path: Path) -> None:
    """A page of every result with every attack runs no script, and shows them."""
    results = [result for attack in ATTACKS for result in attacked(attack)]
    html = "".join(result._repr_html_() for result in results)
    page = seen(chromium, html, tmp_path)
    assert title_of(page) == "calm"
    body = page.partition("<body>")[2].rpartition("</body>")[0]
    assert_harmless(body)
    shown = "".join(Page(body).texts)
    for attack in ATTACKS:
        if attack.isprintable():
            assert attack in shown, escape(attack)
