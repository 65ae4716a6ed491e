"""Write yesterday's pages of every website into a Parquet file, as a nightly job.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID. The argument is a
folder. If the day has a file, nothing is written, so the job may run twice::

    python examples/nightly_parquet.py pages/
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from sitestats import Client, StatsQuery


def main(folder: Path) -> None:
    """Write yesterday's pages into *folder*."""
    query = StatsQuery("example.com").fields("pages").on("yesterday").limit(1000)
    with Client() as client:
        frames: list[pl.DataFrame] = []
        day = None
        for website in client.websites.list():
            stats = client.stats.get(query.website(website.hostname))
            if stats.pages.truncated:
                print(f"{website.hostname}: more pages than the service lists")
            day = stats.end.date() if stats.end else None
            hostname = pl.lit(website.hostname).alias("hostname")
            frames.append(stats.pages.to_polars().select(hostname, pl.all()))
    target = folder / f"{day}.parquet"
    if target.exists():
        print(f"{target.name} exists")
        return
    folder.mkdir(parents=True, exist_ok=True)
    pages = pl.concat(frames)
    # Renamed at the end, so that an interrupted job leaves no incomplete file.
    unfinished = target.with_suffix(".unfinished")
    pages.write_parquet(unfinished)
    unfinished.rename(target)
    print(f"{target.name}: {pages.height} pages of {len(frames)} websites")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
