"""The repository: README, CI, locked versions and silenced checks agree."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

pytestmark = pytest.mark.once


ROOT = Path(__file__).parents[2]
PYTHONS = ["3.11", "3.12", "3.13"]
BASH = shutil.which("bash")
SOURCE = sorted((ROOT / "src").rglob("*.py"))
CODE = sorted(
    {*ROOT.glob("*.py"), *SOURCE}.union(
        *((ROOT / part).rglob("*.py") for part in ("tests", "docs", "examples"))
    )
)
HOSTED = sorted((ROOT / "tests" / "hosted").glob("*.txt"))
EXCUSE = re.compile(r"#\s*(?:(?:type|pyright):\s*ignore|noqa)\b(?P<rest>.*)")
NAMED = re.compile(r"(?:\[[\w, -]+\]|: [A-Z]+\d+(?:, ?[A-Z]+\d+)*)(?P<reason>.*)")


def where(path: Path, line: int) -> str:
    """The file and line, as editors understand them."""
    return f"{path.relative_to(ROOT)}:{line}"


def unexplained(lines: list[str]) -> list[int]:
    """The numbers of the lines that silence a checker without rule and reason.

    The reason follows the rules' names, or is the comment on the line above.
    """
    numbers = []
    for number, line in enumerate(lines, start=1):
        if not (excuse := EXCUSE.search(line)):
            continue
        named = NAMED.fullmatch(excuse["rest"])
        above = lines[number - 2].strip() if number > 1 else ""
        if named and (re.search(r"\w", named["reason"]) or above.startswith("#")):
            continue
        numbers.append(number)
    return numbers


def test_readme_has_the_two_commands() -> None:
    """The README has one line that runs the demo and one that runs the tests."""
    commands = [
        line
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if line.startswith("python3 -m venv ")
    ]
    demo, tests = commands
    assert demo.endswith("/bin/sitestats demo")
    assert tests.endswith("/bin/nox")
    for command in commands:
        environment = command.removeprefix("python3 -m venv ").split()[0]
        for step in command.split(" && ")[1:]:
            assert step.startswith(f"{environment}/bin/")


def test_ci_runs_the_readmes_command() -> None:
    """CI takes its command from the README, so that they can't differ."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    pattern = re.search(r"grep -E '(.+)' README\.md", script)
    assert pattern
    readme = (ROOT / "README.md").read_text("utf-8")
    (command,) = re.findall(pattern[1], readme, re.MULTILINE)
    assert command.endswith("/bin/nox")
    assert "pip install" not in script


def test_ci_runs_every_python_that_is_promised() -> None:
    """The classifiers, the lowest Python, noxfile.py and CI name the same versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    *pythons, newest = [
        name.rpartition(" ")[2]
        for name in project["classifiers"]
        if name.startswith("Programming Language :: Python :: 3.")
    ]
    noxfile = (ROOT / "noxfile.py").read_text("utf-8")
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert project["requires-python"] == f">={pythons[0]}"
    assert f"PYTHONS = {pythons}".replace("'", '"') in noxfile
    assert f'NEWEST = "{newest}"' in noxfile
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    assert f'python: "{newest}", may_fail: false' in workflow
    assert f"for python in {' '.join(pythons[:-1])}; do" in script
    assert f"tests_hosted-{pythons[-1]} -- colab" in script
    assert f"types -- {pythons[-1]}" in script
    assert f"for python in {' '.join(reversed(pythons))}; do" in script


@pytest.mark.skipif(not BASH, reason="needs bash")
@pytest.mark.parametrize("broken", [None, "tests", "tests_lowest-3.11"])
def test_ci_builds_no_environment_twice(tmp_path: Path, broken: str | None) -> None:
    """CI runs each session once, wheels on the other Pythons, and fails on failure.

    Two runs of nox beside each other must not write the same environment.
    """
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    shutil.copy(ROOT / "README.md", tmp_path)
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    programs = {
        # Makes the environment that the README's command asks for.
        "python3": f'mkdir -p "$3/bin"; cp {bin_dir}/* "$3/bin"\n'
        f'ln -sf {sys.executable} "$3/bin/python"',
        "pip": "true",
        "nox": f'echo "${{*:-tests}}" >>{tmp_path}/sessions\n'
        f'case " ${{*:-tests}} " in *" {broken} "*) exit 1;; esac\n'
        'echo "== 3 passed in 1s =="',
    }
    for name, text in programs.items():
        (bin_dir / name).write_text(f"#!/usr/bin/env bash\n{text}\n", "utf-8")
        (bin_dir / name).chmod(0o755)
    path = f"{bin_dir}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [str(BASH), str(tmp_path / ".ci" / "run")],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": path, "HOME": str(tmp_path)},
    )
    assert (run.returncode == 0) is (broken is None), run.stdout + run.stderr
    assert run.stdout.count("== 3 passed in 1s ==") >= 4
    sessions = (tmp_path / "sessions").read_text("utf-8").splitlines()
    assert sessions[:2] == ["tests", "--session build"]
    others = sessions[2:]
    assert all("--error-on-missing-interpreters" in other for other in others)
    ran = [
        name
        for other in others
        for name in other.split("--session")[1].partition(" -- ")[0].split()
    ]
    wheels = {f"tests_wheel-{python}" for python in PYTHONS[:-1] if python != here}
    rest = {"docs", "tests_lowest-3.11", "tests_hosted-3.13", "types"}
    assert sorted(ran) == sorted({*rest, *wheels})


def test_actions_are_pinned_by_their_commits() -> None:
    """Actions of others are pinned by commit, so that a moved tag changes nothing."""
    used = [
        line.partition("uses: ")[2]
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text("utf-8").splitlines()
        if "uses: " in line
    ]
    assert len(used) >= 2
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [one for one in used if not pinned.fullmatch(one)] == []


def test_pre_commit_has_the_locked_ruff() -> None:
    """pre-commit uses the locked version of ruff."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    locked = (ROOT / "tests" / "locked.txt").read_text("utf-8")
    (version,) = re.findall(r"^ruff==(\S+)$", locked, re.MULTILINE)
    assert re.findall(r"ruff-pre-commit\n\s+rev: v(\S+)$", hooks, re.MULTILINE) == [
        version
    ]


