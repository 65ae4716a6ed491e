"""HTTP/1.1: what a response may be, and when its connection is used again."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from loopback import Connection, answer, contexts, polite, serve
from sender_variants import ADD, LONG, open_sender


def forging(first: bytes, sent: threading.Event) -> Callable[[Connection], None]:
    """A server whose first response on a connection has another one behind it."""

    def script(connection: Connection) -> None:
        is_first = True
        while connection.request():
            if is_first:
                # One segment, and over TLS two records in it.
                sock: Any = connection._sock
                sock.setsockopt(socket.IPPROTO_TCP, CORK, 1)
                connection.send(answer(first))
                connection.send(answer(b"666"))
                sock.setsockopt(socket.IPPROTO_TCP, CORK, 0)
                sent.set()
            else:
                connection.send(answer(b"2"))
            is_first = False

    return script


CORK = getattr(socket, "TCP_CORK", 0)
WHOLE_READ = b"x" * (64 * 1024 - len(answer(b"x" * 65_000)) + 65_000)
"""Makes a response of exactly 64 KiB: as much as is read at once."""


@pytest.mark.skipif(not CORK, reason="needs control over segments")
@pytest.mark.parametrize("first", [b"1", WHOLE_READ], ids=["small", "64 KiB"])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_a_forged_response_answers_no_other_request(
    variant: str,
    first: bytes,
    secure: bool,  # noqa: FBT001 - a parameter
) -> None:
    """What came behind a response is not taken for that of the next request."""
    assert len(answer(WHOLE_READ)) == 64 * 1024
    behind, trusting = contexts("localhost")
    sent = threading.Event()
    bodies: list[bytes] = []
    with (
        serve(forging(first, sent), behind if secure else None) as server,
        open_sender(variant, server.address, verify=trusting) as sender,
    ):
        for _ in range(4):
            bodies.append(sender.send().body)
            # Later bytes can be on their way: no client knows of those.
            assert sent.wait(LONG)
            sent.clear()
    assert b"666" not in bodies
    assert set(bodies) == {first}
    assert server.connections == 4


pytestmark = pytest.mark.slow


def test_connection_close_is_obeyed(variant: str) -> None:
    """After Connection: close the connection is not used again."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond(b"{}", 200, "Connection: close")
        connection.wait()

    with serve(script) as server, open_sender(variant, server.address) as sender:
        for _ in range(3):
            assert sender.send().status == 200
            assert not sender.sender.is_open
    assert server.connections == 3


def test_connections_are_used_again(variant: str) -> None:
    """Sequential requests share one connection."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        for _ in range(20):
            sender.send()
    assert server.connections == 1


def test_adding_takes_a_fresh_connection(variant: str) -> None:
    """A request with fresh_connection is never sent over a used connection."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send()
        sender.send(ADD)
        sender.send(ADD)
        assert server.connections == 3
        sender.send()
        assert server.connections == 3


def test_old_connections_are_not_used(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that was idle for long is closed, as the server may close it."""
    monkeypatch.setattr("sitestats._transport.sender.IDLE_SECONDS", 0.02)
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send()
        time.sleep(0.05)
        sender.send()
    assert server.connections == 2
