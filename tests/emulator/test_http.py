"""HTTP as any client may write it: chunks, blanks, whole addresses, dot segments."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from sitestats.emulator import Emulator

GET = "/example.com.json?version=6&fields=pageviews&info=false"
NEW = b'{"hostname": "new.example"}'


@pytest.fixture
def address(emulator: Emulator) -> Iterator[str]:
    """The host and the port of the emulator."""
    with emulator.serve() as address:
        yield address.removeprefix("http://")


def exchange(address: str, *parts: bytes) -> tuple[int, dict[str, object]]:
    """Send *parts* as they are; the status and the data of the response."""
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        for part in parts:
            connection.sendall(part)
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.headers["content-type"] == "application/json; charset=utf-8"
        return response.status, json.loads(response.read())


def head(emulator: Emulator, first: str, *headers: str) -> bytes:
    """The head of a request with the emulator's credentials."""
    own = f"Api-Key: {emulator.api_key}", f"User-Id: {emulator.user_id}", "Host: x"
    lines = [f"{first} HTTP/1.1", *own, "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


CHUNKED = "Transfer-Encoding: chunked"
LENGTH = f"Content-Length: {len(NEW)}"


def test_a_stream_of_httpx(emulator: Emulator, address: str) -> None:
    """A client that streams a body, whose length nobody knows, gets its response on a
    connection that stays.
    """
    headers = {"Api-Key": emulator.api_key, "User-Id": emulator.user_id}
    headers["Content-Type"] = "application/json"
    with httpx.Client(base_url=f"http://{address}", trust_env=False) as client:
        for status in (200, 400):
            pieces = iter([NEW[:5], NEW[5:]])
            path = "/api/websites/add"
            response = client.post(path, content=pieces, headers=headers)
            assert response.status_code == status


BROKEN = [
    ([CHUNKED], b"x\r\n"),
    ([CHUNKED], b"2\r\nabc\r\n0\r\n\r\n"),
    ([CHUNKED], b"fffffffffffffffffffffff\r\n"),
    ([CHUNKED, "Content-Length: 3"], b"xyz\r\n"),
    (["Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n"),
    (["Content-Length: many"], b""),
    (["Content-Length: 1", "Content-Length: 2"], b"ab"),
    (["X-Blank : 1"], b""),
    (["no header"], b""),
]


def test_what_is_not_http_is_json(emulator: Emulator, address: str) -> None:
    """A broken request gets an error in the usual form, and changes nothing."""
    for headers, body in BROKEN:
        post = head(emulator, "POST /api/websites/add", *headers)
        status, data = exchange(address, post, body)
        assert status == (501 if "gzip" in headers[0] else 400)
        assert (data["ok"], bool(data["error"])) == (False, True)
    status, data = exchange(address, b"GET /example.com.json HTTP/x\r\n\r\n")
    assert (status, data["ok"]) == (400, False)
    assert emulator.websites == ("example.com",)


EXPECT = "Expect: 100-continue"
UPGRADE = "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEA"


@pytest.mark.parametrize("offer", [(EXPECT,), UPGRADE], ids=["curl", "Java"])
def test_what_curl_and_java_offer_is_no_obstacle(
    emulator: Emulator, address: str, offer: tuple[str, ...]
) -> None:
    """Neither who waits to be told to go on, nor who offers HTTP/2, waits in vain."""
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        post = head(emulator, "POST /api/websites/add", *offer, LENGTH)
        connection.sendall(post if EXPECT in offer else post + NEW)
        if EXPECT in offer:
            assert connection.recv(99) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(NEW)
        assert connection.recv(9999).startswith(b"HTTP/1.1 200 ")
        connection.sendall(head(emulator, f"GET {GET}"))
        assert connection.recv(9999).startswith(b"HTTP/1.1 200 ")
    assert emulator.websites == ("example.com", "new.example")


def test_a_body_that_is_cut_off_is_not_processed(
    emulator: Emulator, address: str
) -> None:
    """A request that is not complete has no effect and no response."""
    host, _, port = address.partition(":")
    for header, body in (("Content-Length: 999", NEW), (CHUNKED, b"1b\r\n" + NEW[:5])):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head(emulator, "POST /api/websites/add", header) + body)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
    assert emulator.requests == ()


@pytest.mark.parametrize("blanks", ["{}", "{} ", " \t{}\t "])
def test_blanks_around_a_header_are_no_part_of_it(
    emulator: Emulator, address: str, blanks: str
) -> None:
    """The value of a header is the same with any blanks around it."""
    key = blanks.format(emulator.api_key)
    get = f"GET {GET} HTTP/1.1\r\nHost: x\r\nApi-Key:{key}\r\n\r\n"
    assert exchange(address, get.encode())[0] == 200
    assert emulator.requests[-1].headers["api-key"] == emulator.api_key


def test_a_header_that_is_sent_twice_is_a_list(
    emulator: Emulator, address: str
) -> None:
    """Neither of two keys is taken for the request's key."""
    status, data = exchange(address, head(emulator, f"GET {GET}", "api-key: other"))
    assert (status, data["ok"]) == (401, False)
    assert emulator.requests[-1].headers["Api-Key"] == f"{emulator.api_key}, other"


def test_a_whole_address_is_a_target(emulator: Emulator, address: str) -> None:
    """A client that takes it for a proxy gets the same response."""
    for start in ("http://example.org", "HTTPS://example.org:8080"):
        status, data = exchange(address, head(emulator, f"GET {start}{GET}"))
        assert (status, data["pageviews"]) == (200, 0)
        assert emulator.requests[-1].path == "/example.com.json"


DOTS = [
    "/example.com/../private.com.json",
    "/example.com/./a.json",
    "/example.com/a/..json",
    "/example.com/...json",
    "/example.com/%2E%2E/private.com.json",
    "/example.com/a%2F..%2Fb.json",
]


def test_dot_segments_name_no_page(emulator: Emulator, address: str) -> None:
    """An address that would lead elsewhere is unknown, however it is encoded."""
    emulator.add_website("private.com")
    query = "?version=6&fields=pageviews&info=false"
    for path in DOTS:
        status, data = exchange(address, head(emulator, f"GET {path}{query}"))
        assert (status, data["message"]) == (404, path)
    get = head(emulator, f"GET /example.com/.a../b...json{query}")
    assert exchange(address, get)[1]["path"] == "/.a../b.."


def test_head_has_the_headers_of_get(emulator: Emulator, http: httpx.Client) -> None:
    """HEAD is allowed wherever GET is, and has no body."""
    for path in (GET, "/api/websites", "/api/nothing", "/nowhere.example.json"):
        got, asked = http.get(path), http.head(path)
        assert asked.status_code == got.status_code
        assert asked.content == b""
        assert asked.headers["content-type"] == got.headers["content-type"]
    assert len(emulator.requests) == 8
