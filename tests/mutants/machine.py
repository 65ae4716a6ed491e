"""Run tests against mutated copies of ``src``, each in a forked process.

The work tree is only read. Each run has a copy of ``src`` in a temporary folder, first
on the path of the tests and of the programs that they start. The parent process has
imported what is slow to import and is not ours, so that a run takes little more than
its tests. It must not have imported sitestats. It needs a POSIX system, for fork.
"""

from __future__ import annotations

import compileall
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import attrs
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PACKAGE = "sitestats"

SLOW_IMPORTS = (
    *("_hypothesis_pytestplugin", "_pytest.helpconfig", "_pytest.junitxml"),
    *("_pytest.pastebin", "_pytest.skipping", "_pytest.unittest", "_pytest.warnings"),
    *("anyio.pytest_plugin", "asyncio", "attrs", "cattrs.preconf.json", "click"),
    *("dateutil.parser", "dateutil.relativedelta", "doctest", "duckdb", "h11"),
    *("http.server", "httpx", "hypothesis.strategies", "idna", "msgspec", "pdb"),
    *("platformdirs.pytest_plugin", "pytest", "respx.plugin", "rich.live"),
    *("rich.table", "statistics", "sybil.integration.pytest", "sybil.parsers.markdown"),
    *("sybil.parsers.myst", "trio", "trustme", "unittest.mock", "xdist.plugin"),
    *("xdist.workermanage", "xml.sax.saxutils"),
)
"""Modules that the parent imports once. Those that start threads are not among them."""

MOST_MEMORY = 4 << 30
"""Bytes of data that a run may allocate."""


@attrs.frozen
class Edit:
    """Replace *old* by *new* in *file*, a path below ``src/sitestats``."""

    file: str
    old: str
    new: str
    times: int = 1
    """How often *old* occurs, exactly. Each occurrence is replaced."""

    def apply(self, text: str) -> str:
        """The text of the file with the edit."""
        if (found := text.count(self.old)) != self.times:
            raise InvalidMutantError(
                f"{self.file} has {self.old!r} {found} times, not {self.times}"
            )
        return text.replace(self.old, self.new)


@attrs.frozen
class Mutant:
    """A change of the package, and the tests of which one must fail then."""

    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    """What pytest takes, seen from the root: ``tests/test_wire.py::test_…``."""
    seconds: float = 0
    """How long the tests take without it; 0 when that is not known yet."""

    def sources(self) -> dict[str, str]:
        """The new texts of the files that it changes; an error if it does not apply."""
        texts: dict[str, str] = {}
        for edit in self.edits:
            text = texts.get(edit.file)
            if text is None:
                text = (SOURCE / PACKAGE / edit.file).read_text(encoding="utf-8")
            texts[edit.file] = edit.apply(text)
        for file, text in texts.items():
            try:
                compile(text, file, "exec", dont_inherit=True)
            except SyntaxError as error:
                raise InvalidMutantError(f"{file}: {error}") from None
        return texts


class Verdict(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    """A test failed."""
    TIMED_OUT = "timed out"
    """The tests took longer than their limit, and without the mutant a third of it at
    most, both before and right afterwards. It counts as killed."""
    SURVIVED = "survived"
    """All tests passed."""
    UNCOLLECTED = "uncollected"
    """No test failed, but pytest or an import did, and does not without it."""
    INVALID = "invalid"
    """The mutant does not apply, or the tests fail or are slow without it."""


@attrs.frozen
class Result:
    """What became of *mutant*."""

    mutant: Mutant
    verdict: Verdict
    reason: str = ""
    """The test that failed and its error, or what is wrong with the mutant."""
    seconds: float = 0

    @property
    def killed(self) -> bool:
        """Whether the tests noticed the mutant."""
        return self.verdict in {Verdict.KILLED, Verdict.TIMED_OUT}


class InvalidMutantError(Exception):
    """A mutant that says nothing about the tests."""


def run(mutants: Iterable[Mutant]) -> Iterator[Result]:
    """Run the tests of each mutant, first without it; the results, in order."""
    assert PACKAGE not in sys.modules, "the children would use what is imported"
    for name in SLOW_IMPORTS:
        with suppress(ImportError):
            importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        machine = _Machine(Path(folder))
        for mutant in mutants:
            start = time.monotonic()
            try:
                verdict, reason = machine.judge(mutant)
            except InvalidMutantError as error:
                verdict, reason = Verdict.INVALID, str(error)
            yield Result(mutant, verdict, reason, time.monotonic() - start)


@attrs.frozen
class _Run:
    """How the tests ended: the exit code, None after the limit, and what they noted."""

    code: int | None
    passed: int
    failed: str
    """The first failure, if there was one."""
    output: str
    seconds: float


@attrs.define
class _Machine:
    folder: Path
    _unmutated: dict[tuple[str, ...], float] = attrs.field(factory=dict, init=False)
    """How many seconds each set of tests takes without a mutant."""

    def __attrs_post_init__(self) -> None:
        # Compiled once: the copies of the compiled files are valid too.
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE, self.folder / "clean", ignore=ignored)
        compileall.compile_dir(self.folder / "clean", quiet=2)

    def judge(self, mutant: Mutant) -> tuple[Verdict, str]:
        sources = mutant.sources()
        limit = 10 + 10 * (mutant.seconds or self._without(mutant.tests))
        ran = self._with(sources, mutant.tests, limit)
        if ran.failed:
            return Verdict.KILLED, ran.failed
        if ran.code is None:
            self._unmutated.pop(mutant.tests, None)
            if self._without(mutant.tests) > limit / 3:
                raise InvalidMutantError("the machine is too busy to tell")
            return Verdict.TIMED_OUT, f"more than {limit:.0f} seconds"
        if ran.code == 0 and ran.passed:
            return Verdict.SURVIVED, ""
        self._without(mutant.tests)
        return Verdict.UNCOLLECTED, ran.output

    def _without(self, tests: tuple[str, ...]) -> float:
        if tests not in self._unmutated:
            # In the folder that is copied, where pytest leaves compiled files.
            ran = self._run(self.folder / "clean", tests, 600)
            if ran.code != 0 or not ran.passed:
                raise InvalidMutantError(f"fails without a mutant: {ran.output}")
            self._unmutated[tests] = ran.seconds
        return self._unmutated[tests]

    def _with(
        self, sources: dict[str, str], tests: tuple[str, ...], limit: float
    ) -> _Run:
        source = self.folder / "mutated"
        try:
            shutil.copytree(self.folder / "clean", source)
            for file, text in sources.items():
                path = source / PACKAGE / file
                path.write_text(text, encoding="utf-8")
                # Its time and length can be those of the mutated file.
                for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
                    compiled.unlink()
            return self._run(source, tests, limit)
        finally:
            shutil.rmtree(source, ignore_errors=True)

    def _run(self, source: Path, tests: tuple[str, ...], limit: float) -> _Run:
        here = self.folder / "run"
        here.mkdir()
        try:
            start = time.monotonic()
            code = _fork(source, here, tests, limit)
            seconds = time.monotonic() - start
            notes = _Notes.read(here)
            output = (here / "output").read_text("utf-8", errors="replace")
            return _Run(code, notes.passed, notes.failed, _end_of(output), seconds)
        finally:
            shutil.rmtree(here, ignore_errors=True)


