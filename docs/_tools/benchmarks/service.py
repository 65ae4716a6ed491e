"""A minimal HTTP server on loopback, in a process of its own, for measuring clients.

    python docs/_tools/benchmarks/service.py 0.05 '"pageviews":66'

It responds after the given seconds, to every request with the same: the given members
of a JSON object. It looks only for the end of a request; so its own time is small.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Final

DAYS: Final = ("2026-10-20", "2026-11-20")
TOTALS: Final = '"pageviews":66,"visitors":41,"generated_in_ms":398'


def body_of(members: str) -> bytes:
    """The body of a response about example.com and these days, with *members*."""
    first, last = DAYS
    return (
        '{"ok":true,"docs":"https://docs.example.com/api","info":"false",'
        '"hostname":"example.com","url":"https://example.com","path":"*",'
        f'"start":"{first}T00:00:00.000Z","end":"{last}T23:59:59.999Z",'
        f'"version":6,"timezone":"UTC",{members}}}'
    ).encode()


@cache
def pages(count: int) -> str:
    """So many pages, as a member of a response."""
    entries = (
        f'{{"value":"/blog/{number}-a-title-of-usual-length",'
        f'"pageviews":{5 * count - number},"visitors":{3 * count - number}}}'
        for number in range(count)
    )
    return f'"pages":[{",".join(entries)}]'


class _Connection(asyncio.Protocol):
    """One connection: responds to requests without a body, one after the other."""

    transport: asyncio.Transport

    def __init__(self, delay: float, response: bytes) -> None:
        self._delay = delay
        self._response = response
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while b"\r\n\r\n" in self._unread:
            _, _, self._unread = self._unread.partition(b"\r\n\r\n")
            if self._delay:
                loop = asyncio.get_running_loop()
                loop.call_later(self._delay, self.transport.write, self._response)
            else:
                self.transport.write(self._response)


async def _serve(delay: float, members: str) -> None:
    body = body_of(members)
    response = (
        b"HTTP/1.1 200 OK\r\n"
        b"Content-Type: application/json; charset=utf-8\r\n"
        b"Access-Control-Allow-Origin: *\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(delay, response), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    # The parent process ends this one by closing the pipe, also when it dies.
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def serving(delay: float = 0.0, members: str = TOTALS) -> Generator[str, None, None]:
    """The address of a server that takes *delay* seconds for each response."""
    with subprocess.Popen(
        [sys.executable, __file__, str(delay), members],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), sys.argv[2]))
