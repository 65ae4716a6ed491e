"""Deliver responses with their faults on a socket, where h11 reads the requests."""

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

import h11

from sitestats._wire.messages import HttpResponse

from ._delivery import Handle
from ._faults import NO_FAULT, Fault
from ._http import RecordedRequest
from ._responses import framed, json_response

_PIECE: Final = 65_536
"""The most bytes that are read at once."""
_LONGEST_HEAD: Final = 1_000_000
"""The most bytes of an address with its headers; the service allows fewer."""


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
        received = b""
        while not self._is_over:
            # h11 only reads: it would refuse to send what a fault does.
            reader = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)
            if received:
                reader.receive_data(received)
            try:
                request = self._read(reader)
            except h11.RemoteProtocolError as wrong:
                self._refuse(wrong.error_status_hint, f"This is not HTTP: {wrong}")
                return
            if request is None:
                return
            self._is_over = reader.their_state in {h11.MUST_CLOSE, h11.CLOSED}
            self._respond(request)
            received, _ = reader.trailing_data

    def _read(self, reader: h11.Connection) -> RecordedRequest | None:
        """The next request; None if the client has closed the connection."""
        head, body = None, bytearray()
        while True:
            event = reader.next_event()
            if event is h11.NEED_DATA:
                # curl waits a second for this before it sends a large file.
                if reader.they_are_waiting_for_100_continue:
                    self._socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                    reader.send(h11.InformationalResponse(status_code=100, headers=[]))
                data = self._socket.recv(_PIECE)
                if not data:
                    return None
                reader.receive_data(data)
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif head is not None:
                headers = [(n.decode(), v.decode("latin-1")) for n, v in head.headers]
                method, target = head.method.decode(), head.target.decode()
                return RecordedRequest.of(method, target, headers, bytes(body))

    def _respond(self, request: RecordedRequest) -> None:
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
            self._send(response, fault, is_head=request.method == "HEAD")

    def _refuse(self, status: int, text: str) -> None:
        """Refuse what is not HTTP, in the form of the service's other errors."""
        error = {"ok": False, "error": text}
        response = json_response(status, error, {"connection": "close"})
        self._send(response, NO_FAULT, is_head=False)

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

    # This is not a generator: if never left, it would be closed when the program ends,
    # and wait for a thread that has stopped.

    def __init__(
        self, handle: Handle, host: str, port: int, *, at_end: Callable[[], None]
    ) -> None:
        self._handle = handle
        self._address = host, port
        self._at_end = at_end

    def __enter__(self) -> str:
        self._server = _Server(self._handle, self._address)
        # Half a second would be the usual time for the end of a block.
        work = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        try:
            work.start()
        except RuntimeError as error:
            self._server.server_close()
            raise OSError(
                f"the emulator can't start its thread ({error}): end other threads, "
                "or use emulator.client() or emulator.async_client(), without a socket"
            ) from error
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
