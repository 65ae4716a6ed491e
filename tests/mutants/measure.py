"""Measure which lines of the package each test runs, and how long it takes.

As a plugin of pytest (``-p mutants.measure``), below coverage. ``Measured`` reads what
was written down, and chooses the tests of a mutant.
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

import attrs
import pytest

from .generate import Generated
from .machine import PACKAGE, ROOT, SOURCE

FIRST_FILES: Final = 3
"""The files of tests that are tried first: those with the most tests of the line."""
FIRST_SECONDS: Final = 3.0
MOST_SECONDS: Final = 4.0
"""How long the tests of a mutant may take, the quickest first."""

_PASSED: dict[str, float] = {}


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
    if _PASSED.get(item.nodeid) == 0:
        _PASSED[item.nodeid] = time.perf_counter() - start
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note which tests passed: no other says anything about a mutant."""
    if report.failed:
        _PASSED[report.nodeid] = -1
    elif report.when == "call" and report.passed:
        _PASSED.setdefault(report.nodeid, 0)


def pytest_sessionfinish() -> None:
    """Write down how long the tests took."""
    passed = {name: seconds for name, seconds in _PASSED.items() if seconds > 0}
    Path(os.environ["MEASURED_SECONDS"]).write_text(json.dumps(passed), "utf-8")


def measure(folder: Path) -> None:
    """Run all tests once, which takes some minutes, and keep what they run."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "coveragerc"
    configuration.write_text(
        f"[run]\nsource_pkgs = {PACKAGE}\nrelative_files = true\n"
        f"data_file = {folder / 'lines'}\n",
        "utf-8",
    )
    paths = [str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "MEASURED_SECONDS": str(folder / "seconds.json"),
        "MPLBACKEND": "agg",
    }
    subprocess.run(
        [
            *(sys.executable, "-m", "coverage", "run", f"--rcfile={configuration}"),
            *("-m", "pytest", "-q", "-p", "mutants.measure", "-p", "no:cacheprovider"),
        ],
        cwd=ROOT,
        env=env,
        check=False,
    )


@attrs.define(slots=False)
class Measured:
    """What ``measure`` wrote into *folder*."""

    folder: Path

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

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {
            path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
            for path in (ROOT / "tests").rglob("test_*.py")
        }

    def _naming(self, module: str) -> set[str]:
        """The tests in files that import *module*."""
        folder, _, name = module.removesuffix(".py").rpartition("/")
        package = ".".join([PACKAGE, *folder.split("/")])
        pattern = rf"from {package}(\.{name} import| import [^\n]*\b{name}\b)"
        files = {file for file, text in self._texts.items() if re.search(pattern, text)}
        return {test for test in self.seconds if test.partition("::")[0] in files}

    def tests(self, mutant: Generated, contexts: dict[int, list[str]]) -> set[str]:
        """All tests that may notice *mutant*."""
        found = _at(mutant.lines, contexts)
        if "" in found or not found:
            # What runs on import may matter to whatever runs in there afterwards.
            found |= _at(mutant.around, contexts)
            if not mutant.place or mutant.place[:1].isupper():
                found |= self._naming(mutant.module)
        # The examples of a text need those before them.
        examples = {name for name in found if "::line:" in name}
        return found & self.seconds.keys() - examples

    def rounds(
        self, mutant: Generated, contexts: dict[int, list[str]]
    ) -> tuple[list[str], list[str]]:
        """The tests to run first and, if the mutant survives them, the others."""
        wide = self.modules
        tests = sorted(
            self.tests(mutant, contexts),
            key=lambda name: (self.seconds[name] * wide[name], name),
        )
        files = Counter[str]()
        for name in tests:
            files[name.partition("::")[0]] += 1 / (wide[name] or 1)
        best = {file for file, _ in files.most_common(FIRST_FILES)}
        near = [name for name in tests if name.partition("::")[0] in best]
        first = self.within(FIRST_SECONDS, near)
        others = [name for name in tests if name not in set(first)]
        return first, self.within(MOST_SECONDS, others)

    def total(self, tests: Iterable[str]) -> float:
        """How many seconds *tests* take together."""
        return sum(self.seconds[name] for name in tests)

    def within(self, limit: float, tests: Collection[str]) -> list[str]:
        """As many of *tests*, quickest first, as take *limit* seconds together."""
        kept: list[str] = []
        for name in tests:
            limit -= self.seconds[name]
            if limit < 0 and kept:
                break
            kept.append(name)
        return kept


def _at(lines: Collection[int], contexts: dict[int, list[str]]) -> set[str]:
    return {name for line in lines for name in contexts.get(line, ())}
