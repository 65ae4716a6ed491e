"""Measure updates of many websites, against a service that takes 50 ms.

    nox -s warehouse -- measure 5000 1      # a first day, and then nights
    nox -s warehouse -- measure 1000 60     # a backfill of sixty days
    nox -s warehouse -- measure 1000 60 pages,countries,referrers
    nox -s warehouse -- measure 1000 365 none

The nights are the next one, and one after three days without.

The service is a program of its own on loopback. It sends the same lists for each day:
20 pages, 10 countries and 10 referrers, 3 entries of each other list, and 2 events.
"""

from __future__ import annotations

import datetime as dt
import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import dlt

from service import serving

DELAY: Final = 0.05
AT_ONCE: Final = 50
FIRST: Final = dt.date(2025, 3, 1)
STEPS: Final = ("extract", "normalize", "load")
LENGTHS: Final = {"pages": 20, "countries": 10, "referrers": 10}
OTHERS: Final = (
    *("utm_sources", "utm_mediums", "utm_campaigns", "utm_contents", "utm_terms"),
    *("browser_names", "os_names", "device_types"),
)


def members() -> str:
    """The members of the response about a day."""
    lengths = LENGTHS | dict.fromkeys(OTHERS, 3)
    lists = {
        name: [
            {
                "value": f"/{name}-{place}",
                "pageviews": 100 - place,
                "visitors": 60 - place,
                "seconds_on_page": 12.5,
            }
            for place in range(length)
        ]
        for name, length in lengths.items()
    }
    totals = {"pageviews": 100, "visitors": 60, "seconds_on_page": 12.5}
    events = [{"name": "signup", "total": 3}, {"name": "buy", "total": 1}]
    return json.dumps({**totals, **lists, "events": events})[1:-1]


def time_steps() -> dict[str, float]:
    """The seconds of each step of dlt from now on."""
    spent = defaultdict(float)

    def timed(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*args: Any, **options: Any) -> Any:
            began = time.monotonic()
            try:
                return step(*args, **options)
            finally:
                spent[name] += time.monotonic() - began

        return measured

    for name in STEPS:
        setattr(dlt.Pipeline, name, timed(name, getattr(dlt.Pipeline, name)))
    return spent


def main(websites: int, days: int, lists: str = "") -> None:
    """Load the first days, and then nights; print where the time goes."""
    steps = time_steps()
    from sitestats import Client
    from sitestats.warehouse import sitestats_source, update
    from updates import pipeline

    with (
        serving(DELAY, members(), websites) as address,
        tempfile.TemporaryDirectory() as folder,
    ):
        for night in (0, 1, 4):
            began, used = time.monotonic(), time.process_time()
            now = dt.datetime(2025, 3, 1, 6, tzinfo=dt.UTC)
            now += dt.timedelta(days=days + night)
            with Client(
                address, api_key="api-key", user_id="user", proxy=None
            ) as client:
                names = [name for name in lists.split(",") if name not in {"", "none"}]
                source = sitestats_source(
                    first_day=FIRST,
                    **({"lists": names} if lists else {}),
                    client=client,
                    concurrency=AT_ONCE,
                    now=lambda now=now: now + dt.timedelta(seconds=time.monotonic()),
                    progress=True,
                )
                made = pipeline(Path(folder))
                report = update(made, source)
            took = time.monotonic() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{report.requests:,} requests, {len(report.loads)} loads: "
                f"{took:.1f} s beside {report.requests * DELAY / AT_ONCE:.1f} s "
                f"({time.process_time() - used:.1f} s of a processor); "
                + ", ".join(f"{name} {steps.pop(name):.1f} s" for name in STEPS)
                + f"; the most memory so far {peak:.0f} MB; "
                f"{Path(folder, 'sitestats.duckdb').stat().st_size / 2**20:.0f} MB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
