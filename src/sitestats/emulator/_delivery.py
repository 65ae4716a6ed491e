"""Deliver responses with their faults: by a transport of httpx, or on a socket."""

from __future__ import annotations

import re
import socket
import struct
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, suppress
from http import HTTPStatus
from http.client import responses
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final, TypeAlias, cast

import anyio

from sitestats._wire.messages import HttpResponse

from ._faults import NO_FAULT, Fault
from ._http import RecordedRequest
from ._responses import json_response

if sys.platform == "emscripten":
    import httpx2 as httpx
else:
    import httpx

Handle: TypeAlias = Callable[[RecordedRequest], tuple[HttpResponse, Fault]]
"""Gives the response to a request, and the fault that its delivery has."""

# --- without a socket ----------------------------------------------------------------


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
    headers = {**response.headers, "content-length": str(len(response.body))}
    return httpx.Response(response.status, headers=headers, stream=stream)


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


# --- on a socket ----------------------------------------------------------------------

HOST: Final = "127.0.0.1"
_LARGEST: Final = 1_000_000_000
"""The most bytes of a body; rows to load are the largest."""
_LONGEST_LINE: Final = 65_537
"""The most bytes of a line of a chunked body, as of a header."""


class _Server(ThreadingTCPServer):
    # HTTPServer would look up the name of its address, which may take seconds.
    allow_reuse_address = True
    # Fifty clients may connect at the same time.
    request_queue_size = 256

    def __init__(self, handle: Handle, address: tuple[str, int]) -> None:
        self.handle_recorded = handle
        self.ending = threading.Event()
        self.open: dict[socket.socket, threading.Thread] = {}
        """The open connections, and the thread of each."""
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        work, args = self.process_request_thread, (request, client_address)
        self.open[request] = threading.Thread(target=work, args=args, daemon=True)
        self.open[request].start()

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Clients may close the connection at any time; anything else is a bug.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise, each response would wait 40 ms for the client's acknowledgement.
    disable_nagle_algorithm = True

    @property
    def _served(self) -> _Server:
        return cast("_Server", self.server)

    def __getattr__(self, name: str) -> Callable[[], None]:
        # The base class calls a method named do_ and the request's method.
        if name.startswith("do_"):
            return self._respond
        raise AttributeError(name)

    def _respond(self) -> None:
        try:
            self._check_headers()
            body = self._read_body()
        except ValueError as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))
            return
        except EOFError:
            # The client closed the connection within the body.
            self.close_connection = True
            return
        headers = self.headers.items()
        request = RecordedRequest.of(self.command, self.path, headers, body)
        response, fault = self._served.handle_recorded(request)
        if fault.latency and self._served.ending.wait(fault.latency):
            self.close_connection = True
        elif fault.reset:
            # With a linger time of 0, closing sends a reset.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
            self.close_connection = True
        else:
            self._send(response, fault)

    def _check_headers(self) -> None:
        # A line that is no header, or that has a blank before its colon, hides those
        # below it.
        if self.headers.defects or self.headers.get_payload():
            raise ValueError("A line of the head is not a header")

    def _read_body(self) -> bytes:
        """The body of a request, of a known length or in chunks.

        Raises:
            ValueError: It is not as HTTP says, or too large.
            EOFError: The connection was closed within it.
        """
        codings = self.headers.get_all("transfer-encoding", [])
        lengths = {text.strip() for text in self.headers.get_all("content-length", [])}
        if not codings:
            length = "".join(lengths) or "0"
            if len(lengths) > 1 or not re.fullmatch("[0-9]{1,20}", length):
                raise ValueError("The Content-Length is not a number")
            return self._read_exactly(int(length), 0)
        if lengths or [text.strip().lower() for text in codings] != ["chunked"]:
            raise ValueError("The Transfer-Encoding must be chunked, without a length")
        chunks: list[bytes] = []
        received = 0
        while size := self._read_chunk_size():
            chunks.append(self._read_exactly(size, received))
            received += size
            if self._read_line():
                raise ValueError("A chunk is longer than its size")
        # Trailers may follow the last chunk, up to an empty line.
        while self._read_line():
            pass
        return b"".join(chunks)

    def _read_chunk_size(self) -> int:
        digits, _, _ = self._read_line().partition(b";")
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,16}", digits.strip()):
            raise ValueError("The size of a chunk is not a number")
        return int(digits, 16)

    def _read_line(self) -> bytes:
        line = self.rfile.readline(_LONGEST_LINE)
        if len(line) == _LONGEST_LINE:
            raise ValueError("A line of the body is too long")
        if not line.endswith(b"\n"):
            raise EOFError
        return line.rstrip(b"\r\n")

    def _read_exactly(self, length: int, received: int) -> bytes:
        if received + length > _LARGEST:
            raise ValueError("The body is larger than 1 GB")
        content = self.rfile.read(length)
        if len(content) < length:
            raise EOFError
        return content

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Refuse what is not HTTP, in the form of the service's other errors."""
        del explain
        self.close_connection = True
        text = message or responses.get(code, "")
        error = {"ok": False, "error": text}
        self._send(json_response(code, error, {"connection": "close"}), NO_FAULT)

    def _send(self, response: HttpResponse, fault: Fault) -> None:
        headers = dict(response.headers)
        if response.status not in {204, 304}:
            headers["content-length"] = str(len(response.body))
        status = f"HTTP/1.1 {response.status} {responses.get(response.status, '')}"
        lines = [status, *map(": ".join, headers.items()), "", ""]
        head = "\r\n".join(lines).encode("latin-1", "replace")
        content = b"" if self.command == "HEAD" else response.body
        if fault.cut_off is not None and fault.cut_off < len(content):
            content = content[: fault.cut_off]
            self.close_connection = True
        if not fault.drip:
            self.wfile.write(head + content)
            return
        for byte in head + content:
            if self._served.ending.wait(fault.drip):
                self.close_connection = True
                return
            self.wfile.write(bytes([byte]))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing: ``emulator.requests`` has the requests."""


class Serving(AbstractContextManager[str]):
    """Serve on a socket within the block; gives the base address."""

    # This is no generator: if never left, it would be closed when the program ends, and
    # wait for a thread that has stopped.

    def __init__(
        self, handle: Handle, host: str, port: int, *, at_end: Callable[[], None]
    ) -> None:
        self._handle = handle
        self._address = host, port
        self._at_end = at_end

    def __enter__(self) -> str:
        if sys.platform == "emscripten":
            raise OSError(
                "Pyodide has no sockets to listen on: use emulator.client() or "
                "emulator.async_client(), or serve the emulator elsewhere"
            )
        self._server = _Server(self._handle, self._address)
        # Half a second would be the usual time for the end of a block.
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        ).start()
        return f"http://{self._address[0]}:{self._server.server_address[1]}"

    def __exit__(self, *exception: object) -> None:
        server = self._server
        self._at_end()
        server.ending.set()
        server.shutdown()
        server.server_close()
        left = server.open.copy()
        for connection in left:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for worker in left.values():
            worker.join(5)
