"""A minimal HTTP server on loopback, in a process of its own, for measuring clients.

    python tests/benchmarks/service.py 0.05

It sends the same response to every request, after the given seconds, and looks only
for the end of each request. So its own time is small.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

BODY = (
    b'{"ok":true,"docs":"https://docs.example.com/api","info":"false",'
    b'"hostname":"example.com","url":"https://example.com","path":"*",'
    b'"start":"2026-10-20T00:00:00.000Z","end":"2026-11-20T23:59:59.999Z",'
    b'"version":6,"timezone":"UTC","pageviews":66,"visitors":41,'
    b'"generated_in_ms":398}'
)
RESPONSE = (
    b"HTTP/1.1 200 OK\r\n"
    b"Content-Type: application/json; charset=utf-8\r\n"
    b"Access-Control-Allow-Origin: *\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


class _Connection(asyncio.Protocol):
    """One connection: responds to requests without a body, one after the other."""

    transport: asyncio.Transport

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while b"\r\n\r\n" in self._unread:
            self._unread = self._unread.partition(b"\r\n\r\n")[2]
            if self._delay:
                loop = asyncio.get_running_loop()
                loop.call_later(self._delay, self.transport.write, RESPONSE)
            else:
                self.transport.write(RESPONSE)


async def _serve(delay: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(delay), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    # The parent process ends this one by closing the pipe, also when it dies.
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def serving(delay: float = 0.0) -> Generator[str, None, None]:
    """The address of a server that takes *delay* seconds for each response."""
    with subprocess.Popen(
        [sys.executable, __file__, str(delay)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
