"""Sessions of nox: style, types, tests, documentation, packages, benchmarks.

``nox --list`` lists them. Plain ``nox`` checks the style and runs the tests, on the
Python that nox runs on. ``.ci/run`` adds the types, the documentation, the wheel and
the other Pythons and versions, and fails if a Python is missing.
"""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox
from nox.command import CommandFailed
from packaging.requirements import Requirement

nox.needs_version = ">=2025.5.1"

PYTHONS = ["3.11", "3.12", "3.13"]
# CI tests them too; elsewhere they are skipped where they are not there.
NEWER = ["3.14", "3.15"]
# The newest dlt wants an older one.
WITHOUT_WAREHOUSE = "3.15"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
# The extra "mcp" is newer than the lowest versions of the others; the group "pages" has
# what it needs.
EXTRAS = "[cli,pandas,polars,arrow,plot,excel,warehouse]"
# What dlt needs was not tried with all versions of the hosted platforms.
HOSTED_EXTRAS = EXTRAS.replace(",warehouse", "")
EVERY_EXTRA = f".{EXTRAS}"
# Without CI, which .ci/run sets, the tests leave out what takes long.
NOT_LONG = [] if "CI" in os.environ else ["-m", "not long"]
# The path of a wheel to test, so that several runs of nox test the same one.
WHEEL = os.environ.get("WHEEL")
# In how many processes pytest runs; 0 is its own. One more than processors, since many
# tests wait for a program or a socket.
PROCESSES = os.environ.get("PROCESSES") or str(min(3, 1 + (os.cpu_count() or 1)))
LOCKED = ["--constraint", "tests/locked.txt"]
# Where programs of the tests find the helpers.
HELPERS = os.pathsep.join(
    str(Path(name).resolve()) for name in ("tests", "tests/support")
)
# The lowest versions are tested with those of their time: the newest of today came
# after them, and warn. The day is one after the newest of them.
TIME_OF_LOWEST = "2025-06-01"
TIME_OF_LOWEST_DLT = "2026-03-01"
# From npm: node waits for a promise by JSPI from 25 on.
PYODIDE = ("pyodide@314.0.7", "node@26")
# What is installed into Pyodide beside the dependencies: httpx2 needs the first one,
# and the tests the others.
WHEELS_IN_PYODIDE = (
    "httpx2-jsfetch",
    "micropip",
    "certifi",
    "httpcore2",
    "hypothesis",
    "pytest",
    "pytest-timeout",
    "respx",
    "sybil",
)
# All but the page whose libraries are in the dependency group "pages".
WITHOUT_PAGES = "--ignore=docs/web-applications.md"

nox.options.default_venv_backend = "uv"
# .ci/run passes --error-on-missing-interpreters.
nox.options.error_on_missing_interpreters = False
nox.options.download_python = "never"
nox.options.sessions = ["checks"]


def groups(*names: str) -> list[str]:
    """The arguments that install the dependency groups *names*."""
    return [part for name in names for part in ("--group", name)]


def pytest(
    session: nox.Session, *args: str, program: tuple[str, ...] = ("pytest",)
) -> None:
    """Run pytest in several processes with *args*, or with those after ``--``."""
    tmp = Path(session.create_tmp()).resolve()
    env = {
        # Matplotlib would look for a display, and HOME may be read-only.
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(tmp),
        # Many tests start a program, which would compile all modules each time.
        "PYTHONDONTWRITEBYTECODE": "",
    }
    if session.posargs:
        session.run("pytest", *session.posargs, env=env)
        return
    command = [*program, "--numprocesses", PROCESSES]
    # The tests of a file stay in one process: its examples share a namespace, and its
    # fixtures are made once. conftest.py sets the order.
    command += ["--dist", "loadfile", "--no-loadscope-reorder"]
    if not Path("tests", "__pycache__").exists():
        # In a new clone each process would compile all imports, for ten seconds.
        once = ("--collect-only", "-qq", "--assert", "plain")
        session.run("pytest", *once, *args, env=env, silent=True)
    try:
        # Each process would rewrite every assert, for ten seconds.
        session.run(*command, "--assert", "plain", *args, env=env)
    except CommandFailed:
        # To show what the asserts compared. An example lacks those before it then; but
        # where no test that is selected has failed, pytest would run all of them.
        last = ("--last-failed", "--last-failed-no-failures", "none")
        session.run("pytest", *last, *args, env=env, success_codes=range(6))
        raise


