"""Run tests against mutants of functions, which are replaced in a forked process.

pytest collects the tests once. For each mutant its process is forked, and the child
gives the mutated code to the function and runs the tests. That is several times as fast
as ``machine``, which starts anew. What a function did while its module was imported is
not mutated here, so a mutant that survives is given to ``machine`` afterwards.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final, TypeAlias

import attrs
import pytest

from .generate import Generated
from .machine import PACKAGE, ROOT, SOURCE, cut_off

TIMED_OUT: Final = "time"
CO_OPTIMIZED: Final = 1
"""The flag of a function's code, which that of a class does not have."""

Functions: TypeAlias = dict[tuple[str, str, int], list[FunctionType]]
"""The functions in memory by file, name and line."""


@attrs.frozen
class Job:
    """A mutant, and the tests to run in their order."""

    mutant: Generated
    tests: tuple[str, ...]
    seconds: float
    """How long the tests take without it."""


def run(jobs: Sequence[Job], known: Collection[str]) -> Iterator[tuple[Job, str]]:
    """The test that fails with each mutant, ``TIMED_OUT`` after its limit, or ``""``.

    Tests of the same files that are not *known* were written since all were measured.
    They run first.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        here = Path(folder)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE, here / "src", ignore=ignored)
        reading, writing = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 100
            try:
                os.close(reading)
                code = _collect(here, jobs, known, writing)
            finally:
                os._exit(code)
        os.close(writing)
        judged = 0
        with os.fdopen(reading) as results:
            for line in results:
                number, failed = json.loads(line)
                judged += 1
                yield jobs[number], failed
        os.waitpid(child, 0)
        if judged < len(jobs):
            output = (here / "output").read_text("utf-8", errors="replace")
            raise RuntimeError(f"the tests could not be collected: {output[-2000:]}")


def _collect(
    here: Path, jobs: Sequence[Job], known: Collection[str], results: int
) -> int:
    """Collect the tests and judge *jobs*, in a process that ends afterwards."""
    cut_off(here)
    # For programs that the tests start.
    os.environ |= {"PYTHONPATH": str(here / "src"), "MPLBACKEND": "agg"}
    sys.path.insert(0, str(here / "src"))
    sys.dont_write_bytecode = False
    os.chdir(ROOT)
    files = {name.partition("::")[0]: None for job in jobs for name in job.tests}
    return pytest.main(
        [
            *("-q", "-p", "no:cacheprovider", "--basetemp", f"{here}/tmp"),
            *("-W", "ignore::pytest.PytestAssertRewriteWarning", *files),
        ],
        plugins=[_Judge(here, jobs, known, results)],
    )


@attrs.define(eq=False)
class _Judge:
    """A plugin of pytest that runs *jobs* in place of the tests."""

    here: Path
    jobs: Sequence[Job]
    known: Collection[str]
    results: int
    items: dict[str, pytest.Item] = attrs.field(factory=dict)
    functions: Functions = attrs.field(factory=dict)
    passes: dict[str, bool] = attrs.field(factory=dict)
    """Whether tests that failed with a mutant pass without one."""
    capture: Any = None
    failed: bool = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.capture = session.config.pluginmanager.getplugin("capturemanager")
        for module in {job.mutant.module for job in self.jobs}:
            name = module.removesuffix(".py").replace("/", ".")
            importlib.import_module(f"{PACKAGE}.{name}")
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                code = one.__code__
                which = code.co_filename, code.co_qualname, code.co_firstlineno
                self.functions.setdefault(which, []).append(one)
        # A child copies the memory that it changes: let the collector leave it alone.
        gc.collect()
        gc.freeze()
        for number, job in enumerate(self.jobs):
            line = json.dumps([number, self.judge(job)])
            os.write(self.results, f"{line}\n".encode())
        return True

    def judge(self, job: Job) -> str:
        path = self.here / "src" / PACKAGE / job.mutant.module
        source = path.read_bytes()
        files = {name.partition("::")[0] for name in job.tests}
        tests = [
            name
            for name in self.items
            if name not in self.known and name.partition("::")[0] in files
        ]
        tests += [name for name in job.tests if name in self.items]
        path.write_bytes(job.mutant.apply(source))
        try:
            limit = 10 + 4 * job.seconds
            while tests:
                failed = self.fork(tests, limit, job.mutant)
                if failed == TIMED_OUT:
                    # Unless the machine is so busy that it is late without it, too.
                    return failed if not self.fork(tests, limit / 2, None) else ""
                if not failed or self.passes_without(failed):
                    return failed
                tests = tests[tests.index(failed) + 1 :]
        finally:
            path.write_bytes(source)
        return ""

    def passes_without(self, test: str) -> bool:
        if test not in self.passes:
            self.passes[test] = not self.fork([test], 60, None)
        return self.passes[test]

    def fork(self, tests: list[str], limit: float, mutant: Generated | None) -> str:
        """Run *tests* in a child; the first that failed."""
        notes = self.here / "failed"
        notes.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                self.capture.read_global_capture()
                if mutant is not None:
                    _replace(mutant, self.here / "src", self.functions)
                self.run(tests, notes)
            except BaseException:  # noqa: BLE001 -- a child must not go on as its parent
                traceback.print_exc()
            finally:
                os._exit(0)
        deadline = time.monotonic() + limit
        try:
            while not os.waitpid(child, os.WNOHANG)[0]:
                if time.monotonic() > deadline and not notes.exists():
                    return TIMED_OUT
                time.sleep(0.002)
        finally:
            # The programs that the tests started are in its group.
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
        return notes.read_text("utf-8") if notes.exists() else ""

    def run(self, tests: list[str], notes: Path) -> None:
        for name, following in zip(tests, [*tests[1:], None], strict=True):
            item = self.items[name]
            after = None if following is None else self.items[following]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                notes.write_text(name, "utf-8")
                return

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed


def _replace(mutant: Generated, source: Path, functions: Functions) -> None:
    """Give the function of *mutant* its mutated code, in this process."""
    path = source / PACKAGE / mutant.module
    mutated = path.read_bytes()
    start, end = mutant.span[0], mutant.span[0] + len(mutant.new.encode())
    original = mutated[:start] + mutant.old.encode() + mutated[end:]
    old = [*_functions(compile(original, str(path), "exec"))]
    new = [*_functions(compile(mutated, str(path), "exec"))]
    # A property and its setter have the same name.
    number = max(
        number
        for number, code in enumerate(old)
        if code.co_qualname == mutant.function and code.co_firstlineno <= mutant.line
    )
    which = str(path), old[number].co_qualname, old[number].co_firstlineno
    for one in functions.get(which, ()):
        one.__code__ = new[number]


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and its classes, in their order."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & CO_OPTIMIZED:
                yield constant
            else:
                yield from _functions(constant)
