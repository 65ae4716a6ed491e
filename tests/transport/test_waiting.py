"""Waiting for sockets and for names: every wait has its limit."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from functools import partial
from selectors import EVENT_READ
from typing import Any

import anyio
import anyio.to_thread
import httpcore
import pytest

from broken_servers import OK, silent
from loopback import Connection, polite, resolving, serve
from sender_variants import GET, LONG, SyncSender, open_sender, settings_for
from sitestats._common.errors import ConnectionFailedError, RequestTimeoutError
from sitestats._transport.sender import AsyncSender
from sitestats._transport.waiting import OutOfTimeError, Ready, Waiting, run


def test_a_slow_look_up_is_given_up(variant: str) -> None:
    """The call ends by its limit while the name is still being looked up."""
    ended = threading.Event()

    def look_up() -> list[Any]:
        ended.wait(LONG)
        return []

    with (
        resolving(look_up),
        open_sender(variant, "http://many.test") as sender,
        pytest.raises(RequestTimeoutError) as caught,
    ):
        sender.send(total=0.1)
    assert not ended.is_set()
    ended.set()
    assert not caught.value.maybe_sent


def test_no_thread_for_a_name_is_a_failed_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where no thread can be started, the call fails as a connection does."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sender = SyncSender(settings_for("http://many.test"), None)
    with resolving(list), monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(ConnectionFailedError, match="no thread"):
            sender.send()
    sender.close()


def test_without_poll_select_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no poll, a call and its limit work by select."""
    monkeypatch.setattr(
        "sitestats._transport.waiting._Selector", selectors.SelectSelector
    )
    with serve(polite) as server, open_sender("blocking", server.address) as sender:
        assert sender.send().status == 200

    def silent(connection: Connection) -> None:
        connection.request()
        connection.wait()

    with (
        serve(silent) as server,
        open_sender("blocking", server.address) as sender,
        pytest.raises(RequestTimeoutError),
    ):
        sender.send(total=0.1)


def test_the_limit_holds_however_much_arrives() -> None:
    """Where bytes are always there, a call ends by its limit nevertheless."""
    ours, theirs = socket.socketpair()

    def read() -> Waiting[None]:
        for _ in range(100):
            yield Ready((ours,), EVENT_READ)

    with ours, theirs:
        theirs.send(b"x")
        with pytest.raises(OutOfTimeError):
            run(read(), (time.monotonic(), None), None, httpcore.ReadError)


pytestmark = pytest.mark.slow


def test_silence_has_a_limit_of_its_own(variant: str) -> None:
    """A silent server ends the call after timeout, before total_timeout."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond(b"{}")
        silent(connection)

    with serve(script) as server, open_sender(variant, server.address) as sender:
        # On a busy machine connecting may take longer than that timeout.
        sender.send()
        with pytest.raises(
            RequestTimeoutError, match=r"within timeout, 0\.05 s"
        ) as caught:
            sender.send(timeout=0.05)
    assert caught.value.maybe_sent
    assert "nothing came from" in str(caught.value)


def test_the_limit_of_silence_is_for_each_read(variant: str) -> None:
    """A slow response whose every read is within timeout is accepted."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.drip(OK + b"Content-Length: 2\r\n\r\n{}")

    with serve(script) as server, open_sender(variant, server.address) as sender:
        # 40 bytes, 20 ms each.
        assert sender.send(timeout=0.6).body == b"{}"


def test_very_long_timeouts(variant: str) -> None:
    """Timeouts that are too long for sockets are accepted."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        assert sender.send(total=1e12, timeout=1e12).status == 200
        assert sender.send(total=float("inf"), timeout=1e300).status == 200


def test_a_hung_look_up_holds_no_thread_of_the_program(loop: str) -> None:
    """While many names are being looked up, the program's own threads are free, and
    its event loop ends without them.
    """
    ended = threading.Event()

    def look_up() -> list[Any]:
        ended.wait(LONG)
        return []

    async def main() -> None:
        sender = AsyncSender(settings_for("http://many.test", max_connections=60))
        until = time.monotonic() + LONG
        async with anyio.create_task_group() as group:
            for _ in range(60):
                group.start_soon(partial(sender.send, GET, until=until, timeout=LONG))
            await anyio.sleep(0.05)
            # More than these there are not.
            await anyio.to_thread.run_sync(int)
            group.cancel_scope.cancel()
        await sender.aclose()

    began = time.monotonic()
    with resolving(look_up):
        anyio.run(main, backend=loop)
        assert time.monotonic() - began < LONG / 2
        ended.set()
