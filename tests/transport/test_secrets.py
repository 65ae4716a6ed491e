"""Credentials are in no log, no error and no object that stays."""

from __future__ import annotations

import asyncio
import json
import logging
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

from both_clients import KEY, USER, VARIANTS, WITH_TRIO, opened
from loopback import Connection, Script, polite, serve
from secret_search import everything_logged, shown_by
from sitestats import AsyncClient, Client, SiteStatsError, StatsQuery, WebsiteSpec
from sitestats._common.errors import ConnectionFailedError, TransportError

PLENTY = 30.0
QUERY = StatsQuery("a.example").fields("pageviews")
OPTIONS: Any = {"api_key": KEY, "user_id": USER, "proxy": None, "retries": 0}
MUCH = "x" * 8_000_000
"""Too large for the buffers on the way: sending it waits for the other side."""
variants = pytest.mark.parametrize("variant", VARIANTS)


def everything(error: BaseException) -> str:
    """All that a crash reporter could find, every frame's variables included."""
    seen: list[BaseException] = []
    parts: list[str] = []
    found: list[BaseException | None] = [error]
    while found:
        link = found.pop()
        if link is None or link in seen:
            continue
        seen.append(link)
        report = traceback.TracebackException.from_exception(link, capture_locals=True)
        parts += [*report.format(), repr(link), str(link), repr(vars(link))]
        found += [link.__cause__, link.__context__]
    return "\n".join(parts)


def assert_hidden(text: str) -> None:
    """*text* has neither credential."""
    assert KEY not in text
    assert USER not in text


@pytest.fixture(autouse=True)
def quiet_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Log everything, and check in the end that no credential is in it."""
    caplog.set_level(logging.DEBUG)
    for name in (httpcore.__name__, httpx.__name__, "asyncio", "sitestats"):
        caplog.set_level(logging.DEBUG, logger=name)
    yield
    assert_hidden(caplog.text)
    for record in caplog.get_records("call"):
        assert_hidden(repr(vars(record)))


@variants
def test_a_request_is_logged_without_its_key(
    variant: str, caplog: pytest.LogCaptureFixture
) -> None:
    """For each request httpx logs a line with the address and no key."""
    with serve(polite) as server, opened(variant, server.address) as client:
        client.request("POST", "/api/custom", json={})
        inner = getattr(client, "inner", client)
        assert_hidden(repr(inner._sender) + repr(vars(inner._sender)))
    level = logging.INFO
    (line,) = (
        it for it in caplog.records if (it.name, it.levelno) == (httpx.__name__, level)
    )
    assert f"POST {server.address}/api/custom" in line.getMessage()


END = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
PLACES = {
    "a status line": b"HTTP/1.1 400 %s\r\n" + END,
    "a broken status line": b"HTTP/1.1 %s\r\n\r\n",
    "a header": b"HTTP/1.1 400 Bad\r\nX-Key: %s\r\n" + END,
    "a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\nx\r\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("given", [False, True], ids=["ours", "a client of httpx"])
def test_what_is_logged_below(place: str, given: bool) -> None:  # noqa: FBT001
    """A key that comes back is in no record, though httpcore logs it at DEBUG."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(PLACES[place] % KEY.encode())

    options = {**OPTIONS}
    if given:
        options["http_client"] = httpx.Client()
        del options["proxy"]
    with (
        everything_logged() as lines,
        serve(script) as server,
        Client(server.address, **options) as client,
        suppress(SiteStatsError),
    ):
        client.stats.get(QUERY)
    assert given == any(f"'name': '{httpcore.__name__}.http11'" in it for it in lines)
    assert_hidden("\n".join(lines))


def never_reads(connection: Connection) -> None:
    """Accept, and never read."""
    connection.server.ending.wait(PLENTY)


@variants
def test_a_request_that_is_not_taken_shows_no_credential(variant: str) -> None:
    """The error of a request that was sent in part shows no credential."""
    with (
        serve(never_reads) as server,
        opened(variant, server.address, timeout=0.05) as client,
        pytest.raises(TransportError) as caught,
    ):
        client.request("POST", "/", json=MUCH)
    assert_hidden(shown_by(caught.value))


@variants
def test_quoted_headers_are_redacted(variant: str) -> None:
    """An error that quotes the request's headers is redacted."""

    def fail(_request: httpx.Request) -> httpx.Response:
        raise httpx.LocalProtocolError(f"Illegal header value b'{KEY}' or {USER}")

    with (
        opened(variant, fail) as client,
        pytest.raises(ConnectionFailedError, match="Illegal header value b'…' or …"),
    ):
        client.request("POST", "/", json={})


# --- interrupts -------------------------------------------------------------------


def interrupts(when: str) -> Script:
    """Interrupt the main thread once it waits, for reading or for writing."""

    def script(connection: Connection) -> None:
        if when == "receiving":
            connection.request()
        # A signal that comes before the main thread waits is as good.
        time.sleep(0.02)
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)
        connection.server.ending.wait(PLENTY)

    return script


