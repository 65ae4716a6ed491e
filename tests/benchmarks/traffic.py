"""Generate traffic as a raw export of any size, the same for the same seed.

    python tests/benchmarks/traffic.py rows.csv.gz --rows 1000000

Few pages have most of the views, as on real websites.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final

COLUMNS: Final = (
    "added_iso",
    "hostname",
    "datapoint",
    "path",
    "is_unique",
    "is_robot",
    "document_referrer",
    "utm_source",
    "duration_seconds",
    "device_type",
    "country_code",
    "browser_name",
    "os_name",
    "metadata.plan_text",
)
END: Final = datetime(2026, 1, 1, tzinfo=UTC)
BATCH: Final = 50_000

PAGES: Final = [
    f"/{kind}/a-title-of-usual-length-{number}"
    for number in range(1250)
    for kind in ("blog", "docs", "shop", "news")
]
REFERRERS: Final = [
    "",
    "https://www.google.com/",
    *(f"https://site{number}.example/some/page" for number in range(300)),
]
SOURCES: Final = ["", "newsletter", "feed", "social"]
COUNTRIES: Final = [
    f"{first}{second}" for second in "ABCDEFGHIJ" for first in "ABCDEFGHIJKLMNOPQRST"
]
BROWSERS: Final = ["Chrome", "Safari", "Firefox", "Edge", *(f"B{n}" for n in range(20))]
SYSTEMS: Final = ["Windows", "iOS", "Android", "macOS", "Linux", "ChromeOS"]
DEVICES: Final = ["mobile", "desktop", "tablet", "tv"]


def rows(
    count: int, *, seed: int = 1, days: int = 365, hostname: str = "example.com"
) -> Iterator[tuple[str, ...]]:
    """Page views in the order of their times, as cells of ``COLUMNS``."""
    random = Random(seed)
    start = END - timedelta(days=days)
    step = timedelta(days=days) / max(count, 1)
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        times = (start + step * number for number in range(first, first + size))

        def pick(values: Sequence[str], size: int = size) -> list[str]:
            return _uneven(random, values, size)

        yield from zip(
            (time.isoformat().replace("+00:00", "Z") for time in times),
            [hostname] * size,
            ["pageview"] * size,
            pick(PAGES),
            random.choices(["true", "false"], [11, 9], k=size),
            ["false"] * size,
            pick(REFERRERS),
            pick(SOURCES),
            _seconds(random, size),
            pick(DEVICES),
            pick(COUNTRIES),
            pick(BROWSERS),
            pick(SYSTEMS),
            random.choices(["", "free", "pro"], [7, 2, 1], k=size),
            strict=True,
        )


def _uneven(random: Random, values: Sequence[str], size: int) -> list[str]:
    """Random values, each a little rarer than the one before it in *values*."""
    weights = list(accumulate(1 / (place + 1) for place in range(len(values))))
    return random.choices(values, cum_weights=weights, k=size)


def _seconds(random: Random, size: int) -> list[str]:
    known = random.choices([True, False], [3, 2], k=size)
    return [str(round(random.lognormvariate(3, 1))) if one else "" for one in known]


def write(path: Path, count: int, *, seed: int = 1) -> None:
    """Write the rows as a CSV file, compressed if its name ends in ``.gz``."""
    with (
        gzip.open(path, "wt", compresslevel=1, newline="", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open("w", newline="", encoding="utf-8") as file
    ):
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(rows(count, seed=seed))


def main() -> None:
    """Write the file that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write(given.path, given.rows, seed=given.seed)


if __name__ == "__main__":
    main()
