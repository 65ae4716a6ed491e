"""Records of httpx and httpcore: a key that a service repeats is in none."""

from __future__ import annotations

from contextlib import suppress

import httpx
import pytest

from loopback import Connection, serve
from secret_search import everything_logged
from sender_variants import GET, KEY, open_sender
from sitestats._common.errors import TransportError

END = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
PLACES = {
    "a status line": b"HTTP/1.1 400 %s\r\n" + END,
    "a broken status line": b"HTTP/1.1 %s\r\n\r\n",
    "a header": b"HTTP/1.1 400 Bad\r\nX-Key: %s\r\n" + END,
    "a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\nx\r\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("given", [False, True], ids=["ours", "a transport of httpx"])
def test_what_is_logged_below(
    variant: str,
    place: str,
    given: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A key that comes back is in no record, though httpcore logs what came at DEBUG,
    in the places that docs/logging.md names.
    """

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(PLACES[place] % KEY.encode())

    blocking = variant == "blocking"
    kind = httpx.HTTPTransport if blocking else httpx.AsyncHTTPTransport
    with (
        everything_logged() as lines,
        serve(script) as server,
        open_sender(
            variant, server.address, transport=kind() if given else None
        ) as sender,
        suppress(TransportError),
    ):
        sender.send(GET)
    assert any("'name': 'httpcore.http11'" in line for line in lines)
    assert KEY not in "\n".join(lines)
