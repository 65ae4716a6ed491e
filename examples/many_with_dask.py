"""Read months of very many websites with the workers of a Dask cluster, into Parquet.

Reads SITESTATS_BASE_URL, SITESTATS_API_KEY and SITESTATS_USER_ID, which the workers
need too: each task makes its own client. The arguments are a folder that all workers
share, months, and the address of the scheduler; without one, two workers are started
here::

    python examples/many_with_dask.py months/ 2026-01 2026-02 tcp://scheduler:8786

A task is a batch of websites, and its only result is a file, such as
month=2026-01/batch-03.parquet. A worker may die at any time, and you can run the
program again: it does not read complete batches again, and writes nothing twice.

One machine reads thousands of websites in seconds, so you rarely need this.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

# Dask has no complete types, so this program is checked less strictly.
# pyright: basic
# mypy: allow-untyped-calls
import pyarrow.parquet as pq
from distributed import Client as Dask
from distributed import Variable, as_completed, get_client

from sitestats import Client, StatsQuery

BATCHES = 16
"""Use a new folder for another number, which assigns websites to other batches."""
PAUSE = "sitestats-pause"
HERE = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}


class SharedPause(logging.Handler):
    """A pause that the service requests of one worker, and that all workers wait for.

    The client logs each pause. Its own requests wait anyway.
    """

    def __init__(self, dask: Dask) -> None:
        super().__init__(logging.INFO)
        self._until = Variable(PAUSE, client=dask)
        self._next_look = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Tell the others of a pause."""
        seconds, status = (getattr(record, n, None) for n in ("seconds", "status"))
        if seconds is not None and status == HTTPStatus.TOO_MANY_REQUESTS:
            until = time.time() + max(seconds, self.seconds_left())
            self._until.set(until)

    def seconds_left(self) -> float:
        """The seconds left of the pause; negative without a pause."""
        until: Any = self._until.get()
        return float(until - time.time())

    def paced(self, queries: Sequence[StatsQuery]) -> Iterator[StatsQuery]:
        """The *queries*, each after the end of the pause."""
        for query in queries:
            # Each look sends a message to the scheduler; ten per second are enough.
            while time.monotonic() >= self._next_look:
                if self.seconds_left() > 0:
                    time.sleep(0.1)
                else:
                    self._next_look = time.monotonic() + 0.1
            yield query


def read_batch(queries: Sequence[StatsQuery], file: Path) -> list[str]:
    """Read a batch of websites into *file*; return the host names that failed."""
    if is_complete(file, queries):
        return []
    pause = SharedPause(get_client())
    logger = logging.getLogger("sitestats")
    logger.setLevel(logging.INFO)
    logger.addHandler(pause)
    try:
        with Client() as client:
            outcomes = client.stats.get_many(pause.paced(queries)).collect()
    finally:
        logger.removeHandler(pause)
    # Renamed at the end, so that a file is always complete. If two workers have the
    # same batch, because the first one seemed to be dead, one file remains.
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.stem}-{uuid4().hex}.unfinished")
    pq.write_table(outcomes.to_arrow(), unfinished)
    unfinished.replace(file)
    return [failed.query.hostname for failed in outcomes.failed]


def is_complete(file: Path, queries: Sequence[StatsQuery]) -> bool:
    """Whether *file* has the final numbers of all websites."""
    if not file.exists():
        return False
    rows = pq.read_table(file, columns=["hostname", "partial", "error"]).to_pylist()
    final = {row["hostname"] for row in rows if not row["partial"] and not row["error"]}
    return final == {query.hostname for query in queries}


def read_months(
    dask: Dask, folder: Path, months: Sequence[str], batches: int = BATCHES
) -> list[str]:
    """Read *months* of all websites into *folder*; return the failed ones."""
    Variable(PAUSE, client=dask).set(0.0)
    with Client() as client:
        names = sorted(website.hostname for website in client.websites.list())
    futures = []
    for month in months:
        query = StatsQuery("example.com").fields("pageviews", "visitors")
        query = query.during(month)
        for number in range(batches):
            # By the name alone, so that a new website does not move others.
            batch = [n for n in names if crc32(n.encode()) % batches == number]
            queries = [query.website(name) for name in batch]
            file = folder / f"month={month}" / f"batch-{number:02}.parquet"
            if batch:
                task = dask.submit(read_batch, queries, file, pure=False)
                futures.append(task)
    failed = [name for future in as_completed(futures) for name in future.result()]
    # Files of workers that died while they wrote.
    for unfinished in folder.glob("*/.*.unfinished"):
        unfinished.unlink(missing_ok=True)
    return failed


def main(folder: Path, *arguments: str) -> int:
    """Read the months of the *arguments*; 1 if something failed."""
    months = [argument for argument in arguments if "://" not in argument]
    addresses = [argument for argument in arguments if "://" in argument]
    with Dask(addresses[0]) if addresses else Dask(**HERE) as dask:
        failed = read_months(dask, folder.resolve(), months)
    for name in failed:
        print(f"{name} failed: see the column error, and run this again")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
