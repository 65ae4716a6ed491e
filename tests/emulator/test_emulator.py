"""The class Emulator: set-up, the demo, transports, and the server."""

from __future__ import annotations

import ast
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import httpx
import pytest

import sitestats.emulator
from bare_client import NOW, bare_client
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


def test_it_shares_nothing_with_the_client_but_the_wire() -> None:
    """The emulator imports only HTTP values and errors of the client."""
    modules = sorted(PACKAGE.glob("*.py"))
    assert len(modules) > 12
    fronts = set[str]()
    for module in modules:
        ours = {name for name in imports(module) if name.startswith("sitestats")}
        shared = {
            name
            for name in ours
            if not name.startswith(("sitestats.emulator", "sitestats._common.wire"))
        }
        if shared:
            fronts.add(module.name)
    assert fronts == {"_emulator.py"}


def test_the_demo_ends_yesterday() -> None:
    """The demo's four days are the last four before today, in UTC."""
    emulator = Emulator.demo(now=NOW)
    with bare_client(emulator) as client:
        data = client.get(
            "/semicomplete.com.json",
            params={"version": 6, "fields": "pageviews,histogram", "start": "today-7d"},
        ).json()
    days = {entry["date"]: entry["pageviews"] for entry in data["histogram"]}
    assert data["pageviews"] == sum(days.values()) == 1586
    assert [day for day, pageviews in days.items() if pageviews] == [
        (NOW - timedelta(days=ago)).date().isoformat() for ago in (4, 3, 2, 1)
    ]


def test_the_demo_has_the_pages_of_the_real_traffic() -> None:
    """The demo's most visited pages are those of the log, without robots."""
    emulator = Emulator.demo(now=NOW)
    with bare_client(emulator) as client:
        data = client.get(
            "/semicomplete.com.json", params={"version": 6, "fields": "pages"}
        ).json()
    assert [(entry["value"], entry["pageviews"]) for entry in data["pages"]][:4] == [
        ("/projects/xdotool/", 203),
        ("/projects/xdotool/xdotool.xhtml", 143),
        ("/articles/dynamic-dns-with-dhcp/", 122),
        ("/", 117),
    ]


def test_two_emulators_share_nothing() -> None:
    """Websites, rows, keys, requests, faults and searches stay in their emulator."""
    one, other = Emulator(now=NOW), Emulator(now=NOW)
    one.add_website("example.com")
    one.load([{"hostname": "example.com", "metadata.a_text": "b"}])
    one.fail_next(status=503)
    one.add_key(access=["example.com"])
    with bare_client(one, key=one.api_key) as client:
        client.get("/")
    assert other.websites == ()
    assert other.requests == ()
    assert other.faults_left == 0
    assert one.api_key != other.api_key
    assert one.user_id != other.user_id
    with bare_client(other, key=one.api_key) as client:
        assert client.get("/api/websites").status_code == 401
    other.add_website("example.com")
    with bare_client(other) as client:
        data = client.get("/example.com.json?version=6&fields=pageviews").json()
    assert data["pageviews"] == 0


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_clients_need_no_socket_either(backend: str) -> None:
    """One transport works in sync and async clients, on both event loops."""
    emulator = Emulator.demo(now=NOW)

    async def main() -> int:
        async with httpx.AsyncClient(
            transport=emulator.transport(), base_url="http://emulator.test"
        ) as client:
            response = await client.get(
                "/semicomplete.com.json?version=6&fields=pageviews"
            )
            return int(response.json()["pageviews"])

    assert anyio.run(main, backend=backend) == 1586


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


def test_a_kept_connection_ends_with_the_server() -> None:
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


def test_recorded_requests_hide_the_key() -> None:
    """A recorded request has everything, and no credential in its repr."""
    emulator = Emulator(now=NOW)
    with bare_client(emulator) as client:
        client.get("/caf%C3%A9.example.json", params={"pages": "/a b,/é", "x": ""})
        client.post("/api/websites/add", json={"hostname": "example.com"})
    first, second = emulator.requests
    assert (first.method, first.path) == ("GET", "/caf%C3%A9.example.json")
    assert first.params == {"pages": "/a b,/é", "x": ""}
    assert first.headers["API-KEY"] == emulator.api_key
    assert second.json() == {"hostname": "example.com"}
    shown = repr(emulator.requests) + repr(first.headers) + str(second)
    assert emulator.api_key not in shown
    assert emulator.user_id not in shown
    assert "accept" in shown
    emulator.forget_requests()
    assert emulator.requests == ()


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
        lambda: Emulator(role="Owner"),
        lambda: Emulator(role="develper"),
        lambda: Emulator(role=""),
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


def test_an_internationalised_name_is_kept_as_punycode() -> None:
    """A website added by its Unicode name is found by its punycode."""
    emulator = Emulator(now=NOW)
    emulator.add_website("BÜCHER.example", public=True)
    assert emulator.websites == ("xn--bcher-kva.example",)
    with bare_client(emulator, key=None) as client:
        for name in ("xn--bcher-kva.example", "b%C3%BCcher.example"):
            response = client.get(f"/{name}.json?version=6&fields=pageviews")
            assert response.json()["hostname"] == "xn--bcher-kva.example"
