"""Benchmark of imports, each in a new interpreter."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping

from measuring import Goal, Scale, Table, compared, environment, seconds

CODE = """
import sys, time
sys.modules["click"] = None
began = time.process_time()
{}
print(time.process_time() - began)
"""
ADDRESS = "http://127.0.0.1"
WHAT = {
    "import httpx": "import httpx",
    "import sitestats": "import sitestats",
    "import httpx, and make a client": "import httpx; httpx.Client()",
    "import sitestats, and make a client": (
        f"import sitestats; sitestats.Client({ADDRESS!r}).stats"
    ),
    "import httpx, attrs, cattrs, msgspec": "import httpx, attrs, cattrs, msgspec",
    "import requests": "import requests",
    "import aiohttp": "import aiohttp",
}


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
    names = list(found)
    bests = [min(times) for times in found.values()]
    return [
        Table(
            "Import",
            "Without the start of the interpreter, with compiled modules and only the "
            "necessary dependencies: httpx would also load click and rich. In "
            "processor time. (httpx reads the trusted certificates when a client is "
            "made, sitestats with the first connection.)",
            compared(names, bests, seconds),
            [
                Goal(
                    "`import sitestats` beside `import httpx`",
                    bests[names.index("import sitestats")] / bests[0],
                    1.3,
                    "What helped: httpx, h11, msgspec, cattrs, asyncio and "
                    "importlib.metadata are imported where they are first used. What "
                    "is left is attrs itself, making some forty attrs classes, and "
                    "loading some fifty modules.",
                )
            ],
        )
    ]
