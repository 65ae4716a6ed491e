"""The page on cron and containers: its scripts, lines and files run as they are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no cron"),
]
PAGE = Path(__file__).parents[2] / "docs" / "cron-and-containers.md"
BIN = Path(sys.executable).parent
LIST = "hostname,public\nsemicomplete.com,true\nnew.example,\n"
BARE = ("env", "-i", "HOME=/nonexistent", "LOGNAME=job", "PATH=/usr/bin:/bin")
"""What cron gives a job, with SHELL."""


def blocks(language: str) -> list[str]:
    """The blocks of the page in that language, as they are."""
    return re.findall(
        rf"^ *```{language}\n(.*?)^ *```",
        PAGE.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )


@pytest.fixture
def root(tmp_path: Path, emulator: Emulator) -> Path:
    """A folder in place of the system's, with the settings and the list of the page."""
    for folder in ("etc/sitestats", "var/lib/sitestats", "opt/sitestats"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "opt/sitestats/bin").symlink_to(BIN)
    (tmp_path / "etc/sitestats/websites.csv").write_text(LIST)
    (tmp_path / "etc/sitestats/environment").write_text(
        f"SITESTATS_BASE_URL={os.environ['SITESTATS_BASE_URL']}\n"
        f"SITESTATS_USER_ID={emulator.user_id}\n"
        f"SITESTATS_API_KEY={emulator.api_key}\n"
        f"XDG_STATE_HOME={tmp_path}/var/lib\n"
    )
    return tmp_path


def below(root: Path, text: str) -> str:
    """*text* with the folders of the system below *root*."""
    return re.sub(r"(?<![\w./])/(etc|opt|var)/", rf"{root}/\1/", text)


def test_the_script_of_cron_runs_in_the_environment_of_cron(
    root: Path, emulator: Emulator
) -> None:
    """With nothing but what cron gives, the job adds what is missing, and is silent."""
    (script,) = (text for text in blocks("sh") if text.startswith("#!"))
    path = root / "etc/sitestats/run"
    path.write_text(below(root, script))
    path.chmod(0o755)
    (crontab,) = (text for text in blocks("text") if "MAILTO" in text)
    assert crontab.splitlines()[-1].split(maxsplit=5)[5] == "/etc/sitestats/run"
    done = subprocess.run(
        [*BARE, "SHELL=/bin/sh", str(path)], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "new.example" in emulator.websites
    journal = root / "var/lib/sitestats/websites.journal"
    assert journal.read_bytes() == b""


SHOWN = (r"^ExecStart=\S+ (.+)$", r"^\$ docker run .* sitestats (.* /lists/.*)$")
"""The arguments of the unit, and those of the container."""


@pytest.mark.parametrize("pattern", SHOWN, ids=["systemd", "docker"])
def test_the_commands_of_units_and_containers(
    root: Path, run: Run, emulator: Emulator, pattern: str
) -> None:
    """They do what the page says."""
    (line,) = re.findall(pattern, PAGE.read_text("utf-8"), re.MULTILINE)
    line = line.replace("%S", "/var/lib").replace(" /lists/", " /etc/sitestats/")
    done = run(*shlex.split(below(root, line)))
    assert (done.code, done.out.splitlines()[1:]) == (0, ["added      new.example"])
    assert "new.example" in emulator.websites