def dist(session: nox.Session) -> Path:
    """The folder of the built distributions."""
    return session.cache_dir.resolve() / "dist"


def style(session: nox.Session) -> str:
    """What ruff, codespell and import-linter print."""
    commands = (
        ("ruff", "check"),
        ("ruff", "format", "--check"),
        ("codespell",),
        ("lint-imports", "--no-logo"),
    )
    printed = [session.run(*command, silent=True) for command in commands]
    return "\n".join(map(str, printed))


@nox.session
def checks(session: nox.Session) -> None:
    """Run the tests; beside them check style, spelling and import contracts."""
    needed = groups("tests", "pages", "lint")
    session.install("--editable", EVERY_EXTRA, *needed, *LOCKED)
    with ThreadPoolExecutor(1) as pool:
        # Beside each other, since tests also wait.
        others = pool.submit(style, session)
        try:
            pytest(session, *NOT_LONG)
        finally:
            session.log(others.result())


@nox.session
def types(session: nox.Session) -> None:
    """Check the types with mypy and pyright, and that every public name has one."""
    # Not editable: --verifytypes checks the package as it is installed for a user.
    needed = groups("types", "pyright", "tests", "pages", "bench")
    session.install(EVERY_EXTRA, "nox", *needed, *LOCKED)
    session.run("mypy")
    session.run("pyright")
    session.run("pyright", "--verifytypes", "sitestats", "--ignoreexternal")


@nox.session
def checkers(session: nox.Session) -> None:
    """Run five type checkers over the same examples of right and wrong code."""
    others = ("basedpyright", "ty", "pyrefly")
    session.install(EVERY_EXTRA, *groups("types", "pyright"), *others, *LOCKED)
    session.run("python", "docs/_tools/checkers")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation in docs/_build/html; run the notebooks."""
    session.install(EVERY_EXTRA, *groups("docs", "notebooks"), *LOCKED)
    session.run(
        *("sphinx-build", "--fail-on-warning", "--keep-going", "--fresh-env"),
        *("--builder", "html", "docs", "docs/_build/html"),
    )
    session.run("python", "docs/_tools/notebooks.py", *session.posargs)


@nox.session(python=[*dict.fromkeys([*PYTHONS, *NEWER, HERE])])
def tests(session: nox.Session) -> None:
    """Run the tests and the examples of the documentation; in CI also what is long."""
    has_warehouse = session.python != WITHOUT_WAREHOUSE
    extras = EVERY_EXTRA if has_warehouse else f".{HOSTED_EXTRAS}"
    session.install("--editable", extras, *groups("tests", "pages"), *LOCKED)
    pytest(session, *NOT_LONG)


# Apart from .ci/run, since it doubles the time of a test.
@nox.session
def coverage(session: nox.Session) -> None:
    """Report the lines and branches that no test reaches."""
    session.install("--editable", EVERY_EXTRA, *groups("tests", "pages"), *LOCKED)
    session.env["COVERAGE_FILE"] = str(Path(session.create_tmp()).resolve() / "data")
    session.run("coverage", "erase")
    # Of the warehouse, only long tests reach some lines.
    pytest(session, program=("coverage", "run", "-m", "pytest"))
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session
def build(session: nox.Session) -> None:
    """Build the source distribution, and the wheel from it."""
    out = str(dist(session))
    session.run("uv", "build", "--quiet", "--clear", "--out-dir", out)


def built_wheel(session: nox.Session) -> str:
    """The wheel at $WHEEL, or else the one that was built."""
    (wheel,) = [Path(WHEEL)] if WHEEL else dist(session).glob("*.whl")
    return str(wheel)


def run_installed(session: nox.Session, *args: str) -> None:
    """Run the tests with the package as it was installed, not with the checkout."""
    check = "assert sitestats.__path__[0].startswith(sysconfig.get_path('purelib'))"
    session.run("python", "-c", f"import sitestats, sysconfig; {check}")
    pytest(session, *args)


def install_pinned(session: nox.Session, package: str, pins: Path) -> None:
    """Install *package*, with its extras, with the versions of the file *pins*.

    What it leaves open is as locked, where that goes together with it.
    """
    session.install(package.partition("[")[0], *groups("tests"), *LOCKED)
    # Now uv keeps what is there, except where the pins want another version.
    constraint = ("--constraint", str(pins))
    session.install(package, *groups("tests"), *constraint)


@nox.session(python=PYTHONS, requires=[] if WHEEL else ["build"])
def tests_wheel(session: nox.Session) -> None:
    """Run the tests with the wheel at $WHEEL, or with one that is built first."""
    wheel = f"{built_wheel(session)}{EXTRAS}"
    session.install(wheel, *groups("tests", "pages"), *LOCKED)
    run_installed(session)


@nox.session(python=PYTHONS[1:], requires=[] if WHEEL else ["build"])
def tests_hosted(session: nox.Session) -> None:
    """Run the tests with the versions of each hosted platform that has this Python."""
    for pins in sorted(Path("tests/hosted").glob("*.txt")):
        if f"Python {session.python}:" in pins.read_text("utf-8"):
            session.log(f"The versions of {pins.stem}")
            install_pinned(session, f"{built_wheel(session)}{HOSTED_EXTRAS}", pins)
            run_installed(session, WITHOUT_PAGES)


# For a newer Python some of the lowest versions have no wheels.
@nox.session(python=PYTHONS[:2])
def tests_lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions that pyproject.toml allows."""
    install_pinned(session, EVERY_EXTRA, Path("tests/lowest.txt"))
    pytest(session, "tests")


