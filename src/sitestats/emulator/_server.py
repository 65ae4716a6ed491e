"""Serve the emulator over HTTP/1.1 on a local socket, with keep-alive."""

from __future__ import annotations

import ipaddress
import re
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast

from ._dispatch import Core, Reply
from ._http import RecordedRequest

HOST: Final = "127.0.0.1"

LARGEST_BODY: Final = 1024 * 1024
"""The most bytes of a request's body; that of the service's own is far smaller."""

_CORS: Final = "access-control-allow-origin"
_ORIGIN: Final = re.compile(r"\*|https?://[^\s/]+", re.ASCII)
_PORT: Final = re.compile(r":[0-9]*$")
_WITHOUT_BODY: Final = frozenset({204, 304})


class _Server(ThreadingHTTPServer):
    # Fifty clients may connect in the same instant.
    request_queue_size = 256

    def __init__(
        self,
        core: Core,
        address: tuple[str, int],
        names: frozenset[str],
        cors: str | None,
    ) -> None:
        self.core = core
        self.names = names
        self.cors = cors
        self.ending = threading.Event()
        self._open: dict[socket.socket, threading.Thread] = {}
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        worker = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            daemon=True,
        )
        # Registered before it runs, so that ``end`` can't miss it.
        self._open[request] = worker
        worker.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self._open[request]

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Clients may close the connection at any time; anything else is a bug.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Close every open connection, and wait for its thread."""
        self.ending.set()
        left = self._open.copy()
        for connection in left:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for worker in left.values():
            worker.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise each response waits 40 ms for the client's acknowledgement.
    disable_nagle_algorithm = True
    # What a request that can't be read gets; the base class sends a page of HTML.
    error_content_type = "application/json; charset=utf-8"
    error_message_format = '{"ok":false,"error":"%(explain)s"}'

    @property
    def _served(self) -> _Server:
        return cast("_Server", self.server)

    def _respond(self) -> None:
        hosts = self.headers.get_all("host", [])
        if len(hosts) != 1 or not _is_own(hosts[0], self._served.names):
            self.send_error(
                HTTPStatus.MISDIRECTED_REQUEST,
                explain="The Host is another one. Use the address of serve(), or pass "
                "allowed_hosts to it (sitestats emulator --allow-host)",
            )
            return
        length, *others = {*self.headers.get_all("content-length", ["0"])}
        if others or "transfer-encoding" in self.headers or not length.isdecimal():
            # Of two lengths nobody knows where the request ends (RFC 9112, 6.3).
            wrong = HTTPStatus.BAD_REQUEST if others else HTTPStatus.LENGTH_REQUIRED
            self.close_connection = True
            self.send_error(wrong)
            return
        # A number of thousands of digits is not read at all.
        if len(length) > len(str(LARGEST_BODY)) or int(length) > LARGEST_BODY:
            self.send_error(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                explain=f"The body is longer than {LARGEST_BODY:,} bytes",
            )
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            # A request that was cut off is none.
            self.close_connection = True
            return
        request = RecordedRequest.of(
            self.command, self.path, self.headers.items(), body
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
        if headers.get(_CORS) == "*":
            # The service lets every website read; here they are the user's own pages.
            del headers[_CORS]
            if self._served.cors is not None:
                headers[_CORS] = self._served.cors
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


def serve(
    core: Core,
    *,
    host: str = HOST,
    port: int = 0,
    allowed_hosts: Iterable[str] = (),
    cors: str | None = None,
) -> AbstractContextManager[str]:
    """Serve on a socket within the block; gives the base address."""
    if cors is not None and not _ORIGIN.fullmatch(cors):
        raise ValueError(
            f"cors is '*', or an origin such as 'http://localhost:5173', not {cors!r}"
        )
    given = [allowed_hosts] if isinstance(allowed_hosts, str) else allowed_hosts
    names = frozenset(name.lower().rstrip(".") for name in (host, *given))
    return _Serving(core, (host, port), names, cors)


class _Serving(AbstractContextManager[str]):
    # No generator: one that is never left would be closed when the program ends, and
    # wait for a thread that has stopped.

    def __init__(
        self,
        core: Core,
        address: tuple[str, int],
        names: frozenset[str],
        cors: str | None,
    ) -> None:
        self._host = address[0]
        self._make = partial(_Server, core, address, names, cors)

    def __enter__(self) -> str:
        self._server = server = self._make()
        self._thread = threading.Thread(
            target=server.serve_forever,
            args=(0.05,),
            name="sitestats-emulator",
            daemon=True,
        )
        self._thread.start()
        return f"http://{self._host}:{server.server_port}"

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.end()
        self._server.server_close()


def _is_own(host: str, names: frozenset[str]) -> bool:
    """Whether a ``Host`` names this server.

    A website of any other name may have been made to lead here (DNS rebinding): its
    pages would be of the same origin. An address can't be made to.
    """
    name = _PORT.sub("", host).lower().rstrip(".")
    if name in names or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
