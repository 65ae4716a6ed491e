"""Benchmark of imports and of the command's start, each in a new interpreter."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from measuring import Goal, Scale, Table, compared, environment, seconds

CODE = """
import sys, time
sys.modules["click"] = sys.modules["trio"] = None
began = time.process_time()
{}
print(time.process_time() - began)
"""
ADDRESS = "http://127.0.0.1"
WHAT = {
    "import httpx": "import httpx",
    "import sitestats": "import sitestats",
    "import both clients and StatsQuery": (
        "from sitestats import AsyncClient, Client, StatsQuery"
    ),
    "import httpx, and make a client": "import httpx; httpx.Client()",
    "import sitestats, and make a client": (
        f"import sitestats; sitestats.Client({ADDRESS!r}).stats"
    ),
    "import httpx, attrs, cattrs, msgspec": "import httpx, attrs, cattrs, msgspec",
    "import requests": "import requests",
    "import aiohttp": "import aiohttp",
}
COMPLETION = {
    "_SITESTATS_COMPLETE": "bash_complete",
    "COMP_WORDS": "sitestats web",
    "COMP_CWORD": "1",
}
CLICK = "import click; click.command()(lambda: None)(['--help'])"
COMMAND = (
    "import sys; sys.argv = ['sitestats', {}]; from sitestats.cli import main; main()"
)
PROGRAMS: dict[str, tuple[str, Mapping[str, str]]] = {
    "a program of click alone: `--help`": (CLICK, {}),
    "`python -c pass`": ("pass", {}),
    "`sitestats --version`": (COMMAND.format("'--version'"), {}),
    "`sitestats --help`": (COMMAND.format("'--help'"), {}),
    "completing the name of a command": (COMMAND.format(""), COMPLETION),
    "`sitestats stats --help`": (COMMAND.format("'stats', '--help'"), {}),
}


def _start(code: str, variables: Mapping[str, str]) -> float:
    """The processor time of a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.DEVNULL,
        check=True,
        env=variables,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _once(code: str, variables: Mapping[str, str]) -> float | None:
    run = subprocess.run(
        [sys.executable, "-c", CODE.format(code)],
        capture_output=True,
        text=True,
        check=False,
        env=variables,
    )
    return float(run.stdout) if run.returncode == 0 else None


def tables(scale: Scale) -> list[Table]:
    """The time of the import, compared with that of its dependencies."""
    variables = environment()
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        if not scale.short:
            # A user's modules are compiled already: a first run compiles them, into
            # a folder of its own.
            variables["PYTHONPYCACHEPREFIX"] = folder
            for code in WHAT.values():
                _once(code, variables)
        for _ in range(scale.rounds(20)):
            for what, code in WHAT.items():
                if (took := _once(code, variables)) is not None:
                    found.setdefault(what, []).append(took)
        starts: dict[str, list[float]] = {}
        for _ in range(scale.rounds(20)):
            for what, (code, more) in PROGRAMS.items():
                took = _start(code, {**variables, **more})
                starts.setdefault(what, []).append(took)
    bests = {what: min(times) for what, times in found.items()}
    httpx, both = bests["import httpx"], bests["import both clients and StatsQuery"]
    return [
        Table(
            "Import",
            "Without the start of the interpreter, with compiled modules and only the "
            "necessary dependencies: httpx would also load click, rich and trio. In "
            "processor time. (httpx reads the trusted certificates when a client is "
            "made, sitestats with the first connection.)",
            compared([*bests], [*bests.values()], seconds),
            [
                Goal(
                    "importing both clients and StatsQuery beside `import httpx`",
                    both / httpx,
                    1.3,
                    "httpx, h11, msgspec, cattrs and asyncio are imported with the "
                    "first client. What is left is attrs itself, its 45 classes, and "
                    "loading 65 modules.",
                ),
                Goal(
                    "what the first client adds to that, beside `import httpx`",
                    (bests["import sitestats, and make a client"] - both) / httpx,
                    1.4,
                    "A call imports nothing, so all that it needs is loaded then: "
                    "httpx, httpcore, h11, cattrs and msgspec, and our own modules.",
                ),
            ],
        ),
        _startup({what: min(times) for what, times in starts.items()}),
    ]


def _startup(bests: Mapping[str, float]) -> Table:
    """The time of a whole process of the command line."""
    first = bests["a program of click alone: `--help`"]
    return Table(
        "Start of the command line",
        "The processor time of a whole process, the interpreter's start included.",
        compared(list(bests), list(bests.values()), seconds),
        [
            Goal(
                "completing a name beside a program of click alone",
                bests["completing the name of a command"] / first,
                1.5,
                "What is left is attrs, which the errors need.",
            )
        ],
    )
