"""What the contracts of ``pyproject.toml`` can't say of modules and public names."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from sitestats import AsyncClient, Client


def public(cls: type) -> set[str]:
    """The names that a user of the class sees."""
    return {name for name in dir(cls) if not name.startswith("_")}


def parameters(method: object) -> list[str]:
    """The parameters, without that an async client iterates asynchronously, too."""
    assert callable(method)
    found = inspect.signature(method).parameters.values()
    return [re.sub(r" \| AsyncIterable\[.+\](?=')", "", str(one)) for one in found]


def test_the_clients_have_the_same_names() -> None:
    """Both clients have the same methods, with the same parameters in order."""
    with Client("http://127.0.0.1") as client:
        other = AsyncClient("http://127.0.0.1")
        for one, two in (
            (Client, AsyncClient),
            (type(client.websites), type(other.websites)),
            (type(client.stats), type(other.stats)),
        ):
            assert {{"close": "aclose"}.get(n, n) for n in public(one)} == public(two)
            for name in public(one) - {"close"}:
                if callable(getattr(one, name)):
                    blocking, awaited = getattr(one, name), getattr(two, name)
                    assert parameters(blocking) == parameters(awaited), name


@pytest.mark.parametrize(
    ("statement", "libraries"),
    [
        ("import sitestats", set[str]()),
        ("from sitestats import InvalidInputError, StatsQuery", {"attr"}),
        ("from sitestats import Client", {"attr", "anyio", "cattrs", "msgspec"}),
        ("import sitestats.cli._app", {"attr", "click", "msgspec"}),
        # Each run of pytest does, in each project that installs the package.
        ("import sitestats.emulator.pytest_plugin", set[str]()),
    ],
)
def test_only_what_is_used_is_loaded(statement: str, libraries: set[str]) -> None:
    """What takes long to import is imported when it is used."""
    old = tuple(map(int, version("anyio").split(".")[:2])) < (4, 15)
    if "anyio" in libraries and old:
        # What that version imports is not ours to change.
        pytest.skip("anyio below 4.15 loads asyncio and ssl")
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    heavy = {"anyio", "attr", "asyncio", "cattrs", "h11", "httpx", "msgspec", "ssl"}
    heavy |= {
        "click",
        "dlt",
        "duckdb",
        "pandas",
        "polars",
        "pyarrow",
        "rich",
        "matplotlib",
    }
    assert loaded & heavy == libraries
