"""What comes back: the parts of a response, and what can't be read of it."""

from __future__ import annotations

from typing import Any

import pytest

from both_clients import KEY, QUERY, VARIANTS, WITH_TRIO, opened
from loopback import Connection, serve, whole
from sitestats import (
    InvalidResponseError,
    RequestTimeoutError,
    StatusError,
)

BODY = b'{"ok":true,"hostname":"example.com","pageviews":7}'
variants = pytest.mark.parametrize("variant", VARIANTS)


def sends(*wire: bytes) -> Any:
    """Send these responses, one for each request."""
    responses = iter(wire)

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(next(responses))

    return script


def get_all(variant: str, *wire: bytes, **options: Any) -> list[Any]:
    """What calls give for these responses: statistics or errors."""
    with (
        serve(sends(*wire)) as server,
        opened(variant, server.address, retries=0, **options) as client,
    ):
        found: list[Any] = []
        for _ in wire:
            try:
                found.append(client.stats.get(QUERY))
            except (StatusError, InvalidResponseError) as error:
                found.append(error)
    return found


@variants
def test_the_parts_of_a_response(variant: str) -> None:
    """Headers are lower-case, repeated ones are joined, and no cookie is among them."""
    lines = (
        *(b"HTTP/1.1 429 Slow", b"RETRY-After: 7", b"Vary: a", b"vary: b"),
        *(b"X: caf\xe9", b"Set-Cookie: a=b", b"Content-Length: 12"),
    )
    (error,) = get_all(variant, b"\r\n".join([*lines, b"", b'{"ok":false}']))
    assert (error.status_code, error.body, error.retry_after) == (
        429,
        b'{"ok":false}',
        7,
    )
    assert {**error.headers} == {
        "content-length": "12",
        "retry-after": "7",
        "vary": "a, b",
        "x": "caf\xe9",
    }


@variants
@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_status_counts_before_its_body(variant: str, status: int) -> None:
    """An error response is one, with its headers, also where its body can't be read."""
    for encoding in ("br", "gzip", "deflate, gzip"):
        head = f"HTTP/1.1 {status} No\r\nContent-Encoding: {encoding}\r\n"
        wire = f"{head}Retry-After: 7\r\nContent-Length: 4\r\n\r\nnone".encode()
        (error,) = get_all(variant, wire)
        assert (error.status_code, error.body) == (status, b"")
        assert error.headers["Retry-After"] == "7"


# --- limits -----------------------------------------------------------------------

trio_too = pytest.mark.parametrize("variant", WITH_TRIO)


@trio_too
def test_a_call_ends_within_its_total_limit(variant: str) -> None:
    """Drops end at the total timeout, on a new and on a used connection."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(whole(BODY))
        connection.request()
        connection.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 3000)

    with (
        serve(script) as server,
        opened(variant, server.address, retries=0, api_key=KEY) as client,
    ):
        client.stats.get(QUERY)
        with pytest.raises(RequestTimeoutError, match="before total_timeout") as caught:
            client.with_options(total_timeout=0.1).stats.get(QUERY)
        assert server.connections == 1
    assert (caught.value.maybe_sent, caught.value.step) == (True, "response")
    assert isinstance(caught.value, TimeoutError)
    assert "waiting for one of" not in str(caught.value)
