"""Run the soak test: ``nox -s soak``."""

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

from evidence_tables import as_table, write_block

from .measure import can_measure
from .phases import AT_ONCE, MOMENTS, VARIANTS, Phase, run, warm_up

GROWTH = 8 * 1024 * 1024
"""Bytes by which resident memory may grow after the first calls: it is fragmented in
steps of a MiB, until the largest floods have happened at the same time."""

DRIFT = 2 * 1024 * 1024
"""Bytes by which it may grow in the second half of a long run."""

LONG = 10_000
"""From this many calls of a variant on, memory is not fragmented any further."""

BLOCKS = 500
"""Memory blocks by which two measurements may differ."""


def main() -> int:
    """Run all phases; the exit code is the number of quantities that grew."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000, help="in all")
    parser.add_argument(
        "--first", type=int, default=1_000, help="calls before the second measurement"
    )
    parser.add_argument(
        "--within", type=float, default=1800, help="time limit, seconds"
    )
    parser.add_argument("--write", action="store_true", help="write the documentation")
    parser.add_argument("--origin", help="of a running server")
    options = parser.parse_args()
    if not can_measure():
        print("the soak test needs Linux, since it reads /proc")
        return 0
    if options.origin is None:
        return _serve_and_measure()
    # A run that hangs shows its tracebacks, and ends.
    faulthandler.dump_traceback_later(options.within, exit=True)
    print(f"Python {platform.python_version()}", flush=True)
    warm_up(options.origin)
    # Imported objects stay; later garbage collections need not scan them.
    gc.freeze()
    phases = list[Phase]()
    for variant in VARIANTS:
        calls = options.calls // len(VARIANTS) + (
            variant in VARIANTS[: options.calls % len(VARIANTS)]
        )
        phases.append(run(variant, options.origin, calls, options.first))
        print(" | ".join(_row(phases[-1])), dict(phases[-1].outcomes), flush=True)
    grown = [problem for phase in phases for problem in what_grew(phase)]
    print(*grown, sep="\n")
    if options.write and not grown:
        write_block("soak", _report(phases))
    return len(grown)


def _serve_and_measure() -> int:
    # One memory arena: otherwise the allocator keeps freed memory for each thread.
    env = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    with _serving() as origin:
        command = [sys.executable, "-m", "soak", *sys.argv[1:], "--origin", origin]
        return subprocess.run(command, env=env, check=False).returncode


@contextmanager
def _serving() -> Iterator[str]:
    """Run the server in a process of its own; gives its address."""
    command = [sys.executable, "-m", "faults", "--case", "mixture", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["mixture"]
        finally:
            server.terminate()


def what_grew(phase: Phase) -> Iterator[str]:
    """A message for each quantity that grew, or that a closed client left behind."""
    early, half, late = (phase.at(moment) for moment in ("first", "half", "end"))
    drifts = phase.calls >= LONG and late.memory > half.memory + DRIFT
    if late.memory > early.memory + GROWTH or drifts:
        yield f"{phase.variant}: memory grew: {_change(phase, 'memory')} MiB"
    if late.blocks > early.blocks + BLOCKS:
        yield f"{phase.variant}: blocks grew: {_change(phase, 'blocks')}"
    # A connection that was closed after a fault is opened again when it is needed.
    if late.files > early.files + AT_ONCE:
        yield f"{phase.variant}: files grew: {_change(phase, 'files')}"
    # The thread of the timeouts ends after some idle seconds.
    for name, allowed in (("threads", 1), ("tasks", 0)):
        if getattr(late, name) > getattr(early, name) + allowed:
            yield f"{phase.variant}: {name} grew: {_change(phase, name)}"
    before, closed = phase.at("before"), phase.at("closed")
    for name, allowed in (
        ("blocks", BLOCKS),
        ("files", 0),
        ("threads", 0),
        ("tasks", 0),
    ):
        if getattr(closed, name) > getattr(before, name) + allowed:
            yield f"{phase.variant}: {name} are left: {_change(phase, name)}"


HEADER = ("client variant", "calls", "seconds", "succeeded", "failed", "memory, MiB")
COUNTS = ("blocks", "files", "threads", "tasks")


def _report(phases: list[Phase]) -> str:
    calls = sum(phase.calls for phase in phases)
    seconds = sum(phase.seconds for phase in phases)
    return (
        f"{calls:,} calls in {seconds:,.0f} seconds on Python "
        f"{platform.python_version()}.\n\n"
        + as_table([[*HEADER, *COUNTS], *(_row(phase) for phase in phases)])
    )


def _row(phase: Phase) -> list[str]:
    succeeded = phase.outcomes["3"]
    return [
        phase.variant,
        f"{phase.calls:,}",
        f"{phase.seconds:.0f}",
        f"{succeeded:,}",
        f"{phase.outcomes.total() - succeeded:,}",
        *(_change(phase, name) for name in ("memory", *COUNTS)),
    ]


def _change(phase: Phase, name: str) -> str:
    numbers = [getattr(phase.at(moment), name) for moment in MOMENTS]
    if name == "memory":
        return " → ".join(f"{number / 1024**2:.1f}" for number in numbers)
    return " → ".join(f"{number:,}" for number in numbers)


if __name__ == "__main__":
    sys.exit(min(main(), 100))
