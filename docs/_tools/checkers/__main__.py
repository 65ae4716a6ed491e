"""Run five type checkers over the same examples, and say what each finds wrongly."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COMMANDS = {
    "mypy": ("mypy", "--strict", "--python-executable", sys.executable),
    "pyright": ("pyright", "--pythonpath", sys.executable),
    "basedpyright": (
        *("basedpyright", "--level", "error"),
        *("--pythonpath", sys.executable),
    ),
    "ty": ("ty", "check", "--output-format", "concise", "--python", sys.prefix),
    "pyrefly": (
        *("pyrefly", "check", "--output-format", "min-text"),
        *("--python-interpreter-path", sys.executable),
    ),
}


def expected(name: str) -> set[int]:
    """The lines that the checker has to find."""
    found = set[int]()
    lines = (HERE / "examples.py").read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        wrong = re.search(r"  # wrong(?:, not (.*))?$", line)
        if wrong and name not in (wrong[1] or "").split():
            found.add(number)
    return found


def found_by(name: str, folder: Path) -> set[int]:
    """The lines in which the checker finds errors, without the project's settings."""
    shutil.copy(HERE / "examples.py", folder)
    # Without settings, pyrefly leaves out most of its checks.
    (folder / "pyrefly.toml").write_text('preset = "strict"\n')
    done = subprocess.run(
        [*COMMANDS[name], "examples.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if "error" in line.lower()]
    places = [re.search(r"examples\.py:(\d+)", line) for line in errors]
    return {int(place[1]) for place in places if place}


def main() -> int:
    """Print a line for each checker; whether one differs from the examples."""
    differs = False
    for name in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            found = found_by(name, Path(folder))
        wanted = expected(name)
        print(f"{name}: {len(found)} of {len(wanted)} lines are errors")
        for line in sorted(found ^ wanted):
            what = "an error" if line in found else "no error"
            print(f"  examples.py:{line}: {what}, unlike the comment")
        differs |= found != wanted
    return int(differs)


sys.exit(main())
