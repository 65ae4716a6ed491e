"""Pools of httpcore that send a request over the connection of its slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import httpcore

from .backend import Backend, Slot
from .waiting import run, run_async

if TYPE_CHECKING:
    from .attempt import Attempt
    from .route import Route

IDLE_SECONDS: Final = 30.0
"""How long an unused connection is kept. Servers keep theirs for 5 to 75 seconds,
and close what is older: that is seen before a connection is used again."""

EXTENSION: Final = "sitestats"
"""The name in the extensions of a request; the value is its attempt."""


class _SlotPool:
    """What both kinds of pools have in common.

    A request of an attempt goes over the connection of its slot. Any other is one that
    a user's client sends besides: it takes a connection of httpcore's own pool.
    """

    _kind: Any
    _run: Any

    def __init__(self, route: Route) -> None:
        super().__init__(keepalive_expiry=IDLE_SECONDS)  # type: ignore[call-arg]  # of httpcore's
        self._route = route
        self._forwarding = route.forwarding

    def create_connection(
        self, origin: httpcore.Origin, slot: Slot | None = None
    ) -> Any:
        """A connection that its first request opens."""
        is_tls = origin.scheme == b"https"
        return self._kind(
            origin,
            ssl_context=self._route.tls_context() if is_tls else None,
            network_backend=Backend(
                self._route, slot or Slot(), self._run, is_tls=is_tls
            ),
        )

    def _connection(self, request: Any) -> Any:
        """What *request* is sent over: the connection of its slot, if it has one."""
        if self._forwarding is not None and request.url.scheme == b"http":
            _forward(request, self._forwarding)
        attempt: Attempt | None = request.extensions.get(EXTENSION)
        slot: Slot | None = None if attempt is None else attempt.lease.connection
        if attempt is None or slot is None:
            return None
        slot.attempt, slot.limits = attempt, (attempt.until, attempt.lease.stop)
        # From here on the stream knows.
        attempt.began = False
        old = slot.connection
        origin = request.url.origin
        if (
            old is None
            or not old.is_available()
            or old.has_expired()
            or not old.can_handle_request(origin)
        ):
            slot.close()
            slot.connection = self.create_connection(origin, slot)
        return slot.connection


def _forward(request: httpcore.Request, headers: list[tuple[bytes, bytes]]) -> None:
    """Give *request* the form that a forwarding proxy wants."""
    url = request.url
    host = b"[%b]" % url.host if b":" in url.host else url.host
    port = b"" if url.port is None else b":%d" % url.port
    target = b"%b://%b%b%b" % (url.scheme, host, port, url.target)
    request.url = httpcore.URL(
        scheme=url.scheme, host=url.host, port=url.port, target=target
    )
    request.headers = [*request.headers, *headers]


class SlotPool(_SlotPool, httpcore.ConnectionPool):
    """What a transport of httpx sends by."""

    _kind, _run = httpcore.HTTPConnection, staticmethod(run)

    def handle_request(self, request: httpcore.Request) -> Any:
        sender: Any = self._connection(request) or super()
        return sender.handle_request(request)


class AsyncSlotPool(_SlotPool, httpcore.AsyncConnectionPool):
    """What an asynchronous transport of httpx sends by."""

    _kind, _run = httpcore.AsyncHTTPConnection, staticmethod(run_async)

    async def handle_async_request(self, request: httpcore.Request) -> Any:
        sender: Any = self._connection(request) or super()
        return await sender.handle_async_request(request)
