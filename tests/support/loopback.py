"""A server on loopback, for what needs a socket: it hangs, drips, breaks or counts.

A script says what the server does with a connection. It runs in a thread for each:

    def script(connection: Connection) -> None:
        while connection.request():
            connection.respond(b'{"ok": true, "pageviews": 3}')

    with served(variant, script) as (client, server):
        assert client.stats.get(QUERY).pageviews == 3
    assert len(server.requests) == server.connections == 1

``serve(script)`` is the server alone.

``serve`` closes all connections in the end, so a script may wait without a limit:
``connection.wait()`` until the client hangs up, ``server.ending.wait()`` until the test
is over. It ends without an error when the client hangs up while it sends.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import trustme

from both_clients import opened


class Connection:
    """The server's side of one connection."""

    def __init__(self, sock: socket.socket, server: Server) -> None:
        self._sock = sock
        self.server = server
        self._unread = bytearray()
        self.closed = False

    def request(self) -> bytes:
        """Read one request, head and body; empty when the client disconnected."""
        while b"\r\n\r\n" not in self._unread:
            if not self._receive():
                return b""
        head = bytes(self._unread.partition(b"\r\n\r\n")[0])
        length = len(head) + len(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length += int(value)
        while len(self._unread) < length:
            if not self._receive():
                return b""
        whole = bytes(self._unread[:length])
        del self._unread[:length]
        self.server.requests.append(whole)
        return whole

    def _receive(self) -> bytes:
        try:
            data = self._sock.recv(65536)
        except OSError:
            data = b""
        self._unread += data
        return data

    def take(self) -> bytes:
        """The bytes that arrived and were not read, or the next ones."""
        data = bytes(self._unread) or self._receive()
        self._unread.clear()
        return data

    def send(self, data: bytes) -> None:
        """Send raw bytes."""
        self._sock.sendall(data)

    def respond(self, body: bytes = b"{}", status: int = 200, *headers: str) -> None:
        """Send a well-formed response."""
        self.send(whole(body, *headers, status=f"{status} Whatever"))

    def drip(self, data: bytes) -> None:
        """Send a byte every 20 milliseconds until the client disconnects."""
        for byte in data:
            if self.server.ending.wait(0.02):
                return
            self.send(bytes([byte]))

    def reset(self) -> None:
        """Close with a reset instead of an orderly end."""
        linger = struct.pack("ii", 1, 0)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._sock.close()

    def wait(self) -> None:
        """Send nothing until the test is over or the client disconnects."""
        while self._receive():
            pass

    def start_tls(self, context: ssl.SSLContext) -> None:
        """Do the TLS handshake."""
        # Only then, so that `close` ends one that the client never finishes.
        sock = context.wrap_socket(
            self._sock, server_side=True, do_handshake_on_connect=False
        )
        self._sock = sock
        sock.do_handshake()

    def close(self) -> None:
        """Close without a reset."""
        with suppress(OSError):
            # Not TLS' own, which takes the session from under a handshake.
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
        self._sock.close()
        self.closed = True


Script = Callable[[Connection], object]


class Server:
    """Runs a script for each connection, each in its own thread."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None) -> None:
        self._script = script
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port: int = self._listener.getsockname()[1]
        scheme = "http" if tls is None else "https"
        host = "127.0.0.1" if tls is None else "localhost"
        self.address = f"{scheme}://{host}:{self.port}"
        self.connections = 0
        """How many were accepted."""
        self.requests: list[bytes] = []
        self.ending = threading.Event()
        self.open: list[Connection] = []
        self._threads: list[threading.Thread] = []

    def run(self) -> None:
        """Accept until the listener is closed."""
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(sock, self)
            self.open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: Connection) -> None:
        # The client hangs up in the middle of most of these scripts.
        with suppress(OSError):
            if self._tls is not None:
                connection.start_tls(self._tls)
            self._script(connection)
        connection.close()

    def stop_accepting(self) -> None:
        """Make `run` return."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def stop(self) -> None:
        """Close every connection, and accept no more."""
        self.ending.set()
        for connection in list(self.open):
            connection.close()
        for thread in self._threads:
            thread.join()


@contextmanager
def serve(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run *script* for each connection to the yielded server, over TLS with *tls*."""
    server = Server(script, tls)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop_accepting()
        thread.join()
        server.stop()


def polite(connection: Connection) -> None:
    """Respond to every request."""
    while connection.request():
        connection.respond(b'{"ok":true}')


COUNTED = b'{"ok": true, "pageviews": 3}'
"""The body of a response to a query of page views."""


def counting(connection: Connection) -> None:
    """Respond with page views to each request that is not for a silent website."""
    while b"silent" not in (request := connection.request()) and request:
        connection.respond(COUNTED)
    connection.wait()


def silent(connection: Connection) -> None:
    """Send nothing, until the client hangs up."""
    connection.wait()


@contextmanager
def served(
    variant: str, script: Script, **options: Any
) -> Iterator[tuple[Any, Server]]:
    """A client of a server that runs *script*, and the server."""
    with serve(script) as server, opened(variant, server.address, **options) as client:
        yield client, server


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds, such as that a client has hung up."""
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def closed_address() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


AUTHORITY = trustme.CA()


def contexts(*names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for *names*, and a client's that trusts it.

    The first is for ``serve(script, tls=…)``, whose address is https then; the second
    is the client's ``verify``.
    """
    behind, trusting = (
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
        ssl.create_default_context(),
    )
    AUTHORITY.issue_cert(*names).configure_cert(behind)
    AUTHORITY.configure_trust(trusting)
    return behind, trusting


@contextmanager
def resolving(look_up: Callable[[], list[Any]]) -> Iterator[None]:
    """Resolve ``many.test`` by *look_up*, and everything else as usual."""
    usual = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **more: Any) -> Any:
        if host not in ("many.test", b"many.test"):
            return usual(host, *args, **more)
        if more.get("flags") == socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        return look_up()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


def head(*lines: str, status: str = "200 OK") -> bytes:
    """A status line and headers."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1")


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """A complete response."""
    return head(*lines, f"Content-Length: {len(body)}", status=status) + body
