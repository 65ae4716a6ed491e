"""Senders: request and response over real sockets on loopback."""

from __future__ import annotations

import gc
import gzip

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broken_servers import OK
from loopback import Connection, polite, serve, with_length
from sender_variants import GET, open_sender, settings_for
from sitestats import Client, StatsQuery
from sitestats._common.errors import (
    ConfigurationError,
    ResponseError,
    ResponseTooLargeError,
    SiteStatsError,
)
from sitestats._common.wire import Credentials, HttpRequest
from sitestats._transport.sender import Sender


def test_the_prefix_of_the_base_address_stays(variant: str) -> None:
    """The path of the base address is a prefix of every request's path."""
    with (
        serve(polite) as server,
        open_sender(variant, f"{server.address}/api") as sender,
    ):
        sender.send(GET)
    assert server.requests[0].startswith(b"GET /api/example.com.json HTTP/1.1\r\n")


class Recorder(httpx.BaseTransport):
    """A transport that records every request, and sends none."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200)


@pytest.mark.parametrize(
    "path",
    [
        "@evil.example/",
        ".evil.example/",
        "evil.example/",
        ":1234/",
        "",
        "?a=b",
        "\\\\evil.example",
        "http://evil.example/",
    ],
)
def test_no_path_leads_away(path: str) -> None:
    """A target that is no path raises, and nothing is sent."""
    recorder = Recorder()
    sender = Sender(settings_for("https://stats.example"), recorder)
    with pytest.raises(ConfigurationError, match="leads away from the base address"):
        sender.send(HttpRequest("GET", path), until=1e9, timeout=1)
    assert recorder.requests == []


PIECES = ["/", "//", "\\", "..", ".", "@", ":", "?", "#", "%2f", "%2e%2e", "http:"]
PIECES += ["evil.example", "127.0.0.1", ":80", "\t", "\n", "%00", "api"]
paths = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=6).map("".join)


@settings(max_examples=settings().max_examples * 5)
@given(paths, st.sampled_from(["", "/", "//", "/@", "/..//", "/\\"]))
def test_every_request_goes_to_the_base_origin(text: str, start: str) -> None:
    """Whatever the path is, the key is sent to the base address's origin or nowhere."""
    recorder = Recorder()
    sender = Sender(settings_for("https://stats.example:8443/analytics"), recorder)
    request = HttpRequest("GET", start + text, credentials=Credentials.KEY)
    try:
        sender.send(request, until=1e9, timeout=1)
    except SiteStatsError:
        assert recorder.requests == []
    finally:
        sender.close()
    for sent in recorder.requests:
        assert (sent.url.scheme, sent.url.host, sent.url.port) == (
            "https",
            "stats.example",
            8443,
        )
        assert sent.headers["Host"] == "stats.example:8443"


def test_the_parts_of_a_response(variant: str) -> None:
    """A response has status, body, and lower-case headers, repeated ones joined, and no
    cookie.
    """

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond(
            b'{"ok":false}',
            429,
            "RETRY-After: 7",
            "Vary: a",
            "vary: b",
            "X: caf\xe9",
            "Set-Cookie: a=b",
        )

    with serve(script) as server, open_sender(variant, server.address) as sender:
        response = sender.send()
    assert response.status == 429
    assert response.body == b'{"ok":false}'
    assert response.headers == {
        "content-length": "12",
        "retry-after": "7",
        "vary": "a, b",
        "x": "caf\xe9",
    }


