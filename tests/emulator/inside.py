"""What tests know of the inside of the emulator."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sitestats.emulator import Emulator, RecordedRequest
from sitestats.emulator._traffic import CAMPAIGN, read_table

__all__ = [
    "CAMPAIGN",
    "connections_of",
    "have_null_entries",
    "read_table",
    "respond",
    "set_clock",
    "set_websites",
    "websites_put_back",
]


def respond(emulator: Emulator, request: RecordedRequest) -> Any:
    """The response to *request* as it is: httpx would mend some of them."""
    response, _ = emulator._handle(request)
    return response


def set_clock(emulator: Emulator, seconds: Callable[[], float]) -> None:
    """Have the limit of searches count by this clock."""
    emulator._service.clock = seconds


def set_websites(emulator: Emulator, websites: dict[str, Any]) -> None:
    """Have the emulator keep its websites there."""
    emulator._service.websites = websites


def have_null_entries(patch: pytest.MonkeyPatch, emulator: Emulator) -> None:
    """Have the emulator do as one with ``null_entries=True``."""
    patch.setattr(emulator._service, "null_entries", True)


def connections_of(serving: Any) -> list[socket.socket]:
    """The connections of the server that ``serve()`` has begun."""
    return [*serving._server.open]


@contextmanager
def websites_put_back(emulator: Emulator) -> Iterator[None]:
    """In the end the emulator has the websites that it has now."""
    there = dict(emulator._service.websites)
    yield
    emulator._service.websites = there
