"""The emulator's server on a socket, and many threads at once."""

from __future__ import annotations

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest

from bare_client import NOW, bare_client
from emulator.inside import connections_of
from sitestats.emulator import Emulator

TARGET = "/semicomplete.com.json?version=6&fields=pageviews&info=false"
GET = [f"GET {TARGET} HTTP/1.1", "Host: localhost", ""]


@pytest.fixture(scope="module")
def demo() -> Emulator:
    """The demo's traffic."""
    return Emulator.demo(now=NOW)


def connect(address: str) -> socket.socket:
    """A connection to the server."""
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def sent(connection: socket.socket, *lines: str) -> None:
    """Send the lines of a head."""
    connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))


def everything(connection: socket.socket) -> bytes:
    """All bytes that come until the connection is closed."""
    got = b""
    while chunk := connection.recv(65536):
        got += chunk
    return got


def test_it_listens_within_the_block(demo: Emulator) -> None:
    """An open connection ends with the block, and then nothing listens."""
    with demo.serve() as address:
        connection = connect(address)
        sent(connection, *GET)
        assert connection.recv(1) == b"H"
    with connection, suppress(ConnectionError):
        everything(connection)
    with pytest.raises(ConnectionRefusedError):
        connect(address)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"port": -1}, "port must be 0 to 65,535, not -1"),
        ({"port": 70_000}, "port must be 0 to 65,535, not 70,000"),
        *(
            ({"host": host}, "host must be a name or numbers of IPv4, such as")
            for host in ("", " ", "::1", "http://localhost", "localhost:80")
        ),
    ],
)
def test_a_place_that_is_not_one(
    demo: Emulator, given: dict[str, Any], words: str
) -> None:
    """A port or a host that gives no address is refused, and the error says why."""
    with pytest.raises(ValueError, match=words):
        demo.serve(**given)


def test_no_thread_can_start(demo: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what works without threads, and the port is free again."""

    def start(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    with demo.serve() as address:
        port = int(address.rpartition(":")[2])
    with monkeypatch.context() as patched:
        patched.setattr("threading.Thread.start", start)
        serving = demo.serve(port)
        with pytest.raises(OSError, match=r"new thread\): .* use emulator\.client"):
            serving.__enter__()
    with pytest.raises(ConnectionRefusedError):
        connect(address)


def test_one_connection_serves_many_requests(demo: Emulator) -> None:
    """All requests on one connection get responses that any page may read, none of
    which waits for an acknowledgement.
    """
    serving: Any = demo.serve()
    with serving as address, connect(address) as connection:
        sent(connection, *GET[:2])
        assert connection.recv(1) == b"H"
        (end,) = connections_of(serving)
        assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        sent(connection, *GET, *GET[:2], "Connection: close")
        got = everything(connection)
    assert got.count(b"TTP/1.1 200 OK\r\n") == 3
    assert got.count(b'"pageviews":1586') == 3
    assert got.count(b"access-control-allow-origin: *\r\n") == 3


def test_nothing_is_logged(demo: Emulator, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed about requests or broken connections."""
    with demo.serve() as address:
        demo.fail_next(body="x" * 1000, drip=0.001)
        with connect(address) as connection:
            sent(connection, *GET)
            connection.recv(1)
        httpx.get(f"{address}{TARGET}", trust_env=False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_a_program_that_never_leaves_its_block_ends() -> None:
    """A program that forgets to leave the block ends all the same, and in silence."""
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


@pytest.mark.parametrize("served", [False, True], ids=["in process", "socket"])
def test_many_threads_at_once(demo: Emulator, *, served: bool) -> None:
    """Threads that send different requests get their own responses."""
    targets = [f"{TARGET}&country={country}" for country in ("US", "DE", "FR")]
    with demo.serve() as address:

        def work(_number: int = 0) -> list[int]:
            outside = httpx.Client(base_url=address, trust_env=False)
            with outside if served else bare_client(demo) as client:
                found = [client.get(target).json() for target in 5 * targets]
            return [data["pageviews"] for data in found]

        wanted = work()
        assert len(set(wanted)) == 3
        with ThreadPoolExecutor(8) as pool:
            assert all(found == wanted for found in pool.map(work, range(8)))
