"""How fast the emulator is: its start, a million page views, many small requests.

python tests/benchmarks/emulator_speed.py
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx

import traffic
from sitestats.emulator import Emulator

ALL = (
    "pageviews,visitors,histogram,pages,countries,referrers,utm_sources,utm_mediums,"
    "utm_campaigns,utm_contents,utm_terms,browser_names,os_names,device_types"
)
HOURS = "interval=hour&timezone=Europe/Amsterdam"
YEAR = "version=6&info=false&start=2025-01-01&end=2025-12-31"


def timed(work: Callable[[], object], times: int = 5) -> float:
    """Seconds that *work* takes, the median of some runs after a first."""
    work()
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def show(what: str, value: float, unit: str) -> None:
    """Print one figure."""
    print(f"{what:<58} {value:>9,.1f} {unit}")


def start() -> None:
    """What a first emulator costs in a fresh process, after the import."""
    code = (
        "import time; from sitestats.emulator import Emulator; a = time.perf_counter();"
        "Emulator(); b = time.perf_counter(); Emulator.demo();"
        "print(b - a, time.perf_counter() - b)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(3)
    ]
    for place, what in enumerate(("first emulator, DuckDB loaded with it", "the demo")):
        show(what, 1000 * min(float(run[place]) for run in runs), "ms")
    show("another emulator", 1000 * timed(Emulator, 20), "ms")


def many_rows(count: int) -> None:
    """Loading and asking one website with *count* page views."""
    emulator = Emulator()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        traffic.write(path, count)
        began = time.perf_counter()
        emulator.load(path)
        show(f"load {count:,} page views from CSV", time.perf_counter() - began, "s")
    with client(emulator) as asks:
        for what, query in (
            ("totals", "fields=pageviews,visitors"),
            ("totals and histogram", "fields=pageviews,visitors,histogram"),
            ("pages", "fields=pages"),
            ("all fields but medians", f"fields={ALL}"),
            ("all fields", f"fields={ALL},seconds_on_page"),
            ("all fields, in a zone, by the hour", f"fields={ALL}&{HOURS}"),
            ("all fields of a country", f"fields={ALL}&country=AA"),
            ("all fields of a metadata value", f"fields={ALL}&metadata.plan=pro"),
            ("a contains search", "fields=pageviews&page=*aaaaaaaaaaaaaa*"),
        ):
            target = f"/example.com.json?{YEAR}&{query}"
            asks.get(target).raise_for_status()
            seconds = timed(partial(asks.get, target))
            show(f"  {what}", 1000 * seconds, "ms")


def client(emulator: Emulator) -> httpx.Client:
    """A bare client without a socket."""
    return httpx.Client(
        transport=emulator.transport(),
        base_url="http://emulator.test",
        headers={"Api-Key": emulator.api_key, "User-Id": emulator.user_id},
    )


def small_requests() -> None:
    """Many requests for the demo's traffic."""
    emulator = Emulator.demo()
    target = "/semicomplete.com.json?version=6&info=false&fields="
    with (
        client(emulator) as inside,
        emulator.serve() as address,
        httpx.Client(
            base_url=address, headers=inside.headers, trust_env=False
        ) as outside,
    ):
        for way, asks in (("in process", inside), ("on a socket", outside)):
            for what, path in (
                ("the list of websites", "/api/websites"),
                ("totals", f"{target}pageviews,visitors"),
                ("all fields", f"{target}{ALL},seconds_on_page"),
            ):
                seconds = timed(partial(asks.get, path), 300)
                show(f"{way}, {what}", 1000 * seconds, "ms")


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    start()
    small_requests()
    many_rows(given.rows)


if __name__ == "__main__":
    main()
