"""Deliver responses with their faults on a socket; llhttp reads the requests."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from http.client import responses
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any, Final, cast

import httptools

from sitestats._wire.messages import HttpResponse

from ._delivery import Handle
from ._faults import NO_FAULT, Fault
from ._http import RecordedRequest
from ._responses import framed, json_response

_PIECE: Final = 65_536
"""The most bytes that are read at once."""


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
        super().__init__(address, _Connection)

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


class _Connection(BaseRequestHandler):
    """Responds to the requests of one connection, in their order."""

    def setup(self) -> None:
        self._socket = cast("socket.socket", self.request)
        # Otherwise, each response would wait 40 ms for the client's acknowledgement.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._served = cast("_Server", self.server)
        self._is_over = False

    def handle(self) -> None:
        parser = self._parser = httptools.HttpRequestParser(self)
        while not self._is_over and (data := self._socket.recv(_PIECE)):
            try:
                parser.feed_data(data)
            except httptools.HttpParserUpgrade:
                # Java's client offers HTTP/2, and goes on without.
                parser = self._parser = httptools.HttpRequestParser(self)
            except httptools.HttpParserCallbackError as error:
                raise cast("BaseException", error.__context__) from None
            except httptools.HttpParserError as error:
                self._refuse(f"This is not HTTP: {error}")

    # The parser calls the next five methods.

    def on_message_begin(self) -> None:
        self._target = b""
        self._headers: list[tuple[str, str]] = []
        self._pieces: list[bytes] = []

    def on_url(self, piece: bytes) -> None:
        self._target += piece

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        # curl waits a second for this before it sends a large file.
        if any(name.lower() == "expect" for name, _ in self._headers):
            self._socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        if self._is_over:
            return
        method, body = self._parser.get_method().decode(), b"".join(self._pieces)
        target = self._target.decode("ascii")
        request = RecordedRequest.of(method, target, self._headers, body)
        self._is_over = not self._parser.should_keep_alive()
        response, fault = self._served.handle_recorded(request)
        if fault.latency and self._served.ending.wait(fault.latency):
            self._is_over = True
        elif fault.reset:
            # With a linger time of 0, closing sends a reset.
            linger = struct.pack("ii", 1, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._socket.close()
            self._is_over = True
        else:
            self._send(response, fault, is_head=method == "HEAD")

    def _refuse(self, text: str) -> None:
        """Refuse what is not HTTP, in the form of the service's other errors."""
        if not self._is_over:
            error = {"ok": False, "error": text}
            response = json_response(400, error, {"connection": "close"})
            self._send(response, NO_FAULT, is_head=False)
        self._is_over = True

    def _send(self, response: HttpResponse, fault: Fault, *, is_head: bool) -> None:
        status = f"HTTP/1.1 {response.status} {responses.get(response.status, '')}"
        lines = [status, *map(": ".join, framed(response).items()), "", ""]
        head = "\r\n".join(lines).encode("latin-1", "replace")
        content = b"" if is_head else response.body
        if fault.cut_off is not None and fault.cut_off < len(content):
            content = content[: fault.cut_off]
            self._is_over = True
        if not fault.drip:
            self._socket.sendall(head + content)
            return
        for byte in head + content:
            if self._served.ending.wait(fault.drip):
                self._is_over = True
                return
            self._socket.sendall(bytes([byte]))


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
