"""Deliver responses with their faults by a transport of httpx, without a socket."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeAlias, cast

import anyio

from sitestats._wire.messages import HttpResponse

from ._faults import Fault
from ._http import RecordedRequest
from ._responses import framed

if sys.platform == "emscripten":
    import httpx2 as httpx
else:
    import httpx

Handle: TypeAlias = Callable[[RecordedRequest], tuple[HttpResponse, Fault]]
"""Gives the response to a request, and the fault that its delivery has."""


class EmulatorTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Passes requests to an emulator, for sync and async clients.

    It holds no resources, so closing it does nothing. Clients, threads and event loops
    can share it.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        response, fault = self._handle(_recorded(request))
        time.sleep(min(fault.latency, _limit(request)))
        return _response(request, response, fault)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        response, fault = self._handle(_recorded(request))
        await anyio.sleep(min(fault.latency, _limit(request)))
        return _response(request, response, fault)


def client_of(
    handle: Handle, clock: Callable[[], float], *, is_awaited: bool
) -> httpx.Client | httpx.AsyncClient:
    """A client of httpx that sends to an emulator.

    The clients of this package know it by its *clock*, the emulator's time, which
    decides which days are over for their store.
    """
    kind: Any = httpx.AsyncClient if is_awaited else httpx.Client
    client = kind(transport=EmulatorTransport(handle), trust_env=False)
    client.emulator_clock = clock
    return cast("httpx.Client | httpx.AsyncClient", client)


def _recorded(request: httpx.Request) -> RecordedRequest:
    return RecordedRequest.of(
        request.method,
        request.url.raw_path.decode("ascii"),
        request.headers.items(),
        request.content,
    )


def _limit(request: httpx.Request) -> float:
    """The read timeout of a request."""
    limit = request.extensions.get("timeout", {}).get("read")
    return float("inf") if limit is None else limit


def _response(
    request: httpx.Request, response: HttpResponse, fault: Fault
) -> httpx.Response:
    """The response, or the error that httpx raises for the same failure on a socket."""
    if fault.latency > _limit(request):
        raise httpx.ReadTimeout("The emulator's latency is too long", request=request)
    if fault.reset:
        raise httpx.ReadError("Connection reset by the emulator", request=request)
    body = b"" if request.method == "HEAD" else response.body
    is_whole = not fault.drip and fault.cut_off is None
    stream = httpx.ByteStream(body) if is_whole else _Stream(request, fault, body)
    headers = framed(response)
    encoded = [(n.encode(), v.encode("latin-1")) for n, v in headers.items()]
    return httpx.Response(response.status, headers=encoded, stream=stream)


class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives byte by byte, or is cut off."""

    def __init__(self, request: httpx.Request, fault: Fault, body: bytes) -> None:
        self._request = request
        self._fault = fault
        self._body = body
        self._pause = min(fault.drip, _limit(request))

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces():
            time.sleep(self._pause)
            yield self._arrived(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces():
            await anyio.sleep(self._pause)
            yield self._arrived(piece)

    def _pieces(self) -> Iterator[bytes]:
        sent = self._body[: self._fault.cut_off]
        yield from (bytes([byte]) for byte in sent) if self._fault.drip else (sent,)
        if len(sent) < len(self._body):
            raise httpx.RemoteProtocolError(
                "The emulator closed the connection within the body",
                request=self._request,
            )

    def _arrived(self, piece: bytes) -> bytes:
        if self._pause < self._fault.drip:
            raise httpx.ReadTimeout(
                "The emulator drips too slowly", request=self._request
            )
        return piece
