"""Cases: connections that fail, and answers that stop or never end."""

from __future__ import annotations

from .answers import CHUNKED, GOOD, GZIPPED, MIB, answer, bomb_block, chunk, head
from .script import (
    BRIEF,
    HASTY,
    Case,
    Deafness,
    Drip,
    Finish,
    Flood,
    Hear,
    Pause,
    Reset,
    Say,
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
        "nobody listens",
        (),
        "ConnectionFailedError",
        tries=0,
        listens="no",
        has={"maybe_sent": False},
    ),
    Case(
        "drops the handshake",
        "the queue of connections is full",
        (),
        "RequestTimeoutError",
        tries=0,
        listens="full",
        options=HASTY,
        has={"maybe_sent": False},
    ),
    Case(
        "accepts and is silent",
        "reads, and never says a word",
        ((Silence(),),),
        "RequestTimeoutError",
        tries=3,
        options=HASTY,
        has={"maybe_sent": True},
    ),
    Case(
        "does not read a large request",
        "accepts, and reads nothing of 32 MiB",
        ((Deafness(),),),
        "RequestTimeoutError",
        call="post much",
        options=HASTY,
        has={"maybe_sent": True},
    ),
    Case(
        "hangs up at once",
        "accepts and closes",
        ((Finish(),),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "resets at once",
        "accepts and resets",
        ((Reset(),),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "hangs up after the request",
        "reads the request and closes",
        ((Hear(), Finish()),),
        "ConnectionFailedError",
        tries=3,
        has={"maybe_sent": True},
    ),
    Case(
        "resets after the request",
        "reads the request and resets",
        ((Hear(), Reset()),),
        "ConnectionFailedError",
        tries=3,
        has={"maybe_sent": True},
    ),
    Case(
        "resets once",
        "resets the first connection, answers on the second",
        ((Hear(), Reset()), (Hear(), Say(answer()))),
        "value",
        tries=2,
    ),
    Case(
        "is silent once",
        "is silent on the first connection, answers on the second",
        ((Silence(),), (Hear(), Say(answer()))),
        "value",
        tries=2,
        options={"timeout": 3.0},
    ),
    Case(
        "lets an idle connection go stale",
        "answers, and closes the connection that it promised to keep",
        ((Hear(), Say(answer()), Finish()),),
        "value",
        tries=2,
        call="get twice",
    ),
    Case(
        "resets an idle connection when it is used again",
        "answers, then resets at the next request on the same connection",
        ((Hear(), Say(answer())), (Hear(), Reset()), (Hear(), Say(answer()))),
        "value",
        tries=3,
        call="get twice",
    ),
)

STOPPING = (
    Case(
        "stops within the status line",
        "sends `HTTP/1.1 2` and closes",
        ((Hear(), Say(b"HTTP/1.1 2"), Finish()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "resets within the headers",
        "sends half a header and resets",
        ((Hear(), Say(b"HTTP/1.1 200 OK\r\nContent-Ty"), Pause(0.05), Reset()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "closes after the headers",
        "promises a body and closes",
        ((Hear(), Say(head(_JSON, "Content-Length: 10")), Finish()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "resets after the headers",
        "promises a body and resets",
        ((Hear(), Say(head(_JSON, "Content-Length: 10")), Pause(0.05), Reset()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "cuts the body",
        "sends 20 bytes of the body and closes",
        ((Hear(), Say(_CUT), Finish()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "resets within the body",
        "sends 20 bytes of the body and resets",
        ((Hear(), Say(_CUT), Pause(0.05), Reset()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "cuts the body once",
        "cuts the first answer, sends the second whole",
        ((Hear(), Say(_CUT), Finish()), (Hear(), Say(answer()))),
        "value",
        tries=2,
    ),
    Case(
        "is silent within the headers",
        "stops for ever within a header",
        ((Hear(), Say(b"HTTP/1.1 200 OK\r\nContent-Ty"), Silence()),),
        "RequestTimeoutError",
        tries=3,
        options=HASTY,
    ),
    Case(
        "is silent after the headers",
        "promises a body and stops for ever",
        ((Hear(), Say(head(_JSON, "Content-Length: 10")), Silence()),),
        "RequestTimeoutError",
        tries=3,
        options=HASTY,
    ),
    Case(
        "is silent within the body",
        "stops for ever after 20 bytes of the body",
        ((Hear(), Say(_CUT), Silence()),),
        "RequestTimeoutError",
        tries=3,
        options=HASTY,
    ),
)

NEVER_ENDING = (
    Case(
        "drips the status line",
        "sends a byte every 0.1 s from the first one on",
        ((Hear(), Drip(answer()), Silence()),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "drips the headers",
        "sends the headers byte by byte",
        ((Hear(), Say(b"HTTP/1.1 200 OK\r\n"), Drip(_FIELD * 20)),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "drips the body",
        "sends the body byte by byte",
        ((Hear(), Say(_CUT), Drip(GOOD[20:]), Silence()),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "drips chunks",
        "sends a chunk of one byte every 0.1 s",
        ((Hear(), Say(CHUNKED), Flood(chunk(b" "), 1_000, pause=0.1)),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "drips a gzip stream",
        "sends a compressed byte every 0.1 s",
        ((Hear(), Say(head(*GZIPPED)), Drip(_BOMB_BEGIN + _BOMB_BLOCK)),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "drips 100 Continue",
        "sends an interim answer every 0.1 s, and never a final one",
        ((Hear(), Flood(head(status="100 Continue"), 1_000, pause=0.1)),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "never ends its interim answers",
        "sends 100 Continue as fast as it can",
        ((Hear(), Flood(head(status="100 Continue") * 20, 1_000_000)),),
        "RequestTimeoutError",
        options=BRIEF,
    ),
    Case(
        "never ends its headers",
        "sends header after header as fast as it can",
        ((Hear(), Say(b"HTTP/1.1 200 OK\r\n"), Flood(_FIELD * 500, 1_000_000)),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "never ends a header",
        "sends one header's value for ever",
        ((Hear(), Say(b"HTTP/1.1 200 OK\r\nX: "), Flood(b"x" * 8192, 1_000_000)),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "never ends its chunks",
        "sends chunks as fast as it can",
        ((Hear(), Say(CHUNKED), Flood(chunk(b" " * 65536), 1_000_000)),),
        "ResponseTooLargeError",
    ),
    Case(
        "never ends the size of a chunk",
        "sends a chunk's size, and its extension for ever",
        ((Hear(), Say(CHUNKED + b"1;"), Flood(b"x" * 8192, 1_000_000)),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "never ends its trailers",
        "sends the last chunk, and trailers for ever",
        ((Hear(), Say(CHUNKED + b"0\r\n"), Flood(_FIELD * 500, 1_000_000)),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "never ends a body without a length",
        "sends for ever, as if the end of the connection were the body's",
        ((Hear(), Say(_UNTIL_CLOSED), Flood(b" " * 65536, 1_000_000)),),
        "ResponseTooLargeError",
    ),
    Case(
        "sends gigabytes",
        "sends 4 GiB, and says so",
        (
            (
                Hear(),
                Say(head(_JSON, f"Content-Length: {4096 * MIB}")),
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
                Hear(),
                Say(head(*GZIPPED, "Connection: close")),
                Say(_BOMB_BEGIN),
                Flood(_BOMB_BLOCK, 1024),
                Finish(),
            ),
        ),
        "ResponseTooLargeError",
    ),
    Case(
        "sends a gzip bomb with a failure",
        "sends the same as the body of a 400",
        (
            (
                Hear(),
                Say(head(*GZIPPED, "Connection: close", status="400 Bad Request")),
                Say(_BOMB_BEGIN),
                Flood(_BOMB_BLOCK, 1024),
                Finish(),
            ),
        ),
        "ResponseTooLargeError",
    ),
)
