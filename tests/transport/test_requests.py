"""What is sent: exactly these bytes, and to one origin."""

from __future__ import annotations

import importlib.metadata
from contextlib import suppress

import pytest
import respx
from hypothesis import given, settings
from hypothesis import strategies as st

from both_clients import KEY, USER, VARIANTS, opened
from loopback import polite, serve
from sitestats import Client, InvalidResponseError, SiteStatsError, StatsQuery
from sitestats.types import Credentials, HttpRequest
from transport.inside import send_request

AGENT = f"sitestats/{importlib.metadata.version('sitestats')}"
QUERY = StatsQuery("a.example").fields("pages")
variants = pytest.mark.parametrize("variant", VARIANTS)


@variants
def test_the_bytes_of_requests(variant: str) -> None:
    """A request has its encoded target, exactly these headers, and its body."""
    with (
        serve(polite) as server,
        opened(variant, f"{server.address}/api") as client,
        suppress(InvalidResponseError),
    ):
        client.request("GET", "/café", params={"a": "/b*,c d", "é": 1})
        client.request("DELETE", "/x")
        client.request("POST", "/x")
        client.websites.add("example.com")
    head = [
        f"Host: 127.0.0.1:{server.port}",
        "Accept: application/json",
        "Accept-Encoding: gzip",
        f"User-Agent: {AGENT}",
        f"Api-Key: {KEY}",
        f"User-Id: {USER}",
    ]
    json = "Content-Type: application/json"
    expected = [
        ["GET /api/caf%C3%A9?a=%2Fb*,c%20d&%C3%A9=1 HTTP/1.1", *head, "", ""],
        ["DELETE /api/x HTTP/1.1", *head, "", ""],
        ["POST /api/x HTTP/1.1", *head, "Content-Length: 0", "", ""],
        [
            *("POST /api/api/websites/add HTTP/1.1", *head, json, "Content-Length: 43"),
            *("", '{"hostname":"example.com","isPublic":false}'),
        ],
    ]
    got = [request.decode("ascii").split("\r\n") for request in server.requests]
    assert [sorted(lines) for lines in got] == [sorted(lines) for lines in expected]


PIECES = ["/", "//", "\\", "..", ".", "@", ":", "?", "#", "%2f", "%2e%2e", "http:"]
PIECES += ["evil.example", "127.0.0.1", ":80", "\t", "\n", "%00", "api"]
paths = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=6).map("".join)
BASE = "https://stats.example:8443/analytics"


@settings(max_examples=settings().max_examples * 5)
@given(paths, st.sampled_from(["", "/", "//", "/@", "/..//", "/\\"]))
def test_every_request_goes_to_the_base_origin(text: str, start: str) -> None:
    """Whatever the path is, the key is sent to the base address's origin or nowhere."""
    request = HttpRequest("GET", start + text, credentials=Credentials.KEY)
    with respx.mock(assert_all_called=False) as routes:
        # Whatever its origin is.
        routes.route().respond(200)
        with Client(BASE, api_key=KEY) as client, suppress(SiteStatsError):
            send_request(client, request, until=1e12, timeout=1)
    for call in routes.calls:
        url, host = call.request.url, call.request.headers["Host"]
        origin = url.scheme, url.host, url.port, host
        assert origin == ("https", "stats.example", 8443, "stats.example:8443")
