"""Pooled connections: a transport and the state of its connection."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .interrupt import Watchdog

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from .interrupt import Stop


class Transport(Protocol):
    """What a connection needs to know of a transport."""

    def close(self) -> None:
        """Close its connection."""
        ...


class AsyncTransport(Protocol):
    """The same for an asynchronous one."""

    async def aclose(self) -> None:
        """Close its connection."""
        ...


TransportT = TypeVar("TransportT", bound=Transport)
AsyncTransportT = TypeVar("AsyncTransportT", bound=AsyncTransport)


class PooledConnection(Generic[TransportT]):
    """A blocking transport, and the socket by which another thread ends its call."""

    __slots__ = (
        "_ending",
        "_extensions",
        "_handshaking",
        "_is_new",
        "_stop",
        "is_shared",
        "overdue",
        "transport",
        "watchdog",
    )

    def __init__(
        self, transport: TransportT, watchdog: Watchdog, *, is_shared: bool
    ) -> None:
        self.transport = transport
        self.watchdog = watchdog
        self.is_shared = is_shared
        self.overdue = False
        self._ending: socket.socket | None = None
        self._handshaking: socket.socket | None = None
        self._stop: Stop | None = None
        self._is_new = False
        self._extensions: MutableMapping[str, Any] = {}

    def begin(
        self,
        until: float,
        stop: Stop | None,
        extensions: MutableMapping[str, Any],
    ) -> None:
        """Get ready for the next request, which may be aborted from now on.

        That happens when the monotonic clock shows *until*, or by *stop*. Its
        *extensions* have ``trace``, as long as there is something to learn by it.

        Raises:
            StoppedError: It is too late to begin.
        """
        self.overdue = False
        self._is_new = False
        self._extensions = extensions
        if self.is_shared:
            # The next request may ride on another connection.
            self._ending = None
        self.watchdog.watch(self, until)
        if stop is not None:
            self._stop = stop
            stop.hold(self)

    def end(self) -> bool:
        """Let it not be aborted any more; the value is whether it was."""
        self.watchdog.unwatch(self)
        # They hold what is traced to: this.
        self._extensions = {}
        stop, self._stop = self._stop, None
        if stop is not None:
            stop.release(self)
        return self.overdue

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Learn of a new connection, from httpx's ``trace`` extension."""
        if "connect_tcp" in event:
            self._is_new = True
            if event.endswith("complete"):
                self.follow(info["return_value"])
        elif "start_tls" in event:
            if event.endswith("started"):
                # Wrapping a socket takes it over before it shakes hands, which a
                # server can do a byte at a time: the copy is still there to end it.
                self._handshaking = self._ending and self._ending.dup()
            else:
                self._close_handshaking()
            if event.endswith("complete"):
                self.follow(info["return_value"])
        elif not self._is_new:
            # A connection that is used again comes without such events: to be told
            # of every further step would take 3 % of a whole call on loopback.
            self._extensions.pop("trace", None)

    def follow(self, stream: Any) -> None:
        """Take note of the socket of *stream*, which may be none of httpx's."""
        if stream is not None:
            self._ending = stream.get_extra_info("socket")
        if self.overdue:
            self.abort()

    def abort(self) -> None:
        """Shut the connection down; a read that waits for it returns at once."""
        self.overdue = True
        for sock in (self._ending, self._handshaking):
            if sock is not None:
                with suppress(OSError):
                    # The method of a TLS socket would drop its TLS object, which
                    # another thread is reading from.
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _close_handshaking(self) -> None:
        if self._handshaking is not None:
            self._handshaking.close()
            self._handshaking = None

    def close(self) -> None:
        """Close the connection; a transport that we were given stays open."""
        # An interrupt may have come before the call could do it.
        self.watchdog.unwatch(self)
        self._close_handshaking()
        if not self.is_shared:
            with suppress(Exception):
                self.transport.close()


class AsyncPooledConnection(Generic[AsyncTransportT]):
    """An asynchronous transport, and its connection until that is ready."""

    def __init__(self, transport: AsyncTransportT, *, is_shared: bool) -> None:
        self.transport = transport
        self.is_shared = is_shared
        self.is_connecting = False
        """Whether a connection was begun and does not stand yet, if it is traced."""
        self._unsecured: Any = None

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Learn of a new TLS connection, from httpx's ``trace`` extension."""
        if "connect_tcp.started" in event:
            self.is_connecting = True
        elif "connect_tcp.complete" in event:
            self._unsecured = info["return_value"]
        elif "start_tls.complete" in event:
            self.is_connecting = False
            self._unsecured = None

    async def aclose(self) -> None:
        """Close the connection; a transport that we were given stays open."""
        if self._unsecured is not None:
            # A transport forgets a connection whose handshake was cancelled.
            with suppress(Exception):
                await self._unsecured.aclose()
        if not self.is_shared:
            with suppress(Exception):
                await self.transport.aclose()
