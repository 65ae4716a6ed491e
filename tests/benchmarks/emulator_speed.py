"""Benchmark of the emulator: its start, a million page views, small requests."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import duckdb
import httpx

from measuring import Goal, Row, Scale, Table, environment, seconds
from sitestats.emulator import Emulator

ALL: Final = (
    "pageviews,visitors,histogram,pages,countries,referrers,utm_sources,utm_mediums,"
    "utm_campaigns,utm_contents,utm_terms,browser_names,os_names,device_types"
)
HOURS: Final = "interval=hour&timezone=Europe/Amsterdam"
YEAR: Final = "version=6&info=false&start=2025-01-01&end=2025-12-31"


PICK: Final = """
CREATE MACRO pick(n, salt, most) AS
CAST(floor(pow(most + 1, hash(n, salt) / pow(2.0, 64))) AS BIGINT)
"""
"""A number from 1 to *most*, where few numbers have most of the rows."""
ROWS: Final = """
COPY (
  SELECT
    strftime(
      TIMESTAMP '2025-01-01' + to_seconds(n * 31536000.0 / {count}),
      '%Y-%m-%dT%H:%M:%SZ'
    ) AS added_iso,
    'example.com' AS hostname,
    'pageview' AS datapoint,
    '/blog/a-title-of-usual-length-' || pick(n, 1, 5000) AS path,
    hash(n, 2) % 20 < 11 AS is_unique,
    false AS is_robot,
    'https://site' || pick(n, 3, 300) || '.example/a/page' AS document_referrer,
    ['', 'newsletter', 'feed', 'social'][pick(n, 4, 4)] AS utm_source,
    pick(n, 5, 400) AS duration_seconds,
    ['mobile', 'desktop', 'tablet', 'tv'][pick(n, 6, 4)] AS device_type,
    chr(64 + pick(n, 7, 26)::INTEGER) || 'A' AS country_code,
    'Browser ' || pick(n, 8, 24) AS browser_name,
    'System ' || pick(n, 9, 6) AS os_name,
    ['', 'free', 'pro'][pick(n, 10, 3)] AS "metadata.plan_text"
  FROM range({count}) AS numbers(n)
) TO '{path}' (HEADER)
"""

HALF_A_SECOND: Final = 0.5
REAL: Final = 0.86
"""Seconds that the service took for a list of pages, by ``generated_in_ms``."""


def timed(work: Callable[[], object], times: int = 5) -> float:
    """Seconds that *work* takes: the median of some runs after a first one."""
    work()
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def row(what: str, value: float) -> Row:
    """A row for one figure, without a ratio."""
    return Row(what, None, seconds(value))


def start(scale: Scale) -> Table:
    """The time to make the first emulator in a new process, after the import."""
    code = (
        "import time; from sitestats.emulator import Emulator; a = time.perf_counter();"
        "Emulator(); b = time.perf_counter(); Emulator.demo();"
        "print(b - a, time.perf_counter() - b)"
    )
    runs: list[list[float]] = []
    for _ in range(scale.rounds(5)):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment(),
        )
        runs.append([float(part) for part in run.stdout.split()])
    first, demo = (min(times) for times in zip(*runs, strict=True))
    return Table(
        "The emulator's start",
        "In a new process, after the import.",
        [
            row("first emulator, which loads DuckDB", first),
            row("the demo after it", demo),
            row("another emulator", timed(Emulator, scale.rounds(20))),
        ],
        [Goal("start of the emulator, beside half a second", first / HALF_A_SECOND, 1)],
    )


def write_rows(path: Path, count: int) -> None:
    """Write page views of a year as a raw export, the same in every run."""
    with duckdb.connect() as database:
        database.execute(PICK)
        database.execute(ROWS.format(path=path, count=count))


def many_rows(scale: Scale) -> Table:
    """The time to load a million page views of one website, and to query them."""
    count = scale.size(1_000_000, 1_000)
    emulator = Emulator()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_rows(path, count)
        began = time.perf_counter()
        emulator.load(path)
        loading = time.perf_counter() - began
    found: dict[str, float] = {}
    with client(emulator) as http:
        for what, query in (
            ("totals", "fields=pageviews,visitors"),
            ("totals and histogram", "fields=pageviews,visitors,histogram"),
            ("pages", "fields=pages"),
            ("all fields but medians", f"fields={ALL}"),
            ("all fields", f"fields={ALL},seconds_on_page"),
            ("all fields, in a zone, by the hour", f"fields={ALL}&{HOURS}"),
            ("all fields of a country", f"fields={ALL}&country=AA"),
            ("all fields of a metadata value", f"fields={ALL}&metadata.plan=pro"),
            ("a contains search", "fields=pageviews&page=*usual-length-12*"),
        ):
            target = f"/example.com.json?{YEAR}&{query}"
            http.get(target).raise_for_status()
            found[what] = timed(partial(http.get, target), scale.rounds(5))
    return Table(
        f"The emulator on {count:,} page views",
        "Generated traffic of a year, the same in every run; without a socket. For a "
        f"list of pages the service itself took {REAL * 1000:.0f} ms, as it reported.",
        [
            row("loading them from CSV", loading),
            *(row(what, took) for what, took in found.items()),
        ],
        [
            Goal(
                f"{what} of {count:,} page views in the emulator, beside the service",
                found[what] / REAL,
                1,
                "DuckDB counts in memory with one thread for each core. On two cores "
                "that other programs use too, it takes several times as long.",
            )
            for what in ("pages", "all fields")
        ],
    )


def client(emulator: Emulator) -> httpx.Client:
    """A bare httpx client without a socket."""
    return httpx.Client(
        transport=emulator.transport(),
        base_url="http://emulator.test",
        headers={"Api-Key": emulator.api_key, "User-Id": emulator.user_id},
    )


def small_requests(scale: Scale) -> Table:
    """The time of requests to the demo."""
    emulator = Emulator.demo()
    target = "/semicomplete.com.json?version=6&info=false&fields="
    rows: list[Row] = []
    with (
        client(emulator) as inside,
        emulator.serve() as address,
        httpx.Client(
            base_url=address, headers=inside.headers, trust_env=False
        ) as outside,
    ):
        for where, http in (("in process", inside), ("on a socket", outside)):
            for what, path in (
                ("the list of websites", "/api/websites"),
                ("totals", f"{target}pageviews,visitors"),
                ("all fields", f"{target}{ALL},seconds_on_page"),
            ):
                took = timed(partial(http.get, path), scale.size(200, 3))
                rows.append(row(f"{where}, {what}", took))
    return Table(
        "The emulator on its demo",
        "The median of one request, by a bare httpx.Client.",
        rows,
    )


def tables(scale: Scale) -> list[Table]:
    """Every figure of the emulator."""
    return [start(scale), small_requests(scale), many_rows(scale)]