@nox.session(python=PYTHONS)
def tests_newest(session: nox.Session) -> None:
    """Run the tests with the newest versions, ignoring the lock file."""
    session.install(
        *("--upgrade", "--editable", EVERY_EXTRA, *groups("tests", "pages"))
    )
    pytest(session)


@nox.session
def tests_httpx2(session: nox.Session) -> None:
    """Run the tests of the transport and the clients with httpx2 in httpx's place."""
    session.install(*("--editable", EVERY_EXTRA, "httpx2"), *groups("tests"), *LOCKED)
    session.env["PYTHONPATH"] = HELPERS
    folders = ("transport", "client", "faults")
    pytest(session, "-p", "alias_httpx", *(f"tests/{name}" for name in folders))


@nox.session
def lock(session: nox.Session) -> None:
    """Update tests/locked.txt, what the sessions install, and tests/lowest.txt."""
    compiled = ("uv", "pip", "compile", "--quiet", "--universal", "--upgrade")
    plain = ("--no-header", "--no-annotate", "pyproject.toml")
    extras = [f"--extra={name}" for name in EXTRAS.strip("[]").split(",")]
    lowest = ("--resolution", "lowest-direct", "--exclude-newer", TIME_OF_LOWEST)
    # The lowest dlt is newer than that.
    newer = [
        f"--exclude-newer-package={name}={TIME_OF_LOWEST_DLT}"
        for name in ("dlt", "orjson")
    ]
    session.run(
        *(*compiled, *plain, "--all-extras", "--python-version", PYTHONS[0]),
        *groups("dev", "bench", "notebooks", "release"),
        *("--output-file", "tests/locked.txt"),
    )
    session.run(
        *(*compiled, *plain, *extras, "--python-version", PYTHONS[0]),
        *(*groups("pytest"), *lowest, *newer, "--output-file", "tests/lowest.txt"),
    )


