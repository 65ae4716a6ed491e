"""Who may send, who waits, and which connection is used."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import anyio.lowlevel
import pytest

from both_clients import KEY, QUERY, USER, WITH_TRIO, opened
from children import exit_code
from loopback import (
    COUNTED,
    Connection,
    closed_address,
    counting,
    resolving,
    serve,
    served,
    wait_until,
)
from sitestats import (
    AsyncClient,
    Client,
    ClientClosedError,
    ConnectionFailedError,
    RequestTimeoutError,
    TransportError,
)
from sitestats.types import HttpRequest
from transport.inside import (
    AwaitedExchange,
    Exchange,
    Pool,
    Stop,
    StoppedError,
    run_blocking,
    send_request,
    set_clock_of_pools,
    set_idle_seconds,
    waiting_for_a_place,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*without TLS")
PLENTY = 30.0
OPTIONS: Any = {"api_key": KEY, "user_id": USER, "proxy": None, "retries": 0}
variants = pytest.mark.parametrize("variant", WITH_TRIO)
loops = pytest.mark.parametrize("loop", WITH_TRIO[1:])


def echoes(connection: Connection) -> None:
    """Respond to each request with its own path."""
    while request := connection.request():
        connection.respond(b'"%b"' % request.split(b" ")[1])


def silent(connection: Connection) -> None:
    """Respond when the test is over."""
    connection.request()
    connection.server.ending.wait(PLENTY)


def exchange() -> Exchange:
    """An exchange with plenty of time."""
    return Exchange(HttpRequest("GET", "/"), time.monotonic() + PLENTY, PLENTY)


# --- places -----------------------------------------------------------------------


PATHS = [f"/{number}" for number in range(200)]


@variants
def test_threads_and_tasks_share_a_client(variant: str) -> None:
    """Each of 50 at once gets its own responses, within the limit of connections."""
    with (
        served(variant, echoes, max_connections=10, retries=0) as (client, server),
        ThreadPoolExecutor(50) as executor,
    ):
        assert [*executor.map(lambda path: client.request("GET", path), PATHS)] == PATHS
    assert server.connections <= 10


def test_who_waits_longest_is_next() -> None:
    """A place is handed over; whoever just left it waits behind the others."""
    pool, order = Pool(1), list[int]()

    def work(number: int) -> None:
        one = exchange()
        run_blocking(pool.enter(one))
        order.append(number)
        pool.leave(one)

    run_blocking(pool.enter(first := exchange()))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        wait_until(lambda number=number: len(first.queue) == number + 1)
    pool.leave(first)
    run_blocking(pool.enter(exchange()))
    assert order == [0, 1, 2, 3, 4]
    for thread in threads:
        thread.join()


WAITED = r"before total_timeout\. It waited for one of 1 connections first\."


def test_a_place_that_was_not_left_is_free() -> None:
    """Ctrl-C may come before one is left; whoever comes then has it."""
    pool = Pool(1)
    run_blocking(pool.enter(first := exchange()))
    first.is_over = True
    run_blocking(pool.enter(exchange()))


@loops
def test_a_loop_that_ends_leaves_its_places(loop: str) -> None:
    """The next loop of the same thread has all places."""

    async def abandon(pool: Pool) -> None:
        await pool.enter(AwaitedExchange(HttpRequest("GET", "/"), PLENTY, PLENTY))

    pool = Pool(1)
    anyio.run(abandon, pool, backend=loop)
    anyio.run(abandon, pool, backend=loop)


@loops
def test_a_read_that_never_waits_lets_others_go_on(loop: str) -> None:
    """TLS may have bytes for each; the time of the whole call counts all the same."""
    turns, sock = list[None](), ssl.SSLSocket.__new__(ssl.SSLSocket)

    async def others() -> None:
        while True:
            turns.append(await anyio.lowlevel.checkpoint())

    async def main() -> None:
        until = time.monotonic() + PLENTY
        one = AwaitedExchange(HttpRequest("GET", "/"), until, PLENTY)
        async with anyio.create_task_group() as group:
            group.start_soon(others)
            with suppress(TimeoutError):
                for _ in range(1_000):
                    await one.do(sock, anyio.wait_readable, int)
                    one.until = until if len(turns) < 5 else 0
                pytest.fail("nobody had a turn, or the time did not count")
            group.cancel_scope.cancel()

    anyio.run(main, backend=loop)


@loops
def test_a_task_that_waits_for_a_place_has_a_limit(loop: str) -> None:
    """A task has the limit that a thread has. A call that is cancelled hands its place
    over.
    """

    async def main() -> None:
        async with AsyncClient(server.address, max_connections=1, **OPTIONS) as client:
            hasty = client.with_options(total_timeout=0.2)
            async with anyio.create_task_group() as group:
                group.start_soon(client.stats.get, QUERY)
                await anyio.wait_all_tasks_blocked()
                with pytest.raises(RequestTimeoutError, match=WAITED) as caught:
                    await hasty.stats.get(QUERY)
                assert not caught.value.maybe_sent
                group.cancel_scope.cancel()
            with pytest.raises(
                RequestTimeoutError, match=r"total_timeout\.$"
            ) as caught:
                await client.with_options(total_timeout=1).stats.get(QUERY)
            assert caught.value.maybe_sent

    with serve(silent) as server:
        anyio.run(main, backend=loop)


# --- connections ------------------------------------------------------------------


@variants
def test_a_connection_is_used_again_for_reads(variant: str) -> None:
    """Reads share a connection; a write has a new one, which nobody has closed yet."""
    with served(variant, echoes) as (client, server):
        for number in range(3):
            assert client.request("GET", f"/{number}") == f"/{number}"
        assert server.connections == 1
        client.request("POST", "/write", json={})
        client.request("GET", "/read")
    assert server.connections == 2


def test_a_system_without_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has none: a call waits all the same, and has its limits."""
    monkeypatch.delattr("select.poll", raising=False)
    with served("blocking", echoes) as (client, _):
        assert client.request("GET", "/1") == "/1"
    with (
        served("blocking", silent, timeout=0.1, retries=0) as (client, _),
        pytest.raises(RequestTimeoutError, match="within timeout"),
    ):
        client.stats.get(QUERY)
    with (
        opened("blocking", closed_address(), retries=0) as client,
        pytest.raises(ConnectionFailedError, match="Nothing listens there"),
    ):
        client.stats.get(QUERY)


