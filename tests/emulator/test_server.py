"""The emulator's server, under threads, and in a forked process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import httpx
import pytest

from bare_client import NOW, bare_client
from sitestats.emulator import Emulator

pytestmark = pytest.mark.standard_library

TARGET = "/semicomplete.com.json?version=6&fields=pageviews&info=false"


@pytest.fixture(scope="module")
def demo() -> Emulator:
    """The demo's traffic."""
    return Emulator.demo(now=NOW)


def exchange(address: str, request: bytes) -> bytes:
    """All bytes that come back for raw bytes."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        got = b""
        while chunk := connection.recv(65536):
            got += chunk
        return got


def raw(*lines: str, body: bytes = b"") -> bytes:
    """A request with these lines, and no connection after it."""
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body


def test_one_connection_serves_many_requests(demo: Emulator) -> None:
    """All requests on one connection get a response."""
    request = f"GET {TARGET} HTTP/1.1\r\nHost: localhost\r\n".encode()
    with demo.serve() as address:
        got = exchange(
            address, 2 * (request + b"\r\n") + request + b"Connection: close\r\n\r\n"
        )
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 3
    assert got.count(b'"pageviews":1586') == 3


def test_head_has_the_length_and_no_body(demo: Emulator) -> None:
    """The response to HEAD ends with its headers."""
    with demo.serve() as address:
        got = exchange(
            address,
            raw(f"HEAD {TARGET} HTTP/1.1", "Host: localhost"),
        )
    assert got.endswith(b"\r\n\r\n")
    assert b"content-length: 0" not in got


@pytest.mark.parametrize(
    "headers", ["Transfer-Encoding: chunked", "Content-Length: x", "Content-Length: -1"]
)
def test_a_body_of_unknown_length(demo: Emulator, headers: str) -> None:
    """A body without Content-Length is refused, and the connection closed."""
    with demo.serve() as address:
        got = exchange(
            address,
            raw("POST /api/websites/add HTTP/1.1", "Host: localhost", headers),
        )
    assert got.startswith(b"HTTP/1.1 411 ")
    assert got.endswith(b'{"ok":false,"error":"Client must specify Content-Length"}')


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "BREW", "init__"])
def test_any_method_gets_the_emulator_s_own_response(
    demo: Emulator, method: str
) -> None:
    """A method that nobody expects gets a 405, not a page of the HTTP library."""
    request = (
        f"{method} {TARGET} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    with demo.serve() as address:
        got = exchange(address, request.encode())
    assert got.startswith(b"HTTP/1.1 405 ")
    assert b"allow: GET, HEAD, OPTIONS" in got
    assert b"<" not in got


def test_nothing_is_logged(demo: Emulator, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed about requests or broken connections."""
    with demo.serve() as address:
        host, _, port = address.removeprefix("http://").partition(":")
        demo.fail_next(body="x" * 1000, drip=0.001)
        connection = socket.create_connection((host, int(port)))
        connection.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        connection.recv(1)
        connection.close()
        httpx.get(f"{address}{TARGET}", trust_env=False)
    assert capfd.readouterr() == ("", "")


def test_two_servers_of_one_emulator(demo: Emulator) -> None:
    """One emulator can have two servers; a port in use is an error."""
    with demo.serve() as one, demo.serve() as other:
        assert one != other
        for address in (one, other):
            response = httpx.get(f"{address}{TARGET}", trust_env=False)
            assert response.json()["pageviews"] == 1586
        with pytest.raises(OSError, match=r"\w"), demo.serve(int(one.split(":")[-1])):
            pass


@pytest.mark.parametrize("served", [False, True], ids=["in process", "socket"])
def test_many_threads_at_once(demo: Emulator, *, served: bool) -> None:
    """Threads that send different requests get their own responses."""
    wanted = {"US": 0, "DE": 0, "FR": 0, "GB": 0}
    with bare_client(demo) as client:
        for country in wanted:
            wanted[country] = client.get(f"{TARGET}&country={country}").json()[
                "pageviews"
            ]
    assert len(set(wanted.values())) == 4
    wrong: list[object] = []

    def work(get_stats: Callable[[str], httpx.Response]) -> None:
        for _ in range(5):
            for country, pageviews in wanted.items():
                data = get_stats(f"{TARGET}&country={country}").json()
                if data["pageviews"] != pageviews:
                    wrong.append(data)

    with demo.serve() as address:
        clients = [
            httpx.Client(base_url=address, trust_env=False)
            if served
            else bare_client(demo)
            for _ in range(8)
        ]
        threads = [
            threading.Thread(target=work, args=(client.get,)) for client in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()
    assert wrong == []


def test_adding_one_website_from_many_threads() -> None:
    """Of many requests that add the same website, one succeeds."""
    emulator = Emulator(website_limit=3)
    statuses: list[int] = []

    def work() -> None:
        with bare_client(emulator) as client:
            for number in range(6):
                payload = {"hostname": f"site{number}.example"}
                response = client.post("/api/websites/add", json=payload)
                statuses.append(response.status_code)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (statuses.count(200), statuses.count(400)) == (3, 33)
    assert len(emulator.websites) == len(set(emulator.websites)) == 3


# --- requests of strangers ------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:1", "localhost.", "a.localhost:80", "127.0.0.1"),
        *("127.0.0.1:8000", "192.0.2.7", "[::1]:80", "[::1]", "stand-in", "stand-in:1"),
    ],
)
def test_a_host_that_names_the_server(demo: Emulator, host: str) -> None:
    """Programs reach the server by an address, localhost, or an allowed name."""
    with demo.serve(allowed_hosts=["Stand-In"]) as address:
        got = exchange(address, raw(f"GET {TARGET} HTTP/1.1", f"Host: {host}"))
    assert got.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: evil.example"],
        ["Host: evil.example:8000"],
        ["Host: 127.0.0.1.evil.example"],
        ["Host: evil-localhost"],
        ["Host: user@localhost"],
        ["Host: stand-in.evil.example"],
        ["Host: localhost:80:80"],
        ["Host: "],
        ["Host: localhost", "Host: evil.example"],
        [],
    ],
)
def test_a_host_that_names_another(demo: Emulator, headers: list[str]) -> None:
    """A website whose name was made to lead here can neither read nor add anything."""
    demo.forget_requests()
    with demo.serve(allowed_hosts="stand-in") as address:
        got = exchange(address, raw(f"GET {TARGET} HTTP/1.1", *headers))
    assert got.startswith(b"HTTP/1.1 421 ")
    assert b"allowed_hosts" in got
    assert b"pageviews" not in got
    assert demo.requests == ()


