"""The headers of requests: exactly these, with the credentials that are wanted."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest

from loopback import polite, serve
from sender_variants import ADD, GET, KEY, USER, open_sender
from sitestats import AsyncClient, Client, ResponseError, StatsQuery
from sitestats._common.wire import Credentials, HttpRequest

AGENT = f"sitestats/{importlib.metadata.version('sitestats')}"


def test_the_bytes_of_a_get(variant: str) -> None:
    """A GET has the encoded target and exactly these headers."""
    request = HttpRequest(
        "GET",
        "/example.com/caf%C3%A9%2Fbar.json",
        params=(("pages", "/blog*,/docs*"), ("utm_source", "a&b c"), ("start", "é")),
        credentials=Credentials.KEY,
    )
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(request)
    assert request.target == (
        "/example.com/caf%C3%A9%2Fbar.json"
        "?pages=%2Fblog*,%2Fdocs*&utm_source=a%26b%20c&start=%C3%A9"
    )
    assert server.requests[0].decode("ascii").split("\r\n") == [
        f"GET {request.target} HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Accept: application/json",
        "Accept-Encoding: gzip",
        f"User-Agent: {AGENT}",
        f"Api-Key: {KEY}",
        "",
        "",
    ]


def test_the_bytes_of_a_post(variant: str) -> None:
    """A POST also has the user ID, the content type and the body."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(ADD)
    head, _, body = server.requests[0].decode("ascii").partition("\r\n\r\n")
    assert head.split("\r\n") == [
        "POST /api/websites/add HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Accept: application/json",
        "Accept-Encoding: gzip",
        f"User-Agent: {AGENT}",
        f"Api-Key: {KEY}",
        f"User-Id: {USER}",
        "Content-Length: 26",
        "Content-Type: application/json",
    ]
    assert body == '{"hostname":"example.com"}'


def test_credentials_go_only_where_they_are_wanted(variant: str) -> None:
    """A request gets only those credentials that it needs."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(HttpRequest("GET", "/public.example.json"))
        sender.send(GET)
    without, with_key = server.requests
    assert KEY.encode() not in without
    assert USER.encode() not in without
    assert KEY.encode() in with_key
    assert USER.encode() not in with_key


def test_without_a_key_there_is_no_header(variant: str) -> None:
    """Without a key requests are sent without its header."""
    with (
        serve(polite) as server,
        open_sender(variant, server.address, api_key=None, user_id=None) as sender,
    ):
        sender.send(GET)
        sender.send(ADD)
    assert b"api-key" not in b"".join(server.requests).lower()
    assert b"user-id" not in b"".join(server.requests).lower()


def test_a_post_without_a_body_says_so(variant: str) -> None:
    """A POST without a body has a Content-Length of 0, or a server would wait."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(HttpRequest("POST", "/api/custom"))
    assert b"Content-Length: 0\r\n" in server.requests[0]


JSON = b"Content-Type: application/json"
QUERY = StatsQuery("a.example").fields("pages")
API_KEY, USER_ID = f"Api-Key: {KEY}".encode(), f"User-Id: {USER}".encode()


@pytest.mark.parametrize(
    ("call", "headers"),
    [
        (lambda client: client.websites.list(), {JSON, API_KEY, USER_ID}),
        (lambda client: client.websites.add("a.example"), {JSON, API_KEY, USER_ID}),
        (
            lambda client: client.stats.get(QUERY),
            {API_KEY},
        ),
    ],
    ids=["4.1", "4.2", "4.3"],
)
def test_a_server_receives_each_documented_header(
    variant: str, call: Callable[[Any], Any], headers: set[bytes]
) -> None:
    """Each endpoint's request has the headers of its section, and no other of them."""
    options = {"api_key": KEY, "user_id": USER, "proxy": None}
    with serve(polite) as server, suppress(ResponseError):
        if variant == "blocking":
            with Client(server.address, **options) as client:
                call(client)
        else:
            anyio.run(_awaited, call, server.address, options, backend=variant)
    received = set(server.requests[0].partition(b"\r\n\r\n")[0].split(b"\r\n"))
    assert received & {JSON, API_KEY, USER_ID} == headers


async def _awaited(call: Callable[[Any], Any], address: str, options: Any) -> None:
    async with AsyncClient(address, **options) as client:
        await call(client)
