"""The network backend: what httpcore reads and writes within the limits."""

from __future__ import annotations

import attrs
import pytest

from broken_servers import closed_port
from loopback import Connection, contexts, serve
from sender_variants import ADD, GET, LONG, open_sender
from sitestats._common.errors import (
    ConnectionFailedError,
)

LARGE = attrs.evolve(ADD, body=b"x" * 16_000_000)
"""Too large for the buffers on the way: sending it waits for the other side."""


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_a_response_before_the_whole_request_was_read(
    variant: str,
    secure: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A server that refuses a large body from its head has its status taken, and the
    connection, with half of a request in it, is not used again.
    """

    def refuse(connection: Connection) -> None:
        while b"\r\n\r\n" not in connection.take():
            pass
        connection.respond(b"too much", 413)
        connection.server.ending.wait(LONG)

    behind, trusting = contexts("localhost")
    with (
        serve(refuse, behind if secure else None) as server,
        open_sender(variant, server.address, verify=trusting) as sender,
    ):
        for request in (LARGE, GET):
            response = sender.send(request, timeout=5)
            assert (response.status, response.body) == (413, b"too much")
        assert server.connections == 2


def test_a_ticket_does_not_end_a_request(variant: str) -> None:
    """What TLS itself sends, while a large body is being sent, is no response."""
    behind, trusting = contexts("localhost")

    def slow(connection: Connection) -> None:
        # The tickets are there by now, and the client has not read them.
        connection.server.ending.wait(0.05)
        connection.request()
        connection.respond(b"all of it")

    with (
        serve(slow, behind) as server,
        open_sender(variant, server.address, verify=trusting) as sender,
    ):
        assert sender.send(LARGE).body == b"all of it"
    assert len(server.requests[0]) > len(LARGE.body)


@pytest.mark.parametrize(
    "address",
    [
        f"http://127.0.0.1:{closed_port()}",
        f"https://127.0.0.1:{closed_port()}",
        "http://nobody.invalid",
    ],
    ids=["refused", "refused TLS", "unknown name"],
)
def test_without_a_connection_nothing_was_sent(variant: str, address: str) -> None:
    """An error without a connection says that the request was not sent."""
    with (
        open_sender(variant, address) as sender,
        pytest.raises(ConnectionFailedError, match="could not connect to") as caught,
    ):
        sender.send(ADD)
    assert not caught.value.maybe_sent
    # Nobody will know the name in a second either.
    assert caught.value.retryable is ("nobody" not in address)
