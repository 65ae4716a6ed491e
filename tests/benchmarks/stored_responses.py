"""Benchmark of the store: hits, misses, and a file of 100,000 responses."""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count
from pathlib import Path

import httpx

from measuring import Goal, Row, Scale, Table, compared, in_turn, seconds
from sitestats import Client, StatsQuery, Store
from sitestats._store.rules import StoreEntry

BASE = "http://127.0.0.1"
DAY = datetime.now(UTC).date() - timedelta(days=2)
QUERY = StatsQuery("example.com").fields("pageviews", "pages").limit(1_000).on(DAY)
NEW = (QUERY.where_metadata(number=number) for number in count())
DATE = format_datetime(datetime.now(UTC), usegmt=True)


def _body(kilobytes: float) -> bytes:
    """A response about ``DAY`` of this size."""
    pages = [
        {
            "value": f"/{random.choice(['blog', 'docs'])}/{random.randrange(10**9)}",
            "pageviews": random.randrange(10_000),
            "visitors": random.randrange(5_000),
        }
        for _ in range(int(kilobytes * 1_000 / 65))
    ]
    return json.dumps(
        {
            "ok": True,
            "hostname": "example.com",
            "path": "*",
            "start": f"{DAY}T00:00:00.000Z",
            "end": f"{DAY}T23:59:59.999Z",
            "version": 6,
            "timezone": "UTC",
            "pageviews": 66,
            "pages": pages,
        },
        separators=(",", ":"),
    ).encode()


class _Canned(httpx.BaseTransport):
    """Responds at once, so that what the store adds can be seen."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"date": DATE}, content=self._body)


def tables(scale: Scale) -> list[Table]:
    """The time of a hit and of a miss, and a large file."""
    with tempfile.TemporaryDirectory() as folder:
        transport = _Canned(_body(5))
        with (
            Client(BASE, transport=transport) as plain,
            Client(
                BASE, transport=transport, store=Store(f"{folder}/a", partition="a")
            ) as storing,
        ):
            storing.stats.get(QUERY)
            assert storing.stats.get(QUERY).from_store
            names = ["without a store", "with a store: a miss", "with a store: a hit"]
            bests = in_turn(
                [
                    lambda: plain.stats.get(next(NEW)),
                    lambda: storing.stats.get(next(NEW)),
                    lambda: storing.stats.get(QUERY),
                ],
                scale.rounds(20),
                scale.size(100, 5),
            )
        large = _large(Path(folder) / "large", scale.size(100_000, 200))
    return [
        Table(
            "The store",
            "A response of 5 kB, from a transport that responds at once.",
            compared(names, bests, seconds),
            [
                Goal("a hit, beside 0.2 ms", bests[2] / 0.0002, 1),
                Goal(
                    "what a miss adds, beside 0.3 ms", (bests[1] - bests[0]) / 0.0003, 1
                ),
            ],
        ),
        large,
    ]


def _large(path: Path, size: int) -> Table:
    """A file of *size* responses of 1 to 30 kB."""
    bodies = [_body(random.uniform(1, 30)) for _ in range(50)]
    with Store(path, max_bytes=10**12, max_age=None) as store:
        packing = _times(
            (lambda body=body: StoreEntry(DATE, "UTC", body).to_bytes())
            for body in bodies
        )
        values = [StoreEntry(DATE, "UTC", body).to_bytes() for body in bodies]
        keys = [
            f"{n % 40}.example:response:{random.randbytes(16).hex()}"
            for n in range(size)
        ]
        setting = _times(
            (lambda key=key: store.set(key, random.choice(values))) for key in keys
        )
        getting = _times(
            (lambda: store.get(random.choice(keys))) for _ in range(min(size, 5_000))
        )
        stats = store.stats()
        # Beyond its size now, so that each further step deletes some.
        store.max_bytes = stats.bytes // 2
        pruning = _times(
            (lambda n=n: store.set(f"0.example:response:{n}", b"x"))
            for n in range(1_024)
        )
        raw = sum(map(len, bodies)) / len(bodies) * size
    rows = [
        Row("size of the file, beside the bodies", stats.bytes / raw, _mb(stats.bytes)),
        Row(
            "compressing a response, median", None, seconds(statistics.median(packing))
        ),
        Row("storing one, median", None, seconds(statistics.median(setting))),
        Row("storing one, slowest of 100", None, seconds(_slow(setting))),
        Row("reading one, median", None, seconds(statistics.median(getting))),
        Row("reading one, slowest of 100", None, seconds(_slow(getting))),
        Row("storing one while the file shrinks, slowest", None, seconds(max(pruning))),
    ]
    about = "100,000 responses of 1 to 30 kB, in random order."
    return Table("A large store", about, rows)


def _times(works: Iterable[object]) -> list[float]:
    times: list[float] = []
    for work in works:
        assert callable(work)
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return times


def _slow(times: list[float]) -> float:
    """The time that one of a hundred takes longer than."""
    return sorted(times)[int(len(times) * 0.99)]


def _mb(size: float) -> str:
    return f"{size / 1e6:.3g} MB"
