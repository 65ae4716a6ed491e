"""Cases: responses that break HTTP/1.1: lengths, chunks, compression, headers."""

from __future__ import annotations

from .responses import (
    CHUNKED,
    GOOD,
    GZIPPED,
    PACKED,
    chunk,
    error_response,
    head,
    response,
)
from .script import Case, Finish, ReadRequest, Script, Send

_JSON = "Content-Type: application/json"
_BODY = f"Content-Length: {len(GOOD)}"


def _sends_and_closes(data: bytes) -> tuple[Script, ...]:
    return ((ReadRequest(), Send(data), Finish()),)


def _sends(data: bytes) -> tuple[Script, ...]:
    return ((ReadRequest(), Send(data)),)


LENGTHS = (
    Case(
        "announces too many bytes",
        "a Content-Length 10 bytes above the body, then closes",
        _sends_and_closes(head(_JSON, f"Content-Length: {len(GOOD) + 10}") + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "announces too few bytes",
        "a Content-Length 10 bytes below the body",
        _sends_and_closes(head(_JSON, f"Content-Length: {len(GOOD) - 10}") + GOOD),
        "ResponseError",
    ),
    Case(
        "sends bytes after the response",
        "leftover bytes after a good body, on a connection that stays open",
        _sends(response() + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        "value",
        attempts=2,
        call="get twice",
    ),
    Case(
        "announces a negative length",
        "`Content-Length: -1`",
        _sends_and_closes(head(_JSON, "Content-Length: -1") + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "announces a length that is not a number",
        "`Content-Length: many`",
        _sends_and_closes(head(_JSON, "Content-Length: many") + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "announces two lengths",
        "two different Content-Length headers",
        _sends_and_closes(head(_JSON, _BODY, "Content-Length: 5") + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "announces an absurd length",
        "a Content-Length of 30 digits",
        _sends_and_closes(head(_JSON, f"Content-Length: {'9' * 30}") + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "announces a length beside chunks",
        "both Content-Length and chunks; the chunks are read",
        _sends_and_closes(
            head(_JSON, "Transfer-Encoding: chunked", "Content-Length: 5")
            + chunk(GOOD)
            + chunk(b"")
        ),
        "value",
    ),
)

CHUNKS = (
    Case(
        "sends broken chunks",
        "a chunk whose size is `zz`",
        _sends_and_closes(CHUNKED + b"zz\r\n" + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "sends a negative chunk",
        "a chunk whose size is `-5`",
        _sends_and_closes(CHUNKED + b"-5\r\n" + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "cuts its chunks",
        "a chunk, but not the last one",
        _sends_and_closes(CHUNKED + chunk(GOOD)),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "sends one byte in each chunk",
        "each byte as a chunk of its own",
        _sends_and_closes(
            CHUNKED + b"".join(chunk(bytes([byte])) for byte in GOOD) + chunk(b""),
        ),
        "value",
    ),
)

ENCODINGS = (
    Case(
        "compresses",
        "gzip, as the client allows",
        _sends(response(PACKED, *GZIPPED)),
        "value",
    ),
    Case(
        "breaks the gzip stream",
        "a gzip stream with a wrong checksum",
        _sends(response(PACKED[:-8] + b"\0" * 8, *GZIPPED)),
        "ResponseError",
    ),
    Case(
        "compresses with an unaccepted encoding",
        "`Content-Encoding: br`",
        _sends(response(b"\x0b\x02\x80{}\x03", _JSON, "Content-Encoding: br")),
        "ResponseError",
    ),
)

HEADS = (
    Case(
        "responds as HTTP/1.0",
        "an HTTP/1.0 response without a length",
        _sends_and_closes(
            b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + GOOD
        ),
        "value",
    ),
    Case(
        "responds without headers",
        "the body alone, as in HTTP/0.9",
        _sends_and_closes(GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "speaks another protocol",
        "an SSH banner",
        _sends_and_closes(b"SSH-2.0-OpenSSH_9.6\r\n"),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "sends random bytes",
        "bytes without a line end",
        _sends_and_closes(bytes(range(128, 256)) * 64),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "speaks HTTP/2",
        "a SETTINGS frame",
        _sends_and_closes(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "sends a header without a colon",
        "a line among the headers that is not a header",
        _sends_and_closes(head(_JSON, "this is no header", _BODY) + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "sends a NUL in a header",
        "a zero byte in a header's value",
        _sends_and_closes(head(_JSON, "X-Odd: a\0b", _BODY) + GOOD),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "sends headers in Latin-1",
        "bytes above 127 in a header's value",
        _sends(head(_JSON, "X-Odd: caf\xe9", _BODY) + GOOD),
        "value",
    ),
    Case(
        "sends a thousand headers",
        "1,000 headers before a good body",
        _sends(head(_JSON, *(f"X-{n}: {n}" for n in range(1000)), _BODY) + GOOD),
        "value",
    ),
    Case(
        "sets cookies",
        "a cookie, which must not be sent back",
        _sends(response(GOOD, _JSON, "Set-Cookie: session=1; Path=/")),
        "value",
        attempts=2,
        call="get twice",
    ),
    Case(
        "sends 100 and 103 first",
        "two interim responses before the good one",
        _sends(
            head(status="100 Continue")
            + head("Link: </style.css>", status="103 Early Hints")
            + response()
        ),
        "value",
    ),
    Case(
        "switches protocols",
        "101, as if a web socket had been requested",
        _sends_and_closes(head("Upgrade: websocket", status="101 Switching Protocols")),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "responds with status 99",
        "a status below all statuses",
        _sends_and_closes(response(status="099 Odd")),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "responds with status 1000",
        "a status of four digits",
        _sends_and_closes(response(status="1000 Odd")),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "responds with status 799",
        "a status above all defined ones",
        _sends(error_response("799 Odd", error="odd")),
        "ServerError",
    ),
)
