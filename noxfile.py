"""Everything that is run on this project; ``nox --list`` shows it.

Plain ``nox`` runs what a change needs, on the Python that nox runs on: style,
types and tests. ``.ci/run`` adds the rest, and fails where a Python is missing.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"

PYTHONS = ["3.11", "3.12", "3.13"]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
EVERY_EXTRA = ".[emulator,cli,pandas,polars,arrow,plot]"
# One wheel for all Pythons, where several runs of nox are to test the same.
WHEEL = os.environ.get("WHEEL")
LOCKED = ["--constraint", "tests/locked.txt"]

nox.options.default_venv_backend = "uv"
# Whoever needs a Python that may be missing passes
# --error-on-missing-interpreters, as .ci/run does.
nox.options.error_on_missing_interpreters = False
nox.options.download_python = "never"
nox.options.sessions = ["lint", "types", f"tests-{HERE}"]


def groups(*names: str) -> list[str]:
    """What installs the dependency groups of these *names*."""
    return [part for name in names for part in ("--group", name)]


def pytest(session: nox.Session, *args: str, measured: bool = False) -> None:
    """Run pytest in several processes with *args*, or with those after ``--``.

    What is *measured* ends with the lines and branches that no test reached.
    """
    tmp = Path(session.create_tmp()).resolve()
    env = {
        # Matplotlib would look for a display, and HOME may be read-only.
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(tmp),
        # Many tests start a program: each would compile all that it imports.
        "PYTHONDONTWRITEBYTECODE": "",
    }
    if session.posargs:
        session.run("pytest", *session.posargs, env=env)
        return
    # A file's tests stay together: the examples of one share their names, and
    # what a fixture makes for a module is made once. conftest.py has the order.
    args = ("--dist", "loadfile", "--no-loadscope-reorder", *args)
    if not measured:
        # .ci/run has three of these beside each other.
        session.run("pytest", "--numprocesses", "2", *args, env=env)
        return
    env["COVERAGE_FILE"] = str(tmp / "coverage")
    session.run("coverage", "erase", env=env)
    # A third of the time is waiting: three processes keep two cores busy.
    three = ("pytest", "--numprocesses", "3")
    session.run("coverage", "run", "--module", *three, *args, env=env)
    session.run("coverage", "combine", "--quiet", env=env)
    session.run("coverage", "report", env=env)


def dist(session: nox.Session) -> Path:
    """Where the session ``build`` leaves what it builds."""
    return session.cache_dir.resolve() / "dist"


@nox.session
def lint(session: nox.Session) -> None:
    """Style: ruff's rules and formatting, the spelling, the directions of imports."""
    session.install(*groups("lint"), *LOCKED)
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")
    session.run("codespell")
    session.run("lint-imports", "--no-logo", env={"PYTHONPATH": "src"})


@nox.session
def types(session: nox.Session) -> None:
    """Types: mypy and pyright, and the share of public names with a type."""
    # Not editable: --verifytypes looks at the package as a user has it.
    session.install(EVERY_EXTRA, "nox", *groups("types", "tests", "bench"), *LOCKED)
    commands = [
        *product(["mypy"], ["--python-version"], [PYTHONS[0], PYTHONS[-1]]),
        *product(["pyright"], ["--pythonversion"], [PYTHONS[0], PYTHONS[-1]]),
        ("pyright", "--verifytypes", "sitestats", "--ignoreexternal"),
    ]
    # Side by side, since each keeps one core busy.
    with ThreadPoolExecutor(2) as pool:
        results = [pool.submit(session.run, *command) for command in commands]
    for result in results:
        result.result()


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation's site, in docs/_build/html; a warning is an error."""
    session.install(EVERY_EXTRA, *groups("docs"), *LOCKED)
    session.run(
        *("sphinx-build", "--fail-on-warning", "--keep-going", "--fresh-env"),
        *("--builder", "html", "docs", "docs/_build/html"),
    )


@nox.session(python=PYTHONS if HERE in PYTHONS else [*PYTHONS, HERE])
def tests(session: nox.Session) -> None:
    """The tests and every example of the documentation, and what they cover."""
    session.install("--editable", EVERY_EXTRA, *groups("tests"), *LOCKED)
    pytest(session, measured=True)


@nox.session
def build(session: nox.Session) -> None:
    """Build the source distribution and, from it alone, the wheel."""
    out = str(dist(session))
    session.run("uv", "build", "--quiet", "--clear", "--out-dir", out)


