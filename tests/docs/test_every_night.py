"""The page on nightly jobs: its scripts, lines and files run as they are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
PAGE = Path(__file__).parents[2] / "docs" / "every-night.md"
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
    settings = below(tmp_path, blocks("sh")[0]).replace("=…", f"={emulator.user_id}")
    address = os.environ["SITESTATS_BASE_URL"]
    (tmp_path / "etc/sitestats/environment").write_text(
        settings.replace("https://stats.example", address)
    )
    (tmp_path / "etc/sitestats/api-key").write_text(emulator.api_key)
    return tmp_path


def below(root: Path, text: str) -> str:
    """*text* with the folders of the system below *root*."""
    return re.sub(r"(?<![\w./])/(etc|opt|var)/", rf"{root}/\1/", text)


def test_the_scripts_of_cron_run_in_the_environment_of_cron(
    root: Path, emulator: Emulator
) -> None:
    """With nothing but what cron gives, each line does its job, and is silent. What is
    wrong is mailed once, and has its code each night.
    """
    pytest.importorskip("dlt")
    paths = root / "etc/sitestats/run", root / "etc/sitestats/nightly"
    _, *scripts = blocks("sh")
    for path, script in zip(paths, scripts, strict=True):
        path.write_text(below(root, script))
        path.chmod(0o755)
    (crontab,) = blocks("text")
    lines = [line.split(maxsplit=5)[5] for line in crontab.splitlines()[1:]]
    ensure, *_ = lines = [below(root, line) for line in lines]

    def ran(line: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [*BARE, "SHELL=/bin/sh", "/bin/sh", "-c", line],
            check=False,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    assert [ran(line) for line in lines] == [(0, "", "")] * 4
    assert "new.example" in emulator.websites
    (journal,) = (root / "var/lib/sitestats").glob("*.journal")
    assert journal.read_bytes() == b""
    emulator.change_website("new.example", public=True)
    (root / "etc/sitestats/websites.csv").write_text(
        "hostname,public\nnew.example,no\n"
    )
    nightly = ensure.replace(str(paths[0]), str(paths[1]))
    # cron mails both of its outputs.
    code, printed, complained = ran(nightly)
    mail = printed + complained
    assert (code, "public is true and should be false" in mail) == (8, True)
    assert ran(nightly) == (8, "", "")
    # Two at once are no other case: the second one is often a retry.
    with ThreadPoolExecutor(2) as threads:
        done = [*threads.map(ran, [nightly] * 2)]
    assert {code for code, *_ in done} <= {4, 8}
    assert "No such file" not in str(done)
    (kept,) = (root / "var/lib/sitestats").glob("messages-*")
    assert kept.read_text()


SHOWN = (r"^ExecStart=\S+ (.+)$", r"^\$ docker run .* sitestats (websites .*)$")
"""The arguments of the unit, and those of the container."""


@pytest.mark.parametrize("pattern", SHOWN, ids=["systemd", "docker"])
def test_the_commands_of_units_and_containers(
    root: Path, run: Run, emulator: Emulator, pattern: str
) -> None:
    """They do what the page says."""
    (line,) = re.findall(pattern, PAGE.read_text("utf-8"), re.MULTILINE)
    done = run(*shlex.split(below(root, line)))
    assert (done.code, done.out.splitlines()[1:]) == (0, ["added      new.example"])
    assert "new.example" in emulator.websites