def gzipped(*parts: bytes, encoding: str = "gzip") -> bytes:
    """A response whose body is *parts*."""
    body = b"".join(parts)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (gzipped(b"no gzip at all"), "it is no valid gzip"),
        (
            gzipped(gzip.compress(b"cut off", mtime=0)[:-3]),
            "its gzip ends in the middle",
        ),
        (gzipped(b"x", encoding="br"), "it is encoded as 'br', but gzip was requested"),
    ],
)
def test_what_can_not_be_inflated_is_a_response_error(
    variant: str, wire: bytes, reason: str
) -> None:
    """A body that can't be inflated raises a ResponseError, and the sender goes on."""
    responses = iter([wire])

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(
                next(responses, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            )

    with serve(script) as server, open_sender(variant, server.address) as sender:
        with pytest.raises(ResponseError, match=r"GET /example\.com\.json") as caught:
            sender.send()
        assert sender.send().status == 200
    assert reason in str(caught.value)
    assert caught.value.request == GET
    assert not isinstance(caught.value, ResponseTooLargeError)


def test_a_length_over_the_limit_is_refused_at_once(variant: str) -> None:
    """A body that is announced as too large is not waited for; the sender goes on."""

    def announces_once(connection: Connection) -> None:
        if server.connections > 1:
            return polite(connection)
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n")
        return connection.wait()

    with (
        serve(announces_once) as server,
        open_sender(variant, server.address) as sender,
    ):
        with pytest.raises(ResponseTooLargeError) as caught:
            sender.send()
        assert sender.send().status == 200
    assert server.connections == 2
    assert (caught.value.request, caught.value.body) == (GET, b"")


def test_a_client_is_usable_after_a_recursion_error() -> None:
    """Close to the stack's limit a call does not blame the connection, and the client
    survives.
    """
    body = b'{"ok":true,"hostname":"example.com","pageviews":1}'

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(with_length(body))

    query = StatsQuery("example.com").fields("pageviews")
    with serve(script) as server, Client(server.address, proxy=None) as client:

        def deeper() -> None:
            client.stats.get(query)
            deeper()

        with pytest.raises(RecursionError):
            deeper()
        assert client.stats.get(query).pageviews == 1


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("wire", "status", "body"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99999999\r\n\r\n", 304, b""),
        (b"HTTP/1.1 103 Early\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\n1", 200, b"1"),
        (OK + CHUNKED + b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\nTrailer: x\r\n\r\n", 200, b"{}"),
        (b"HTTP/1.0 200 OK\r\n\r\n{}", 200, b"{}"),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, b""),
        (b"HTTP/1.1 599 What\r\nContent-Length: 2\r\n\r\n\xff\x00", 599, b"\xff\x00"),
    ],
    ids=["204", "304", "1xx", "chunked", "until close", "no reason", "bytes"],
)
def test_unusual_responses(variant: str, wire: bytes, status: int, body: bytes) -> None:
    """Everything that HTTP allows is accepted, and the next request works."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(wire)
            if b"HTTP/1.0" in wire:
                return

    with serve(script) as server, open_sender(variant, server.address) as sender:
        for _ in range(2):
            response = sender.send()
            assert (response.status, response.body) == (status, body)


def test_a_head_has_a_length_and_no_body(variant: str) -> None:
    """A response to HEAD is not refused for a Content-Length over the limit."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n")

    with (
        serve(script) as server,
        open_sender(variant, server.address, max_response_bytes=1000) as sender,
    ):
        for _ in range(2):
            assert sender.send(HttpRequest("HEAD", "/x")).body == b""


@pytest.mark.parametrize("status", [204, 401, 429, 503])
@pytest.mark.parametrize("encoding", ["br", "gzip", "deflate, gzip"])
def test_a_status_counts_before_its_body(
    variant: str, status: int, encoding: str
) -> None:
    """An error response is one, with its headers, also where its body can't be read."""

    def script(connection: Connection) -> None:
        while connection.request():
            body = b"" if status == 204 else b"no gzip at all"
            head = f"Content-Encoding: {encoding}", "Retry-After: 7"
            connection.respond(body, status, *head)

    with serve(script) as server, open_sender(variant, server.address) as sender:
        for _ in range(2):
            response = sender.send()
            assert (response.status, response.body) == (status, b"")
            assert response.retry_after == 7


def test_a_response_is_freed_at_once(variant: str) -> None:
    """A response is in no circle, so that its memory does not wait for a collection."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send()
        gc.collect()
        gc.disable()
        try:
            sender.send()
            new = gc.get_objects(generation=0)
            assert not [one for one in new if type(one) is httpx.Response]
        finally:
            gc.enable()