@pytest.mark.parametrize("cors", [None, "*", "http://localhost:5173"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_pages_may_read_where_cors_says_so(
    demo: Emulator, cors: str | None, method: str
) -> None:
    """Only pages of the given origin may read what the server sends."""
    with demo.serve(cors=cors) as address:
        response = httpx.request(method, f"{address}{TARGET}", trust_env=False)
        demo.fail_next(status=500)
        failed = httpx.request(method, f"{address}{TARGET}", trust_env=False)
    for one in (response, failed):
        assert one.headers.get("access-control-allow-origin") == cors


def test_cors_of_a_simulated_failure(demo: Emulator) -> None:
    """A header that a test wants to see is sent as it is."""
    headers = {"access-control-allow-origin": "https://other.example"}
    demo.fail_next(status=500, headers=headers)
    with demo.serve() as address:
        response = httpx.get(f"{address}{TARGET}", trust_env=False)
    assert response.headers["access-control-allow-origin"] == "https://other.example"


@pytest.mark.parametrize(
    "cors", ["", "localhost", "null", "https://a.example/", "*\r\nX: y", "http://a\nb"]
)
def test_cors_is_an_origin(demo: Emulator, cors: str) -> None:
    """What is no origin is refused before anything is served."""
    with pytest.raises(ValueError, match="cors is"):
        demo.serve(cors=cors)


ADD = "POST /api/websites/add HTTP/1.1"


def credentials(emulator: Emulator) -> list[str]:
    """The headers of an Admin request."""
    return [
        "Host: localhost",
        "Content-Type: application/json",
        f"Api-Key: {emulator.api_key}",
        f"User-Id: {emulator.user_id}",
    ]


@pytest.mark.parametrize("length", ["1048577", "9" * 12, "9" * 19, "9" * 5_000])
def test_a_huge_length_is_refused(
    demo: Emulator, length: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A body above 1 MiB is refused before it is read, whatever length it announces."""
    with demo.serve() as address:
        got = exchange(
            address, raw(ADD, *credentials(demo), f"Content-Length: {length}")
        )
    assert got.startswith(b"HTTP/1.1 413 ")
    assert b'"error":"The body is longer than 1,048,576 bytes"' in got
    assert capfd.readouterr() == ("", "")


def test_two_lengths_are_refused(demo: Emulator) -> None:
    """A request with two different lengths of its body is refused (RFC 9112)."""
    with demo.serve() as address:
        lengths = "Content-Length: 2", "Content-Length: 5"
        got = exchange(address, raw(ADD, *credentials(demo), *lengths))
    assert got.startswith(b"HTTP/1.1 400 ")


DEEP = b'{"hostname":' + b"[" * 100_000


@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b"[" * 1_000_000,
        b'{"hostname":' + b"1" * 5_000 + b"}",
        b'{"hostname":"\\ud800.example"}',
        b'{"hostname":"x.example","label":' + b'{"a":' * 50_000,
        b"\xff\xfe\x00",
    ],
)
def test_a_hostile_body_is_an_error_response(
    demo: Emulator, body: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    """A body that Python can't read is a 400, and no broken connection."""
    with demo.serve() as address:
        request = raw(
            ADD, *credentials(demo), f"Content-Length: {len(body)}", body=body
        )
        got = exchange(address, request)
    assert got.startswith(b"HTTP/1.1 400 ")
    assert capfd.readouterr() == ("", "")
    with bare_client(demo) as client:
        json = {"Content-Type": "application/json"}
        response = client.post("/api/websites/add", content=body, headers=json)
        assert response.status_code == 400


def test_half_a_surrogate_pair_in_a_label(demo: Emulator) -> None:
    """A label that no UTF-8 can carry is listed as JSON's own escape."""
    with bare_client(demo) as client:
        added = client.post(
            "/api/websites/add",
            content=b'{"hostname":"pair.example","label":"\\ud800"}',
            headers={"Content-Type": "application/json"},
        )
        assert added.status_code == 200
        listed = client.get("/api/websites")
    assert b'"label":"\\ud800"' in listed.content


def test_a_request_that_was_cut_off_is_none(demo: Emulator) -> None:
    """A body that ends early adds nothing, even where what came is whole JSON."""
    demo.forget_requests()
    with demo.serve() as address:
        host, _, port = address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(
                raw(
                    *(ADD, *credentials(demo), "Content-Length: 100"),
                    body=b'{"hostname":"cut.example"}',
                )
            )
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100) == b""
    assert "cut.example" not in demo.websites
    assert demo.requests == ()
