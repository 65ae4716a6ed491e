"""Connect to a host, directly, and send and receive over the connection.

A connection is a socket, with or without TLS. It belongs to no event loop.
"""

from __future__ import annotations

import math
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from anyio import wait_readable, wait_writable

from .limits import Exchange
from .reading import Reading

_NEXT_ADDRESS: Final = 1.0
"""Seconds until the next address of a host is tried."""
_READ_SIZE: Final = 64 * 1024
_NOT_READ: Final = (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError)
"""The other side closed before it had read a request; it may have responded."""


async def look_up(host: str, port: int, exchange: Exchange) -> list[Any]:
    """The addresses of *host*, as ``getaddrinfo`` has them.

    A look-up can't be interrupted, so its thread is left alone when the time is up. It
    is none of an event loop's: those are few, and a program ends only with them.
    """

    def addresses(flags: int = 0) -> list[Any]:
        # As bytes: the name is encoded already.
        name, kind = host.encode("ascii"), socket.SOCK_STREAM
        return [*socket.getaddrinfo(name, port, type=kind, flags=flags)]

    found: list[Any] = []

    def work() -> None:
        try:
            found.extend(addresses())
        except OSError as error:
            found.append(error)
        finish.close()

    # Numbers need no look-up.
    with suppress(OSError):
        return addresses(socket.AI_NUMERICHOST)
    exchange.step = "name"
    done, finish = socket.socketpair()
    with done:
        exchange.use(done)
        threading.Thread(target=work, name="sitestats-resolve", daemon=True).start()
        done.setblocking(False)  # noqa: FBT003 - its only argument
        await exchange.do(done, wait_readable, done.recv, 1)
    exchange.left()
    if found and isinstance(found[0], OSError):
        raise found.pop()
    return found


async def connect(
    host: str, port: int, context: ssl.SSLContext | None, exchange: Exchange
) -> socket.socket:
    """Connect to one of the addresses of *host*, with TLS where there is a *context*.

    Raises:
        OSError: It failed, or took too long; ``exchange.step`` tells at what.
    """
    sock = await _connect_tcp(await look_up(host, port, exchange), exchange)
    if context is None:
        return sock
    exchange.step = "tls"
    # An end without that of TLS is anybody's, and may cut a body short.
    secured = context.wrap_socket(
        sock,
        server_hostname=host,
        do_handshake_on_connect=False,
        suppress_ragged_eofs=False,
    )
    with _closed_if_it_fails(secured):
        exchange.use(secured)
        await exchange.do(secured, wait_readable, secured.do_handshake)
    return secured


async def _connect_tcp(addresses: list[Any], exchange: Exchange) -> socket.socket:
    exchange.step = "tcp"
    for number, (family, kind, protocol, _, address) in enumerate(addresses, 1):
        is_last = number == len(addresses)
        sock = socket.socket(family, kind, protocol)
        with suppress(*() if is_last else (OSError,)), _closed_if_it_fails(sock):
            await exchange.connect(
                sock, address, math.inf if is_last else _NEXT_ADDRESS
            )
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise OSError("the host has no address")


@contextmanager
def _closed_if_it_fails(sock: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        sock.close()
        raise


async def send_and_read(
    sock: socket.socket, data: bytes, reading: Reading, exchange: Exchange
) -> None:
    """Send *data*, and read until the response is over."""
    exchange.step = "response"
    with suppress(*_NOT_READ):
        while data:
            data = data[await exchange.do(sock, wait_writable, sock.send, data) :]
    while not reading.is_over:
        reading.feed(await exchange.do(sock, wait_readable, sock.recv, _READ_SIZE))


def is_stale(sock: socket.socket) -> bool:
    """Whether bytes arrived that nobody read, or the other side has closed."""
    sock.settimeout(0)
    try:
        sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        pass
    return True
