"""The run itself: ``python -m soak``, in the directory of the tests."""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reliability_tables import as_table, write_block

from .measure import can_measure
from .phases import AT_ONCE, MOMENTS, WAYS, Phase, run, warm_up

GROWTH = 8 * 1024 * 1024
"""Bytes of resident memory that may come after the first calls: Python's own
memory frays in steps of a MiB until the worst of the floods have met."""

DRIFT = 2 * 1024 * 1024
"""Bytes that may come in the second half, when that is long."""

LONG = 10_000
"""The calls of a way from which on nothing is left to fray."""

BLOCKS = 500
"""Pieces of memory by which two moments may differ."""

TESTS = Path(__file__).parents[1]


def main() -> int:
    """Run all phases; the number of things that grew is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000, help="over all ways")
    parser.add_argument("--first", type=int, default=1_000, help="of each way")
    parser.add_argument("--within", type=float, default=1800, help="seconds")
    parser.add_argument("--write", action="store_true", help="put it into the docs")
    parser.add_argument("--origin", help="of a server that is there already")
    options = parser.parse_args()
    if not can_measure():
        print("only Linux tells what is needed")
        return 0
    if options.origin is None:
        return _serve_and_measure()
    # What hangs is shown, and ends.
    faulthandler.dump_traceback_later(options.within, exit=True)
    print(f"Python {platform.python_version()}", flush=True)
    warm_up(options.origin)
    # What has been imported stays, and need not be looked through each time.
    gc.freeze()
    phases = list[Phase]()
    for way in WAYS:
        calls = options.calls // len(WAYS) + (way in WAYS[: options.calls % len(WAYS)])
        phases.append(run(way, options.origin, calls, options.first))
        print(" | ".join(_row(phases[-1])), dict(phases[-1].outcomes), flush=True)
    grown = [problem for phase in phases for problem in what_grew(phase)]
    print(*grown, sep="\n")
    if options.write and not grown:
        write_block("soak", _told(phases))
    return len(grown)


def _serve_and_measure() -> int:
    # The allocator is to keep what was freed once, and not for each thread.
    env = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    with _serving() as origin:
        command = [sys.executable, "-m", "soak", *sys.argv[1:], "--origin", origin]
        return subprocess.run(command, cwd=TESTS, env=env, check=False).returncode


@contextmanager
def _serving() -> Iterator[str]:
    """The server in a process of its own; its address."""
    command = [sys.executable, "-m", "faults", "--case", "mixture", "--json"]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["mixture"]
        finally:
            server.terminate()


def what_grew(phase: Phase) -> Iterator[str]:
    """Everything of which there is more at the end than there was early on."""
    early, half, late = (phase.at(moment) for moment in ("first", "half", "end"))
    drifts = phase.calls >= LONG and late.memory > half.memory + DRIFT
    if late.memory > early.memory + GROWTH or drifts:
        yield f"{phase.way}: memory grew: {_change(phase, 'memory')} MiB"
    if late.blocks > early.blocks + BLOCKS:
        yield f"{phase.way}: blocks grew: {_change(phase, 'blocks')}"
    # One that is closed after a fault is made anew when it is needed.
    if late.files > early.files + AT_ONCE:
        yield f"{phase.way}: files grew: {_change(phase, 'files')}"
    # The watchdog's thread ends when it had nothing to watch for some seconds.
    for name, allowed in (("threads", 1), ("tasks", 0)):
        if getattr(late, name) > getattr(early, name) + allowed:
            yield f"{phase.way}: {name} grew: {_change(phase, name)}"
    before, closed = phase.at("before"), phase.at("closed")
    for name, allowed in (
        ("blocks", BLOCKS),
        ("files", 0),
        ("threads", 0),
        ("tasks", 0),
    ):
        if getattr(closed, name) > getattr(before, name) + allowed:
            yield f"{phase.way}: {name} are left: {_change(phase, name)}"


HEADER = ("way", "calls", "seconds", "answered", "failed", "memory, MiB")
COUNTS = ("blocks", "files", "threads", "tasks")


def _told(phases: list[Phase]) -> str:
    calls = sum(phase.calls for phase in phases)
    seconds = sum(phase.seconds for phase in phases)
    return (
        f"{calls:,} calls in {seconds:,.0f} seconds on Python "
        f"{platform.python_version()}.\n\n"
        + as_table([[*HEADER, *COUNTS], *(_row(phase) for phase in phases)])
    )


def _row(phase: Phase) -> list[str]:
    answered = phase.outcomes["3"]
    return [
        phase.way,
        f"{phase.calls:,}",
        f"{phase.seconds:.0f}",
        f"{answered:,}",
        f"{phase.outcomes.total() - answered:,}",
        *(_change(phase, name) for name in ("memory", *COUNTS)),
    ]


def _change(phase: Phase, name: str) -> str:
    numbers = [getattr(phase.at(moment), name) for moment in MOMENTS]
    if name == "memory":
        return " → ".join(f"{number / 1024**2:.1f}" for number in numbers)
    return " → ".join(f"{number:,}" for number in numbers)


if __name__ == "__main__":
    sys.exit(min(main(), 100))
