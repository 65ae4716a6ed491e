"""Breaks modules in small ways with cosmic-ray, and prints what no test notices.

``nox -s mutants`` runs it. The modules are broken in copies, two of them at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import attrs
from cosmic_ray.tools.survival_rate import kills_count
from cosmic_ray.work_db import WorkDB, use_db

ROOT: Final = Path(__file__).parents[2]
NOT_COPIED: Final = shutil.ignore_patterns(".*", "__pycache__", "_build", "dist")
MEANINGLESS: Final = ("BitOr", "_Is", "_IsNot")
"""Parts of the names of operators: nothing depends on the unions of annotations, and
everything on an identity in place of an equality."""


def main() -> None:
    """Break each module that the command line names, and report one after the other."""
    parser = argparse.ArgumentParser(prog="nox -s mutants --", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the copies are made")
    parser.add_argument("names", nargs="+", help="_query/filters, or tests/…/test_….py")
    parser.add_argument("--most", type=int, default=30, help="mutants of a module")
    parser.add_argument("--seed", default="", help="a text that chooses other mutants")
    options = parser.parse_args()
    tests = [name for name in options.names if name.startswith("tests/")]
    modules = [
        Module(name, options.folder / name, tests)
        for name in options.names
        if name not in tests
    ]
    with ThreadPoolExecutor(2) as pool:
        reports = [
            pool.submit(one.report, options.most, options.seed) for one in modules
        ]
        for report in reports:
            print(report.result(), flush=True)


@attrs.frozen
class Module:
    """A module, the folder of its copy, and tests besides those of its name."""

    name: str
    copy: Path
    more: list[str]

    @property
    def path(self) -> str:
        """Where it is, seen from the root."""
        return f"src/sitestats/{self.name}.py"

    @property
    def tests(self) -> list[str]:
        """The file of tests of its name, those that are named, and its own examples."""
        room, _, name = self.name.rpartition("/")
        own = f"tests/{room.lstrip('_')}/test_{name.lstrip('_')}.py"
        found = [own, *self.more] if (ROOT / own).exists() else self.more
        if not found:
            sys.exit(f"there is no {own}: name the tests of {self.name}")
        return [*found, self.path]

    def report(self, most: int, seed: str) -> str:
        """The share of *most* mutants that tests notice, and the others."""
        command = ["python", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += self.tests
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(ROOT, self.copy, ignore=NOT_COPIED)
        began = time.monotonic()
        self.run(*command)
        config = {
            "module-path": [self.path],
            "timeout": 60 + 10 * (time.monotonic() - began),
            "excluded-modules": [],
            "test-command": " ".join(command),
            "distributor.name": "local",
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in config.items()]
        text = "\n".join(["[cosmic-ray]", *lines])
        (self.copy / "mutants.toml").write_text(text, "utf-8")
        session = "mutants.toml", "mutants.sqlite"
        self.run("cosmic-ray", "init", *session)
        with use_db(self.copy / session[1]) as db:
            sample(db, most, seed)
            self.run("cosmic-ray", "exec", *session)
            left = [one.diff for _, one in db.completed_work_items if not one.is_killed]
            killed = f"{kills_count(db)} of {db.num_results} mutants killed"
            return "\n".join([f"{self.name}: {killed}", *left])

    def run(self, *command: str) -> None:
        """Run *command* in the copy; the program ends where it fails."""
        paths = {"PYTHONPATH": str(self.copy / "src"), "MPLBACKEND": "agg"}
        done = subprocess.run(
            command,
            cwd=self.copy,
            env={**os.environ, **paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")


def sample(db: WorkDB, most: int, seed: str) -> None:
    """Leave *most* mutants, each at another place of the module."""
    mutants = {
        (mutation.start_pos, mutation.operator_name, mutation.occurrence): item
        for item in db.work_items
        for mutation in item.mutations
        if not any(part in mutation.operator_name for part in MEANINGLESS)
    }
    order = sorted(mutants)
    random.Random(seed).shuffle(order)
    places = {start: mutants[start, *more] for start, *more in order}
    db.clear()
    db.add_work_items([*places.values()][:most])


if __name__ == "__main__":
    main()
