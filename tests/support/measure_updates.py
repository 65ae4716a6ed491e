"""Measure updates of many websites, against a service that takes 50 ms.

    python tests/support/measure_updates.py 5000 1      # a first day, and then a night
    python tests/support/measure_updates.py 1000 60     # a backfill of sixty days

The service is a program of its own on loopback. It sends the same lists for each day:
20 pages, 10 countries and 10 referrers, 3 entries of each other list, and 2 events.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import dlt

DELAY: Final = 0.05
AT_ONCE: Final = 50
FIRST: Final = dt.date(2026, 3, 1)
STEPS: Final = ("extract", "normalize", "load")
LENGTHS: Final = {"pages": 20, "countries": 10, "referrers": 10}
OTHERS: Final = (
    *("utm_sources", "utm_mediums", "utm_campaigns", "utm_contents", "utm_terms"),
    *("browser_names", "os_names", "device_types"),
)


def _lists() -> dict[str, object]:
    lengths = LENGTHS | dict.fromkeys(OTHERS, 3)
    return {
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


class Connection(asyncio.Protocol):
    """Responds to requests, each after the delay."""

    transport: asyncio.Transport

    def __init__(self, websites: int) -> None:
        self._unread = b""
        self._rest = json.dumps(
            {
                "pageviews": 100,
                "visitors": 60,
                "seconds_on_page": 12.5,
                **_lists(),
                "events": [{"name": "signup", "total": 3}, {"name": "buy", "total": 1}],
            }
        )[1:]
        self._list = json.dumps(
            {
                "success": True,
                "websites": [
                    {
                        "hostname": f"w{number}.example",
                        "timezone": "UTC",
                        "is_public": False,
                        "has_ssl": True,
                        "has_script": True,
                        "own_hostname": None,
                        "label": "",
                        "pageviews": 1,
                        "events": 1,
                    }
                    for number in range(websites)
                ],
            }
        ).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while b"\r\n\r\n" in self._unread:
            request, _, self._unread = self._unread.partition(b"\r\n\r\n")
            body = self._body(request.split(b" ", 2)[1].decode())
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            response = head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            loop = asyncio.get_running_loop()
            loop.call_later(DELAY, self.transport.write, response)

    def _body(self, target: str) -> bytes:
        path, _, query = target.partition(".json?")
        if not query:
            return self._list
        params = dict(parse_qsl(query))
        start, end = params["start"], params["end"]
        return (
            f'{{"ok":true,"hostname":"{path[1:]}","path":"*","version":6,'
            f'"timezone":"UTC","start":"{start}T00:00:00.000Z",'
            f'"end":"{end}T23:59:59.999Z",{self._rest}'
        ).encode()


async def serve(websites: int) -> None:
    """Serve until the standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(websites), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def serving(websites: int) -> Iterator[str]:
    """The address of the service."""
    with subprocess.Popen(
        [sys.executable, __file__, "serve", str(websites)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"


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


def main(websites: int, days: int) -> None:
    """Load the first days, and then one night; print where the time goes."""
    steps = time_steps()
    from sitestats import Client
    from sitestats.warehouse import sitestats_source, update
    from updates import pipeline

    with serving(websites) as address, tempfile.TemporaryDirectory() as folder:
        for night in range(2):
            began, used = time.monotonic(), time.process_time()
            now = dt.datetime(2026, 3, 1, 6, tzinfo=dt.UTC)
            now += dt.timedelta(days=days + night)
            with Client(
                address, api_key="api-key", user_id="user", proxy=None
            ) as client:
                source = sitestats_source(
                    first_day=FIRST,
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
                f"{took:.1f} s ({time.process_time() - used:.1f} s of a processor); "
                + ", ".join(f"{name} {steps.pop(name):.1f} s" for name in STEPS)
                + f"; the most memory so far {peak:.0f} MB; "
                f"{Path(folder, 'sitestats.duckdb').stat().st_size / 2**20:.0f} MB"
            )


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(int(sys.argv[2])))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
