"""Slots, and the network backend that connects them for httpcore, within all limits.

httpcore reads and writes HTTP over whatever stream a backend connects. Ours knows what
httpcore's own does not: when the whole call must have ended, that another thread wants
it to stop, and whether bytes are left over behind a response.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import httpcore

from .framing import Framing
from .route import Route, secured
from .waiting import NO_LIMITS

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from .attempt import Attempt
    from .stream import Stream
    from .waiting import Limits, Waiting

_Run: TypeAlias = (
    "Callable[[Waiting[Any], Limits, float | None, type[httpcore.NetworkError]], Any]"
)
"""``run`` or ``run_async`` of ``waiting``."""


class Slot:
    """The place of one connection, which one attempt at a time uses.

    httpcore has locks that an interrupt can leave taken. One that did not come to its
    end leaves its slot to be closed, and nothing waits for those locks.
    """

    __slots__ = ("attempt", "connection", "limits", "stream")

    def __init__(self) -> None:
        self.attempt: Attempt | None = None
        """The attempt that uses it."""
        self.limits = NO_LIMITS
        self.connection: Any = None
        """A connection of httpcore, blocking or asynchronous."""
        self.stream: Stream | None = None
        """What that connection reads and writes, once it is open."""

    def is_open(self) -> bool:
        """Whether there is a connection to close."""
        return self.stream is not None

    def close(self) -> None:
        """Close the connection at once; a further request opens another."""
        self.connection = None
        stream, self.stream = self.stream, None
        if stream is not None:
            stream.close()


class BoundStream:
    """A stream of one connection as httpcore has them, blocking or awaited."""

    def __init__(self, slot: Slot, stream: Stream, run: _Run) -> None:
        self._slot = slot
        self._stream = slot.stream = stream
        self._run = run
        self._framing = Framing()

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        limits = self._slot.limits
        return self._run(self._receiving(), limits, timeout, httpcore.ReadError)

    def _receiving(self) -> Waiting[bytes]:
        data = yield from self._stream.receive()
        self._framing.feed(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> Any:
        limits = self._slot.limits
        return self._run(self._sending(buffer), limits, timeout, httpcore.WriteError)

    def _sending(self, data: bytes) -> Waiting[None]:
        if not data:
            # The end of a body.
            return
        self._framing.begin()
        if self._slot.attempt is not None:
            # From now on it may have reached the service.
            self._slot.attempt.began = True
        if (yield from self._stream.send(data)):
            # Then httpcore reads the response.
            raise httpcore.WriteError("the request was not read to its end")

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        securing = self._securing(ssl_context, (server_hostname or "").encode("ascii"))
        return self._run(securing, self._slot.limits, timeout, httpcore.ConnectError)

    def _securing(self, context: ssl.SSLContext, host: bytes) -> Waiting[BoundStream]:
        stream = yield from secured(self._stream, context, host)
        return BoundStream(self._slot, stream, self._run)

    def close(self) -> None:
        self._stream.close()
        if self._slot.stream is self._stream:
            self._slot.close()

    async def aclose(self) -> None:
        self.close()

    def get_extra_info(self, info: str) -> Any:
        """Whether the stream ``is_readable``: then httpcore does not use it again."""
        if info == "is_readable":
            return not self._framing.is_over or self._stream.has_unread_bytes()
        return None


class Backend:
    """Connects the connection of a slot along a route, blocking or awaited."""

    def __init__(self, route: Route, slot: Slot, run: _Run, *, is_tls: bool) -> None:
        self._route = route
        self._slot = slot
        self._run = run
        self._is_tls = is_tls

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> Any:
        connecting = self._connecting(host.encode("ascii"), port, timeout)
        return self._run(connecting, self._slot.limits, timeout, httpcore.ConnectError)

    def _connecting(
        self, host: bytes, port: int, timeout: float | None
    ) -> Waiting[BoundStream]:
        seconds = math.inf if timeout is None else timeout
        stream = yield from self._route.connect(
            host, port, is_tls=self._is_tls, timeout=seconds
        )
        return BoundStream(self._slot, stream, self._run)
