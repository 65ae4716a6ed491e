"""Network faults, and the one error that each becomes.

``tests/faults`` has all that a server can do.
"""

from __future__ import annotations

import time

import pytest

from broken_servers import LONG_HEADER, OK
from loopback import Connection, polite, serve
from sender_variants import ADD, GET, open_sender
from sitestats._common.errors import (
    ConnectionFailedError,
    RequestTimeoutError,
)

pytestmark = pytest.mark.slow


def cuts_the_headers(connection: Connection) -> None:
    """Close within the headers."""
    connection.request()
    connection.send(OK + b"Content-Len")


def test_an_incomplete_response_is_a_failed_connection(variant: str) -> None:
    """It may have been sent, the error names the cause, and the sender goes on."""
    scripts = iter([cuts_the_headers])

    def script(connection: Connection) -> None:
        next(scripts, polite)(connection)

    with serve(script) as server, open_sender(variant, server.address) as sender:
        with pytest.raises(ConnectionFailedError) as caught:
            sender.send(ADD)
        assert sender.send().status == 200
    error = caught.value
    assert error.maybe_sent
    assert error.request == ADD
    assert str(error).startswith(f"the connection to {server.address} failed: ")
    assert not str(error).endswith(": ")


# Limits ---------------------------------------------------------------------


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_a_call_ends_within_its_total_limit(
    variant: str,
    used: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A slow response ends at the total timeout, on a new and on a used connection."""

    def script(connection: Connection) -> None:
        if used:
            connection.request()
            connection.respond()
        connection.request()
        connection.drip(LONG_HEADER)

    with serve(script) as server, open_sender(variant, server.address) as sender:
        if used:
            sender.send()
        with pytest.raises(RequestTimeoutError, match="before total_timeout") as caught:
            sender.send(total=0.1)
        assert server.connections == 1
    assert caught.value.maybe_sent
    assert caught.value.request == GET
    assert isinstance(caught.value, TimeoutError)
    assert "waiting for one of" not in str(caught.value)


def test_when_the_time_is_up_nothing_is_sent(variant: str) -> None:
    """A call whose total timeout has passed sends nothing."""
    with (
        serve(polite) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(RequestTimeoutError) as caught,
    ):
        sender.send(total=-1)
    assert not caught.value.maybe_sent
    assert server.requests == []


# Stale connections ----------------------------------------------------------


def responds_once(connection: Connection) -> None:
    """Respond to one request as if more were welcome, and close."""
    connection.request()
    connection.respond()


def test_a_connection_that_closes_on_the_request_is_a_failure(variant: str) -> None:
    """A connection that closes on a request raises: it may have been received."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond()
        connection.request()

    with serve(script) as server, open_sender(variant, server.address) as sender:
        sender.send()
        with pytest.raises(ConnectionFailedError) as caught:
            sender.send()
        assert sender.send().status == 200
    assert caught.value.maybe_sent
    assert server.connections == 2


def test_a_connection_in_place_of_a_stale_one_has_the_same_limit(variant: str) -> None:
    """A new connection in place of a stale one has the call's total timeout too."""
    whole: list[bool] = []

    def drips_a_while(connection: Connection) -> None:
        connection.request()
        connection.drip(LONG_HEADER[:500])
        whole.append(True)

    scripts = iter([responds_once, drips_a_while])

    def script(connection: Connection) -> None:
        next(scripts)(connection)

    with serve(script) as server, open_sender(variant, server.address) as sender:
        sender.send()
        while not all(connection.closed for connection in server.open):
            time.sleep(0.001)
        with pytest.raises(RequestTimeoutError, match="before total_timeout"):
            sender.send(total=0.1)
        # It was cut off, and did not just come to its end too late.
        assert not whole
    assert server.connections == 2


def test_a_connection_that_went_stale_is_not_used(variant: str) -> None:
    """A connection that the server has closed since is not used for a request."""
    with serve(responds_once) as server, open_sender(variant, server.address) as sender:
        for number in range(1, 4):
            assert sender.send().status == 200
            while not all(connection.closed for connection in server.open):
                time.sleep(0.001)
            assert server.connections == number
