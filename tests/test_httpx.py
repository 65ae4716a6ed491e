"""Both senders, over real sockets on loopback."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from loopback import polite, serve
from sitestats._hostnames import BaseAddress
from sitestats._httpx import AsyncSender, Sender
from sitestats._settings import Secret, Settings
from sitestats._wire import Credentials, HttpRequest, HttpResponse

KEY = "sa_api_key_0123456789"
GET = HttpRequest("GET", "/example.com.json", credentials=Credentials.KEY)
BOTH_LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


def settings(address: str, **more: Any) -> Settings:
    """Settings with the key, for the server at *address*."""
    return Settings(BaseAddress.parse(address), api_key=Secret(KEY), **more)


def test_a_blocking_request_is_answered() -> None:
    """The key goes along, and the answer comes back whole."""
    with serve(polite) as server:
        sender = Sender(settings(server.address))
        response = sender.send(GET, until=time.monotonic() + 5, timeout=5)
        sender.close()
    assert response == HttpResponse(200, {"content-length": "11"}, b'{"ok":true}')
    assert f"Api-Key: {KEY}".encode() in server.requests[0]


@BOTH_LOOPS
def test_an_async_request_is_answered(loop: str) -> None:
    """The key goes along, and the answer comes back whole."""

    async def main() -> HttpResponse:
        sender = AsyncSender(settings(server.address))
        response = await sender.send(GET, until=time.monotonic() + 5, timeout=5)
        await sender.aclose()
        return response

    with serve(polite) as server:
        response = anyio.run(main, backend=loop)
    assert response == HttpResponse(200, {"content-length": "11"}, b'{"ok":true}')
    assert f"Api-Key: {KEY}".encode() in server.requests[0]
