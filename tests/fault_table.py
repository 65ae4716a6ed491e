"""Runs every case of the fault server with every client, and tells what came.

``python fault_table.py --write``, in the directory of the tests, puts it into the
documentation.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Mapping

from client_variants import VARIANTS, Run, run_cases
from faults import CASES, Case, FaultServer
from faults.cases import KINDS
from reliability_tables import as_table, write_block

HEADER = ("case", "what the server does", "the call gives", "tries", "took", "limit")
NAME = "faults"
AT_ONCE = 4
"""So few that the times are those of the cases and not of their crowd."""

WARM_UP = [case for case in CASES if case.name == "answers as it should"]
"""Run first, as the first call imports what others find there."""


def main() -> int:
    """Run the cases; the number of surprises is the exit code."""
    parser = argparse.ArgumentParser(prog="python fault_table.py", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put it into the docs")
    options = parser.parse_args()
    runs: dict[str, dict[str, Run]] = {}
    surprises = 0
    for way in VARIANTS:
        with FaultServer(WARM_UP) as server:
            run_cases(way, WARM_UP, server)
        with FaultServer(CASES) as server:
            runs[way] = run_cases(way, CASES, server, at_once=AT_ONCE)
            for case in CASES:
                gave = (runs[way][case.name].gave, server[case.name].tries)
                if gave != (case.gives, case.tries):
                    surprises += 1
                    sys.stderr.write(f"{way}: {case.name}: {gave}\n")
    text = "\n\n".join(_part(kind, cases, runs) for kind, cases in KINDS.items())
    intro = (
        f"{len(CASES)} cases, {AT_ONCE} at a time, run on Python "
        f"{platform.python_version()} by the blocking client and by the async one on "
        "asyncio and trio."
    )
    if options.write and not surprises:
        write_block(NAME, f"{intro}\n\n{text}")
    sys.stderr.write(f"{len(CASES)} cases, {surprises} surprises\n")
    return min(surprises, 100)


def _part(
    kind: str, cases: tuple[Case, ...], runs: Mapping[str, Mapping[str, Run]]
) -> str:
    rows = [HEADER, *(_row(case, runs) for case in cases)]
    return f"### {kind}\n\n{as_table(rows)}"


def _row(case: Case, runs: Mapping[str, Mapping[str, Run]]) -> tuple[str, ...]:
    seconds = max(one[case.name].seconds for one in runs.values())
    return (*told(case)[:4], f"{seconds:.2g} s", told(case)[4])


def told(case: Case) -> tuple[str, str, str, str, str]:
    """What the table tells of a case, the time that it took aside."""
    gives = "the value" if case.gives == "value" else f"`{case.gives}`"
    # Where nobody accepts, nobody counts.
    tries = str(case.tries) if case.tries else "\N{EN DASH}"
    return (case.name, case.does, gives, tries, f"{case.limit:g} s")


if __name__ == "__main__":
    sys.exit(main())
