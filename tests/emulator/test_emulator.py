"""The class Emulator: set-up, its server, and what it shares with the client."""

from __future__ import annotations

import ast
import socket
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
import pytest

import sitestats.emulator
from bare_client import NOW, bare_client
from interrupts import at_each_place, works_in_another_thread
from sitestats import StatsQuery
from sitestats._common import thread_locks
from sitestats.emulator import Emulator

PACKAGE = Path(sitestats.emulator.__file__).parent


def imports(path: Path) -> set[str]:
    """The full names of modules that a file imports when it runs."""
    found: set[str] = set()
    for node in ast.walk(RunTime().visit(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = ["sitestats", "emulator"][: 3 - node.level] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


class RunTime(ast.NodeTransformer):
    """Leaves out the imports of type checkers."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        seen = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if seen else self.generic_visit(node)


SHARED = ("sitestats._common.wire", "sitestats._common.thread_locks")


def test_it_shares_nothing_with_the_client_but_the_wire() -> None:
    """The emulator imports only HTTP values, errors and locks of the client."""
    modules = sorted(PACKAGE.glob("*.py"))
    assert len(modules) > 12
    fronts = set[str]()
    for module in modules:
        ours = {name for name in imports(module) if name.startswith("sitestats")}
        shared = {
            name
            for name in ours
            if not name.startswith(("sitestats.emulator", *SHARED))
        }
        if shared:
            fronts.add(module.name)
    assert fronts == {"_emulator.py"}


def test_serve_listens_on_a_socket() -> None:
    """The emulator listens at the address within the block, and not after it."""
    emulator = Emulator.demo(now=NOW)
    target = "/semicomplete.com.json?version=6&fields=pageviews"
    with emulator.serve() as address, httpx.Client(base_url=address) as client:
        assert address.startswith("http://127.0.0.1:")
        assert client.get(target).json()["pageviews"] == 1586
        assert client.get(target).json()["pageviews"] == 1586
    with httpx.Client(base_url=address) as client, pytest.raises(httpx.ConnectError):
        client.get(target)


def test_an_open_connection_ends_with_the_server() -> None:
    """An open connection is closed at the end of the block."""
    emulator = Emulator.demo(now=NOW)
    with emulator.serve() as address:
        port = int(address.rpartition(":")[2])
        connection = socket.create_connection(("127.0.0.1", port), timeout=3)
        connection.sendall(b"GET /api/websites HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1) == b"H"
    with connection, suppress(ConnectionError):
        while connection.recv(65536):
            pass
    assert len(emulator.requests) == 1


def test_now_needs_a_zone_and_can_be_moved() -> None:
    """``now`` without a time zone is refused, and can be changed later."""
    with pytest.raises(ValueError, match="time zone"):
        Emulator(now=datetime(2026, 3, 15))  # noqa: DTZ001 - that is the point
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com")
    emulator.now = datetime(2024, 3, 31, 23, 30, tzinfo=UTC)
    with bare_client(emulator) as client:
        data = client.get("/example.com.json?version=6&fields=pageviews").json()
    assert (data["start"], data["end"]) == (
        "2024-02-29T00:00:00.000Z",
        "2024-03-31T23:59:59.999Z",
    )


def test_set_up_fails_loudly() -> None:
    """A mistake in the set-up is refused at once."""
    emulator = Emulator()
    emulator.add_website("example.com")
    for wrong in (
        lambda: Emulator(api_key=""),
        lambda: Emulator(api_key="a b"),
        lambda: Emulator(user_id="é"),
        lambda: Emulator(website_limit=-1),
        lambda: Emulator(contains_per_minute=-1),
        lambda: emulator.add_website("https://example.org"),
        lambda: emulator.add_website("EXAMPLE.com."),
        lambda: emulator.add_website("example.org", timezone="europe/amsterdam"),
        lambda: emulator.change_website("example.org", locked=True),
        lambda: emulator.change_website("example.com", timezone="nowhere"),
        lambda: emulator.add_key(access=["no host"]),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()
    for unknown in ({"hostname": "example.org"}, {"lockd": True}):
        with pytest.raises(TypeError):
            emulator.change_website("example.com", **unknown)
    assert emulator.websites == ("example.com",)


# A website with rows that another one can have, too.
SEARCHED = "*of-all-websites*"
ROWS = [{"path": "/of-all-websites", "hostname": "example.com"}]


# An interrupt in a generator that nobody needs any more can't be raised.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_anywhere_leaves_the_emulator_whole() -> None:
    """Wherever Ctrl-C comes while rows are loaded, a website is added and a search is
    made, another thread can do the same afterwards.
    """
    emulator, places = Emulator(now=NOW, contains_per_minute=10_000), 0
    emulator.add_website("example.com")
    within = (str(PACKAGE), thread_locks.__file__)
    with emulator.client() as client:

        def work(hostname: str) -> None:
            emulator.load(ROWS)
            emulator.fail_next(status=429, path="/none")
            client.websites.add(hostname)
            query = StatsQuery("example.com").fields("visitors").where(pages=SEARCHED)
            client.stats.get(query)

        work("first.example")
        for interrupt in at_each_place(lambda file: file.startswith(within), stride=61):
            with interrupt:
                work(f"during{places}.example")
            again = partial(work, f"after{places}.example")
            assert works_in_another_thread(again, seconds=30), places
            places += 1
    assert places > 10
