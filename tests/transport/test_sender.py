"""What goes over the wire, and what comes back, over real sockets on loopback."""

from __future__ import annotations

import gzip
import importlib.metadata

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Connection, polite, serve
from sender_variants import ADD, GET, KEY, USER, open_sender, settings_for

from sitestats._common.errors import (
    ConfigurationError,
    ResponseError,
    ResponseTooLargeError,
    SiteStatsError,
)
from sitestats._common.wire import Credentials, HttpRequest
from sitestats._transport.httpx_sender import Sender

AGENT = f"sitestats/{importlib.metadata.version('sitestats')}"
MIB = 1024 * 1024


def test_what_a_get_says(variant: str) -> None:
    """The target as it was encoded, these headers in all, and no more."""
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


def test_what_a_post_says(variant: str) -> None:
    """The user and the content type go with it, and the body behind them."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(ADD)
    head, _, body = server.requests[0].decode("ascii").partition("\r\n\r\n")
    assert head.split("\r\n") == [
        "POST /api/websites/add HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Accept: application/json",
        "Accept-Encoding: gzip",
        f"User-Agent: {AGENT}",
        "Content-Type: application/json",
        "Content-Length: 26",
        f"Api-Key: {KEY}",
        f"User-Id: {USER}",
    ]
    assert body == '{"hostname":"example.com"}'


def test_credentials_go_only_where_they_are_wanted(variant: str) -> None:
    """A request without credentials has none, and one without a user no user."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(HttpRequest("GET", "/public.example.json"))
        sender.send(GET)
    without, with_key = server.requests
    assert KEY.encode() not in without
    assert USER.encode() not in without
    assert KEY.encode() in with_key
    assert USER.encode() not in with_key


def test_without_a_key_there_is_no_header(variant: str) -> None:
    """A client that has no key asks for public websites all the same."""
    with (
        serve(polite) as server,
        open_sender(variant, server.address, api_key=None, user_id=None) as sender,
    ):
        sender.send(GET)
        sender.send(ADD)
    assert b"api-key" not in b"".join(server.requests).lower()
    assert b"user-id" not in b"".join(server.requests).lower()


def test_a_post_without_a_body_says_so(variant: str) -> None:
    """A server that waits for a body would never answer."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(HttpRequest("POST", "/api/custom"))
    assert b"Content-Length: 0\r\n" in server.requests[0]


def test_the_prefix_of_the_base_address_stays(variant: str) -> None:
    """A service below a path is asked below that path."""
    with (
        serve(polite) as server,
        open_sender(variant, f"{server.address}/api") as sender,
    ):
        sender.send(GET)
    assert server.requests[0].startswith(b"GET /api/example.com.json HTTP/1.1\r\n")


class Recorder(httpx.BaseTransport):
    """Notes every request that would have left the machine."""

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
    """What follows the base address must be a path, or nothing is sent."""
    recorder = Recorder()
    sender = Sender(settings_for("https://stats.example"), recorder)
    with pytest.raises(ConfigurationError, match="leads away from the base address"):
        sender.send(HttpRequest("GET", path), until=1e9, timeout=1)
    assert recorder.requests == []


@given(st.text(max_size=30), st.sampled_from(["", "/", "//", "/@", "/..//", "/\\"]))
def test_every_request_goes_to_the_base_origin(text: str, start: str) -> None:
    """Whatever the path is, the key goes to the one origin or nowhere."""
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


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(variant: str, status: int) -> None:
    """A redirect is the answer, and the other host is never asked."""

    def redirect(connection: Connection) -> None:
        connection.request()
        connection.respond(b"", status, f"Location: {other.address}/stolen")

    with (
        serve(polite) as other,
        serve(redirect) as server,
        open_sender(variant, server.address) as sender,
    ):
        response = sender.send()
    assert response.status == status
    assert response.headers["location"] == f"{other.address}/stolen"
    assert other.connections == 0


def test_cookies_are_neither_kept_nor_sent(variant: str) -> None:
    """A session that the service would begin is never gone on with."""

    def cookies(connection: Connection) -> None:
        while connection.request():
            connection.respond(b"{}", 200, "Set-Cookie: session=1", "Set-Cookie: b=2")

    with serve(cookies) as server, open_sender(variant, server.address) as sender:
        first = sender.send()
        sender.send()
    assert first.headers == {"content-length": "2"}
    assert b"cookie" not in b"".join(server.requests).lower()


def test_what_comes_back(variant: str) -> None:
    """Status, body, and headers with lower-case names, repeated ones joined."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond(
            b'{"ok":false}', 429, "RETRY-After: 7", "Vary: a", "vary: b", "X: caf\xe9"
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


