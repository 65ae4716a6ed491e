"""The deadline of get_many, with sockets that hang: it ends, and nothing is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from concurrency import GOOD, QUICK, GetMany, name_of, our_threads, query
from loopback import Connection, serve
from sitestats import (
    AsyncClient,
    AsyncOutcomes,
    Client,
    ConfigurationError,
    Outcomes,
    RateLimitedError,
    RequestTimeoutError,
    StatsQuery,
)

pytestmark = pytest.mark.slow

BACKENDS = ["blocking", "asyncio", "trio"]
SOON = 0.3
"""Seconds of a deadline that strikes."""
LATER = 5.0
"""Where a busy machine needs more than that for what has to come before."""
MOST = 20.0
"""Seconds that no run takes, unless it waits for one of the client's own timeouts."""


def collect(
    backend: str, address: str, queries: Any, **options: Any
) -> Outcomes | AsyncOutcomes:
    """The outcomes of one client variant, whose own timeouts are far away."""
    limits = {"timeout": 100.0, "total_timeout": 100.0, "retries": QUICK}
    if backend == "blocking":
        with Client(address, **limits) as client:
            return client.stats.get_many(queries, **options).collect()

    async def main() -> AsyncOutcomes:
        async with AsyncClient(address, **limits) as client:
            return await client.stats.get_many(queries, **options).collect()

    return anyio.run(main, backend=backend)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each client variant."""
    name: str = request.param
    return name


class Server:
    """Responds to quick queries; the others hang, each at its own place."""

    def __init__(self) -> None:
        self.left = threading.Semaphore(0)
        """Released once for each hanging request whose client hung up."""
        self.arrived: list[str] = []

    def script(self, connection: Connection) -> None:
        while request := connection.request():
            name = name_of(request)
            self.arrived.append(name)
            match name:
                case "quick":
                    connection.respond(GOOD)
                    continue
                case "head":
                    connection.send(b"HTTP/1.1 200 OK\r\nContent-Len")
                case "body":
                    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
                case "unwell":
                    connection.respond(b"{}", 503, "Retry-After: 50")
                    continue
                case _:
                    pass
            connection.wait()
            self.left.release()
            return


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """The address of *server*; afterwards no thread of ours is left."""
    with serve(server.script) as running:
        yield running.address
    assert our_threads() == []


def test_what_hangs_is_failed_by_then(backend: str) -> None:
    """Requests that hang anywhere end at the deadline, and the others succeed."""
    names = ["silent", "quick", "head", "quick", "body", "quick", "silent"]
    for soon in (SOON, LATER):
        server = Server()
        with serving(server) as address:
            began = time.monotonic()
            outcomes = collect(backend, address, map(query, names), deadline=soon)
            took = time.monotonic() - began
            for name in server.arrived:
                assert name == "quick" or server.left.acquire(timeout=30)
        if len(outcomes.succeeded) == 3 and len(server.arrived) == len(names):
            break
    assert soon <= took < MOST
    assert [one.index for one in outcomes.succeeded] == [1, 3, 5]
    assert [one.index for one in outcomes.failed] == [0, 2, 4, 6]
    for failed in outcomes.failed:
        assert isinstance(failed.error, RequestTimeoutError)
        assert f"deadline of get_many, {soon:g} s" in str(failed.error)
        assert failed.query.hostname in str(failed.error)
        assert failed.error.maybe_sent
        assert failed.error.request is not None
        assert failed.error.__context__ is None


def test_what_follows_is_failed_and_never_sent(backend: str) -> None:
    """Queries that were not sent when it strikes are failed, and never sent."""
    queries = [query("silent")] * 2 + [query()] * 30
    for soon in (SOON, LATER):
        server = Server()
        with serving(server) as address:
            outcomes = collect(backend, address, queries, deadline=soon, concurrency=2)
        if len(server.arrived) == 2:
            break
    assert server.arrived == ["silent"] * 2
    assert [one.index for one in outcomes] == [*range(32)]
    assert len(outcomes.failed) == 32
    for failed in outcomes.failed[2:]:
        assert isinstance(failed.error, RequestTimeoutError)
        assert not failed.error.maybe_sent
        assert failed.error.request is None


def test_pauses_end_too(backend: str) -> None:
    """A pause beyond the deadline is not begun: the query fails at once, and why."""
    server = Server()
    with serving(server) as address:
        began = time.monotonic()
        outcomes = collect(backend, address, [query("unwell")] * 3, deadline=50.0)
        assert time.monotonic() - began < MOST
    assert [type(one.error).__name__ for one in outcomes.failed] == ["ServerError"] * 3

    def refuse(connection: Connection) -> None:
        while connection.request():
            connection.respond(b"{}", 429, "Retry-After: 70")

    with serve(refuse) as running:
        outcomes = collect(
            backend, running.address, [query()] * 3, deadline=50.0, concurrency=1
        )
        assert len(running.requests) == 1
    for failed in outcomes.failed[1:]:
        assert isinstance(failed.error, RateLimitedError)
        assert "longer than the deadline allows" in str(failed.error)


def test_a_deadline_that_does_not_strike(backend: str) -> None:
    """A response that comes in time is not touched by it."""
    with serving(Server()) as address:
        outcomes = collect(backend, address, [query()] * 50, deadline=60.0)
    assert outcomes.failed == ()
    assert len(outcomes) == 50


def test_an_own_timeout_that_is_shorter(backend: str) -> None:
    """A timeout of the client that comes first is reported as what it is."""
    with serving(Server()) as address:
        if backend == "blocking":
            with Client(address, timeout=0.1, retries=0) as client:
                outcomes: Any = client.stats.get_many(
                    [query("silent")], deadline=50.0
                ).collect()
        else:

            async def main() -> Any:
                async with AsyncClient(address, timeout=0.1, retries=0) as client:
                    return await client.stats.get_many(
                        [query("silent")], deadline=50.0
                    ).collect()

            outcomes = anyio.run(main, backend=backend)
    (failed,) = outcomes.failed
    assert isinstance(failed.error, RequestTimeoutError)
    assert "within timeout, 0.1 s" in str(failed.error)


def test_the_deadline_counts_from_the_beginning_of_the_block(backend: str) -> None:
    """Time that the caller takes counts, and what succeeded before stays."""
    get_many = GetMany(backend)
    for soon in (SOON, LATER):

        def visit(_outcome: object, seconds: float = soon + 0.1) -> None:
            time.sleep(seconds)

        with serving(Server()) as address:
            got = get_many(address, [query()] * 3, visit, deadline=soon, concurrency=1)
        if got[0].error is None:
            break
    assert [one.error is None for one in got] == [True, False, False]


def test_a_retry_has_the_deadline_anew(backend: str) -> None:
    """A retry counts the same seconds again, or those that it is given."""

    def script(connection: Connection) -> None:
        while connection.request():
            if len(connection.server.requests) <= 2:
                connection.wait()
                return
            connection.respond(GOOD)

    async def retry_async(address: str) -> None:
        async with AsyncClient(address) as client:
            outcomes = await client.stats.get_many(
                [query()] * 2, deadline=SOON
            ).collect()
            assert len(outcomes.failed) == 2
            await anyio.sleep(SOON)
            assert (await outcomes.retry(deadline=None)).failed == ()

    if backend != "blocking":
        with serve(script) as running:
            anyio.run(retry_async, running.address, backend=backend)
        return
    for soon in (SOON, LATER):
        with serve(script) as running, Client(running.address) as client:
            outcomes = client.stats.get_many([query()] * 2, deadline=soon).collect()
            assert len(outcomes.failed) == 2
            time.sleep(soon)
            again = outcomes.retry()
            with pytest.raises(ConfigurationError, match="deadline is a number"):
                outcomes.retry(deadline=-1)
        if not again.failed:
            break
    assert again.failed == ()


def test_the_client_works_afterwards(backend: str) -> None:
    """A deadline that strikes leaves the client and its connections usable."""
    server = Server()
    queries = [query("silent")] * 3 + [query()] * 3

    def check(outcomes: Outcomes | AsyncOutcomes) -> None:
        # A busy machine may be too late for others, too.
        assert {0, 1, 2} <= {one.index for one in outcomes.failed}

    async def main(address: str) -> None:
        async with AsyncClient(address, max_connections=4) as client:
            for _ in range(3):
                check(await client.stats.get_many(queries, deadline=SOON).collect())
            assert (await client.stats.get(query())).pageviews == 1

    with serving(server) as address:
        if backend != "blocking":
            anyio.run(partial(main, address), backend=backend)
            return
        with Client(address, max_connections=4) as client:
            for _ in range(3):
                check(client.stats.get_many(queries, deadline=SOON).collect())
            assert client.stats.get(query()).pageviews == 1
            assert our_threads() == []


@pytest.mark.parametrize("cls", [Client, AsyncClient])
@pytest.mark.parametrize("value", [0, -1.0, "3", True, float("inf")])
def test_a_deadline_that_is_wrong(cls: Any, value: Any) -> None:
    """Anything but a number of seconds above 0 is an error of the call itself."""
    client = cls("https://analytics.example")
    with pytest.raises(ConfigurationError, match="deadline is a number of seconds"):
        client.stats.get_many([StatsQuery("a.example")], deadline=value)
