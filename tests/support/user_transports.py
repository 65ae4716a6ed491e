"""A user's own httpx transport, which responds by a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx


class Given(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A user's transport for both senders, which responds by a function."""

    def __init__(self, respond: Callable[[], httpx.Response]) -> None:
        self.respond = respond
        self.requests: list[httpx.Request] = []
        self.closed = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.respond()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self.handle_request(request)

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


def raises(error: BaseException) -> Callable[[], Any]:
    """A function that raises *error*."""

    def fail() -> Any:
        raise error

    return fail
