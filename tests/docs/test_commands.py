"""Commands in the documentation work as they are written."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from commands import exists

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

DOCS: Final = Path(__file__).parent.parent.parent / "docs"
SHOWN: Final = [
    line
    for page in sorted(DOCS.glob("*.md"))
    for line in re.findall(
        r"^(?:\$|\s+(?:- )?run:) sitestats (.+?)(?: (?:\|\|?|>) .+)?$",
        page.read_text("utf-8"),
        re.MULTILINE,
    )
]
APART: Final = ("demo", "emulator", "warehouse", "check --compare")
"""The commands that serve or take long, and have tests of their own."""
LIST: Final = """
[[websites]]
hostname = "semicomplete.com"
public = true
"""


def test_commands_are_found() -> None:
    """Commands are found in blocks and in the steps of a CI job."""
    assert len(SHOWN) >= 18
    assert "websites ensure websites.toml --yes" in SHOWN


def write_account(folder: Path, emulator: Emulator) -> None:
    """The profile and the lists that the documentation has."""
    (folder / "sitestats").mkdir()
    (folder / "sitestats" / "config.toml").write_text(
        f"[profiles.work]\nbase_url = {os.environ['SITESTATS_BASE_URL']!r}\n"
        f"user_id = {emulator.user_id!r}\nkey_file = 'work.key'\n",
        "utf-8",
    )
    (folder / "sitestats" / "work.key").write_text(emulator.api_key, "utf-8")
    (folder / "hosts.txt").write_text("semicomplete.com\n", "utf-8")


@pytest.mark.parametrize("line", [line for line in SHOWN if not line.startswith(APART)])
def test_a_command_of_the_documentation(
    line: str,
    emulator: Emulator,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A documented command succeeds, or says that it needs a yes."""
    monkeypatch.chdir(tmp_path)
    write_account(tmp_path, emulator)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    Path("websites.toml").write_text(LIST, "utf-8")
    Path("websites.csv").write_text("hostname,public\nsemicomplete.com,true\n", "utf-8")
    Path("export.csv").write_text("Domain;Public;x\nsemicomplete.com;WAHR;1\n", "utf-8")
    line = line.replace("https://…", os.environ["SITESTATS_BASE_URL"])
    done = run(*shlex.split(line.replace("example.com", "semicomplete.com")))
    needs_a_yes = line.startswith("websites add")
    assert done.code == (2 if needs_a_yes else 0), done.err
    assert ("--yes" in done.err) == needs_a_yes


@pytest.mark.parametrize("line", [line for line in SHOWN if line.startswith(APART)])
def test_another_command_of_the_documentation(line: str) -> None:
    """A documented command that is not run has options that exist."""
    assert exists(*shlex.split(line))
