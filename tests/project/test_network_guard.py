"""No test can reach the network, whatever it connects with."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import anyio
import pytest

# A documentation address (RFC 5737): nothing would respond there anyway.
ELSEWHERE = ("192.0.2.1", 80)


def blocking() -> None:
    """Connect by the standard library's blocking function."""
    socket.create_connection(ELSEWHERE, timeout=0.1)


def without_error() -> None:
    """Connect by the method that returns the error's number."""
    with socket.socket() as sock:
        sock.connect_ex(ELSEWHERE)


def by_name() -> None:
    """Look a name up."""
    socket.getaddrinfo("service.org", 80)


def on_the_loop() -> None:
    """Connect by asyncio's own streams."""
    asyncio.run(_open_connection())


async def _open_connection() -> None:
    await asyncio.open_connection(*ELSEWHERE)


def on_trio() -> None:
    """Connect by trio's sockets."""
    connect: Callable[[str, int], Awaitable[object]] = anyio.connect_tcp
    anyio.run(connect, *ELSEWHERE, backend="trio")


@pytest.mark.parametrize(
    "reach", [blocking, without_error, by_name, on_the_loop, on_trio]
)
def test_connections_are_refused(reach: Callable[[], None]) -> None:
    """Every connection raises an error that no code under test would catch."""
    with pytest.raises(BaseException, match=r"only loopback|nursery") as refused:
        reach()
    error: BaseException | None = refused.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert type(error).__name__ == "NetworkForbiddenError"


def test_loopback_is_allowed() -> None:
    """Servers on loopback are reached, by number and by name."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        socket.create_connection(("localhost", port), timeout=5).close()


def test_reserved_names_are_never_found() -> None:
    """A reserved name fails as it would on a connected machine."""
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("service.invalid", 443)
