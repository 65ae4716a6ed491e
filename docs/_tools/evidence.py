"""Write the page on evidence from runs: ``nox -s evidence``, some ten minutes.

python docs/_tools/evidence.py faults      # this section alone
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from fault_cases import CASES, run

PAGE: Final = Path(__file__).parents[1] / "evidence" / "index.md"
SOAK_CALLS: Final = int(os.environ.get("SOAK_CALLS", "100000"))
FUZZ_INPUTS: Final = int(os.environ.get("FUZZ_INPUTS", "200000"))


def as_table(head: str, rows: Iterable[tuple[object, ...]]) -> str:
    """A table of Markdown; the cells of *head* are separated by commas."""
    titles = head.split(", ")
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def faults() -> str:
    """The servers by what a call gives, and how long it takes at most."""
    servers: dict[tuple[str, int], list[str]] = {}
    longest: dict[tuple[str, int], float] = {}
    for name, case in CASES.items():
        began = time.monotonic()
        given, play = run("blocking", case)
        is_value = case.gives == "value"
        kind = "a result" if is_value else f"`{type(given).__name__}`"
        outcome = kind, play.attempts
        servers.setdefault(outcome, []).append(name)
        took = time.monotonic() - began
        longest[outcome] = max(took, longest.get(outcome, 0.0))
    rows = [
        (*outcome, f"{longest[outcome]:.1f} s", "; ".join(names))
        for outcome, names in sorted(servers.items())
    ]
    return as_table("The call gives, Attempts, In at most, The server", rows)


def soak() -> str:
    """What a client holds before, after a third of the calls, after all, closed."""
    from soak.test_soak import WITH_TRIO, faulty_server
    from soak.test_soak import soak as soak_one

    rows: list[tuple[object, ...]] = []
    with faulty_server() as address:
        for variant in WITH_TRIO:
            soak_one(variant, address, 1000)
        for variant in WITH_TRIO:
            calls = SOAK_CALLS // len(WITH_TRIO)
            phase = soak_one(variant, address, calls)
            results = phase.outcomes["a result"]
            held = [
                " → ".join(f"{getattr(one, name):,}" for one in phase.held)
                for name in ("blocks", "files", "threads", "tasks")
            ]
            rows.append((variant, f"{calls:,}", f"{calls - results:,}", *held))
    head = "Client, Calls, Failed, Memory blocks, Files, Threads, Tasks"
    return as_table(head, rows)


def fuzz() -> str:
    """What became of mutated responses."""
    from fuzz.test_fuzz import in_memory, through_a_socket

    warnings.simplefilter("ignore")
    seed = time.time_ns()
    memory = in_memory(FUZZ_INPUTS, seed)
    wire = through_a_socket(FUZZ_INPUTS // 5, seed)
    rows = [
        (
            f"`{name}`" if name != "result" else "a result",
            f"{memory[name]:,}",
            f"{wire[name]:,}",
        )
        for name, _ in (memory | wire).most_common()
    ]
    return f"The seed was {seed}.\n\n" + as_table(
        "The call gives, Responses, Through a socket", rows
    )


SECTIONS: Final[dict[str, Callable[[], str]]] = {
    "faults": faults,
    "soak": soak,
    "fuzz": fuzz,
}


def main() -> None:
    """Write the sections that are named, or all."""
    for name in sys.argv[1:] or SECTIONS:
        text = SECTIONS[name]()
        mark, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        block = re.compile(f"{mark}.*{end}", re.DOTALL)
        page = PAGE.read_text("utf-8")
        assert block.search(page), name
        new = f"{mark}\n\n{text}\n\nPython {platform.python_version()}.\n\n{end}"
        PAGE.write_text(block.sub(lambda _, new=new: new, page), encoding="utf-8")
        print(f"{name}: written", flush=True)


if __name__ == "__main__":
    main()