def test_version_is_the_same_everywhere() -> None:
    """The installed version is pyproject.toml's, and the changelog has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert importlib.metadata.version("sitestats") == project["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest
    assert newest[1] == project["version"]


def test_every_silenced_warning_has_its_reason() -> None:
    """Each noqa and each type: ignore names its rules and a reason."""
    assert len(CODE) > len(SOURCE)
    assert [
        where(path, number)
        for path in CODE
        for number in unexplained(path.read_text("utf-8").splitlines())
    ] == []


def test_the_lock_holds_every_requirement() -> None:
    """Every requirement of pyproject.toml has its version in the lock."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    requested = [
        *table["project"]["dependencies"],
        *chain(*table["project"]["optional-dependencies"].values()),
        *chain(*table["dependency-groups"].values()),
    ]
    names = {
        re.split(r"[^\w.-]", requirement)[0].lower()
        for requirement in requested
        if isinstance(requirement, str)
    }
    assert len(names) > 20
    locked = (ROOT / "tests" / "locked.txt").read_text("utf-8")
    assert names - set(re.findall(r"^([\w.-]+)==", locked, re.MULTILINE)) == set()


def test_every_dependency_is_used_and_every_import_declared() -> None:
    """What the package imports and what it requires are the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requested = [
        *project["dependencies"],
        *chain(*project["optional-dependencies"].values()),
    ]
    named = {re.split(r"[^\w.-]", requirement)[0] for requirement in requested}
    # The standard library finds it by itself.
    declared = {name.removeprefix("python-") for name in named - {"tzdata"}}
    imported = set[str]()
    for path in SOURCE:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).partition(".")[0])
            elif isinstance(node, ast.Call):
                # What has no types is imported by its name.
                name = re.fullmatch(r"import_module\('(\w+)'\)", ast.unparse(node))
                imported |= {name[1]} if name else set()
    outside = imported - set(sys.stdlib_module_names) - {"sitestats"}
    assert declared - outside == set()
    # Whoever uses the plugin has pytest, matplotlib brings NumPy, and type checkers
    # bring the other.
    assert outside - declared == {"numpy", "pytest", "typing_extensions"}


def bounds() -> dict[str, str]:
    """The lower bound of each requirement of the package and its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    lower = re.compile(r"([\w-]+)>=([\w.]+)")
    found = map(lower.match, [*project["dependencies"], *chain(*extras)])
    return {match[1]: match[2] for match in found if match}


def is_same(one: str, other: str) -> bool:
    """Whether two versions differ in zeros at the end alone."""
    zeros = re.compile(r"(\.0)+$")
    return zeros.sub("", one) == zeros.sub("", other)


def test_the_lowest_versions_are_the_bounds() -> None:
    """A bound that is changed is tested: tests/lowest.txt has exactly each of them."""
    text = (ROOT / "tests" / "lowest.txt").read_text("utf-8")
    lowest = dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))
    assert len(bounds()) >= 15
    assert {
        name: (bound, lowest.get(name))
        for name, bound in bounds().items()
        if not is_same(bound, lowest.get(name, ""))
    } == {}


def test_the_table_of_lower_bounds_is_complete() -> None:
    """The table of bounds has each of pyproject.toml, with what was tried below it."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `([\w-]+)>=([\w.]+)` \| .+ \| .+ \| .+ \|$", page, re.MULTILINE
    )
    assert dict(rows) == bounds()


@pytest.mark.parametrize("path", HOSTED, ids=lambda path: path.stem)
def test_a_hosted_list_says_what_it_is_from(path: Path) -> None:
    """Each list names its platform and Python, holds versions alone, and is shown."""
    lines = path.read_text("utf-8").splitlines()
    head = re.match(r"# (.+), Python (3\.\d+):", lines[0])
    assert head
    assert head[2] in PYTHONS
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) >= 25
    assert [pin for pin in pins if not re.fullmatch(r"[\w-]+[=~]=[\w.]+", pin)] == []
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (row,) = [
        line for line in page.splitlines() if f"`tests/hosted/{path.name}`" in line
    ]
    names = ["pandas", "matplotlib", "duckdb", "pyarrow", "click", "anyio", "httpx"]
    versions = dict(re.split("[=~]=", pin) for pin in pins)
    shown = [cell.strip() for cell in row.split("|")[2:-2]]
    assert shown[0] == head[2]
    wanted = [versions.get(name, "none") for name in names]
    assert [
        a for a, b in zip(shown[1:], wanted, strict=True) if not is_same(a, b)
    ] == []


def test_the_lock_names_no_place() -> None:
    """The lock holds versions alone: no address, no path, no option."""
    lines = [
        line
        for name in ("locked.txt", "lowest.txt")
        for line in (ROOT / "tests" / name).read_text("utf-8").splitlines()
    ]
    assert len(lines) > 60
    assert [
        line for line in lines if not re.match(r"[\w.-]+==[\w.]+( ; .+)?$", line)
    ] == []
