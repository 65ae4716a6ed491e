"""Load every day of every website into a database, as a nightly job.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The arguments are
the first day and, if it is not DuckDB, the destination: a name that dlt knows, whose
address and credentials are in dlt's configuration. The next run loads new days, and
days that failed before. A website that fails does not affect the others::

    python examples/nightly_warehouse.py 2026-01-01
    python examples/nightly_warehouse.py 2026-01-01 postgres

The command ``sitestats warehouse update`` does the same, with the same tables. Start
from this program if you want to use the report, or to load other data too.
"""

from __future__ import annotations

import sys

from sitestats.warehouse import make_pipeline, sitestats_source, update


def main(first_day: str, destination: str = "duckdb") -> int:
    """Load the days; 1 if a website failed, or if something is not believed."""
    pipeline = make_pipeline(destination)
    source = sitestats_source(first_day=first_day, lists=["pages", "events"])
    report = update(pipeline, source)
    for hostname, coverage in report.websites.items():
        if coverage.error is None:
            print(f"{hostname}: complete through {coverage.through}")
        else:
            print(f"{hostname}: {coverage.error}", file=sys.stderr)
    for doubt in report.doubts:
        print(doubt, file=sys.stderr)
    if report.changed:
        print(report.changed)
    return 1 if report.failed or report.doubts else 0


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
