"""Senders in real programs: threads, tasks, forks, and closing."""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from children import exit_code
from loopback import Connection, contexts, polite, serve
from sender_variants import ADD, GET, LONG, SyncSender, open_sender, settings_for
from sitestats._common.errors import ClientClosedError, RequestTimeoutError
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._transport.sender import AsyncSender

FORKING = pytest.mark.filterwarnings(
    "ignore:This process.*is multi-threaded:DeprecationWarning"
)


def echoes(connection: Connection) -> None:
    """Respond to each request with its own path."""
    while request := connection.request():
        connection.respond(request.split(b" ")[1])


def numbered(number: int) -> HttpRequest:
    """A request that differs from the others."""
    return HttpRequest("GET", f"/{number}")


async def send_once(sender: AsyncSender, request: HttpRequest = GET) -> HttpResponse:
    """Send *request* with limits that do not matter."""
    return await sender.send(request, until=time.monotonic() + LONG, timeout=LONG)


# Threads and tasks ----------------------------------------------------------


def test_fifty_threads_share_a_sender() -> None:
    """Each of 50 threads gets its own response, within the limit of connections."""
    with serve(echoes) as server:
        blocking = SyncSender(settings_for(server.address, max_connections=10), None)
        with ThreadPoolExecutor(50) as executor:
            futures = [
                executor.submit(blocking.send, numbered(number))
                for number in range(500)
            ]
            bodies = [future.result(LONG).body for future in futures]
        blocking.close()
    assert bodies == [b"/%d" % number for number in range(500)]
    assert server.connections <= 10


def test_threads_that_start_together_read_the_certificates_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Certificates, which take long, are read once for fifty threads."""
    behind, trusting = contexts("localhost")
    made: list[ssl.SSLContext] = []
    together = threading.Barrier(10)

    def make(_verify: object) -> ssl.SSLContext:
        time.sleep(0.01)
        made.append(trusting)
        return trusting

    def send() -> HttpResponse:
        together.wait(LONG)
        return blocking.send()

    monkeypatch.setattr("sitestats._transport.tls.make_context", make)
    with serve(polite, behind) as server:
        blocking = SyncSender(settings_for(server.address), None)
        with ThreadPoolExecutor(10) as executor:
            for future in [executor.submit(send) for _ in range(10)]:
                assert future.result(LONG).status == 200
        blocking.close()
    assert len(made) == 1


def test_two_hundred_tasks_share_a_sender(run: Callable[..., Any]) -> None:
    """Each of 200 tasks gets its own response, though most have to wait."""

    async def main() -> dict[int, bytes]:
        sender = AsyncSender(settings_for(server.address, max_connections=10))
        bodies: dict[int, bytes] = {}

        async def one(number: int) -> None:
            bodies[number] = (await send_once(sender, numbered(number))).body

        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(one, number)
        await sender.aclose()
        return bodies

    with serve(echoes) as server:
        bodies = run(main)
    assert bodies == {number: b"/%d" % number for number in range(200)}
    assert server.connections <= 10


def responds_late(connection: Connection) -> None:
    """Respond only when the test is over."""
    connection.request()
    connection.server.ending.wait(LONG)


def assert_waited(error: RequestTimeoutError) -> None:
    """The error says that the time passed waiting for a connection."""
    message = str(error)
    found = re.search(r"([\d.]+) s of them spent waiting for one of 1 connec", message)
    assert found, message
    assert 0.02 < float(found[1]) < LONG
    assert not error.maybe_sent


def test_a_thread_that_waits_for_a_connection_has_a_limit() -> None:
    """Waiting counts towards the limit; the error says for how long, and unsent."""
    with serve(responds_late) as server, ThreadPoolExecutor(1) as executor:
        blocking = SyncSender(settings_for(server.address, max_connections=1), None)
        first = executor.submit(blocking.send, total=2.0)
        while not server.requests:
            time.sleep(0.001)
        with pytest.raises(RequestTimeoutError) as caught:
            blocking.send(ADD, total=0.5)
        assert isinstance(first.exception(LONG), RequestTimeoutError)
        blocking.close()
    assert_waited(caught.value)
    assert len(server.requests) == 1


def test_a_task_that_waits_for_a_connection_has_a_limit(
    run: Callable[..., Any],
) -> None:
    """Waiting counts towards the limit; the error says for how long, and unsent."""

    async def main() -> RequestTimeoutError:
        sender = AsyncSender(settings_for(server.address, max_connections=1))
        async with anyio.create_task_group() as group:
            group.start_soon(send_once, sender)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(RequestTimeoutError) as caught:
                await sender.send(ADD, until=time.monotonic() + 0.5, timeout=LONG)
            group.cancel_scope.cancel()
        await sender.aclose()
        return caught.value

    with serve(responds_late) as server:
        assert_waited(run(main))


# Loops and processes --------------------------------------------------------


@FORKING
def test_a_forked_child_has_limits_of_its_own() -> None:
    """A forked child starts its own watchdog thread, so its requests have limits."""

    def drips(connection: Connection) -> None:
        if server.connections == 1:
            polite(connection)
        else:
            connection.request()
            connection.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 3000)

    with serve(drips) as server:
        blocking = SyncSender(settings_for(server.address), None)
        blocking.send()

        def work() -> None:
            with pytest.raises(RequestTimeoutError):
                blocking.send(total=0.1)

        assert exit_code(work) == 0
        assert blocking.send().status == 200
        blocking.close()


# The end --------------------------------------------------------------------


def test_nothing_is_left_after_closing(variant: str) -> None:
    """Closing leaves no connection and no thread, and closing twice is allowed."""
    with serve(polite) as server:
        with open_sender(variant, server.address) as sender:
            sender.send()
            assert sender.sender.is_open
            sender.close()
            assert not sender.sender.is_open
            with pytest.raises(ClientClosedError):
                sender.send()
        for connection in server.open:
            while not connection.closed:
                time.sleep(0.001)
    assert server.connections == 1


def test_an_unused_sender_has_nothing_to_close(variant: str) -> None:
    """Making a sender opens no connection and starts no thread."""
    with serve(polite) as server, open_sender(variant, server.address) as sender:
        assert not sender.sender.is_open
        assert threading.active_count() < 10
    assert server.connections == 0
