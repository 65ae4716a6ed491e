"""Layers: pure modules do no I/O, and both clients have the same methods.

Who may import whom is in the contracts of ``pyproject.toml``, which ``nox -s lint``
checks.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sitestats
from sitestats import AsyncClient, Client
from sitestats._client.async_client import AsyncStatistics, AsyncWebsites
from sitestats._client.client import Statistics, Websites
from sitestats._common import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.once


PACKAGE = Path(sitestats.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
PRIVATE = sorted(path for path in PACKAGE.glob("_*/*.py") if path.name != "__init__.py")
PURE = [
    path
    for path in PRIVATE
    if path.parent.name in {"_common", "_protocol", "_query", "_results"}
    # The settings read the environment, and the files that it names; locks are files,
    # or between threads; progress is written, by a thread in a log.
    and path.name
    not in {
        "key_file.py",
        "lock_files.py",
        "profiles.py",
        "progress.py",
        "settings.py",
        "thread_locks.py",
    }
]
IO = {
    "anyio",
    "asyncio",
    "httpcore",
    "httpx",
    "os",
    "select",
    "socket",
    "ssl",
    "subprocess",
    "threading",
    "time",
    "trio",
    "urllib.request",
}


def place(path: Path) -> str:
    """A module by its folder and name."""
    return path.relative_to(PACKAGE).as_posix()


def imports(path: Path) -> Iterator[str]:
    """Every module that *path* imports when it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_only_the_transport_imports_httpx() -> None:
    """What knows httpx and httpcore is in one folder."""
    importers = {
        place(path)
        for path in PRIVATE
        for name in imports(path)
        if name.partition(".")[0] in {"httpx", "httpcore"}
    }
    assert {name.partition("/")[0] for name in importers} == {"_transport"}


@pytest.mark.parametrize("path", PURE, ids=place)
def test_pure_layers_do_no_io(path: Path) -> None:
    """No module of a pure layer can sleep, or open a socket; that a pinned query may
    read the clock is the one exception.
    """
    assert not set(imports(path)) & IO


def test_no_private_folder_is_loaded_whole() -> None:
    """Each private ``__init__`` is empty, so importing one module loads no other."""
    folders = sorted({path.parent for path in PRIVATE})
    assert len(folders) >= 6
    for folder in folders:
        assert (folder / "__init__.py").read_text("utf-8") == "", folder


# What is in the same set imports each other, for its types or in a function too.
CIRCLES = {
    # Results compare themselves.
    frozenset({"_results/comparison", "_results/stats"}),
}
LATE = {"_results/display": "analysis/", "_results/stats": "_protocol/responses"}
"""Imports of what stands above: the exceptions of the contract of the layers."""


def imported_modules(path: Path, modules: set[str]) -> Iterator[str]:
    """The modules of the package that *path* imports, wherever and for whatever."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = path.parents[node.level - 1] if node.level else PACKAGE.parent
            module = above.joinpath(*(node.module or "").split("."))
            for found in (module, *(module / alias.name for alias in node.names)):
                name = found.relative_to(PACKAGE.parent).as_posix()
                yield from {name.removeprefix("sitestats/")} & modules


def test_no_other_modules_import_each_other() -> None:
    """No module is imported by what it imports, but for the circles that are named:
    each can be read, tested and moved without the ones above it.
    """
    modules = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in MODULES}
    reached = {}
    for name in modules:
        found = imported_modules(PACKAGE / f"{name}.py", modules)
        late = LATE.get(name, "nothing")
        reached[name] = {one for one in found if not one.startswith(late)}
    for middle, name in itertools.product(modules, modules):
        if middle in reached[name]:
            reached[name] |= reached[middle]
    circles = {
        frozenset(one for one in reached[name] if name in reached[one])
        for name in modules
    }
    assert circles - {frozenset()} == CIRCLES


PRIVATE_NAMES_OF_COMMANDS = {
    "sitestats._common.text": {"as_cell_text", "csv_line", "plain"},
    "sitestats.analysis._console": {"table_of_rows"},
    "sitestats.warehouse._settings": {"set_default"},
}
"""What the commands import beside public names; the contract has the reasons."""


def test_the_commands_import_public_names() -> None:
    """What a command does, a user of the library can do by public names too."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in (PACKAGE / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                module = str(node.module)
                names = {alias.name for alias in node.names}
                if not re.search(r"^sitestats\..*\b_", module):
                    names = {name for name in names if name.startswith("_")}
                if names and module.startswith("sitestats"):
                    found[module] |= names
    assert found == PRIVATE_NAMES_OF_COMMANDS


