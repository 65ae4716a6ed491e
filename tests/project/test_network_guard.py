"""No test can reach the network, whatever it connects with."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest

# A documentation address (RFC 5737): nothing would respond there anyway.
ELSEWHERE = ("192.0.2.1", 80)


def by_number() -> None:
    """Connect by the method that returns the error's number."""
    with socket.socket() as sock:
        sock.connect_ex(ELSEWHERE)


@pytest.mark.parametrize(
    "reach",
    [
        lambda: socket.create_connection(ELSEWHERE, timeout=0.1),
        by_number,
        lambda: socket.getaddrinfo("service.org", 80),
        lambda: asyncio.run(asyncio.wait_for(asyncio.open_connection(*ELSEWHERE), 5)),
    ],
)
def test_connections_are_refused(reach: Callable[[], object]) -> None:
    """Every connection raises an error that no code under test would catch."""
    with pytest.raises(BaseException, match="only loopback") as refused:
        reach()
    assert not isinstance(refused.value, Exception)
