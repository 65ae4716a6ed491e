"""get_many of both clients, called in the same way by every test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import anyio
from attrs import frozen

from loopback import Connection
from sitestats import AsyncClient, Client, Outcome, RetryPolicy, StatsQuery

QUICK = RetryPolicy(wait_initial=0.001, wait_max=0.002)
GOOD = b'{"ok":true,"pageviews":1}'

Visit = Callable[[Outcome], object]


def query(name: str = "quick") -> StatsQuery:
    """A query for a website whose name tells the server how to respond."""
    return StatsQuery(f"{name}.example.com").fields("pageviews")


def name_of(request: bytes) -> str:
    """The name that `query` was called with."""
    return request.split(b".", 1)[0].removeprefix(b"GET /").decode()


def respond_by_name(connection: Connection) -> None:
    """Respond to every website but the silent one, which waits for the client."""
    while request := connection.request():
        if name_of(request) == "silent":
            connection.wait()
            return
        connection.respond(GOOD)


def our_threads() -> list[threading.Thread]:
    """The threads that the package has started, except the emulator's."""
    return [
        thread
        for thread in threading.enumerate()
        if thread.name.startswith("sitestats-") and "emulator" not in thread.name
    ]


def no_visit(_outcome: Outcome) -> object:
    """Go on after each outcome."""
    return None


@frozen
class GetMany:
    """Calls get_many of one client variant."""

    backend: str

    @property
    def is_async(self) -> bool:
        """Whether it runs on an event loop."""
        return self.backend != "blocking"

    def __call__(
        self,
        client: Callable[[type[Any]], Any] | str,
        queries: Any,
        visit: Visit = no_visit,
        after: Callable[[], object] = lambda: None,
        limits: dict[str, Any] | None = None,
        **options: Any,
    ) -> list[Outcome]:
        """Run *queries*, call *visit* with each outcome, stop when it returns true.

        *client* makes one of a class, or is the address of a server; *after* is
        called when the block was left and the client is still open; *limits* are
        those of a view of the client.
        """
        if isinstance(client, str):
            address = client

            def make(cls: type[Any]) -> Any:
                return cls(address, retries=QUICK)
        else:
            make = client
        if self.is_async:
            many = partial(
                _get_many_async, make, queries, visit, after, limits or {}, **options
            )
            return anyio.run(many, backend=self.backend)
        got: list[Outcome] = []
        with make(Client) as made:
            view = made.with_options(**(limits or {}))
            with view.stats.get_many(queries, **options) as stream:
                for outcome in stream:
                    got.append(outcome)
                    if visit(outcome):
                        break
            after()
        return got


async def _get_many_async(
    make: Callable[[type[Any]], Any],
    queries: Any,
    visit: Visit,
    after: Callable[[], object],
    limits: dict[str, Any],
    **options: Any,
) -> list[Outcome]:
    got: list[Outcome] = []
    async with make(AsyncClient) as made:
        view = made.with_options(**limits)
        async with view.stats.get_many(queries, **options) as stream:
            async for outcome in stream:
                got.append(outcome)
                if visit(outcome):
                    break
        after()
    return got


def indices(outcomes: Iterable[Outcome]) -> list[int]:
    """The indices of the queries, in the order of the outcomes."""
    return [outcome.index for outcome in outcomes]
