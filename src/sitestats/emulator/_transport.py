"""An httpx transport that calls the emulator without a socket, sync and async."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import anyio
import httpx

from ._dispatch import Core, Reply
from ._faults import Fault
from ._http import RecordedRequest


class EmulatorTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Passes requests to an emulator, for sync and async clients.

    It holds no resources: closing it does nothing, and clients, threads and event
    loops may share it.
    """

    is_emulator = True
    """A client with a store takes it: its responses depend on the client alone."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        reply = self._core.handle(_recorded(request))
        if (pause := _pause(request, reply)) > 0:
            time.sleep(pause)
        _raise_failure(request, reply)
        return _response(request, reply)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        reply = self._core.handle(_recorded(request))
        if (pause := _pause(request, reply)) > 0:
            await anyio.sleep(pause)
        _raise_failure(request, reply)
        return _response(request, reply)


def _recorded(request: httpx.Request) -> RecordedRequest:
    return RecordedRequest.of(
        request.method,
        request.url.raw_path.decode("ascii"),
        request.headers.items(),
        request.content,
    )


def _read_timeout(request: httpx.Request) -> float:
    limit = request.extensions.get("timeout", {}).get("read")
    return float("inf") if limit is None else limit


def _pause(request: httpx.Request, reply: Reply) -> float:
    return min(reply.fault.latency, _read_timeout(request))


def _raise_failure(request: httpx.Request, reply: Reply) -> None:
    # The errors that httpx raises for the same failure on a socket.
    if reply.fault.latency > _read_timeout(request):
        raise httpx.ReadTimeout(
            "The emulator's latency is longer than the read timeout", request=request
        )
    if reply.fault.reset:
        raise httpx.ReadError("Connection reset by the emulator", request=request)


def _response(request: httpx.Request, reply: Reply) -> httpx.Response:
    body = b"" if request.method == "HEAD" else reply.response.body
    length = str(len(reply.response.body))
    stream: httpx.ByteStream | _Stream = httpx.ByteStream(body)
    if reply.fault.drip or reply.fault.cut_off is not None:
        stream = _Stream(request, reply.fault, body)
    headers = {**reply.response.headers, "content-length": length}
    return httpx.Response(reply.response.status, headers=headers, stream=stream)


class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives byte by byte, or is cut off."""

    def __init__(self, request: httpx.Request, fault: Fault, body: bytes) -> None:
        content = body if fault.cut_off is None else body[: fault.cut_off]
        self._request = request
        self._cut = len(content) < len(body)
        self._pieces = [bytes([one]) for one in content] if fault.drip else [content]
        self._pause = min(fault.drip, _read_timeout(request))
        self._late = fault.drip > self._pause

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if self._pause:
                time.sleep(self._pause)
            self._check()
            yield piece
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if self._pause:
                await anyio.sleep(self._pause)
            self._check()
            yield piece
        self._end()

    def _check(self) -> None:
        if self._late:
            raise httpx.ReadTimeout(
                "The emulator's pause between bytes is longer than the read timeout",
                request=self._request,
            )

    def _end(self) -> None:
        if self._cut:
            raise httpx.RemoteProtocolError(
                "The emulator closed the connection within the body",
                request=self._request,
            )
