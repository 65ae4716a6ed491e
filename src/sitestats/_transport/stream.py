"""Byte streams over non-blocking sockets: TCP, and TLS over any stream.

A stream tells whether bytes have arrived that nobody read, so that no connection is
used again with bytes left in it.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any, Final, TypeAlias, TypeVar

import httpcore

from .waiting import NoConnectionError, Ready, Waiting

T = TypeVar("T")

Info: TypeAlias = tuple[Any, ...]
"""An address as ``getaddrinfo`` gives it."""

_READ_SIZE: Final = 64 * 1024

_NEXT_ADDRESS: Final = 0.25
"""Seconds until the next address of a host is tried beside the ones before
(RFC 8305, section 5)."""


class TcpStream:
    """A connected socket."""

    __slots__ = ("_readable", "_socket", "_writable")

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._readable = Ready((sock,), EVENT_READ)
        self._writable = Ready((sock,), EVENT_READ | EVENT_WRITE)

    def receive(self) -> Waiting[bytes]:
        """Wait for bytes; none when the other side has closed."""
        while True:
            # First, so that a limit is noticed however much arrives.
            if not (yield self._readable):
                raise httpcore.ReadTimeout
            try:
                return self._socket.recv(_READ_SIZE)
            except BlockingIOError:
                continue

    def send(self, data: bytes) -> Waiting[bytes]:
        """Send *data*. What is left of it is the outcome, if bytes arrive first: then
        the other side may have responded before it read everything.
        """
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                if self.has_unread_bytes():
                    return bytes(rest)
                if not (yield self._writable):
                    raise httpcore.WriteTimeout from None
        return b""

    def has_unread_bytes(self) -> bool:
        """Whether bytes arrived that nobody read, or the other side has closed."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Close it at once."""
        self._socket.close()


class TlsStream:
    """TLS over another stream."""

    __slots__ = ("_below", "_early", "_incoming", "_outgoing", "_tls")

    def __init__(
        self, below: TcpStream | TlsStream, context: ssl.SSLContext, hostname: bytes
    ) -> None:
        self._below = below
        self._early = b""
        """What arrived while something was being sent."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=hostname
        )

    def handshake(self) -> Waiting[None]:
        """Shake hands, which checks the certificate."""
        try:
            yield from self._do(self._tls.do_handshake)
        except ssl.SSLError:
            # The other side gets the reason.
            yield from self._flush()
            raise
        yield from self._flush()

    def receive(self) -> Waiting[bytes]:
        """Wait for bytes; none when the other side has closed."""
        early, self._early = self._early, b""
        if early:
            return early
        try:
            return (yield from self._do(partial(self._tls.read, _READ_SIZE)))
        except ssl.SSLZeroReturnError:
            # An end without this is anybody's, and may cut a body short.
            return b""

    def send(self, data: bytes) -> Waiting[bytes]:
        """Send *data*, or until bytes arrive; the outcome is what is left."""
        rest = memoryview(data)
        while rest:
            rest = rest[(yield from self._do(partial(self._tls.write, rest))) :]
        return (yield from self._flush(until_bytes_arrive=True))

    def _do(self, step: Callable[[], T]) -> Waiting[T]:
        """Do *step* as soon as enough was sent and received for it."""
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                yield from self._flush()
                yield from self._fill()

    def _flush(self, *, until_bytes_arrive: bool = False) -> Waiting[bytes]:
        rest = self._outgoing.read()
        while rest:
            rest = yield from self._below.send(rest)
            # What arrives may be TLS's own, such as a ticket.
            if rest and not (yield from self._fill()):
                break
            if rest and until_bytes_arrive and self._has_early_bytes():
                break
        return rest

    def _has_early_bytes(self) -> bool:
        with suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            self._early = self._tls.read(_READ_SIZE)
        return bool(self._early)

    def _fill(self) -> Waiting[bool]:
        data = yield from self._below.receive()
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()
        return bool(data)

    def has_unread_bytes(self) -> bool:
        """Whether bytes arrived that nobody read, or the other side has closed."""
        return bool(
            self._early
            or self._incoming.pending
            or self._tls.pending()
            or self._below.has_unread_bytes()
        )

    def close(self) -> None:
        """Close it at once."""
        self._below.close()


Stream: TypeAlias = TcpStream | TlsStream
"""What carries bytes."""


def connect(host: bytes, port: int, *, timeout: float) -> Waiting[TcpStream]:
    """Connect to one of the addresses of *host*.

    The next address is tried beside the ones before when those do not connect soon, so
    that a dead one costs little.

    Raises:
        OSError: The host has no address, or no address took the connection.
        NoConnectionError: None did within *timeout* seconds.
    """
    connect_by = time.monotonic() + timeout
    addresses = deque((yield from _addresses(host, port)))
    pending: list[socket.socket] = []
    failure = OSError(f"{host.decode()} has no address")
    try:
        while addresses or pending:
            if addresses:
                try:
                    pending.append(_begin(addresses.popleft()))
                except OSError as error:
                    failure = error
                    continue
            left = connect_by - time.monotonic()
            if left <= 0:
                raise NoConnectionError("tcp")
            seconds = min(left, _NEXT_ADDRESS) if addresses else left
            for sock in (yield Ready(tuple(pending), EVENT_WRITE, seconds)):
                pending.remove(sock)
                number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if number == 0:
                    return TcpStream(sock)
                sock.close()
                failure = OSError(number, os.strerror(number))
        raise failure
    finally:
        for sock in pending:
            sock.close()
        # Its traceback has this frame: without the cycle it is freed at once.
        del failure


def _addresses(host: bytes, port: int) -> Waiting[Iterable[Info]]:
    # Numbers need no look-up, and so no thread.
    with suppress(OSError):
        return socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
    return (yield from _look_up(host, port))


def _look_up(host: bytes, port: int) -> Waiting[Iterable[Info]]:
    """Look the host up in a thread, which is left alone when the time is up.

    The look-up itself can't be given a limit. The thread is none of the event loop's:
    those are few, and a program ends only with them.
    """
    found: list[Iterable[Info] | BaseException] = []
    done, finish = socket.socketpair()

    def look_up() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            found.append(error)
        finish.close()

    with done:
        try:
            threading.Thread(
                target=look_up, name="sitestats-resolve", daemon=True
            ).start()
        except RuntimeError as error:
            finish.close()
            raise OSError(f"no thread to look up a name in: {error}") from None
        if not (yield Ready((done,), EVENT_READ)):
            raise NoConnectionError("name")
    (result,) = found
    if isinstance(result, BaseException):
        try:
            raise result
        finally:
            # Its traceback has this frame: without the cycle it is freed at once.
            del result
    return result


def _begin(info: Info) -> socket.socket:
    """A socket that is being connected."""
    family, kind, protocol, _, address = info
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)  # noqa: FBT003 - its only argument
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Not connect_ex: what guards tests against the network patches this one.
        with suppress(BlockingIOError):
            sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock
