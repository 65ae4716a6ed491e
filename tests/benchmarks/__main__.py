"""Run the benchmarks, and print the results or write them to their pages.

python tests/benchmarks                      # all of it, some six minutes
python tests/benchmarks --short              # only check that it runs, some seconds
python tests/benchmarks --only calls concurrency
python tests/benchmarks --write docs         # both pages
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import calls
import concurrent_queries
import decoding
import emulator_speed
import importing
import panels
import report
import stored_responses
from measuring import Scale, Table

PARTS = {
    "decoding": decoding.tables,
    "calls": calls.tables,
    "concurrency": concurrent_queries.tables,
    "store": stored_responses.tables,
    "panels": panels.tables,
    "importing": importing.tables,
    "emulator": emulator_speed.tables,
}


def main() -> None:
    """Run what the arguments select."""
    parser = argparse.ArgumentParser(description="Measure the package's speed.")
    parser.add_argument("--short", action="store_true", help="only check that it runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--write", type=Path, help="the folder of the pages")
    given = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    tables: list[Table] = []
    for name, measure in PARTS.items():
        if name in given.only:
            print(f"{name} …", file=sys.stderr, flush=True)
            tables += measure(Scale(short=given.short))
    # A short run measures too little to check the goals.
    checked = not given.short
    if given.write is None:
        print(report.goals(tables, checked=checked))
        print(report.all_tables(tables, load))
    else:
        report.write(given.write, tables, load, checked=checked)


if __name__ == "__main__":
    main()
