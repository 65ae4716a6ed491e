"""``client.request``: endpoints that only their owner knows."""

from __future__ import annotations

import pytest
from respx import MockRouter

from both_clients import VARIANTS, opened
from loopback import Connection, served
from sitestats import InvalidResponseError, NotFoundError

EMPTY = [
    ("HEAD", 200, b""),
    ("OPTIONS", 200, b""),
    ("POST", 200, b""),
    ("POST", 201, b"\r\n"),
    ("PUT", 200, b""),
    ("PATCH", 202, b""),
    ("DELETE", 202, b""),
    ("DELETE", 204, b""),
    ("GET", 204, b""),
]
"""Methods, statuses and bodies of successes without a value."""


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("method", "status", "body"), EMPTY)
def test_an_empty_success_is_none(
    variant: str, routes: MockRouter, method: str, status: int, body: bytes
) -> None:
    """What has been done raises no error, and HEAD never has a body."""
    route = routes.request(method, "/api/custom").respond(status, content=body)
    with opened(variant) as client:
        assert client.request(method, "/api/custom") is None
    assert route.call_count == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_empty_response_to_a_get_is_an_error(
    variant: str, routes: MockRouter
) -> None:
    """A GET asks for a value, so a response without one may be cut."""
    routes.get("/api/custom").respond(200)
    with (
        opened(variant) as client,
        pytest.raises(InvalidResponseError, match="is empty"),
    ):
        client.request("GET", "/api/custom")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("method", ["HEAD", "DELETE"])
def test_an_empty_error_response_raises(
    variant: str, routes: MockRouter, method: str
) -> None:
    """The status decides, whether there is a body or not."""
    routes.request(method, "/api/custom").respond(404)
    with opened(variant) as client, pytest.raises(NotFoundError):
        client.request(method, "/api/custom")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_head_needs_no_body_that_its_length_announces(variant: str) -> None:
    """Its headers are those of a GET: nobody waits for what they announce."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")

    with served(variant, script) as (client, _):
        assert client.request("HEAD", "/api/custom") is None
        assert client.request("HEAD", "/api/custom") is None
