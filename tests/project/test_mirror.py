"""The tests mirror the package: those of a module are found under its name."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

import sitestats

pytestmark = pytest.mark.once

PACKAGE: Final = Path(sitestats.__file__).parent
TESTS: Final = Path(__file__).parents[1]
LINES: Final = 25
"""A module of fewer lines is tested with the one that uses it."""
WITHOUT: Final = {
    "__init__.py": "it names what is public, as tests/docs/test_documentation.py does",
    "cli/__init__.py": "it starts the command, as most tests of commands do",
    "emulator/_options.py": "it has types alone",
    "provisioning/__init__.py": "it names what is public",
    "provisioning/_events.py": "it has values alone, which the journal's tests write",
    "_client/schedule.py": "it says which query is next, as test_get_many does",
    "_protocol/flow.py": "it has the steps of a flow, which tests of any flow run",
    "warehouse/__init__.py": "it names what is public",
}
"""The modules without a file of their own, each with its reason."""
ON_THE_PATH: Final = (TESTS, TESTS / "support", TESTS / "benchmarks")
"""The folders from which tests import helpers by plain names."""
TEXTS: Final = sorted((TESTS / "texts").rglob("*.json"))


def file_of(module: Path) -> Path:
    """Where the tests of *module* are: of ``_query/rules.py``, query/test_rules.py."""
    folder, name = (part.lstrip("_") for part in (module.parent.name, module.stem))
    return TESTS / folder / f"test_{name}.py"


def test_a_module_has_its_tests_under_its_name() -> None:
    """Whoever changes a module finds its tests without a search."""
    modules = {
        path.relative_to(PACKAGE).as_posix(): path
        for path in PACKAGE.rglob("*.py")
        if len(path.read_text("utf-8").splitlines()) >= LINES
    }
    assert len(modules) > 120
    missing = {name for name, path in modules.items() if not file_of(path).exists()}
    assert missing == set(WITHOUT)


@pytest.mark.parametrize(
    "path", TEXTS, ids=[path.relative_to(TESTS / "texts").as_posix() for path in TEXTS]
)
def test_each_text_is_one_of_a_test(path: Path) -> None:
    """A text that no test compares any more would be read as if it were shown."""
    tests = TESTS / path.relative_to(TESTS / "texts").with_suffix(".py")
    defined = {
        node.name
        for node in ast.walk(ast.parse(tests.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    named = {name.partition("[")[0] for name in json.loads(path.read_text("utf-8"))}
    assert named <= defined


def test_each_helper_has_a_name_of_its_own() -> None:
    """Of two helpers with one name, a test would import the wrong one."""
    names = Counter(
        path.stem
        for folder in ON_THE_PATH
        for path in folder.iterdir()
        if not path.name.startswith("_") and path.stem != "conftest"
    )
    assert [name for name, count in names.items() if count > 1] == []
