"""Fuzz a whole client through a socket, with mutated bytes of HTTP."""

from __future__ import annotations

import socket
import threading
import warnings
from collections import Counter
from contextlib import suppress
from random import Random
from types import TracebackType
from typing import Self

from faults import CASES
from faults.script import Send
from sitestats import Client, SiteStatsError, StatsQuery

from .mutate import mutate_bytes
from .targets import BrokenError

QUERY = StatsQuery("example.com").fields("pageviews")
SEEDS = tuple(
    b"".join(action.data for action in case.scripts[0] if isinstance(action, Send))
    for case in CASES
    if case.scripts and any(isinstance(action, Send) for action in case.scripts[0])
)
PIECES = (
    *(b"\r\n", b"\r\n\r\n", b"\n", b": ", b"\0", b"HTTP/1.1 200 OK\r\n"),
    *(b"HTTP/1.0 ", b"HTTP/1.1 100 C\r\n\r\n", b"0\r\n\r\n", b"ff\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n"),
    *(b"Content-Encoding: gzip\r\n", b"Connection: close\r\n"),
    *(b"Retry-After: 1\r\n", b"\x1f\x8b\x08", b" ", b"\t", b"Location: //h\r\n"),
)


class Wire:
    """Sends the bytes of ``response`` on each connection, and closes it."""

    def __init__(self) -> None:
        self.response = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.origin = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                head = more = connection.recv(9999)
                while more and not head.endswith(b"\r\n\r\n"):
                    more = connection.recv(9999)
                    head += more
                connection.sendall(self.response)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)


def run(inputs: int, seed: int) -> Counter[str]:
    """Send *inputs* mutated responses, and count the outcomes.

    Raises:
        BrokenError: A response became neither a model nor one of the package's errors.
    """
    random, outcomes = Random(seed), Counter[str]()
    with (
        Wire() as wire,
        # A mutated Retry-After would keep all that follow from being sent.
        Client(
            wire.origin,
            retries=0,
            max_response_bytes=100_000,
            proxy=None,
            share_pauses=False,
        ) as client,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for _ in range(inputs):
            wire.response = random.choice(SEEDS)
            for _ in range(random.randint(1, 4)):
                wire.response = mutate_bytes(wire.response, SEEDS, PIECES, random)
            try:
                client.stats.get(QUERY)
            except SiteStatsError as error:
                outcomes[type(error).__name__] += 1
            except Exception as error:
                message = f"{wire.response!r}: {error!r}"
                raise BrokenError(message) from error
            else:
                outcomes["model"] += 1
    return outcomes
