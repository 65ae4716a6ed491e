"""Run every case of the fault server with every client variant, and make a table.

``nox -s faults`` writes it into docs/evidence/faults.md.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Mapping

from client_variants import VARIANTS, Run, run_cases
from evidence_tables import as_table, write_block
from faults import CASES, Case, FaultServer
from faults.cases import KINDS

HEADER = ("case", "what the server does", "the call gives", "attempts", "took", "limit")
NAME = "faults"
AT_ONCE = 4
"""Few cases at once, so that they do not slow each other down."""

WARM_UP = [case for case in CASES if case.name == "responds correctly"]
"""Run first, since the first call also imports modules."""


def main() -> int:
    """Run the cases; the exit code is the number of unexpected results."""
    parser = argparse.ArgumentParser(prog="python -m faults.table", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="write docs/evidence/faults.md"
    )
    options = parser.parse_args()
    runs: dict[str, dict[str, Run]] = {}
    unexpected = 0
    for variant in VARIANTS:
        with FaultServer(WARM_UP) as server:
            run_cases(variant, WARM_UP, server)
        with FaultServer(CASES) as server:
            runs[variant] = run_cases(variant, CASES, server, at_once=AT_ONCE)
            for case in CASES:
                gave = (runs[variant][case.name].gave, server[case.name].attempts)
                if gave != (case.gives, case.attempts):
                    unexpected += 1
                    sys.stderr.write(f"{variant}: {case.name}: {gave}\n")
    text = "\n\n".join(_part(kind, cases, runs) for kind, cases in KINDS.items())
    intro = (
        f"{len(CASES)} cases, {AT_ONCE} at a time, run on Python "
        f"{platform.python_version()} by the sync client, and by the async client on "
        "asyncio and trio."
    )
    if options.write and not unexpected:
        write_block(NAME, f"{intro}\n\n{text}")
    sys.stderr.write(f"{len(CASES)} cases, {unexpected} unexpected results\n")
    return min(unexpected, 100)


def _part(
    kind: str, cases: tuple[Case, ...], runs: Mapping[str, Mapping[str, Run]]
) -> str:
    rows = [HEADER, *(_row(case, runs) for case in cases)]
    return f"## {kind}\n\n{as_table(rows)}"


def _row(case: Case, runs: Mapping[str, Mapping[str, Run]]) -> tuple[str, ...]:
    seconds = max(one[case.name].seconds for one in runs.values())
    *cells, limit = documented_row(case)
    return (*cells, f"{seconds:.2g} s", limit)


def documented_row(case: Case) -> tuple[str, str, str, str, str]:
    """The cells of a case, without the time that it took."""
    gives = "the value" if case.gives == "value" else f"`{case.gives}`"
    # A server that does not accept connections can't count the attempts.
    attempts = str(case.attempts) if case.attempts else "\N{EN DASH}"
    return (case.name, case.does, gives, attempts, f"{case.limit:g} s")


if __name__ == "__main__":
    sys.exit(main())
