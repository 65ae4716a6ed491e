"""Measure which lines of the package each test runs, and choose the tests of a mutant.

It is a plugin of pytest (``-p mutants.measure``), below coverage. ``measure`` runs all
tests with it once, and ``Measured`` reads what was written down.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest

from .generate import Generated
from .machine import PACKAGE, ROOT, SOURCE

FIRST_FILES: Final = 3
"""The files whose tests are tried first: those that have the most of few modules."""
FIRST_SECONDS: Final = 2.0
MOST_SECONDS: Final = 4.0
"""How long the tests of a mutant may take, the quickest of few modules first."""

_passed: dict[str, float] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give each test a context of its own, and measure how long it takes."""
    import coverage

    measurement = coverage.Coverage.current()
    assert measurement is not None
    measurement.switch_context(item.nodeid)
    start = time.perf_counter()
    result = yield
    measurement.switch_context("")
    if item.nodeid in _passed:
        _passed[item.nodeid] = time.perf_counter() - start
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note which tests passed: no other says anything about a mutant."""
    if report.failed:
        _passed.pop(report.nodeid, None)
    elif report.when == "call" and report.passed:
        _passed[report.nodeid] = 0


def pytest_sessionfinish() -> None:
    """Write down how long the tests took."""
    text = json.dumps(_passed)
    Path(os.environ["MEASURED_SECONDS"]).write_text(text, encoding="utf-8")


def measure(folder: Path) -> None:
    """Run all tests once, which takes some minutes, and keep what they run."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "coveragerc"
    configuration.write_text(
        f"[run]\nsource_pkgs = {PACKAGE}\nrelative_files = true\n"
        f"data_file = {folder / 'lines'}\n",
        encoding="utf-8",
    )
    paths = [str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    subprocess.run(
        [
            *(sys.executable, "-m", "coverage", "run", f"--rcfile={configuration}"),
            *("-m", "pytest", "-q", "-p", "mutants.measure", "-p", "no:cacheprovider"),
            "tests",
        ],
        cwd=ROOT,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(paths),
            "MEASURED_SECONDS": str(folder / "seconds.json"),
            "MPLBACKEND": "agg",
        },
        check=False,
    )


class Measured:
    """What ``measure`` wrote into *folder*."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long each test took."""
        text = (self.folder / "seconds.json").read_text("utf-8")
        seconds: dict[str, float] = json.loads(text)
        return seconds

    @cached_property
    def data(self) -> Any:
        """The lines, with the tests as contexts."""
        import coverage

        data = coverage.CoverageData(str(self.folder / "lines"))
        data.read()
        return data

    @cached_property
    def modules(self) -> Counter[str]:
        """How many modules each test runs."""
        modules = Counter[str]()
        for file in self.data.measured_files():
            lines = self.data.contexts_by_lineno(file)
            modules.update({name for names in lines.values() for name in names})
        return modules

    def contexts(self, module: str) -> dict[int, list[str]]:
        """The tests that run each line of *module*."""
        path = (SOURCE / PACKAGE / module).relative_to(ROOT)
        contexts: dict[int, list[str]] = self.data.contexts_by_lineno(str(path))
        return contexts

    def rounds(
        self, mutant: Generated, contexts: dict[int, list[str]]
    ) -> tuple[list[str], list[str]]:
        """The tests to run first and, if the mutant survives them, the others."""
        tests = sorted(
            self._noticing(mutant, contexts),
            key=lambda name: (self.seconds[name] * self.modules[name], name),
        )
        files: dict[str, float] = {}
        for name in tests:
            score = 1 / max(self.modules[name], 1)
            files[_file(name)] = files.get(_file(name), 0) + score
        best = sorted(files, key=lambda file: -files[file])[:FIRST_FILES]
        first = self._within(
            FIRST_SECONDS, (one for one in tests if _file(one) in best)
        )
        others = [name for name in tests if name not in set(first)]
        return first, self._within(MOST_SECONDS, others)

    def total(self, tests: Iterable[str]) -> float:
        """How many seconds *tests* take together."""
        return sum(self.seconds[name] for name in tests)

    def _noticing(
        self, mutant: Generated, contexts: dict[int, list[str]]
    ) -> Collection[str]:
        """All tests that may notice *mutant*."""
        found = _at(mutant.lines, contexts)
        if "" in found or not found:
            # What runs on import may matter to whatever runs in there afterwards.
            found |= _at(mutant.around, contexts)
            if mutant.function is None:
                found |= self._naming(mutant.module)
        # The examples of a text need those before them.
        return {name for name in found if "::line:" not in name} & self.seconds.keys()

    def _naming(self, module: str) -> set[str]:
        """The tests in files that import *module*."""
        folder, _, name = module.removesuffix(".py").rpartition("/")
        package = ".".join([PACKAGE, *folder.split("/")])
        pattern = rf"from {package}(\.{name} import| import [^\n]*\b{name}\b)"
        files = {file for file, text in self._texts.items() if re.search(pattern, text)}
        return {test for test in self.seconds if _file(test) in files}

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {
            path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
            for path in (ROOT / "tests").rglob("test_*.py")
        }

    def _within(self, limit: float, tests: Iterable[str]) -> list[str]:
        """As many of *tests* as take *limit* seconds together, and at least one."""
        kept: list[str] = []
        for name in tests:
            limit -= self.seconds[name]
            if limit < 0 and kept:
                break
            kept.append(name)
        return kept


def _file(test: str) -> str:
    return test.partition("::")[0]


def _at(lines: Collection[int], contexts: dict[int, list[str]]) -> set[str]:
    return {name for line in lines for name in contexts.get(line, ())}
