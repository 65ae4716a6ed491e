"""What comes back: the parts of a response, and what can't be read of it."""

from __future__ import annotations

import copy
import gzip
import pickle
from typing import Any

import pytest

from both_clients import KEY, QUERY, VARIANTS, WITH_TRIO
from loopback import COUNTED, Connection, served, whole
from secret_search import shown_by
from sitestats import (
    AuthenticationError,
    InvalidResponseError,
    RequestTimeoutError,
    StatusError,
)

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
    with served(variant, sends(*wire), retries=0, **options) as (client, _):
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
        connection.send(whole(COUNTED))
        connection.request()
        connection.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 3000)

    with served(variant, script, retries=0) as (client, server):
        client.stats.get(QUERY)
        with pytest.raises(RequestTimeoutError, match="before total_timeout") as caught:
            client.with_options(total_timeout=0.1).stats.get(QUERY)
        assert server.connections == 1
    assert (caught.value.maybe_sent, caught.value.phase) == (True, "response")
    assert isinstance(caught.value, TimeoutError)
    assert "waiting for one of" not in str(caught.value)


# --- what is repeated of the request ------------------------------------------------


@variants
@pytest.mark.parametrize("secret", ["hunt", "hunter2hunt", KEY])
def test_a_secret_of_four_characters_is_in_no_error(variant: str, secret: str) -> None:
    """It is redacted in the message, the body and the headers, though it has the form
    of a word; what the error means stays.
    """
    body = f'{{"ok":false,"error":"No Api-Key but {secret}"}}'.encode()
    wire = whole(body, f"X-Debug: {secret}", status="400 Bad")
    (error,) = get_all(variant, wire, headers={"X-Auth-Token": secret})
    assert isinstance(error, AuthenticationError)
    assert error.message == "No Api-Key but …"
    assert error.headers["X-Debug"] == "…"
    assert secret.encode() not in error.body
    assert secret not in shown_by(error)


@pytest.mark.parametrize(
    ("headers", "secret"),
    [
        ({"Authorization": "Bearer hunter2hunt"}, "hunter2hunt"),
        ({"Authorization": "Basic YW5uOmh1bnRlcjIh"}, "hunter2!"),
        ({"Cookie": "theme=dark; session=hunter2="}, "hunter2="),
    ],
)
def test_a_part_of_a_credential_is_in_no_error(
    headers: dict[str, str], secret: str
) -> None:
    """A gateway may repeat what a header encodes, or one cookie of several."""
    wire = whole(f"No access for {secret}.".encode(), status="403 No")
    (error,) = get_all("blocking", wire, headers=headers)
    assert error.message == "No access for …."
    assert secret not in shown_by(error)


@variants
@pytest.mark.parametrize("secret", ["false", "error", "api-key"])
def test_a_secret_changes_the_meaning_of_no_error(variant: str, secret: str) -> None:
    """Whatever word it is, the class, the pause and the code are the response's own."""
    body = b'{"ok":false,"error":"No api-key found","code":"NO_KEY"}'
    wire = whole(body, "Retry-After: 7", status="400 Bad")
    (error,) = get_all(variant, wire, headers={"X-Auth-Token": secret})
    assert isinstance(error, AuthenticationError)
    assert (error.code, error.retry_after) == ("NO_KEY", 7)


@variants
def test_the_headers_of_a_success_are_redacted(variant: str) -> None:
    """In every way to read, to show, to copy or to pickle them; so are those of one
    that can't be read.
    """
    headers = f"X-Debug: key={KEY}", "Via: 1.1 a", "Set-Cookie: a=b"
    stats, odd = get_all(variant, whole(COUNTED, *headers), whole(b"odd", *headers))
    again = pickle.loads(pickle.dumps(stats))
    for one in (stats, odd, again, copy.deepcopy(stats)):
        assert one.headers["x-debug"] == "key=…"
        assert one.headers["VIA"] == "1.1 a"
        assert "Set-Cookie" not in one.headers
        assert KEY not in f"{one.headers} {vars(one.headers)} {pickle.dumps(one)!r}"


@variants
@pytest.mark.parametrize("coding", ["utf-8", "UTF-8", "iso-8859-1", "none", "identity"])
def test_a_charset_is_no_coding(variant: str, coding: str) -> None:
    """Some servers name it in Content-Encoding; the body is not compressed by it."""
    (stats,) = get_all(variant, whole(COUNTED, f"Content-Encoding: {coding}"))
    assert stats.pageviews == 3
    packed = gzip.compress(COUNTED)
    (stats,) = get_all(variant, whole(packed, f"Content-Encoding: gzip, {coding}"))
    assert stats.pageviews == 3
