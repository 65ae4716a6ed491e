"""What broken servers send, and where none listens."""

from __future__ import annotations

import socket

from loopback import Connection

OK = b"HTTP/1.1 200 OK\r\n"
LONG_HEADER = OK + b"X-Long: " + b"x" * 3000


def closed_port() -> int:
    """A port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def silent(connection: Connection) -> None:
    """Send nothing."""
    connection.wait()
    connection.wait()
