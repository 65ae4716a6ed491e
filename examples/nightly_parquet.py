"""Write yesterday's pages of every website into Parquet files, as a nightly job.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The argument is a
folder. Each website has its own yesterday, by its time zone, and a file for each day:
pages/2026-03-04/example.com.parquet. A file that exists is left as it is, so the job
may run twice, and a website that fails costs no other its file::

    python examples/nightly_parquet.py pages/
"""

from __future__ import annotations

import sys
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

from sitestats import Client, SiteStatsError, Stats, StatsQuery


def main(folder: Path) -> int:
    """Write yesterday's pages into *folder*; 1 if a website failed."""
    query = StatsQuery("example.com").fields("pages").on("yesterday").limit(1000)
    failed = 0
    with Client() as client:
        for website in client.websites.list():
            try:
                stats = client.stats.get(query.website(website.hostname))
                print(f"{website.hostname}: {write(stats, folder)}")
            except SiteStatsError as error:
                failed += 1
                print(f"{website.hostname}: {error}", file=sys.stderr)
    return 1 if failed else 0


def write(stats: Stats, folder: Path) -> str:
    """Write the pages of one website and day, and return what was done."""
    if stats.start is None or stats.timezone is None:
        return "the response does not say which day it is about"
    day = stats.start.astimezone(ZoneInfo(stats.timezone)).date()
    target = folder / str(day) / f"{stats.query.hostname}.parquet"
    if target.exists():
        return f"{day} exists"
    target.parent.mkdir(parents=True, exist_ok=True)
    hostname = pl.lit(stats.query.hostname).alias("hostname")
    # Renamed at the end, so that an interrupted job leaves no incomplete file.
    unfinished = target.with_suffix(".unfinished")
    stats.pages.to_polars().select(hostname, pl.all()).write_parquet(unfinished)
    unfinished.rename(target)
    more = ", and more than the service lists" if stats.pages.truncated else ""
    return f"{day}, {len(stats.pages)} pages{more}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
