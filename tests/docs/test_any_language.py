"""The page about other languages: its suite in JavaScript, and its commands of curl."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "examples" / "emulator.test.mjs"
PAGE = (ROOT / "docs" / "testing-in-any-language.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The blocks of a language on the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(*command: object, folder: Path = ROOT, **settings: str) -> str:
    """The output of a program that succeeds, in which the command is on the PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, "PATH": path, "NO_PROXY": "*", **settings},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not there")
def test_the_suite_in_javascript() -> None:
    """All of its tests pass, beside each other."""
    output = run("node", "--test", "--test-reporter=tap", SUITE)
    assert "# pass 4\n# fail 0\n" in output


def test_the_page_shows_parts_of_the_suite() -> None:
    """Each block of JavaScript is in the suite as it is shown."""
    suite = SUITE.read_text("utf-8")
    shown = blocks("js")
    assert len(shown) == 2
    assert all(block in suite for block in shown)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
@pytest.mark.skipif(os.name == "nt", reason="the shell is another one there")
def test_the_commands_of_curl(tmp_path: Path) -> None:
    """They succeed as they are written, one after another."""
    (tmp_path / "export.csv").write_text("path,uuid\n/,1\n", "utf-8")
    script = """set -eu
curl() { command curl --silent --show-error --fail "$@"; echo; }
"""
    emulator = Emulator()
    with emulator.serve() as address:
        output = run(
            "bash",
            "-c",
            script + "".join(blocks("sh")),
            folder=tmp_path,
            SITESTATS_BASE_URL=address,
            SITESTATS_API_KEY=emulator.api_key,
        )
    assert '"pageviews":3' in output
    assert emulator.websites == ("shop.example",)
