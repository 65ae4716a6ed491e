"""Serve the emulator over HTTP/1.1 on a local socket, with keep-alive."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast

from ._dispatch import Core, Reply
from ._http import RecordedRequest

HOST: Final = "127.0.0.1"

_WITHOUT_BODY: Final = frozenset({204, 304})


class _Server(ThreadingHTTPServer):
    # Fifty clients may connect in the same instant.
    request_queue_size = 256

    def __init__(self, core: Core, address: tuple[str, int]) -> None:
        self.core = core
        self.ending = threading.Event()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._guard = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        worker = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            daemon=True,
        )
        # Registered before it runs, so that ``end`` can't miss it.
        with self._guard:
            self._open[request] = worker
        worker.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._guard:
                del self._open[request]

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Clients may close the connection at any time; anything else is a bug.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Close every open connection, and wait for its thread."""
        self.ending.set()
        with self._guard:
            left = dict(self._open)
        for connection in left:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for worker in left.values():
            worker.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise each response waits 40 ms for the client's acknowledgement.
    disable_nagle_algorithm = True
    # Of requests that can't be read; the base class's is a page of HTML.
    error_content_type = "application/json; charset=utf-8"
    error_message_format = '{"ok":false,"error":"%(explain)s"}'

    @property
    def _served(self) -> _Server:
        return cast("_Server", self.server)

    def _respond(self) -> None:
        length = self.headers.get("content-length", "0")
        if "transfer-encoding" in self.headers or not length.isdecimal():
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
            self.close_connection = True
            return
        request = RecordedRequest.of(
            self.command, self.path, self.headers.items(), self.rfile.read(int(length))
        )
        reply = self._served.core.handle(request)
        if reply.fault.latency and self._served.ending.wait(reply.fault.latency):
            self.close_connection = True
            return
        if reply.fault.reset:
            self._reset()
            return
        head, content = self._parts(reply)
        if reply.fault.cut_off is not None and reply.fault.cut_off < len(content):
            content = content[: reply.fault.cut_off]
            self.close_connection = True
        if reply.fault.drip:
            self._drip(head + content, reply.fault.drip)
        else:
            self.wfile.write(head + content)

    def __getattr__(self, name: str) -> Callable[[], None]:
        # The base class calls do_ and the method of the request, whatever that is.
        if name.startswith("do_"):
            return self._respond
        raise AttributeError(name)

    def _parts(self, reply: Reply) -> tuple[bytes, bytes]:
        response = reply.response
        headers = dict(response.headers)
        if response.status not in _WITHOUT_BODY:
            headers["content-length"] = str(len(response.body))
        try:
            phrase = HTTPStatus(response.status).phrase
        except ValueError:
            phrase = ""
        lines = [f"HTTP/1.1 {response.status} {phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        return head, b"" if self.command == "HEAD" else response.body

    def _reset(self) -> None:
        # With a linger time of 0, closing sends a reset.
        self.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.connection.close()
        self.close_connection = True

    def _drip(self, data: bytes, pause: float) -> None:
        for byte in data:
            if self._served.ending.wait(pause):
                self.close_connection = True
                return
            self.wfile.write(bytes([byte]))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing: ``emulator.requests`` has the requests."""


@contextmanager
def serve(core: Core, *, host: str = HOST, port: int = 0) -> Generator[str]:
    """Serve on a socket within the block; gives the base address."""
    server = _Server(core, (host, port))
    thread = threading.Thread(
        target=server.serve_forever,
        args=(0.05,),
        name="sitestats-emulator",
        daemon=True,
    )
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.end()
        server.server_close()
