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

import anyio
import attrs
import httpx
import pytest
import trio

from loopback import Connection, Script, polite, serve
from secret_search import shown_by
from sender_variants import ADD, GET, KEY, LONG, USER, open_sender, settings_for
from sitestats import Client, StatsQuery, WebsiteSpec
from sitestats._common.errors import ConnectionFailedError, SiteStatsError
from sitestats._transport.sender import AsyncSender, Sender
from user_transports import Given, raises

LARGE = attrs.evolve(ADD, body=b"x" * 8_000_000)
"""Too large for the buffers on the way: sending it waits for the other side."""


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
    """*text* has neither credential, and no usable part of one."""
    assert KEY not in text
    assert USER not in text


@pytest.fixture(autouse=True)
def quiet_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Log everything, and check in the end that no credential is in it."""
    caplog.set_level(logging.DEBUG)
    for name in ("httpcore", "httpx", "asyncio", "sitestats"):
        caplog.set_level(logging.DEBUG, logger=name)
    yield
    assert_hidden(caplog.text)
    for record in caplog.get_records("call"):
        assert_hidden(repr(vars(record)))


def test_a_request_is_logged_without_its_key(
    variant: str, caplog: pytest.LogCaptureFixture
) -> None:
    """For each request httpx logs a line with the address and no key."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(ADD)
    level = logging.INFO
    named = [
        one for one in caplog.records if (one.name, one.levelno) == ("httpx", level)
    ]
    (line,) = named
    assert f"POST {server.address}/api/websites/add" in line.getMessage()


def never_reads(connection: Connection) -> None:
    """Accept, and never read."""
    connection.server.ending.wait(LONG)


def test_a_request_that_is_not_taken_shows_no_credential(variant: str) -> None:
    """The error of a request that was sent in part shows no credential."""
    with (
        serve(never_reads) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(SiteStatsError) as caught,
    ):
        sender.send(LARGE, timeout=0.05)
    assert_hidden(everything(caught.value))


def test_quoted_headers_are_redacted(variant: str) -> None:
    """An error that quotes the request's headers is redacted."""
    error = httpx.LocalProtocolError(f"Illegal header value b'{KEY}' or {USER}")
    with (
        open_sender(
            variant, "https://stats.example", transport=Given(raises(error))
        ) as sender,
        pytest.raises(ConnectionFailedError, match="Illegal header value b'…' or …"),
    ):
        sender.send(ADD)


def test_an_exception_being_handled_keeps_its_frames() -> None:
    """An exception that the caller is handling keeps its frames."""

    def script(connection: Connection) -> None:
        interrupts("receiving")(connection)

    mine = ValueError()
    with serve(script) as server:
        sender = Sender(settings_for(server.address))
        interrupt: BaseException | None = None
        try:
            try:
                raise mine
            except ValueError:
                sender.send(GET, until=time.monotonic() + LONG, timeout=LONG)
        except KeyboardInterrupt as caught:
            interrupt = caught
        sender.close()
    assert interrupt is not None
    assert interrupt.__context__ is mine
    assert mine.__traceback__ is not None


def test_senders_show_no_credential(variant: str) -> None:
    """No credential is in a sender's repr or attributes."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        sender.send(ADD)
        assert_hidden(repr(sender.sender))
        assert_hidden(repr(vars(sender.sender)))


# Interrupts -----------------------------------------------------------------


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
        connection.server.ending.wait(LONG)

    return script


@pytest.mark.parametrize("when", ["sending", "receiving"])
def test_an_interrupt_shows_no_credential(when: str) -> None:
    """KeyboardInterrupt is raised without the variables that held the headers; the
    lines are there.
    """
    request = LARGE if when == "sending" else ADD
    scripts = iter([interrupts(when)])

    def script(connection: Connection) -> None:
        next(scripts, polite)(connection)

    with serve(script) as server:
        sender = Sender(settings_for(server.address))
        with pytest.raises(KeyboardInterrupt) as caught:
            sender.send(request, until=time.monotonic() + LONG, timeout=LONG)
        # And the sender goes on.
        response = sender.send(GET, until=time.monotonic() + LONG, timeout=LONG)
        sender.close()
    assert_hidden(everything(caught.value))
    assert {"run", "handle_request"} <= {one.name for one in caught.traceback}
    assert response.status == 200


class Holding(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport with the headers in its frame when it is interrupted."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = request.headers.raw
        raise KeyboardInterrupt(len(headers))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = request.headers.raw
        await anyio.sleep_forever()
        raise AssertionError(headers)


def test_the_frames_of_an_interrupt_show_no_credential() -> None:
    """An interrupt in the frame that holds the headers does not keep it."""
    sender = Sender(settings_for("https://stats.example"), Holding())
    with pytest.raises(KeyboardInterrupt) as caught:
        sender.send(ADD, until=time.monotonic() + LONG, timeout=LONG)
    sender.close()
    assert_hidden(everything(caught.value))


def test_a_cancelled_task_of_asyncio_shows_no_credential() -> None:
    """The CancelledError of asyncio keeps no frame with a credential."""

    async def main() -> None:
        sender = AsyncSender(settings_for("https://stats.example"), Holding())
        until = time.monotonic() + LONG
        task = asyncio.create_task(sender.send(ADD, until=until, timeout=LONG))
        await anyio.wait_all_tasks_blocked()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert_hidden(everything(caught.value))
        await sender.aclose()

    asyncio.run(main())


def test_a_cancelled_task_of_trio_shows_no_credential() -> None:
    """The Cancelled exception of trio keeps no frame with a credential."""
    seen: list[BaseException] = []

    async def main() -> None:
        sender = AsyncSender(settings_for("https://stats.example"), Holding())
        with trio.move_on_after(0.01):
            try:
                await sender.send(ADD, until=time.monotonic() + LONG, timeout=LONG)
            except trio.Cancelled as cancelled:
                seen.append(cancelled)
                assert_hidden(everything(cancelled))
                raise
        await sender.aclose()

    trio.run(main)
    assert len(seen) == 1


def test_a_mistake_within_keeps_its_lines(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody expects comes out with the lines that led to it, and without
    their variables.
    """
    monkeypatch.setattr("sitestats._transport.framing.Framing.feed", None)
    with (
        serve(polite) as server,
        open_sender(variant, server.address) as sender,
        pytest.raises(TypeError, match="not callable") as caught,
    ):
        sender.send(ADD)
    assert {"_exchange", "_receiving"} <= {entry.name for entry in caught.traceback}
    assert_hidden(everything(caught.value))


# Data that looks like a credential --------------------------------------------


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
