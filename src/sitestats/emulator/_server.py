"""Serve the emulator over HTTP/1.1 on a local socket, with keep-alive."""

from __future__ import annotations

import re
import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from http import HTTPStatus
from http.client import responses
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast

from sitestats._common.wire import HttpResponse

from ._faults import Fault, Handle
from ._http import RecordedRequest

HOST: Final = "127.0.0.1"


class _Server(ThreadingHTTPServer):
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
    # Otherwise each response waits 40 ms for the client's acknowledgement.
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
        length = self.headers.get("content-length", "0")
        # A real body is far smaller than ten megabytes.
        known = re.fullmatch("[0-9]{1,7}", length)
        if not known or "transfer-encoding" in self.headers:
            self.close_connection = True
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            # A request that was cut off is not recorded.
            self.close_connection = True
            return
        request = RecordedRequest.of(
            self.command, self.path, self.headers.items(), body
        )
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

    def _send(self, response: HttpResponse, fault: Fault) -> None:
        headers = dict(response.headers)
        if response.status not in {204, 304}:
            headers["content-length"] = str(len(response.body))
        lines = [f"HTTP/1.1 {response.status} {responses.get(response.status, '')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
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

    # No generator: one that is never left would be closed when the program ends, and
    # wait for a thread that has stopped.

    def __init__(self, handle: Handle, host: str, port: int) -> None:
        self._handle = handle
        self._address = host, port

    def __enter__(self) -> str:
        self._server = _Server(self._handle, self._address)
        # Half a second would be the usual time for the end of a block.
        serve = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        serve.daemon = True
        serve.start()
        return f"http://{self._address[0]}:{self._server.server_port}"

    def __exit__(self, *exception: object) -> None:
        server = self._server
        server.ending.set()
        server.shutdown()
        server.server_close()
        left = server.open.copy()
        for connection in left:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for worker in left.values():
            worker.join(5)
