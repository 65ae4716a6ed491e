"""Servers on loopback that break off, send nonsense, or are slow."""

from __future__ import annotations

import socket

from loopback import Connection, Script

OK = b"HTTP/1.1 200 OK\r\n"


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


LONG_HEADER = OK + b"X-Long: " + b"x" * 3000


LONG_BODY = OK + b"Content-Length: 3000\r\n\r\n" + b"x" * 3000


def says(*pieces: bytes) -> Script:
    """Read the request, send these bytes, and close."""

    def script(connection: Connection) -> None:
        connection.request()
        for piece in pieces:
            connection.send(piece)

    return script


def resets_within(data: bytes) -> Script:
    """Reset within the response."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(data)
        connection.reset()

    return script


BROKEN = {
    "hangs up after the request": says(b""),
    "resets before the answer": resets_within(b""),
    "resets within the headers": resets_within(OK + b"Content-"),
    "resets within the body": resets_within(OK + b"Content-Length: 9\r\n\r\n{"),
    "cuts the headers": says(OK + b"Content-Len"),
    "cuts the body": says(OK + b"Content-Length: 9\r\n\r\n{}"),
    "cuts the chunks": says(CHUNKED + b"5\r\nab"),
    "cuts between the chunks": says(CHUNKED + b"2\r\n{}\r\n"),
    "sends a wrong chunk": says(CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"),
    "sends a negative length": says(OK + b"Content-Length: -1\r\n\r\n{}"),
    "sends two lengths": says(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "sends no HTTP": says(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "sends HTTP/2": says(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    "sends zeros": says(bytes(200_000)),
    "sends endless headers": says(OK + b"X: y\r\n" * 100_000),
    "sends a header with a zero": says(OK + b"X: \0\r\n\r\n"),
    "sends a status of four digits": says(b"HTTP/1.1 2000 OK\r\n\r\n"),
}


def closed_port() -> int:
    """A port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def silent(connection: Connection) -> None:
    """Send nothing."""
    connection.wait()
    connection.wait()


def drips(data: bytes) -> Script:
    """Read the request, and respond a byte at a time."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.drip(data)

    return script


SLOW = {
    "is silent": silent,
    "drips the headers": drips(LONG_HEADER),
    "drips the body": drips(LONG_BODY),
    "drips chunks": drips(CHUNKED + b"1\r\nx\r\n" * 1000),
    "drips until it closes": drips(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 3000),
    "keeps continuing": drips(b"HTTP/1.1 100 Continue\r\n\r\n" * 200),
}
