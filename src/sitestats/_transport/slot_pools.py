"""Pools of httpcore that send a request over the connection of its slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import httpcore

from .backend import AsyncBackend, Backend
from .slot import IDLE_SECONDS, Slot

if TYPE_CHECKING:
    from .route import Route

EXTENSION: Final = "sitestats"
"""The name in the extensions of a request; the value is its slot."""


def _taken(request: Any) -> Slot | None:
    """The slot that an attempt of ours has taken for a *request* of httpcore's."""
    slot: Slot | None = request.extensions.get(EXTENSION)
    if slot is None or slot.attempt is None:
        return None
    # From here on the stream knows.
    slot.attempt.began = False
    return slot


def _connection(slot: Slot, origin: httpcore.Origin, new: Any) -> Any:
    """The connection of *slot*, or a *new* one where it can't be used again."""
    old = slot.connection
    if (
        old is None
        or not old.is_available()
        or old.has_expired()
        or not old.can_handle_request(origin)
    ):
        slot.close()
        slot.connection = new(origin, slot)
    return slot.connection


def _forward(route: Route, request: httpcore.Request) -> None:
    """Give *request* the form that a forwarding proxy wants, if there is one."""
    headers = route.forwarding(is_tls=request.url.scheme == b"https")
    if headers is not None:
        url = request.url
        host = b"[%b]" % url.host if b":" in url.host else url.host
        port = b"" if url.port is None else b":%d" % url.port
        target = b"%b://%b%b%b" % (url.scheme, host, port, url.target)
        request.url = httpcore.URL(
            scheme=url.scheme, host=url.host, port=url.port, target=target
        )
        request.headers = [*request.headers, *headers]


class _SlotPool:
    """What both kinds of pools have in common."""

    _route: Route

    def _options(self, origin: httpcore.Origin, slot: Slot, backend: Any) -> Any:
        """The options of a connection that its first request opens."""
        is_tls = origin.scheme == b"https"
        return {
            "ssl_context": self._route.tls_context() if is_tls else None,
            "network_backend": backend(self._route, slot, is_tls=is_tls),
        }


class SlotPool(_SlotPool, httpcore.ConnectionPool):
    """What a transport of httpx sends by.

    A request with a slot goes over the connection there. Any other is one that a user's
    client sends besides: it takes a connection of httpcore's own pool.
    """

    def __init__(self, route: Route) -> None:
        super().__init__(keepalive_expiry=IDLE_SECONDS)
        self._route = route

    def create_connection(
        self, origin: httpcore.Origin, slot: Slot | None = None
    ) -> httpcore.HTTPConnection:
        options = self._options(origin, slot or Slot(), Backend)
        return httpcore.HTTPConnection(origin, **options)

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        _forward(self._route, request)
        slot = _taken(request)
        if slot is None:
            return super().handle_request(request)
        connection = _connection(slot, request.url.origin, self.create_connection)
        response: httpcore.Response = connection.handle_request(request)
        return response


class AsyncSlotPool(_SlotPool, httpcore.AsyncConnectionPool):
    """What an asynchronous transport of httpx sends by."""

    def __init__(self, route: Route) -> None:
        super().__init__(keepalive_expiry=IDLE_SECONDS)
        self._route = route

    def create_connection(
        self, origin: httpcore.Origin, slot: Slot | None = None
    ) -> httpcore.AsyncHTTPConnection:
        options = self._options(origin, slot or Slot(), AsyncBackend)
        return httpcore.AsyncHTTPConnection(origin, **options)

    async def handle_async_request(
        self, request: httpcore.Request
    ) -> httpcore.Response:
        _forward(self._route, request)
        slot = _taken(request)
        if slot is None:
            return await super().handle_async_request(request)
        connection = _connection(slot, request.url.origin, self.create_connection)
        response: httpcore.Response = await connection.handle_async_request(request)
        return response
