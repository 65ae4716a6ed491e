"""Cases: answers that break HTTP's own rules, or bend them."""

from __future__ import annotations

import gzip

from .answers import CHUNKED, GOOD, GZIPPED, PACKED, answer, chunk, failure, head
from .script import Case, Finish, Hear, Say, Script

_JSON = "Content-Type: application/json"
_BODY = f"Content-Length: {len(GOOD)}"


def _says(data: bytes) -> tuple[Script, ...]:
    return ((Hear(), Say(data), Finish()),)


def _keeps(data: bytes) -> tuple[Script, ...]:
    return ((Hear(), Say(data)),)


LENGTHS = (
    Case(
        "promises too much",
        "a Content-Length 10 bytes above the body, then closes",
        _says(head(_JSON, f"Content-Length: {len(GOOD) + 10}") + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "promises too little",
        "a Content-Length 10 bytes below the body",
        _says(head(_JSON, f"Content-Length: {len(GOOD) - 10}") + GOOD),
        "ResponseError",
    ),
    Case(
        "says more than it promised",
        "bytes after the end of a good body, on a connection that stays open",
        _keeps(answer() + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        "value",
        tries=2,
        call="get twice",
    ),
    Case(
        "names a negative length",
        "`Content-Length: -1`",
        _says(head(_JSON, "Content-Length: -1") + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "names a length that is no number",
        "`Content-Length: many`",
        _says(head(_JSON, "Content-Length: many") + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "names two lengths",
        "two different Content-Length headers",
        _says(head(_JSON, _BODY, "Content-Length: 5") + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "names an absurd length",
        "a Content-Length of 30 digits",
        _says(head(_JSON, f"Content-Length: {'9' * 30}") + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "names a length beside chunks",
        "both Content-Length and chunks, which win",
        _says(
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
        _says(CHUNKED + b"zz\r\n" + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "sends a negative chunk",
        "a chunk whose size is `-5`",
        _says(CHUNKED + b"-5\r\n" + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "cuts its chunks",
        "a chunk, and no last one",
        _says(CHUNKED + chunk(GOOD)),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "sends a byte a chunk",
        "each byte as a chunk of its own",
        _says(
            CHUNKED + b"".join(chunk(bytes([byte])) for byte in GOOD) + chunk(b""),
        ),
        "value",
    ),
)

ENCODINGS = (
    Case(
        "compresses",
        "gzip, as the client allows",
        _keeps(answer(PACKED, *GZIPPED)),
        "value",
    ),
    Case(
        "compresses in two members",
        "two gzip members one after the other",
        _keeps(answer(gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]), *GZIPPED)),
        "value",
    ),
    Case(
        "cuts the gzip stream",
        "a whole body by its length, but half a gzip stream",
        _keeps(answer(PACKED[: len(PACKED) // 2], *GZIPPED)),
        "ResponseError",
    ),
    Case(
        "breaks the gzip stream",
        "a gzip stream with a wrong checksum",
        _keeps(answer(PACKED[:-8] + b"\0" * 8, *GZIPPED)),
        "ResponseError",
    ),
    Case(
        "says gzip and sends text",
        "`Content-Encoding: gzip` before plain JSON",
        _keeps(answer(GOOD, *GZIPPED)),
        "ResponseError",
    ),
    Case(
        "sends an empty gzip stream",
        "`Content-Encoding: gzip` before nothing",
        _keeps(answer(b"", *GZIPPED)),
        "ResponseError",
    ),
    Case(
        "compresses twice",
        "gzip within gzip, which nobody asked for",
        _keeps(answer(gzip.compress(PACKED), _JSON, "Content-Encoding: gzip, gzip")),
        "ResponseError",
    ),
    Case(
        "compresses as nobody asked",
        "`Content-Encoding: br`",
        _keeps(answer(b"\x0b\x02\x80{}\x03", _JSON, "Content-Encoding: br")),
        "ResponseError",
    ),
)

HEADS = (
    Case(
        "answers as HTTP/1.0",
        "an old answer without a length",
        _says(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + GOOD),
        "value",
    ),
    Case(
        "answers without headers",
        "the body alone, as HTTP/0.9 had it",
        _says(GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "speaks another protocol",
        "an SSH banner",
        _says(b"SSH-2.0-OpenSSH_9.6\r\n"),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "sends random bytes",
        "bytes without a line end",
        _says(bytes(range(128, 256)) * 64),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "speaks HTTP/2",
        "a SETTINGS frame",
        _says(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "sends a header without a colon",
        "a line among the headers that is none",
        _says(head(_JSON, "this is no header", _BODY) + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "sends a NUL in a header",
        "a zero byte in a header's value",
        _says(head(_JSON, "X-Odd: a\0b", _BODY) + GOOD),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "sends headers in Latin-1",
        "bytes above 127 in a header's value",
        _keeps(head(_JSON, "X-Odd: caf\xe9", _BODY) + GOOD),
        "value",
    ),
    Case(
        "sends a thousand headers",
        "1,000 headers before a good body",
        _keeps(head(_JSON, *(f"X-{n}: {n}" for n in range(1000)), _BODY) + GOOD),
        "value",
    ),
    Case(
        "sets cookies",
        "a cookie, which must not come back",
        _keeps(answer(GOOD, _JSON, "Set-Cookie: session=1; Path=/")),
        "value",
        tries=2,
        call="get twice",
    ),
    Case(
        "sends 100 and 103 first",
        "two interim answers before the good one",
        _keeps(
            head(status="100 Continue")
            + head("Link: </style.css>", status="103 Early Hints")
            + answer()
        ),
        "value",
    ),
    Case(
        "switches protocols",
        "101, as if a web socket had been asked for",
        _says(head("Upgrade: websocket", status="101 Switching Protocols")),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "answers with status 99",
        "a status below all statuses",
        _says(answer(status="099 Odd")),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "answers with status 1000",
        "a status of four digits",
        _says(answer(status="1000 Odd")),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "answers with status 799",
        "a status above all that mean something",
        _keeps(failure("799 Odd", error="odd")),
        "ServerError",
    ),
)
