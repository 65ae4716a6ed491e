"""A minimal HTTP server on loopback, in a process of its own, for measuring clients.

    python tests/benchmarks/service.py 0.05 ''

It responds after the given seconds. To every request it sends the same totals, and
looks only for its end; so its own time is small. With members of a JSON object it sends
these, for the website and the days that are requested.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from urllib.parse import parse_qsl

BODY = (
    b'{"ok":true,"docs":"https://docs.example.com/api","info":"false",'
    b'"hostname":"example.com","url":"https://example.com","path":"*",'
    b'"start":"2026-10-20T00:00:00.000Z","end":"2026-11-20T23:59:59.999Z",'
    b'"version":6,"timezone":"UTC","pageviews":66,"visitors":41,'
    b'"generated_in_ms":398}'
)


def body_of(hostname: str, start: str, end: str, members: str) -> bytes:
    """The body of a response with these *members*."""
    return (
        f'{{"ok":true,"hostname":"{hostname}","path":"*","version":6,'
        f'"timezone":"UTC","start":"{start}T00:00:00.000Z",'
        f'"end":"{end}T23:59:59.999Z",{members}}}'
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


def _response(body: bytes) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\n"
        b"Content-Type: application/json; charset=utf-8\r\n"
        b"Access-Control-Allow-Origin: *\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )


RESPONSE = _response(BODY)


def _response_to(request: bytes, members: str) -> bytes:
    """The response to the head of a request."""
    if not members:
        return RESPONSE
    path, _, query = request.split(b" ", 2)[1].decode().partition(".json?")
    params = dict(parse_qsl(query))
    return _response(body_of(path[1:], params["start"], params["end"], members))


class _Connection(asyncio.Protocol):
    """One connection: responds to requests without a body, one after the other."""

    transport: asyncio.Transport

    def __init__(self, delay: float, members: str) -> None:
        self._delay = delay
        self._members = members
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while b"\r\n\r\n" in self._unread:
            request, _, self._unread = self._unread.partition(b"\r\n\r\n")
            response = _response_to(request, self._members)
            if self._delay:
                loop = asyncio.get_running_loop()
                loop.call_later(self._delay, self.transport.write, response)
            else:
                self.transport.write(response)


async def _serve(delay: float, members: str) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(delay, members), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    # The parent process ends this one by closing the pipe, also when it dies.
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def serving(delay: float = 0.0, members: str = "") -> Generator[str, None, None]:
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
