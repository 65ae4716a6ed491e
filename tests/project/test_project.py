"""The repository: README, CI, versions and dependencies agree."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sitestats

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = sorted((ROOT / "src").rglob("*.py"))
PYPROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: Final = PYPROJECT["project"]
REQUIRED: Final = [
    *PROJECT["dependencies"],
    *(one for extra in PROJECT["optional-dependencies"].values() for one in extra),
]


def text_of(path: str) -> str:
    """The content of a file of the repository."""
    return (ROOT / path).read_text("utf-8")


def test_the_readme_has_the_two_commands() -> None:
    """One line runs the demo and one the tests, by programs of their environment."""
    commands = re.findall(r"^python3 -m venv .+$", text_of("README.md"), re.MULTILINE)
    demo, tests = commands
    assert demo.endswith("/bin/sitestats demo")
    assert tests.endswith("/bin/nox")
    for command in commands:
        environment = command.split()[3]
        steps = command.split(" && ")[1:]
        assert all(step.startswith(f"{environment}/bin/") for step in steps)


def test_ci_runs_the_readmes_command() -> None:
    """CI takes its command from the README, so that they can't differ."""
    script = text_of(".ci/run")
    pattern = re.search(r"grep -E '(.+)' README\.md", script)
    assert pattern
    (command,) = re.findall(pattern[1], text_of("README.md"), re.MULTILINE)
    assert command.endswith("/bin/nox")
    assert "pip install" not in script


def test_ci_runs_every_python_that_is_promised() -> None:
    """The classifiers, the lowest Python, noxfile.py and CI name the same versions."""
    names = [
        name.rpartition(" ")[2]
        for name in PROJECT["classifiers"]
        if name.startswith("Programming Language :: Python :: 3.")
    ]
    pythons, newer = names[:3], names[3:]
    noxfile, script = text_of("noxfile.py"), text_of(".ci/run")
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert f"PYTHONS = {pythons}".replace("'", '"') in noxfile
    assert f"NEWER = {newer}".replace("'", '"') in noxfile
    workflow = text_of(".github/workflows/ci.yml")
    assert newer
    for python in newer:
        assert f'python: "{python}", may_fail: false' in workflow
    assert f"for python in {' '.join(pythons)}; do" in script
    assert f"for python in {' '.join(reversed(pythons))}; do" in script


def test_the_version_is_the_same_everywhere() -> None:
    """``sitestats.__version__`` is the installed version, and the changelog has it."""
    assert importlib.metadata.version("sitestats") == sitestats.__version__
    newest = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert newest
    assert newest[1] == sitestats.__version__


def late_imports(call: ast.Call) -> Iterator[str]:
    """What *call* imports by its name, as is done with what has no types."""
    match call:
        case ast.Call(
            func=ast.Name("import_module" | "load_extra"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name.partition(".")[0]


def test_every_dependency_is_used_and_every_import_declared() -> None:
    """What the package imports and what it requires are the same."""
    named = {re.split(r"[^\w.-]", requirement)[0] for requirement in REQUIRED}
    # The standard library finds the time zones by itself.
    declared = {name.removeprefix("python-") for name in named - {"tzdata"}}
    imported: set[str] = set()
    for path in SOURCE:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).partition(".")[0])
            elif isinstance(node, ast.Call):
                imported |= set(late_imports(node))
    outside = imported - set(sys.stdlib_module_names) - {"sitestats"}
    # dlt imports DuckDB.
    assert declared - outside == {"duckdb"}
    # Whoever uses the plugin has pytest, and whoever uses the hook PyInstaller. FastAPI
    # and matplotlib bring the next three, type checkers typing_extensions, and Pyodide
    # the last two.
    brought = {"pytest", "PyInstaller", "pydantic", "pydantic_core", "numpy"}
    brought |= {"typing_extensions", "js", "pyodide"}
    assert outside - declared <= brought


def test_the_lowest_versions_are_the_bounds() -> None:
    """A bound is tested: tests/lowest.txt has it."""
    # The assistants' extra is newer than the lowest versions of the others.
    others = [one for one in REQUIRED if not one.startswith("mcp")]
    found = (re.match(r"([\w-]+)>=([\w.]+)", one) for one in others)
    bounds = {match[1]: match[2] for match in found if match}
    pins = (line.partition("==") for line in text_of("tests/lowest.txt").splitlines())
    lowest = {name: re.sub(r"(\.0)+( ;.*)?$", "", version) for name, _, version in pins}
    assert {
        name: lowest.get(name)
        for name, bound in bounds.items()
        if lowest.get(name) != re.sub(r"(\.0)+$", "", bound)
    } == {}


def test_what_is_marked_as_compat_is_there() -> None:
    """A file that was renamed would no longer run on the other Pythons, unnoticed."""
    listed = text_of("tests/conftest.py").partition("COMPAT = (")[2].partition("\n)")[0]
    names = re.findall(r'"([^"]+)"', listed)
    assert len(names) > 10
    assert [name for name in names if not [*ROOT.glob(f"{name}*")]] == []


def test_sessions_that_are_named_exist() -> None:
    """Workflows and pages name sessions of noxfile.py. Each is run by plain nox,
    .ci/run or a workflow, or CONTRIBUTING says after which changes to run it.
    """
    code = ast.parse(text_of("noxfile.py"))
    functions = [one for one in code.body if isinstance(one, ast.FunctionDef)]
    sessions = {one.name for one in functions if one.decorator_list}
    run = {"checks", *re.findall(r"\w+", text_of(".ci/run"))}
    paths = [*ROOT.glob(".github/workflows/*"), ROOT / "CONTRIBUTING.md"]
    for path in [*ROOT.glob("docs/**/*.md"), *paths]:
        text = path.read_text("utf-8").replace("${{ matrix.python }}", "3.14")
        for names in re.findall(r"nox .*?(?:-s|--session) ([^`\n]+)", text):
            named = names.partition(" -- ")[0].split()
            found = {one.partition("-")[0] for one in named}
            assert found <= sessions, names
            run |= found if path in paths else set()
    assert sessions <= run
