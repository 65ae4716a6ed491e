"""The page on cron and containers: its scripts, lines and files run as they are."""

from __future__ import annotations

import json
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


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each with its text."""
    (dockerfile,) = blocks("dockerfile")
    lines = dockerfile.replace("\\\n", "").splitlines()
    return [(name, text) for name, _, text in (line.partition(" ") for line in lines)]


def build(
    folder: Path, environment: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Run the RUN lines, but for pip, with *folder* in place of WORKDIR.

    Returns:
        The command of the image, and its environment.
    """
    command: list[str] = []
    image = dict(environment)
    workdir = ""
    for name, text in instructions():
        match name:
            case "WORKDIR":
                workdir = text
            case "RUN" if " pip " not in text:
                run = ["/bin/sh", "-ec", text]
                subprocess.run(run, cwd=folder, env=image, check=True)
            case "ENV":
                key, _, value = text.partition("=")
                image[key] = value.replace(workdir, str(folder))
            case "ENTRYPOINT" | "CMD":
                command += json.loads(text)
            case _:
                assert name in {"FROM", "RUN", "USER"}
    return command, image


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


def test_the_dockerfile_is_built(root: Path, emulator: Emulator) -> None:
    """Its commands work in an empty folder, but for pip."""
    folder = root / "image"
    folder.mkdir()
    (command, image) = build(folder, {"PATH": f"{BIN}:/usr/bin:/bin"})
    assert (folder / "state").stat().st_mode & 0o7777 == 0o1777
    settings = (root / "etc/sitestats/environment").read_text().splitlines()
    image |= {name: value for name, _, value in (x.partition("=") for x in settings)}
    image["XDG_STATE_HOME"] = str(folder / "state")
    (line,) = re.findall(
        r"^\$ docker run .* sitestats (.* /lists/.*)$",
        PAGE.read_text("utf-8"),
        re.MULTILINE,
    )
    line = line.replace("/lists", str(root / "etc/sitestats"))
    done = subprocess.run(
        [*command[:-1], *shlex.split(line)], env=image, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert "new.example" in emulator.websites
    # The volume holds the lock.
    assert (folder / "state" / "sitestats").is_dir()


def test_the_command_of_the_unit(root: Path, run: Run, emulator: Emulator) -> None:
    """The arguments of the unit do what the page says."""
    (service,) = (text for text in blocks("ini") if "ExecStart" in text)
    (line,) = re.findall(r"^ExecStart=\S+ (.+)$", service, re.MULTILINE)
    arguments = shlex.split(below(root, line.replace("%S", "/var/lib")))
    done = run(*arguments)
    assert (done.code, done.out.splitlines()[1:]) == (0, ["added      new.example"])
