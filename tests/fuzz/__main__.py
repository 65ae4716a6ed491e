"""Run the fuzzer: ``nox -s fuzz``."""

from __future__ import annotations

import argparse
import hashlib
import platform
import sys
import time
import warnings
from collections import Counter
from random import Random

from evidence_tables import as_table, write_block

from . import FOUND, SEEDS, BrokenError, Input, check, wire
from .mutate import mutate
from .reached import Reached

MOST_KEPT = 5_000
"""The most inputs to mutate."""


def main() -> int:
    """Try inputs; the exit code is the number of different failures."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--wire", type=int, default=20_000, help="through a socket")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--write", action="store_true", help="write the documentation")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, seed {options.seed}", flush=True)
    start = time.monotonic()
    outcomes, lines, broken = run(options.inputs, options.seed)
    seconds = time.monotonic() - start
    print(f"{outcomes.total():,} inputs in {seconds:.0f} s, {lines} lines", outcomes)
    for message in broken:
        print(message)
    start = time.monotonic()
    wired = wire.run(options.wire, options.seed)
    wire_seconds = time.monotonic() - start
    print(f"{wired.total():,} through a socket in {wire_seconds:.0f} s", wired)
    if options.write and not broken:
        summary = (
            f"{outcomes.total():,} responses in {seconds:,.0f} seconds and "
            f"{wired.total():,} through a socket in {wire_seconds:,.0f}, on Python "
            f"{platform.python_version()} with the seed {options.seed}. They had "
            f"{len(outcomes | wired)} different outcomes, reached {lines:,} lines of "
            "the package, and broke nothing."
        )
        write_block("fuzz", f"{summary}\n\n{as_table(_table(outcomes, wired))}")
    return len(broken)


def run(inputs: int, seed: int) -> tuple[Counter[str], int, dict[str, Input]]:
    """Try *inputs* inputs; the outcomes, the lines reached, and failures by message."""
    random, corpus = Random(seed), list(SEEDS)
    outcomes, broken = Counter[str](), dict[str, Input]()
    with Reached() as reached, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(inputs):
            one = corpus[number] if number < len(SEEDS) else _next(corpus, random)
            reached.begin(number)
            before = reached.lines
            try:
                outcomes[check(one)] += 1
            except BrokenError as error:
                outcomes["broken"] += 1
                _keep(error, one, broken)
            if reached.lines > before and len(corpus) < MOST_KEPT:
                corpus.append(one)
            if number and number % 100_000 == 0:
                print(f"{number:,} inputs, {reached.lines:,} lines", flush=True)
    return outcomes, reached.lines, broken


def _next(corpus: list[Input], random: Random) -> Input:
    return mutate(random.choice(corpus), corpus, random)


def _keep(error: BrokenError, one: Input, broken: dict[str, Input]) -> None:
    # One of each kind, by the line that raised it.
    cause = error.__cause__ or error
    trace = cause.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = "" if trace is None else f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
    kind = f"{one.target} {type(cause).__name__} {line}"
    if any(message.startswith(kind) for message in broken):
        return
    broken[f"{kind} {str(error)[:300]}"] = one
    name = hashlib.sha256(one.dump().encode()).hexdigest()[:12]
    FOUND.mkdir(exist_ok=True)
    (FOUND / f"{name}.json").write_text(one.dump(), encoding="utf-8")


def _table(outcomes: Counter[str], wired: Counter[str]) -> list[list[str]]:
    rows = [["outcome", "responses", "through a socket"]]
    for name, _ in (outcomes | wired).most_common():
        shown = name if " " in name else f"`{name}`"
        rows.append([shown, f"{outcomes[name]:,}", f"{wired[name]:,}"])
    rows.append(["**together**", f"{outcomes.total():,}", f"{wired.total():,}"])
    return rows


if __name__ == "__main__":
    sys.exit(min(main(), 100))
