"""Fixtures that run calls with every client variant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from client_calls import backend, emulator, run
from faults import FaultServer, ServedCase
from served_cases import FLAKY, GOOD, SILENT, TLS

__all__ = ["backend", "emulator", "run"]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """Serves the four cases of these tests."""
    with FaultServer([GOOD, TLS, SILENT, FLAKY]) as server:
        yield server


@pytest.fixture
def good(server: FaultServer) -> ServedCase:
    """The case whose responses are all good."""
    return server["good"]