@nox.session(requires=["build"])
def release(session: nox.Session) -> None:
    """Build and check the package; run the demo from the wheel in a new environment."""
    session.install(*groups("release"), *LOCKED)
    (sdist,) = dist(session).glob("*.tar.gz")
    (wheel,) = dist(session).glob("*.whl")
    session.run("twine", "check", "--strict", str(sdist), str(wheel))
    fresh = Path(session.create_tmp()).resolve() / "fresh"
    session.run("uv", "venv", "--quiet", "--clear", "--python", HERE, str(fresh))
    bin_dir = fresh / ("Scripts" if os.name == "nt" else "bin")
    session.run(
        *("uv", "pip", "install", "--quiet", "--python", str(bin_dir / "python")),
        f"{wheel}[cli]",
    )
    # In another directory, so that nothing is imported from the checkout.
    with session.chdir(fresh):
        session.run(str(bin_dir / "sitestats"), "demo", external=True)
    session.log(f"Built {sdist.name} and {wheel.name} in {wheel.parent}")


@nox.session
def pictures(session: nox.Session) -> None:
    """Make the pictures of the README and the documentation, with Chromium."""
    session.install(EVERY_EXTRA, *groups("tests"), *LOCKED)
    env = {
        "MPLCONFIGDIR": str(Path(session.create_tmp()).resolve()),
        "PYTHONPATH": HELPERS,
    }
    session.run("python", "docs/_tools/pictures.py", *session.posargs, env=env)


@nox.session(requires=["build"])
def browser(session: nox.Session) -> None:
    """Run both clients, the emulator and a part of the tests by Pyodide, in node and in
    Chromium.
    """
    session.install("--editable", EVERY_EXTRA, *groups("tests"), "pip", *LOCKED)
    folder = session.cache_dir.resolve() / "pyodide"
    install = ("npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund")
    session.run(*install, *PYODIDE, external=True)
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    project = nox.project.load_toml("pyproject.toml")["project"]
    needed = [Requirement(text) for text in project["dependencies"]]
    there = {"sys_platform": "emscripten"}
    # pip would look at the markers of this machine.
    names = [
        f"{one.name}{one.specifier}"
        for one in needed
        if one.marker is None or one.marker.evaluate(there)
    ]
    session.run(
        *("python", "-m", "pip", "download", "--quiet", "--dest", str(wheels)),
        *("--only-binary", ":all:", "--implementation", "cp"),
        *("--python-version", "3.14", "--abi", "cp314", "--abi", "none"),
        *("--platform", "pyemscripten_2026_0_wasm32", "--platform", "any"),
        *(*names, *WHEELS_IN_PYODIDE),
    )
    shutil.copy(built_wheel(session), wheels)
    env = {"PYODIDE": str(folder)}
    # The tests within Pyodide are one test.
    patient = ("-o", "faulthandler_timeout=0")
    tests = "tests/browser/in_pyodide.py"
    session.run("pytest", *patient, tests, *session.posargs, env=env)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure six figures of speed, and write them into docs/contributing.md; and print
    how the time of each work grows.
    """
    session.install(EVERY_EXTRA, *groups("bench"), *LOCKED)
    session.run("python", "docs/_tools/benchmarks", *(session.posargs or ["--write"]))
    session.run("python", "docs/_tools/benchmarks/growth.py")


@nox.session
def evidence(session: nox.Session) -> None:
    """Write docs/evidence: faults, 100,000 calls, mutated responses."""
    session.install("--editable", EVERY_EXTRA, *groups("tests"), *LOCKED)
    script = "docs/_tools/evidence.py"
    session.run("python", script, *session.posargs, env={"PYTHONPATH": HELPERS})


@nox.session
def kills(session: nox.Session) -> None:
    """Kill 200 updates of a warehouse and 100 runs of ensure; ``-- 10 10`` fewer."""
    session.install("--editable", EVERY_EXTRA, *groups("tests"), *LOCKED)
    script = "tests/soak/test_kills.py"
    numbers = session.posargs or ["200", "100"]
    session.run("python", script, *numbers, env={"PYTHONPATH": HELPERS})


@nox.session
def warehouse(session: nox.Session) -> None:
    """Load into the PostgreSQL whose address is in the variable POSTGRES."""
    session.install("--editable", EVERY_EXTRA, *groups("tests"), *LOCKED)
    session.install("adbc-driver-postgresql", "psycopg2-binary")
    session.run("pytest", "tests/warehouse/in_postgres.py")
