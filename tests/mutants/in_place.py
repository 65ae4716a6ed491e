"""Run tests against mutants of functions, replaced in place after a fork.

pytest collects all tests once, in a process of its own. For each mutant it is forked,
and the child gives the mutated code to the function and runs the tests. This takes a
tenth of the time of a new start. What the function did while it was imported is not
mutated, so a mutant that survives here is run by ``machine``, too.
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
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

import attrs
import pytest

from .generate import Generated
from .machine import PACKAGE, ROOT, SOURCE

CO_OPTIMIZED = 1


Functions: TypeAlias = dict[tuple[str, str, int], list[FunctionType]]
"""The functions in memory by file, name and line."""


@attrs.frozen
class Job:
    """A mutant, and the tests to run in their order."""

    mutant: Generated
    tests: tuple[str, ...]
    seconds: float


def run(jobs: Iterable[Job]) -> Iterator[tuple[Job, str]]:
    """The test that fails with each mutant, ``time`` after its limit, or nothing."""
    jobs = [*jobs]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        here = Path(folder)
        shutil.copytree(
            SOURCE, here / "src", ignore=shutil.ignore_patterns("__pycache__")
        )
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            code = 100
            try:
                code = _collect(here, jobs, writing)
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading) as results:
            for line in results:
                number, failed = json.loads(line)
                yield jobs[number], failed
        os.waitpid(child, 0)
        if os.environ.get("MUTANTS_DEBUG"):
            sys.stderr.write((here / "output").read_text()[-3000:])


def _collect(here: Path, jobs: list[Job], results: int) -> int:
    """Collect the tests and judge *jobs*, in a process that ends afterwards."""
    output = os.open(here / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
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
        plugins=[_Judge(here, jobs, results)],
    )


@attrs.define(eq=False, slots=False)
class _Judge:
    """A plugin of pytest that runs *jobs* in place of the tests."""

    here: Path
    jobs: list[Job]
    results: int
    items: dict[str, pytest.Item] = attrs.field(factory=dict)
    failed: str = ""
    passes: dict[str, bool] = attrs.field(factory=dict)
    """Whether tests that failed with a mutant pass without one."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.capture = session.config.pluginmanager.getplugin("capturemanager")
        for module in {job.mutant.module for job in self.jobs}:
            name = ".".join([PACKAGE, *module.removesuffix(".py").split("/")])
            importlib.import_module(name)
        self.functions = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                code = one.__code__
                which = code.co_filename, code.co_qualname, code.co_firstlineno
                self.functions.setdefault(which, []).append(one)
        gc.collect()
        gc.freeze()
        for number, job in enumerate(self.jobs):
            failed = self.judge(job)
            line = json.dumps([number, failed])
            os.write(self.results, f"{line}\n".encode())
        return True

    def judge(self, job: Job) -> str:
        path = self.here / "src" / PACKAGE / job.mutant.module
        source = path.read_bytes()
        mutated = job.mutant.apply(source)
        tests = [name for name in job.tests if name in self.items]
        # For programs that the tests start.
        path.write_bytes(mutated)
        try:
            while tests:
                failed = self.fork(tests, 5 + 5 * job.seconds, job.mutant, mutated)
                if not failed or failed == "time" or self.passes_without(failed):
                    return failed
                tests = tests[tests.index(failed) + 1 :]
        finally:
            path.write_bytes(source)
        return ""

    def passes_without(self, test: str) -> bool:
        if test not in self.passes:
            self.passes[test] = not self.fork([test], 60, None, b"")
        return self.passes[test]

    def fork(
        self, tests: list[str], limit: float, mutant: Generated | None, mutated: bytes
    ) -> str:
        notes = self.here / "failed"
        notes.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self.capture.read_global_capture()
                if mutant is not None:
                    replace(mutant, self.here / "src", mutated, self.functions)
                self.run(tests, notes)
            except BaseException as error:
                notes.write_text(f"{tests[0]}", "utf-8")
                (self.here / "error").write_text(repr(error))
            finally:
                os._exit(0)
        deadline = time.monotonic() + limit
        try:
            while not os.waitpid(child, os.WNOHANG)[0]:
                if time.monotonic() > deadline and not notes.exists():
                    return "time"
                time.sleep(0.002)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
        return notes.read_text("utf-8") if notes.exists() else ""

    def run(self, tests: list[str], notes: Path) -> None:
        for name, following in zip(tests, [*tests[1:], None], strict=True):
            item = self.items[name]
            after = None if following is None else self.items[following]
            self.failed = ""
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                notes.write_text(name, "utf-8")
                return

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid


def replace(
    mutant: Generated, source: Path, mutated: bytes, functions: Functions
) -> None:
    """Give the function of *mutant* its mutated code, in this process."""
    path = source / PACKAGE / mutant.module
    original = mutated[: mutant.span[0]] + mutant.old.encode()
    original += mutated[mutant.span[0] + len(mutant.new.encode()) :]
    old = [*_functions(compile(original, str(path), "exec"))]
    new = [*_functions(compile(mutated, str(path), "exec"))]
    # A property and its setter have the same name.
    number = max(
        number
        for number, code in enumerate(old)
        if code.co_qualname == mutant.function and code.co_firstlineno <= mutant.line
    )
    for one in functions.get(
        (str(path), mutant.function, old[number].co_firstlineno), ()
    ):
        one.__code__ = new[number]


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and its classes, in their order."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & CO_OPTIMIZED:
                yield constant
            else:
                yield from _functions(constant)