def _fork(source: Path, here: Path, tests: tuple[str, ...], limit: float) -> int | None:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 100
        try:
            code = _test(source, here, tests)
        except BaseException:  # noqa: BLE001 -- a child must not go on as its parent
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    deadline = time.monotonic() + limit
    try:
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                return None
            time.sleep(0.005)
    finally:
        # The programs that the tests started are in its group.
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def cut_off(here: Path) -> None:
    """Write to a file in *here*, read nothing, and drop the settings of a test run."""
    output = os.open(here / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for name in [
        name for name in os.environ if name.startswith(("PYTEST_", "COV", "WRITE_"))
    ]:
        del os.environ[name]


def _test(source: Path, here: Path, tests: tuple[str, ...]) -> int:
    """Run pytest, in the child; the exit code."""
    # There is none on Windows, where the lists are read all the same.
    import resource

    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    cut_off(here)
    paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "agg"}
    # Rewriting the asserts of the tests takes longer than most tests.
    sys.dont_write_bytecode = False
    # The folder of a program that was started with -m is the first one otherwise.
    sys.path.insert(0, str(source))
    os.chdir(ROOT)
    (here / "tmp").mkdir()

    return pytest.main(
        [
            *("-x", "-q", "-p", "no:cacheprovider", "--basetemp", f"{here}/tmp"),
            # pytest can't rewrite the asserts of plugins that are imported already.
            *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
            *{_path(test): None for test in tests},
        ],
        plugins=[_Selection(tests), _Notes(here)],
    )


def _path(test: str) -> str:
    path = test.partition("::")[0]
    # A module that is named would be taken for tests, and is another one than the copy.
    return str(Path(path).parent) if path.startswith("src/") else path


@attrs.define(eq=False)
class _Selection:
    """A plugin of pytest that runs *tests* alone, in their order.

    pytest itself would sort them by file, and take long for hundreds of them.
    """

    tests: tuple[str, ...]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        places = {name: place for place, name in enumerate(self.tests)}
        found = [(place, item) for item in items for place in _named(item, places)]
        if missing := places.keys() - {self.tests[place] for place, _ in found}:
            raise pytest.UsageError(f"there is no test {', '.join(sorted(missing))}")
        items[:] = [item for _, item in sorted(found, key=lambda pair: pair[0])]


def _named(item: Any, places: dict[str, int]) -> list[int]:
    """The place of what names *item*: itself, its function without values, its file."""
    function = item.nodeid.partition("[")[0]
    names = (item.nodeid, function, item.nodeid.partition("::")[0])
    return [places[name] for name in names if name in places][:1]


@attrs.define(eq=False)
class _Notes:
    """A plugin of pytest that writes down how many tests passed, and what failed."""

    here: Path
    passed: int = 0
    failed: str = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.passed += report.when == "call" and report.passed
        if report.failed and not self.failed:
            # At once: what follows may never end.
            crash = getattr(report.longrepr, "reprcrash", None)
            lines = str(getattr(crash, "message", report.longrepr)).splitlines()
            self.failed = f"{report.nodeid}: {''.join(lines[:1])}"
            self.write()

    def pytest_sessionfinish(self) -> None:
        self.write()

    def write(self) -> None:
        notes = {"passed": self.passed, "failed": self.failed}
        (self.here / "notes").write_text(json.dumps(notes), encoding="utf-8")

    @classmethod
    def read(cls, here: Path) -> _Notes:
        try:
            notes = (here / "notes").read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(here)
        return cls(here, **json.loads(notes))


def _end_of(output: str) -> str:
    return " / ".join(output.strip().splitlines()[-4:])
