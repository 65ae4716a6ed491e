"""The Dockerfile of the documentation, run in a folder where no engine is at hand.

``python tests/support/dockerfile.py FOLDER WHEEL`` is the long form, with pip:
``python`` on the PATH is that of an empty environment, and WHEEL what pip installs as
``sitestats``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cron-and-containers.md"


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
    folder: Path, environment: Mapping[str, str], *, with_pip: bool
) -> tuple[list[str], dict[str, str]]:
    """Run the RUN lines, with *folder* in place of WORKDIR.

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
            case "RUN" if with_pip or " pip " not in text:
                subprocess.run(
                    ["/bin/sh", "-ec", text], cwd=folder, env=image, check=True
                )
            case "ENV":
                key, _, value = text.partition("=")
                image[key] = value.replace(workdir, str(folder))
            case "ENTRYPOINT" | "CMD":
                command += json.loads(text)
            case "FROM" | "RUN" | "USER":
                pass
            case _:
                raise AssertionError(name)
    return command, image


def main(arguments: Sequence[str]) -> None:
    """Build with pip, and run the command of the image."""
    folder, wheel = (Path(argument).resolve() for argument in arguments)
    constraint = folder / "constraint.txt"
    constraint.write_text(f"sitestats @ {wheel.as_uri()}\n")
    environment = os.environ | {"PIP_CONSTRAINT": str(constraint)}
    command, image = build(folder, environment, with_pip=True)
    done = subprocess.run(command, env=image, cwd=folder, check=True, stdout=-1)
    assert b"websites ensure" in done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
