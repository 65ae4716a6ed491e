"""Load every day of every website into a database, as a nightly job.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The arguments are
the first day and, if it is not DuckDB, the destination: a name that dlt knows, whose
address and credentials are in dlt's configuration. Run again, it loads what is new, and
what failed before. A website that fails costs no other one anything::

    python examples/nightly_warehouse.py 2026-01-01
    python examples/nightly_warehouse.py 2026-01-01 postgres

The command ``sitestats warehouse update`` does the same. This is where to begin if you
want to do something with the report, or load something else too.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import dlt

from sitestats.warehouse import sitestats_source, update


def main(first_day: str, destination: str = "duckdb") -> int:
    """Load the days; 1 if a website failed."""
    pipeline = dlt.pipeline(
        "sitestats",
        destination=destination,
        dataset_name="web",
        # Here, as the file of DuckDB is.
        pipelines_dir=str(Path(".dlt", "pipelines").absolute()),
    )
    source = sitestats_source(
        first_day=date.fromisoformat(first_day), lists=["pages", "events"]
    )
    report = update(pipeline, source)
    for hostname, coverage in report.websites.items():
        if coverage.error is None:
            print(f"{hostname}: complete through {coverage.through}")
        else:
            print(f"{hostname}: {coverage.error}", file=sys.stderr)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