@nox.session(python=PYTHONS, requires=[] if WHEEL else ["build"])
def tests_wheel(session: nox.Session) -> None:
    """The same with the wheel at $WHEEL or, without that, with one built now."""
    (wheel,) = [Path(WHEEL)] if WHEEL else dist(session).glob("*.whl")
    extras = EVERY_EXTRA.removeprefix(".")
    session.install(f"{wheel}{extras}", *groups("tests"), *LOCKED)
    check = "assert sitestats.__path__[0].startswith(sysconfig.get_path('purelib'))"
    session.run("python", "-c", f"import sitestats, sysconfig; {check}")
    pytest(session)


@nox.session(python=PYTHONS)
def tests_lowest(session: nox.Session) -> None:
    """The tests with the lowest versions that pyproject.toml allows."""
    session.install(
        *("--resolution", "lowest-direct"),
        *("--editable", EVERY_EXTRA, *groups("tests")),
    )
    pytest(session, "tests")


@nox.session(python=PYTHONS)
def tests_newest(session: nox.Session) -> None:
    """The tests with the newest versions there are, whatever is locked."""
    session.install("--upgrade", "--editable", EVERY_EXTRA, *groups("tests"))
    pytest(session)


@nox.session
def lock(session: nox.Session) -> None:
    """Write tests/locked.txt anew: the versions that the sessions install."""
    session.run(
        *("uv", "pip", "compile", "--quiet", "--universal", "--upgrade"),
        *("--python-version", PYTHONS[0], "--no-header", "--no-annotate"),
        *("--all-extras", *groups("dev", "bench", "notebooks", "release")),
        *("--output-file", "tests/locked.txt", "pyproject.toml"),
    )


@nox.session(requires=["build"])
def release(session: nox.Session) -> None:
    """Build, check, install the wheel in a fresh environment, run its demo."""
    session.install(*groups("release"), *LOCKED)
    (sdist,) = dist(session).glob("*.tar.gz")
    (wheel,) = dist(session).glob("*.whl")
    session.run("twine", "check", "--strict", str(sdist), str(wheel))
    fresh = Path(session.create_tmp()).resolve() / "fresh"
    session.run("uv", "venv", "--quiet", "--clear", "--python", HERE, str(fresh))
    bin_dir = fresh / ("Scripts" if os.name == "nt" else "bin")
    session.run(
        *("uv", "pip", "install", "--quiet", "--python", str(bin_dir / "python")),
        f"{wheel}[emulator,cli]",
    )
    # From another directory, so that nothing of the checkout helps.
    with session.chdir(fresh):
        session.run(str(bin_dir / "sitestats"), "demo", external=True)
    session.log(f"Built {sdist.name} and {wheel.name} in {wheel.parent}")


@nox.session
def notebooks(session: nox.Session) -> None:
    """The notebooks, each in a fresh kernel; ``-- write`` writes their output."""
    session.install(EVERY_EXTRA, *groups("tests", "notebooks"), *LOCKED)
    if session.posargs == ["write"]:
        session.run("python", "tests/write_notebooks.py")
        return
    pytest(session, "tests/test_notebooks.py")


@nox.session
def browser(session: nox.Session) -> None:
    """What a real browser makes of attacks in paths and referrers; needs Chromium."""
    session.install(EVERY_EXTRA, *groups("tests"), *LOCKED)
    pytest(session, "tests/analysis/in_browser.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Write docs/benchmarks.md anew; ``-- --only calls`` shows some of it."""
    session.install(EVERY_EXTRA, *groups("tests", "bench"), *LOCKED)
    arguments = session.posargs or ["--write", "docs/benchmarks.md"]
    session.run("python", "tests/benchmarks", *arguments)


@nox.session
def soak(session: nox.Session) -> None:
    """100,000 calls with one fault in ten: what a client holds must not grow."""
    session.install("--editable", ".", *groups("tests"), *LOCKED)
    with session.chdir("tests"):
        session.run("python", "-m", "soak", *(session.posargs or ["--write"]))


@nox.session
def fuzz(session: nox.Session) -> None:
    """A million mutated answers: each becomes a model or one of our errors."""
    session.install("--editable", EVERY_EXTRA, *groups("tests"), *LOCKED)
    with session.chdir("tests"):
        session.run("python", "-m", "fuzz", *(session.posargs or ["--write"]))


@nox.session
def properties(session: nox.Session) -> None:
    """The properties of the tests, with far more and random examples."""
    session.install("--editable", EVERY_EXTRA, *groups("tests"), *LOCKED)
    env = {"HYPOTHESIS_PROFILE": "fuzz"}
    session.run("pytest", "-m", "hypothesis", "tests", *session.posargs, env=env)