TWINS = [
    (Client, AsyncClient),
    (Websites, AsyncWebsites),
    (Statistics, AsyncStatistics),
]


@pytest.mark.parametrize(("blocking", "awaited"), TWINS)
def test_the_clients_have_the_same_names(blocking: type, awaited: type) -> None:
    """Both clients have the same methods, with the same parameters in order."""
    ending = {"close": "aclose", "__enter__": "__aenter__", "__exit__": "__aexit__"}
    assert {ending.get(name, name) for name in _public(blocking)} == _public(awaited)
    for name in _public(blocking) - ending.keys():
        one, other = getattr(blocking, name), getattr(awaited, name)
        if callable(one):
            assert _parameters(one) == _parameters(other), name
            assert _parameters(one), name


def _parameters(method: Callable[..., Any]) -> list[inspect.Parameter]:
    # What may be iterated over may be so asynchronously in the async client.
    return [
        parameter.replace(
            annotation=re.sub(
                r" \| AsyncIterable\[.+\]$", "", str(parameter.annotation)
            )
        )
        for parameter in inspect.signature(method).parameters.values()
    ]


def _public(cls: type) -> set[str]:
    return {
        name
        for name in dir(cls)
        if not name.startswith("_") or name in {"__enter__", "__aenter__"}
    }


def test_every_public_name_exists_once_and_in_order() -> None:
    """``__all__`` is sorted and complete, and errors report their public module."""
    names = sitestats.__all__
    assert names == sorted(set(names))
    for name in names:
        assert getattr(sitestats, name, None) is not None
    assert set(names) <= set(dir(sitestats))
    with pytest.raises(AttributeError, match="no attribute 'NoName'"):
        _ = sitestats.NoName  # type: ignore[attr-defined]  # there is none
    for error in ERRORS:
        assert error.__module__ == "sitestats"


ERRORS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, Exception)
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_exported_documented_and_in_the_tree(
    error: type[Exception],
) -> None:
    """Each error is exported, has a docstring, and is in the documented tree."""
    assert getattr(sitestats, error.__name__) is error
    assert error.__doc__
    if error is not sitestats.SiteStatsWarning:
        assert error.__name__ in (errors.__doc__ or "")


OLD_ANYIO = tuple(map(int, version("anyio").split(".")[:2])) < (4, 15)
HEAVY = {
    "asyncio",
    "cattrs",
    "click",
    "duckdb",
    "httpx",
    "matplotlib",
    "msgspec",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "rich",
    "tqdm",
    "sitestats.analysis",
    "sitestats.cli",
    "sitestats.emulator",
}


def test_importing_loads_nothing_heavy() -> None:
    """``import sitestats`` loads no library that only some programs need."""
    assert not HEAVY & loaded_by("sitestats")


@pytest.mark.parametrize(
    ("statement", "ours", "theirs"),
    [
        ("import sitestats", set[str](), set[str]()),
        ("from sitestats import QueryError", {"_common"}, {"attr"}),
        ("from sitestats import StatsQuery", {"_common", "_query"}, {"attr"}),
        (
            "from sitestats import Client",
            {"_client", "_common", "_protocol", "_query", "_results", "_transport"},
            {"attr", "anyio"},
        ),
    ],
)
def test_only_what_is_used_is_loaded(
    statement: str, ours: set[str], theirs: set[str]
) -> None:
    """A name of the package loads the folders that it needs, and no other, and of the
    libraries in question only these.
    """
    if "anyio" in theirs and OLD_ANYIO:
        pytest.skip("anyio below 4.15 loads asyncio and ssl")  # whoever imports it
    loaded = loaded_after(statement)
    parts = [name.split(".") for name in loaded]
    assert {p[1] for p in parts if p[0] == "sitestats" and len(p) > 1} == ours
    libraries = {"anyio", "attr", "asyncio", "cattrs", "h11", "httpx", "msgspec", "ssl"}
    assert {p[0] for p in parts} & libraries == theirs


def loaded_by(package: str) -> set[str]:
    """The modules that a fresh interpreter has after importing *package*."""
    loaded = loaded_after(f"import {package}")
    assert package in loaded
    return loaded


def loaded_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after running *statement*."""
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())
