"""The emulator's server on a socket, and many threads at once."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import httpx
import pytest

from bare_client import NOW, bare_client
from sitestats.emulator import Emulator

TARGET = "/semicomplete.com.json?version=6&fields=pageviews&info=false"
ADD = "POST /api/websites/add HTTP/1.1"


@pytest.fixture(scope="module")
def demo() -> Emulator:
    """The demo's traffic."""
    return Emulator.demo(now=NOW)


def connect(address: str) -> socket.socket:
    """A connection to the server."""
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def exchange(address: str, *lines: str, body: bytes = b"") -> bytes:
    """All bytes that come back for a request of these lines."""
    head = "\r\n".join([*lines, "Host: localhost", "Connection: close", "", ""])
    with connect(address) as connection:
        connection.sendall(head.encode("latin-1") + body)
        got = b""
        while chunk := connection.recv(65536):
            got += chunk
        return got


def credentials(emulator: Emulator) -> list[str]:
    """The headers of an Admin request."""
    return [
        "Content-Type: application/json",
        f"Api-Key: {emulator.api_key}",
        f"User-Id: {emulator.user_id}",
    ]


def test_it_listens_within_the_block(demo: Emulator) -> None:
    """An open connection ends with the block, and then nothing listens."""
    with demo.serve() as address:
        connection = connect(address)
        connection.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert connection.recv(1) == b"H"
    with connection, suppress(ConnectionError):
        while connection.recv(65536):
            pass
    with pytest.raises(ConnectionRefusedError):
        connect(address)


def test_one_connection_serves_many_requests(demo: Emulator) -> None:
    """All requests on one connection get responses that any page may read."""
    with demo.serve() as address:
        twice = 2 * [f"GET {TARGET} HTTP/1.1", "Host: localhost", ""]
        got = exchange(address, *twice, f"GET {TARGET} HTTP/1.1")
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 3
    assert got.count(b'"pageviews":1586') == 3
    assert got.count(b"access-control-allow-origin: *\r\n") == 3


def test_nothing_is_logged(demo: Emulator, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed about requests or broken connections."""
    with demo.serve() as address:
        demo.fail_next(body="x" * 1000, drip=0.001)
        with connect(address) as connection:
            connection.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            connection.recv(1)
        httpx.get(f"{address}{TARGET}", trust_env=False)
    assert capfd.readouterr() == ("", "")


def test_a_program_that_never_leaves_its_block_ends() -> None:
    """And it ends in silence: DuckDB would print what it has not closed."""
    program = """
from sitestats.emulator import Emulator
import httpx
serving = Emulator.demo().serve()
address = serving.__enter__()
client = httpx.Client(trust_env=False)
client.get(f"{address}/api/websites")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60
    )
    assert (run.stdout, run.stderr) == (b"", b"")


# -- bodies


@pytest.mark.parametrize(
    "body",
    [
        b'{"hostname":' + b"[" * 100_000,
        b'{"hostname":' + b"1" * 5_000 + b"}",
        b'{"hostname":"\\ud800.example"}',
        b"\xff\xfe\x00",
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_body_that_python_can_t_read(
    demo: Emulator, body: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is a 400, and no broken connection."""
    length = f"Content-Length: {len(body)}"
    with demo.serve() as address:
        got = exchange(address, ADD, *credentials(demo), length, body=body)
    assert got.startswith(b"HTTP/1.1 400 ")
    assert capfd.readouterr() == ("", "")


def test_a_request_that_was_cut_off_is_none(demo: Emulator) -> None:
    """A body that ends early adds nothing, even where what came is whole JSON."""
    demo.forget_requests()
    lines = [ADD, "Host: a", *credentials(demo), "Content-Length: 100", "", ""]
    with demo.serve() as address, connect(address) as connection:
        connection.sendall("\r\n".join(lines).encode() + b'{"hostname":"cut.example"}')
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert "cut.example" not in demo.websites
    assert demo.requests == ()


# -- threads


def in_threads(number: int, work: Callable[[], None]) -> None:
    """Do the same in several threads at once."""
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("served", [False, True], ids=["in process", "socket"])
def test_many_threads_at_once(demo: Emulator, *, served: bool) -> None:
    """Threads that send different requests get their own responses."""
    with bare_client(demo) as client:
        targets = [f"{TARGET}&country={country}" for country in ("US", "DE", "FR")]
        wanted = [client.get(target).json()["pageviews"] for target in targets]
    assert len(set(wanted)) == 3
    wrong: list[object] = []
    with demo.serve() as address:

        def work() -> None:
            outside = httpx.Client(base_url=address, trust_env=False)
            with outside if served else bare_client(demo) as client:
                for target, pageviews in 5 * [*zip(targets, wanted, strict=True)]:
                    data = client.get(target).json()
                    if data["pageviews"] != pageviews:
                        wrong.append(data)

        in_threads(8, work)
    assert wrong == []
