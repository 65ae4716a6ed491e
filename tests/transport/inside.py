"""What the tests of connections know of the inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from sitestats import Client
from sitestats._client.runner import Stop, StoppedError
from sitestats._configuration.settings import proxy_of_environment
from sitestats._transport.bodies import CorruptError, ProtocolError, decompressed
from sitestats._transport.pool import Pool
from sitestats._transport.reading import Reading
from sitestats._transport.redaction import Redactor
from sitestats._transport.sockets import (
    ALL_THREADS,
    AwaitedExchange,
    Exchange,
    run_blocking,
)
from sitestats.types import HttpRequest

__all__ = [
    "AwaitedExchange",
    "CorruptError",
    "Exchange",
    "Pool",
    "ProtocolError",
    "Reading",
    "Redactor",
    "Stop",
    "StoppedError",
    "break_the_reading",
    "decompressed",
    "proxy_of_environment",
    "run_blocking",
    "send_request",
    "set_clock_of_pools",
    "set_idle_seconds",
    "waiting_for_a_place",
]


def send_request(client: Client, request: HttpRequest, **options: Any) -> object:
    """Send *request* as it is: no step of a query, or of `request`, has mended it."""
    return run_blocking(client._sender.send(request, **options))


def waiting_for_a_place(client: Client) -> Sequence[object]:
    """What waits for one of *client*'s connections, or has one."""
    queue: Sequence[object] = client._sender.pool._queues[ALL_THREADS]
    return queue


def set_clock_of_pools(patch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Have pools of connections read the time from *clock*."""
    clocks = SimpleNamespace(monotonic=clock)
    patch.setattr("sitestats._transport.pool.time", clocks)


def set_idle_seconds(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Close connections that were idle for so long."""
    patch.setattr("sitestats._transport.pool._IDLE_SECONDS", seconds)


def break_the_reading(patch: pytest.MonkeyPatch) -> None:
    """Have a mistake where responses are read."""
    patch.setattr("sitestats._transport.reading.Reading.feed", None)
