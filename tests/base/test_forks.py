"""What a forked child has of its parent, and what all clients of a process share."""

from __future__ import annotations

import gc
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from base.inside import HeldAcrossForks, Registry
from both_clients import QUERY
from children import exit_code
from loopback import Connection, serve
from sitestats import Client, StatsQuery, Store

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:This process.*multi-thread:DeprecationWarning"),
]
PLENTY = 30
"""Seconds that pass only when a test fails."""


@contextmanager
def running(work: Callable[[], object], threads: int = 1) -> Iterator[None]:
    """Have threads call *work* again and again."""
    ending = threading.Event()

    def loop() -> None:
        while not ending.is_set():
            work()

    started = [threading.Thread(target=loop) for _ in range(threads)]
    for thread in started:
        thread.start()
    yield
    ending.set()
    for thread in started:
        thread.join(PLENTY)


@pytest.mark.long
def test_a_fork_while_a_store_is_used(tmp_path: Path) -> None:
    """A child can use the store, whatever other threads did with it at that moment."""
    with Store(tmp_path / "stats.sqlite") as store:
        store.set("a", b"1")

        def read() -> None:
            # Another process may have written for too long, on a busy machine.
            with suppress(sqlite3.OperationalError):
                assert store.get("a") == b"1"

        def write() -> None:
            store.set("b", b"2")

        with running(lambda: store.set("c", bytes(20_000))):
            for _ in range(20):
                assert exit_code(read, seconds=PLENTY) == 0
        assert exit_code(write, seconds=PLENTY) == 0
        assert store.get("b") == b"2"


def test_a_fork_while_a_client_is_used() -> None:
    """A child can make queries, send them, and close the client of its parent."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.respond(b'{"ok": true, "pageviews": 3}')

    with serve(script) as server, Client(server.address) as client:

        def use() -> None:
            query = StatsQuery("example.com").fields("pageviews").last(days=3)
            assert client.stats.get(query).pageviews == 3
            assert Client(server.address).stats.get(query).pageviews == 3
            client.close()

        with running(lambda: client.stats.get_many([QUERY] * 50).collect()):
            for _ in range(5):
                assert exit_code(use, seconds=PLENTY) == 0
        assert client.stats.get(QUERY).pageviews == 3


class Owner(HeldAcrossForks):
    """Two values that have to be equal, except within its lock."""

    def __init__(self) -> None:
        self.values = [0, 0]
        super().__init__()

    def change(self) -> None:
        """Change both."""
        with self._lock:
            self.values[0] += 1
            self.values[1] += 1


@pytest.mark.long
def test_two_threads_that_fork_at_once() -> None:
    """They wait for each other, and no child finds a lock that is taken."""
    owners = [Owner() for _ in range(5)]

    def use() -> None:
        for owner in owners:
            assert owner.values[0] == owner.values[1]
            owner.change()

    def fork() -> None:
        # Newer versions of filelock refuse a fork while another thread forks.
        while True:
            with suppress(RuntimeError):
                codes.append(exit_code(use, seconds=PLENTY))
                return

    codes = list[int]()
    with running(lambda: [owner.change() for owner in owners], 2):
        for _ in range(5):
            threads = [threading.Thread(target=fork) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PLENTY)
    assert codes == [0] * 15


def test_a_registry_that_grows_and_shrinks_meanwhile() -> None:
    """Threads may add, and drop, while others iterate."""
    registry, kept = Registry[Owner](), Owner()
    registry.add(kept)

    def add() -> None:
        owners = [Owner() for _ in range(20)]
        for owner in owners:
            registry.add(owner)

    with running(add, 3):
        for _ in range(500):
            assert kept in [*registry]
    gc.collect()
    found: list[Any] = [*registry]
    assert found == [kept]
