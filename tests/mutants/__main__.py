"""Run the mutants of docs/coverage.md: ``python -m mutants``, in the tests' folder.

``python -m mutants modules`` runs those of the modules.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Sequence

from coverage_table import ROWS
from reliability_tables import as_table, write_block

from . import modules
from .machine import Result, run
from .rows import SIDES, Case, cases, cell


def main() -> int:
    """Run mutants; the exit code is the number of those that were not killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("--only", default="", help="part of the name, as '2.1 label'")
    parser.add_argument("--side", choices=SIDES, help="the mutants of one side")
    parser.add_argument("--part", default="0/1", help="i/n: every nth, from the ith on")
    parser.add_argument("--write", action="store_true", help="write the documentation")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    chosen = [
        case
        for case in cases()
        if options.only in case.mutant.name and options.side in {None, case.side}
    ][first::step]
    start = time.monotonic()
    results: list[Result] = []
    for case, result in zip(chosen, run(case.mutant for case in chosen), strict=True):
        results.append(result)
        print(f"{result.verdict}: {case.side}: {case.mutant.name}", flush=True)
        print(f"    {result.reason or ' '.join(case.mutant.tests)}", flush=True)
    seconds = time.monotonic() - start
    killed = sum(result.killed for result in results)
    score = f"{killed} of {len(results)} killed in {seconds / 60:.0f} minutes"
    print(score)
    if options.write:
        summary = f"{score}, on Python {platform.python_version()}."
        write_block("mutants", f"{summary}\n\n{as_table(_table(chosen, results))}")
    return len(results) - killed


def _table(chosen: Sequence[Case], results: Sequence[Result]) -> list[list[str]]:
    """For each section: the rows with tests, the mutants, and how many were killed."""
    header = ["section"]
    for side in SIDES:
        header += [f"{side}: rows", "mutants", "killed"]
    table = [header]
    sections = list(dict.fromkeys(row.section for row in ROWS))
    for section in [*sections, ""]:
        line = [section or "**together**"]
        for side in SIDES:
            rows = {
                row.name
                for row in ROWS
                if cell(row, side) and section in {"", row.section}
            }
            killed = [
                result.killed
                for case, result in zip(chosen, results, strict=True)
                if case.side == side and case.row in rows
            ]
            line += [str(len(rows)), str(len(killed)), str(sum(killed))]
        table.append(line)
    return table


if __name__ == "__main__":
    if sys.argv[1:2] == ["modules"]:
        sys.exit(min(modules.main(sys.argv[2:]), 100))
    sys.exit(min(main(), 100))
