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
import {}
print(time.process_time() - began)
"""
WHAT = ("httpx", "sitestats", "httpx, attrs, cattrs, msgspec", "requests", "aiohttp")


def _once(modules: str, variables: Mapping[str, str]) -> float | None:
    run = subprocess.run(
        [sys.executable, "-c", CODE.format(modules)],
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
            for modules in WHAT:
                _once(modules, variables)
        for _ in range(scale.rounds(20)):
            for modules in WHAT:
                if (took := _once(modules, variables)) is not None:
                    found.setdefault(modules, []).append(took)
    names = [f"import {modules}" for modules in found]
    bests = [min(times) for times in found.values()]
    return [
        Table(
            "Import",
            "Over a bare interpreter, each module compiled before, with what each "
            "needs and nothing else installed: httpx would load click and rich as "
            "well. In the processor's time.",
            compared(names, bests, seconds),
            [
                Goal(
                    "`import sitestats` beside `import httpx`",
                    bests[names.index("import sitestats")] / bests[0],
                    1.5,
                    "Of what is over httpx, a sixth is the import of attrs itself, a "
                    "fifth the making of 36 attrs classes, and most of the rest the "
                    "loading of some sixty small modules. Tried and kept: msgspec, "
                    "cattrs, asyncio and importlib.metadata are loaded where they are "
                    "first used, which took it from 2.2 to 1.9. To load the modules "
                    "of the package itself at their first use would lower the figure, "
                    "and only move the time to the next line of a program.",
                )
            ],
        )
    ]
