"""What an import costs, each in a fresh interpreter."""

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
    "import sitestats, and make a client, which loads httpx": (
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
    """The time of the import, beside that of what it stands on."""
    variables = environment()
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        if not scale.short:
            # A user imports what has been imported before: a first turn
            # compiles it, and what is compiled is kept beside no one's own.
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
            "Over a bare interpreter, each module compiled before, with what each "
            "needs and nothing else installed: httpx would load click and rich as "
            "well. In the processor's time. (When a client is made, httpx reads the "
            "certificates to trust; sitestats does with the first connection.)",
            compared(names, bests, seconds),
            [
                Goal(
                    "`import sitestats` beside `import httpx`",
                    bests[names.index("import sitestats")] / bests[0],
                    1.5,
                    "Tried and kept: httpx, msgspec, cattrs, asyncio and "
                    "importlib.metadata are loaded where they are first used. What is "
                    "left is attrs itself, the making of some forty attrs classes, and "
                    "the loading of some sixty small modules.",
                )
            ],
        )
    ]