OK = b"HTTP/1.1 200 OK\r\n"
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
def test_odd_but_whole_answers(
    variant: str, wire: bytes, status: int, body: bytes
) -> None:
    """What HTTP allows is taken, and the next request works as well."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(wire)
            if b"HTTP/1.0" in wire:
                return

    with serve(script) as server, open_sender(variant, server.address) as sender:
        for _ in range(2):
            response = sender.send()
            assert (response.status, response.body) == (status, body)


def gzipped(*parts: bytes, encoding: str = "gzip") -> bytes:
    """An answer whose body is *parts*."""
    body = b"".join(parts)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_gzip_is_inflated(variant: str) -> None:
    """The body is the content, in one member or in several."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(gzipped(gzip.compress(b'{"a":'), gzip.compress(b"1}")))

    with serve(script) as server, open_sender(variant, server.address) as sender:
        assert sender.send().body == sender.send().body == b'{"a":1}'
    assert server.connections == 1


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (gzipped(b"no gzip at all"), "it is no valid gzip"),
        (gzipped(gzip.compress(b"cut off")[:-3]), "its gzip ends in the middle"),
        (gzipped(b"x", encoding="br"), "it is encoded as 'br', and gzip was asked for"),
    ],
)
def test_what_can_not_be_inflated_is_a_response_error(
    variant: str, wire: bytes, reason: str
) -> None:
    """The error says what is wrong with the body, and the sender goes on."""
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


def endless(connection: Connection) -> None:
    """Send chunks until the client hangs up."""
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.send(b"8000\r\n" + bytes(0x8000) + b"\r\n")


def announced(connection: Connection) -> None:
    """Announce a terabyte, and send nothing of it."""
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n")
    connection.wait()


def bomb(connection: Connection) -> None:
    """Send 32 MiB in 32 KiB."""
    connection.send(gzipped(gzip.compress(bytes(32 * MIB))))
    connection.wait()


@pytest.mark.parametrize("script", [endless, announced, bomb])
def test_what_is_too_large_is_not_read_on(variant: str, script: object) -> None:
    """The error names the limit, the rest stays unread, and the sender goes on."""
    scripts = iter([script])

    def first_this_then_polite(connection: Connection) -> None:
        chosen = next(scripts, None)
        if chosen is None:
            polite(connection)
        else:
            connection.request()
            chosen(connection)

    with (
        serve(first_this_then_polite) as server,
        open_sender(variant, server.address, max_response_bytes=MIB) as sender,
    ):
        with pytest.raises(ResponseTooLargeError, match="1,048,576 bytes") as caught:
            sender.send()
        assert sender.send().status == 200
    assert server.connections == 2
    assert caught.value.request == GET
    assert caught.value.body == b""


def test_the_limit_itself_is_allowed(variant: str) -> None:
    """An answer of exactly the limit is whole."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond(bytes(1000))

    with (
        serve(script) as server,
        open_sender(variant, server.address, max_response_bytes=1000) as sender,
    ):
        assert len(sender.send().body) == 1000


def test_a_head_has_a_length_and_no_body(variant: str) -> None:
    """What a body would be long is no reason to refuse one that does not come."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n")

    with (
        serve(script) as server,
        open_sender(variant, server.address, max_response_bytes=1000) as sender,
    ):
        for _ in range(2):
            assert sender.send(HttpRequest("HEAD", "/x")).body == b""
