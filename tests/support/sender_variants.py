"""Sender variants: both senders behind one blocking interface."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from anyio.from_thread import start_blocking_portal

from sitestats._common.hostnames import BaseAddress
from sitestats._common.secret import Secret
from sitestats._common.settings import Settings
from sitestats._common.wire import Credentials, HttpRequest, HttpResponse
from sitestats._transport.sender import AsyncSender, Sender

KEY = "sa_api_key_Zw5fXq7RtY"
USER = "sa_user_id_Kp3vLm8NbC"
GET = HttpRequest("GET", "/example.com.json", credentials=Credentials.KEY)
ADD = HttpRequest(
    "POST",
    "/api/websites/add",
    body=b'{"hostname":"example.com"}',
    content_type="application/json",
    credentials=Credentials.KEY_AND_USER,
    fresh_connection=True,
)
LONG = 30.0
"""Seconds that pass only when a test fails."""

VARIANTS = ("blocking", "asyncio", "trio")


def settings_for(address: str, **more: Any) -> Settings:
    """Settings with a key and a user ID."""
    base = BaseAddress.parse(address)
    return Settings(base, **{"api_key": Secret(KEY), "user_id": Secret(USER), **more})


class AnySender(Protocol):
    """The interface of a sender that tests use."""

    sender: Sender | AsyncSender

    def send(
        self, request: HttpRequest = GET, *, total: float = LONG, timeout: float = LONG
    ) -> HttpResponse:
        """Send *request* within *total* seconds."""
        ...

    def close(self) -> None:
        """Close the sender."""
        ...


class SyncSender:
    """The sync sender."""

    def __init__(self, settings: Settings, transport: Any) -> None:
        self.sender = Sender(settings, transport)
        self.close = self.sender.close

    def send(
        self, request: HttpRequest = GET, *, total: float = LONG, timeout: float = LONG
    ) -> HttpResponse:
        until = time.monotonic() + total
        return self.sender.send(request, until=until, timeout=timeout)


class AsyncOnThread:
    """The async sender, on a loop in a thread of its own."""

    def __init__(self, settings: Settings, transport: Any, portal: Any) -> None:
        self.sender = AsyncSender(settings, transport)
        self._portal = portal

    def send(
        self, request: HttpRequest = GET, *, total: float = LONG, timeout: float = LONG
    ) -> HttpResponse:
        async def send() -> HttpResponse:
            until = time.monotonic() + total
            return await self.sender.send(request, until=until, timeout=timeout)

        response: HttpResponse = self._portal.call(send)
        return response

    def close(self) -> None:
        self._portal.call(self.sender.aclose)


@contextmanager
def open_sender(
    variant: str, address: str, *, transport: Any = None, **more: Any
) -> Iterator[AnySender]:
    """A sender of the given variant to *address*, closed in the end."""
    settings = settings_for(address, **more)
    if variant == "blocking":
        blocking = SyncSender(settings, transport)
        try:
            yield blocking
        finally:
            blocking.close()
        return
    with start_blocking_portal(variant) as portal:
        awaited = AsyncOnThread(settings, transport, portal)
        try:
            yield awaited
        finally:
            awaited.close()
