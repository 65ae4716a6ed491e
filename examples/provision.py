"""Add the missing websites of a TOML file, each once.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The argument is the
file. Adding can cost money, so it shows the plan, and adds only with ``--yes``::

    python examples/provision.py websites.toml
    python examples/provision.py websites.toml --yes

It keeps a journal beside the file. After an interruption, run it again: it continues,
and adds no website twice.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sitestats import Client, WebsiteSpec


def main(file: Path, *, yes: bool) -> int:
    """Add what is missing; return the exit status."""
    specs = WebsiteSpec.load(file)
    with Client() as client:
        plan = client.websites.plan(specs)
        print(plan)
        if not yes:
            print("Nothing was added: this was the plan. Run it with --yes.")
            return 0
        report = client.websites.ensure(specs, journal=file.with_suffix(".journal"))
        print(report)
    return 0 if report.complete else 1


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), yes="--yes" in sys.argv[2:]))
