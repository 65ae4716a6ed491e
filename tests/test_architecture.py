"""The layers hold: who imports whom, and what the two clients have in common.

Data goes one way, and the file names say so::

    _query → _rules → _requests → _wire → (_flow, _retry) → _httpx → _wire
           → _responses → _converter → _models
"""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sitestats
from sitestats import AsyncClient, Client, _errors
from sitestats._async_client import AsyncStatistics, AsyncWebsites
from sitestats._client import Statistics, Websites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGE = Path(sitestats.__file__).parent
# The command line's second name is part of the commands.
CORE = sorted({*PACKAGE.glob("_*.py")} - {PACKAGE / "__main__.py"})
SHELL = {
    "__init__",
    "_async_client",
    "_base_client",
    "_client",
    "_fanout",
    "_runner",
}
"""The modules that make the clients: they may import every other."""

MAY_DO_IO = SHELL | {
    "_call",
    "_httpx",
    "_pool",
    "_settings",
    "_slot",
    "_tls",
    "_watchdog",
}
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

MAY_IMPORT = {
    # What goes out.
    "_wording": set[str](),
    "_wire": set[str](),
    "_errors": {"_wire"},
    "_hostnames": {"_wording"},
    "_fields": set[str](),
    "_requested": {"_errors", "_fields", "_filters", "_periods", "_rules"},
    # What may be asked for, and when again.
    "_flow": {"_wire"},
    "_retry": {"_errors", "_filters", "_flow", "_settings", "_wire"},
    # What comes back, as tables.
    "_tables": set[str](),
    "_display": set[str](),
    "_comparison": {"_display", "_entries", "_errors", "_fields", "_tables"},
    # What many at once have in common.
    "_outcomes": {"_display", "_tables"},
    "_progress": {"_errors", "_wording"},
    "_schedule": {"_errors", "_progress", "_query", "_settings", "_wording"},
    # What carries it.
    "_watchdog": set[str](),
    "_pool": {"_errors", "_watchdog"},
    "_settings": {"_errors", "_hostnames"},
}
"""The lowest layers: each module, and which of the package's own it may import."""


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module that *path* imports when it runs, and whether it is ours."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, False
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                names = [node.module] if node.module else [a.name for a in node.names]
                for name in names:
                    yield name, True
            elif node.module:
                yield node.module, False


def test_httpx_has_one_importer() -> None:
    """In the core only _httpx imports httpx, so another library costs one module."""
    importers = {
        path.stem
        for path in CORE
        for name, ours in imports(path)
        if not ours and name.partition(".")[0] in {"httpx", "httpcore"}
    }
    assert importers == {"_httpx"}


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_the_core_does_no_io(path: Path) -> None:
    """No module but the named ones can read a clock, sleep, or open a socket."""
    foreign = {name for name, ours in imports(path) if not ours}
    assert path.stem in MAY_DO_IO or not foreign & IO


@pytest.mark.parametrize("name", sorted(MAY_IMPORT))
def test_layers_go_one_way(name: str) -> None:
    """A module of a lower layer imports nothing of the layers above it."""
    ours = {module for module, is_ours in imports(PACKAGE / f"{name}.py") if is_ours}
    assert ours <= MAY_IMPORT[name]


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_only_the_clients_import_the_clients(path: Path) -> None:
    """Nothing below the clients knows of them, of a sender, or of the packages."""
    shell = SHELL - {"__init__"} | {"_httpx"}
    packages = {"analysis", "cli", "emulator"}
    ours = {name.partition(".")[0] for name, is_ours in imports(path) if is_ours}
    if path.stem not in SHELL:
        assert not ours & (shell | {"provisioning"})
    assert not _module_level_packages(path) & packages


def test_the_results_name_one_way_to_the_renderers() -> None:
    """Outside ``analysis`` only _display imports it, so results name no renderer."""
    importers = {
        path.relative_to(PACKAGE).as_posix()
        for folder in (PACKAGE, PACKAGE / "provisioning")
        for path in folder.glob("*.py")
        for name, _ in imports(path)
        if name.removeprefix("sitestats.").partition(".")[0] == "analysis"
    }
    assert importers == {"_display.py"}


OUTGOING = {"_query", "_rules", "_periods", "_hostnames", "_requests"}
INCOMING = {"_responses", "_converter", "_models", "_stats", "_entries", "_histogram"}


@pytest.mark.parametrize("name", sorted(OUTGOING | INCOMING))
def test_questions_and_answers_do_not_know_each_other(name: str) -> None:
    """What builds a question imports nothing that reads an answer, or the reverse."""
    other = INCOMING if name in OUTGOING else OUTGOING - {"_hostnames"}
    ours = {module for module, is_ours in imports(PACKAGE / f"{name}.py") if is_ours}
    assert not ours & (other | {"_flow", "_retry", "_settings", "_pool"})


def _module_level_packages(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        (node.module or "").partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level
    }


TWINS = [
    (Client, AsyncClient),
    (Websites, AsyncWebsites),
    (Statistics, AsyncStatistics),
]


@pytest.mark.parametrize(("blocking", "awaited"), TWINS)
def test_the_clients_have_the_same_names(blocking: type, awaited: type) -> None:
    """Both clients offer the same, with the same parameters in the same order."""
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
    """__all__ is sorted and whole, and errors call themselves by their public name."""
    names = sitestats.__all__
    assert names == sorted(set(names))
    assert set(names) == {name for name in vars(sitestats) if name[0].isupper()} | {
        "is_field_name"
    }
    for error in ERRORS:
        assert error.__module__ == "sitestats"


ERRORS = [
    value
    for value in vars(_errors).values()
    if isinstance(value, type) and issubclass(value, Exception)
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_exported_documented_and_in_the_tree(
    error: type[Exception],
) -> None:
    """Each error can be imported by users, says what it means, and is drawn."""
    assert getattr(sitestats, error.__name__) is error
    assert error.__doc__
    if error is not sitestats.SiteStatsWarning:
        assert error.__name__ in (_errors.__doc__ or "")


PROBLEM = sitestats.Problem("1001 is above 1000.", "limit", "4.3", "limit")
EXAMPLES = [
    sitestats.ConfigurationError("no base address"),
    sitestats.ReadOnlyError("read-only"),
    sitestats.ClientClosedError("closed"),
    sitestats.QueryError([PROBLEM]),
    sitestats.SpecError([PROBLEM, PROBLEM]),
    sitestats.FieldNotRequestedError("not requested", name="pages"),
    sitestats.MissingExtraError("pandas", extra="pandas"),
    sitestats.ConnectionFailedError("refused", maybe_sent=False),
    sitestats.RequestTimeoutError("late"),
    sitestats.BadRequestError("no", status=400, body=b"{}"),
    sitestats.WebsiteLockedError("locked", status=423, code="BADGE_REQUIRED"),
    sitestats.RateLimitedError("slower", retry_after=7.0),
    sitestats.ResponseError("odd", problems=[PROBLEM], body=b"?"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_survives_pickling(error: sitestats.SiteStatsError) -> None:
    """An error that crosses a process boundary arrives with all that it held."""
    error.add_note("while testing")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.args == error.args
    state = {key: value for key, value in vars(error).items() if key != "obj"}
    assert vars(copy) == state
    if isinstance(error, sitestats.FieldNotRequestedError):
        assert isinstance(copy, sitestats.FieldNotRequestedError)
        assert copy.name == error.name


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


def loaded_by(package: str) -> set[str]:
    """The modules that a fresh interpreter has after importing *package*."""
    code = f"import sys, {package}; print('\\n'.join(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert package in loaded
    return loaded