@variants
@pytest.mark.parametrize("seconds", [0.0, PLENTY])
def test_an_old_connection_is_not_used(
    variant: str, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Neither one that was idle for long, which a server may close just then, nor one
    that the server has closed.
    """
    set_idle_seconds(monkeypatch, seconds)

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond()
        if not seconds:
            connection.wait()

    with served(variant, script, retries=0) as (client, server):
        for number in range(1, 4):
            assert client.request("GET", "/") == {}
            wait_until(lambda: not seconds or all(one.closed for one in server.open))
            assert server.connections == number


@variants
def test_idle_connections_of_a_burst(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older ones are closed, although the newest one is used again and again."""
    burst = threading.Barrier(5)

    def script(connection: Connection) -> None:
        connection.request()
        burst.wait(PLENTY)
        connection.respond(COUNTED)
        counting(connection)

    seconds = [1_000.0]
    set_clock_of_pools(monkeypatch, lambda: seconds[0])
    with served(variant, script) as (client, server):
        client.stats.get_many([QUERY] * 5).collect()
        for seconds[0] in (1_020.0, 1_040.0):
            client.stats.get(QUERY)
        wait_until(lambda: sum(one.closed for one in server.open) == 4)
        assert server.connections == 5


def test_closing_wakes_who_waits() -> None:
    """A thread that waits for a place when the client is closed gets an error."""
    pool = Pool(1)
    run_blocking(pool.enter(first := exchange()))
    with ThreadPoolExecutor(3) as executor:
        waiting = [
            executor.submit(run_blocking, pool.enter(exchange())) for _ in range(3)
        ]
        wait_until(lambda: len(first.queue) == 4)
        pool.close(first.group)
        for one in waiting:
            assert isinstance(one.exception(PLENTY), ClientClosedError)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_forked_child_has_connections_of_its_own() -> None:
    """It uses none of its parent's, and closes none of them."""
    with serve(echoes) as server, Client(server.address, **OPTIONS) as client:
        client.request("GET", "/1")

        def work() -> None:
            assert client.request("GET", "/2") == "/2"

        assert exit_code(work) == 0
        assert server.connections == 2
        assert client.request("GET", "/3") == "/3"
        assert server.connections == 2


# --- what another thread ends -----------------------------------------------------


def stopped(work: Callable[[Stop], object], is_waiting: Callable[[], object]) -> None:
    """Begin *work* in a thread, and stop it once it waits."""
    stop = Stop()
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(work, stop)
        wait_until(is_waiting)
        began = time.monotonic()
        stop.stop()
        assert isinstance(future.exception(PLENTY), StoppedError)
        assert time.monotonic() - began < PLENTY / 2


def send(client: Client, stop: Stop) -> None:
    """Send a request that *stop* ends."""
    until = time.monotonic() + PLENTY
    request = HttpRequest("GET", "/")
    send_request(client, request, until=until, timeout=PLENTY, ending=stop.ending)


def test_a_stop_ends_what_waits_for_a_name() -> None:
    """The look-up itself goes on, in a thread that nobody waits for."""
    looking, go_on = threading.Event(), threading.Event()

    def look_up() -> list[Any]:
        looking.set()
        go_on.wait(PLENTY)
        return []

    with resolving(look_up), Client("http://many.test", **OPTIONS) as client:
        stopped(lambda stop: send(client, stop), looking.is_set)
        go_on.set()


def test_what_waits_for_a_place_has_a_limit_and_an_end() -> None:
    """Waiting counts towards the limit; nothing was sent, and the error says why.
    Nobody gets the place that a thread waited for in vain.
    """
    with (
        serve(silent) as server,
        Client(server.address, max_connections=1, **OPTIONS) as client,
        ThreadPoolExecutor(1) as executor,
    ):
        first = Stop()
        has_place = executor.submit(send, client, first)
        wait_until(lambda: server.requests)
        with pytest.raises(RequestTimeoutError, match=WAITED) as caught:
            client.with_options(total_timeout=0.2).stats.get(QUERY)
        assert not caught.value.maybe_sent
        queue = waiting_for_a_place(client)
        stopped(lambda stop: send(client, stop), lambda: len(queue) == 2)
        assert len(queue) == 1
        first.stop()
        assert isinstance(has_place.exception(PLENTY), StoppedError)
        stopped(lambda stop: send(client, stop), lambda: len(server.requests) == 2)


def test_a_stop_leaves_the_connections_of_others_alone() -> None:
    """What was used by an exchange that is over is not shut down."""
    with serve(echoes) as server, Client(server.address, **OPTIONS) as client:
        stop = Stop()
        send(client, stop)
        stop.stop()
        assert client.request("GET", "/1") == "/1"
        assert server.connections == 1
        with pytest.raises(StoppedError):
            send(client, stop)
        with pytest.raises(StoppedError):
            stop.sleep(PLENTY)


# --- names and addresses ----------------------------------------------------------


@variants
def test_the_next_address_is_tried(variant: str) -> None:
    """Where one address of a host does not respond, another one may."""
    with serve(echoes) as server:
        found = [(2, 1, 6, "", (f"127.0.0.{it}", server.port)) for it in (2, 1)]
        with (
            resolving(lambda: [*found]),
            opened(variant, f"http://many.test:{server.port}") as client,
        ):
            assert client.request("GET", "/1") == "/1"


@variants
@pytest.mark.parametrize("kind", ["unknown", "without an address", "hanging", "broken"])
def test_a_host_without_an_address(variant: str, kind: str) -> None:
    """It is a failed connection, and certainly nothing was sent. A look-up that hangs
    takes the timeout, and no event loop's thread. A mistake in one is raised as it is.
    """
    go_on, timeout = threading.Event(), 0.05 if kind == "hanging" else PLENTY

    def look_up() -> list[Any]:
        if kind == "unknown":
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        if kind == "hanging":
            go_on.wait(PLENTY)
        if kind == "broken":
            raise LookupError
        return []

    with (
        resolving(look_up),
        opened(variant, "http://many.test", retries=0, timeout=timeout) as client,
        pytest.raises(LookupError if kind == "broken" else TransportError) as caught,
    ):
        client.request("GET", "/")
    go_on.set()
    if not isinstance(caught.value, TransportError):
        return
    assert isinstance(caught.value, RequestTimeoutError) == (kind == "hanging")
    assert caught.value.phase == ("tcp" if kind == "without an address" else "name")
    assert not caught.value.maybe_sent
    assert caught.value.temporary == (kind != "unknown")