@pytest.mark.parametrize("when", ["sending", "receiving"])
def test_an_interrupt_shows_no_credential(when: str) -> None:
    """KeyboardInterrupt is raised without the variables that held the headers, with the
    lines; what the caller is handling keeps its own; and the client goes on.
    """
    scripts = iter([interrupts(when)])

    def script(connection: Connection) -> None:
        next(scripts, polite)(connection)

    mine = ValueError()
    interrupt: BaseException | None = None
    with serve(script) as server, Client(server.address, **OPTIONS) as client:
        try:
            try:
                raise mine
            except ValueError:
                client.request("POST", "/", json=MUCH if when == "sending" else {})
        except KeyboardInterrupt as caught:
            interrupt = caught
        assert client.request("GET", "/") == {"ok": True}
    assert interrupt is not None
    assert_hidden(everything(interrupt))
    lines = [frame.name for frame in traceback.extract_tb(interrupt.__traceback__)]
    assert "handle_request" in lines
    assert interrupt.__context__ is mine
    assert mine.__traceback__ is not None


class Holding(httpx.AsyncBaseTransport):
    """A transport with the headers in its frame when it is cancelled."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = request.headers.raw
        await anyio.sleep_forever()
        raise AssertionError(headers)


@pytest.mark.parametrize("loop", WITH_TRIO[1:])
def test_a_cancelled_task_shows_no_credential(loop: str) -> None:
    """The CancelledError of asyncio and the Cancelled of trio keep no credential."""
    seen: list[BaseException] = []

    async def main() -> None:
        mine = httpx.AsyncClient(transport=Holding())
        async with AsyncClient(
            "https://a.example", api_key=KEY, http_client=mine
        ) as client:
            with anyio.move_on_after(0.01):
                try:
                    await client.stats.get(QUERY)
                except (asyncio.CancelledError, trio.Cancelled) as cancelled:
                    seen.append(cancelled)
                    assert_hidden(everything(cancelled))
                    raise

    anyio.run(main, backend=loop)
    assert len(seen) == 1


@variants
def test_a_mistake_within_keeps_its_lines(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody expects comes out with the lines that led to it, and without
    their variables.
    """
    monkeypatch.setattr("sitestats._transport.reading.Reading.feed", None)
    with (
        serve(polite) as server,
        opened(variant, server.address) as client,
        pytest.raises(TypeError, match="not callable") as caught,
    ):
        client.request("GET", "/")
    assert "send_and_read" in {entry.name for entry in caught.traceback}
    assert_hidden(shown_by(caught.value))


# --- data that looks like a credential --------------------------------------------


def responding(status: int, body: bytes) -> Script:
    """Respond to every request with *body*."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.respond(body, status)

    return script


def test_a_user_id_within_a_hostname_stays_in_the_list() -> None:
    """A website that is named like the user is listed, and is not added again."""
    entry = {
        "hostname": "our-shop-account.example",
        "timezone": "UTC",
        "label": "",
        "is_public": False,
        "has_ssl": True,
        "has_script": True,
        "own_hostname": None,
        "pageviews": 1,
        "events": 0,
    }
    body = json.dumps({"success": True, "websites": [entry]}).encode()
    spec = WebsiteSpec("our-shop-account.example", timezone="UTC", label="")
    with (
        serve(responding(200, body)) as server,
        Client(server.address, api_key=KEY, user_id="our-shop-account") as client,
    ):
        assert client.websites.list()[0].hostname == "our-shop-account.example"
        plan = client.websites.plan([spec])
    assert [item.state for item in plan.items] == ["present"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, f'{{"ok": false, "error": "no {KEY}"}}'),
        (200, f'{{"pageviews": "{KEY}"}}'),
        (200, f"<html><title>{KEY}</title>"),
        (404, f'{{"error": "{KEY}"}}'),
        (302, KEY),
    ],
)
def test_an_error_shows_no_credential_that_its_response_repeats(
    status: int, body: str
) -> None:
    """Whatever its status was: only what passes as data is left as it came."""
    with (
        serve(responding(status, body.encode())) as server,
        Client(server.address, api_key=KEY, user_id=USER, proxy=None) as client,
        pytest.raises(SiteStatsError) as caught,
    ):
        client.stats.get(StatsQuery("a.example").fields("pageviews"))
    # The variables of this test have it.
    assert_hidden(shown_by(caught.value))


def test_statistics_keep_a_value_that_looks_like_a_credential() -> None:
    """A successful response is never rewritten, neither its body nor its values."""
    pages = [{"value": f"/{KEY}", "pageviews": 1, "visitors": 1}]
    body = json.dumps({"pages": pages}).encode()
    with (
        serve(responding(200, body)) as server,
        Client(server.address, api_key=KEY, proxy=None) as client,
    ):
        stats = client.stats.get(StatsQuery("a.example").fields("pages"))
    assert stats.pages[0].value == f"/{KEY}"
    assert stats.body == body
