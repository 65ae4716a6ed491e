"""What needs threads goes on where the system gives no more of them."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from both_clients import QUERY, VARIANTS, opened
from loopback import Server, counting, serve
from sitestats import StatsQuery

DAY = StatsQuery("example.com").fields("pageviews").on("2026-03-01").timezone("UTC")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose threads run, while no other thread can start."""
    allowed = 0
    starts = _thread.start_new_thread

    def start(*given: Any) -> Any:
        nonlocal allowed
        name = getattr(getattr(given[0], "__self__", None), "name", "")
        if "get-many" in name and allowed:
            allowed -= 1
        elif "get-many" in name or name.startswith("AnyIO") or "work" in repr(given[0]):
            raise RuntimeError("can't start new thread")
        return starts(*given)

    with serve(counting) as running:
        monkeypatch.setattr(_thread, "start_new_thread", start)
        # Python 3.15 does not have it.
        monkeypatch.setattr(threading, "_start_new_thread", start, raising=False)
        yield running


@pytest.mark.parametrize("variant", VARIANTS)
def test_calls_without_threads(variant: str, server: Server, tmp_path: Path) -> None:
    """One call, with its look-up and the store, and many at once run in the thread of
    the caller, or of the event loop.
    """
    # The name has to be looked up.
    address = server.address.replace("127.0.0.1", "localhost")
    with opened(variant, address, store=tmp_path / "stats") as client:
        assert client.stats.get(DAY).pageviews == 3
        assert len(client.stats.get_many([QUERY] * 5).collect().succeeded) == 5
