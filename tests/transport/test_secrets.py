"""Credentials are in no log, no error and no object that stays."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import anyio
import httpcore
import httpx
import pytest
import trio
from respx import MockRouter

from both_clients import KEY, USER, VARIANTS, WITH_TRIO, opened
from loopback import Connection, polite, serve, served, silent
from secret_search import everything_logged, shown_by
from sitestats import (
    AsyncClient,
    Client,
    ConnectionFailedError,
    SiteStatsError,
    StatsQuery,
    WebsiteSpec,
)
from transport.inside import break_the_reading

PLENTY = 30.0
QUERY = StatsQuery("a.example").fields("pageviews")
OPTIONS: Any = {"api_key": KEY, "user_id": USER, "proxy": None, "retries": 0}
variants = pytest.mark.parametrize("variant", VARIANTS)


def everything(error: BaseException) -> str:
    """All that a crash reporter could find, every frame's variables included."""
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join([*report.format(), repr(error), repr(vars(error))])


def assert_hidden(text: str) -> None:
    """*text* has neither credential."""
    assert KEY not in text
    assert USER not in text


@pytest.fixture(autouse=True)
def log() -> Iterator[list[str]]:
    """Log everything, and check in the end that no credential is in it."""
    with everything_logged() as lines:
        yield lines
    assert_hidden("\n".join(lines))


END = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
PLACES = {
    "a status line": b"HTTP/1.1 400 %s\r\n" + END,
    "a broken status line": b"HTTP/1.1 %s\r\n\r\n",
    "a header": b"HTTP/1.1 400 Bad\r\nX-Key: %s\r\n" + END,
    "a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\nx\r\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("is_given", [False, True])
def test_what_is_logged_below(place: str, is_given: bool, log: list[str]) -> None:  # noqa: FBT001
    """A key that comes back is in no record, though httpcore logs it at DEBUG."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(PLACES[place] % KEY.encode())

    given: Any = {"http_client": httpx.Client()} if is_given else {"proxy": None}
    with (
        serve(script) as server,
        Client(server.address, api_key=KEY, retries=0, **given) as client,
        suppress(SiteStatsError),
    ):
        client.stats.get(QUERY)
    assert is_given == any(f"'name': '{httpcore.__name__}.http11'" in it for it in log)


@variants
def test_quoted_headers_are_redacted(variant: str, routes: MockRouter) -> None:
    """An error that quotes the request's headers is redacted."""
    quoted = httpx.LocalProtocolError(f"Illegal header value b'{KEY}' or {USER}")
    routes.post("/").mock(side_effect=quoted)
    with (
        opened(variant) as client,
        pytest.raises(ConnectionFailedError, match="Illegal header value b'…' or …"),
    ):
        client.request("POST", "/", json={})


# --- interrupts -------------------------------------------------------------------


def test_an_interrupt_shows_no_credential() -> None:
    """KeyboardInterrupt is raised without the variables that held the headers, with the
    lines; what the caller is handling keeps its own; and the client goes on.
    """

    def script(connection: Connection) -> None:
        connection.request()
        if len(connection.server.requests) > 1:
            connection.respond()
            return
        # A signal that comes before the main thread waits is as good.
        time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        connection.server.ending.wait(PLENTY)

    mine = ValueError()

    def call(client: Client) -> None:
        try:
            raise mine
        except ValueError:
            client.request("POST", "/", json={})

    with serve(script) as server, Client(server.address, **OPTIONS) as client:
        with pytest.raises(KeyboardInterrupt) as caught:
            call(client)
        assert client.request("GET", "/") == {}
    assert_hidden(everything(caught.value))
    assert "handle_request" in {entry.name for entry in caught.traceback}
    assert caught.value.__context__ is mine
    assert mine.__traceback__ is not None


@pytest.mark.parametrize("loop", WITH_TRIO[1:])
def test_a_cancelled_task_shows_no_credential(loop: str) -> None:
    """The CancelledError of asyncio and the Cancelled of trio keep no credential."""
    seen: list[BaseException] = []

    async def main() -> None:
        async with AsyncClient(server.address, **OPTIONS) as client:
            with anyio.move_on_after(0.05):
                try:
                    await client.stats.get(QUERY)
                except (asyncio.CancelledError, trio.Cancelled) as cancelled:
                    seen.append(cancelled)
                    assert_hidden(everything(cancelled))
                    raise

    with serve(silent) as server:
        anyio.run(main, backend=loop)
    assert len(seen) == 1


@variants
def test_a_mistake_within_keeps_its_lines(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody expects comes out with the lines that led to it, and without
    their variables.
    """
    break_the_reading(monkeypatch)
    with (
        served(variant, polite) as (client, _),
        pytest.raises(TypeError, match="not callable") as caught,
    ):
        client.request("GET", "/")
    assert "send_and_read" in {entry.name for entry in caught.traceback}
    assert_hidden(shown_by(caught.value))


# --- data that looks like a credential --------------------------------------------


@variants
def test_a_user_id_within_a_hostname_stays_in_the_list(
    variant: str, routes: MockRouter
) -> None:
    """A website that is named like the user is listed, and is not added again."""
    entry = {
        **dict.fromkeys(("is_public", "has_ssl", "has_script"), True),
        "hostname": "our-shop-account.example",
        "timezone": "UTC",
        "label": "",
        **dict.fromkeys(("pageviews", "events"), 0),
        "own_hostname": None,
    }
    listed = {"success": True, "websites": [entry]}
    routes.get("/api/websites").respond(json=listed)
    with opened(variant, user_id="our-shop-account") as client:
        assert client.websites.list()[0].hostname == entry["hostname"]
        plan = client.websites.plan([WebsiteSpec("our-shop-account.example")])
    assert [item.state for item in plan.items] == ["present"]


@variants
def test_statistics_keep_a_value_that_looks_like_a_credential(
    variant: str, routes: MockRouter
) -> None:
    """A successful response is never rewritten, neither its body nor its values."""
    body = {"pages": [{"value": f"/{KEY}", "pageviews": 1, "visitors": 1}]}
    content = json.dumps(body).encode()
    routes.get("/a.example.json").respond(content=content)
    with opened(variant) as client:
        stats = client.stats.get(StatsQuery("a.example").fields("pages"))
    assert stats.pages[0].value == f"/{KEY}"
    assert stats.body == content
