"""Cases: failed connections, incomplete and endless responses."""

from __future__ import annotations

from .responses import CHUNKED, GOOD, GZIPPED, MIB, bomb_block, chunk, head, response
from .script import (
    SHORT_TIMEOUT,
    SHORT_TOTAL_TIMEOUT,
    Case,
    Drip,
    Finish,
    Flood,
    Pause,
    ReadNothing,
    ReadRequest,
    Reset,
    Send,
    Silence,
)

_BOMB_BEGIN, _BOMB_BLOCK = bomb_block()
_JSON = "Content-Type: application/json"
_CUT = head(_JSON, f"Content-Length: {len(GOOD)}") + GOOD[:20]
_UNTIL_CLOSED = head(_JSON, "Connection: close")
_FIELD = b"X-Padding: and so on\r\n"

CONNECTING = (
    Case(
        "refuses",
        "no socket listens",
        (),
        "ConnectionFailedError",
        attempts=0,
        listens="no",
        has={"maybe_sent": False},
    ),
    Case(
        "drops the handshake",
        "the queue of new connections is full",
        (),
        "RequestTimeoutError",
        attempts=0,
        listens="full",
        options=SHORT_TIMEOUT,
        has={"maybe_sent": False},
    ),
    Case(
        "accepts and is silent",
        "reads, and never sends a byte",
        ((Silence(),),),
        "RequestTimeoutError",
        attempts=3,
        options=SHORT_TIMEOUT,
        has={"maybe_sent": True},
    ),
    Case(
        "does not read a large request",
        "accepts, and reads nothing of 32 MiB",
        ((ReadNothing(),),),
        "RequestTimeoutError",
        call="post much",
        options=SHORT_TIMEOUT,
        has={"maybe_sent": True},
    ),
    Case(
        "hangs up at once",
        "accepts and closes",
        ((Finish(),),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "resets at once",
        "accepts and resets",
        ((Reset(),),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "hangs up after the request",
        "reads the request and closes",
        ((ReadRequest(), Finish()),),
        "ConnectionFailedError",
        attempts=3,
        has={"maybe_sent": True},
    ),
    Case(
        "resets after the request",
        "reads the request and resets",
        ((ReadRequest(), Reset()),),
        "ConnectionFailedError",
        attempts=3,
        has={"maybe_sent": True},
    ),
    Case(
        "resets once",
        "resets the first connection, responds on the second",
        ((ReadRequest(), Reset()), (ReadRequest(), Send(response()))),
        "value",
        attempts=2,
    ),
    Case(
        "is silent once",
        "is silent on the first connection, responds on the second",
        ((Silence(),), (ReadRequest(), Send(response()))),
        "value",
        attempts=2,
        options={"timeout": 3.0},
    ),
    Case(
        "closes an idle connection",
        "responds, and closes the connection that it announced to keep",
        ((ReadRequest(), Send(response()), Finish()),),
        "value",
        attempts=2,
        call="get twice",
    ),
    Case(
        "resets an idle connection when it is used again",
        "responds, then resets at the next request on the same connection",
        (
            (ReadRequest(), Send(response())),
            (ReadRequest(), Reset()),
            (ReadRequest(), Send(response())),
        ),
        "value",
        attempts=3,
        call="get twice",
    ),
)

STOPPING = (
    Case(
        "stops within the status line",
        "sends `HTTP/1.1 2` and closes",
        ((ReadRequest(), Send(b"HTTP/1.1 2"), Finish()),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "resets within the headers",
        "sends half a header and resets",
        (
            (
                ReadRequest(),
                Send(b"HTTP/1.1 200 OK\r\nContent-Ty"),
                Pause(0.05),
                Reset(),
            ),
        ),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "closes after the headers",
        "announces a body and closes",
        ((ReadRequest(), Send(head(_JSON, "Content-Length: 10")), Finish()),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "resets after the headers",
        "announces a body and resets",
        (
            (
                ReadRequest(),
                Send(head(_JSON, "Content-Length: 10")),
                Pause(0.05),
                Reset(),
            ),
        ),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "cuts the body",
        "sends 20 bytes of the body and closes",
        ((ReadRequest(), Send(_CUT), Finish()),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "resets within the body",
        "sends 20 bytes of the body and resets",
        ((ReadRequest(), Send(_CUT), Pause(0.05), Reset()),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "cuts the body once",
        "cuts the first response, sends the second completely",
        ((ReadRequest(), Send(_CUT), Finish()), (ReadRequest(), Send(response()))),
        "value",
        attempts=2,
    ),
    Case(
        "is silent within the headers",
        "stops within a header, and keeps the connection open",
        ((ReadRequest(), Send(b"HTTP/1.1 200 OK\r\nContent-Ty"), Silence()),),
        "RequestTimeoutError",
        attempts=3,
        options=SHORT_TIMEOUT,
    ),
    Case(
        "is silent after the headers",
        "announces a body, and sends none",
        ((ReadRequest(), Send(head(_JSON, "Content-Length: 10")), Silence()),),
        "RequestTimeoutError",
        attempts=3,
        options=SHORT_TIMEOUT,
    ),
    Case(
        "is silent within the body",
        "stops after 20 bytes of the body, and keeps the connection open",
        ((ReadRequest(), Send(_CUT), Silence()),),
        "RequestTimeoutError",
        attempts=3,
        options=SHORT_TIMEOUT,
    ),
)

NEVER_ENDING = (
    Case(
        "drips the status line",
        "sends the response byte by byte, one every 0.1 s",
        ((ReadRequest(), Drip(response()), Silence()),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "drips the headers",
        "sends the headers byte by byte",
        ((ReadRequest(), Send(b"HTTP/1.1 200 OK\r\n"), Drip(_FIELD * 20)),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "drips the body",
        "sends the body byte by byte",
        ((ReadRequest(), Send(_CUT), Drip(GOOD[20:]), Silence()),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "drips chunks",
        "sends a chunk of one byte every 0.1 s",
        ((ReadRequest(), Send(CHUNKED), Flood(chunk(b" "), 1_000, pause=0.1)),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "drips a gzip stream",
        "sends a compressed byte every 0.1 s",
        ((ReadRequest(), Send(head(*GZIPPED)), Drip(_BOMB_BEGIN + _BOMB_BLOCK)),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "drips 100 Continue",
        "sends an interim response every 0.1 s, and never a final one",
        ((ReadRequest(), Flood(head(status="100 Continue"), 1_000, pause=0.1)),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "never ends its interim responses",
        "sends 100 Continue as fast as it can",
        ((ReadRequest(), Flood(head(status="100 Continue") * 20, 1_000_000)),),
        "RequestTimeoutError",
        options=SHORT_TOTAL_TIMEOUT,
    ),
    Case(
        "never ends its headers",
        "sends header after header as fast as it can",
        (
            (
                ReadRequest(),
                Send(b"HTTP/1.1 200 OK\r\n"),
                Flood(_FIELD * 500, 1_000_000),
            ),
        ),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "never ends a header",
        "sends one header's value without end",
        (
            (
                ReadRequest(),
                Send(b"HTTP/1.1 200 OK\r\nX: "),
                Flood(b"x" * 8192, 1_000_000),
            ),
        ),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "never ends its chunks",
        "sends chunks as fast as it can",
        ((ReadRequest(), Send(CHUNKED), Flood(chunk(b" " * 65536), 1_000_000)),),
        "ResponseTooLargeError",
    ),
    Case(
        "never ends the size of a chunk",
        "sends a chunk's size, and its extension without end",
        ((ReadRequest(), Send(CHUNKED + b"1;"), Flood(b"x" * 8192, 1_000_000)),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "never ends its trailers",
        "sends the last chunk, and trailers without end",
        ((ReadRequest(), Send(CHUNKED + b"0\r\n"), Flood(_FIELD * 500, 1_000_000)),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "never ends a body without a length",
        "sends without end, as if the connection's end were the body's",
        ((ReadRequest(), Send(_UNTIL_CLOSED), Flood(b" " * 65536, 1_000_000)),),
        "ResponseTooLargeError",
    ),
    Case(
        "sends gigabytes",
        "sends 4 GiB, with the right `Content-Length`",
        (
            (
                ReadRequest(),
                Send(head(_JSON, f"Content-Length: {4096 * MIB}")),
                Flood(b" " * 65536, 65536),
            ),
        ),
        "ResponseTooLargeError",
    ),
    Case(
        "sends a gzip bomb",
        "sends 1 MiB that inflates to 1 GiB",
        (
            (
                ReadRequest(),
                Send(head(*GZIPPED, "Connection: close")),
                Send(_BOMB_BEGIN),
                Flood(_BOMB_BLOCK, 1024),
                Finish(),
            ),
        ),
        "ResponseTooLargeError",
    ),
    Case(
        "sends a gzip bomb with an error",
        "sends the same as the body of a 400",
        (
            (
                ReadRequest(),
                Send(head(*GZIPPED, "Connection: close", status="400 Bad Request")),
                Send(_BOMB_BEGIN),
                Flood(_BOMB_BLOCK, 1024),
                Finish(),
            ),
        ),
        "ResponseTooLargeError",
    ),
)
