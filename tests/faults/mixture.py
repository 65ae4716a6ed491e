"""The case for the soak test: good responses, and every tenth one has a fault."""

from __future__ import annotations

from .bodies import HTML
from .responses import (
    CHUNKED,
    GOOD,
    GZIPPED,
    PACKED,
    bomb_block,
    chunk,
    error_response,
    head,
    raw,
    response,
)
from .script import (
    Case,
    Finish,
    Flood,
    Pause,
    ReadRequest,
    Reset,
    Script,
    Send,
    Silence,
)

_BOMB_BEGIN, _BOMB_BLOCK = bomb_block()
_GOOD: Script = (ReadRequest(), Send(response()))
_PACKED: Script = (ReadRequest(), Send(response(PACKED, *GZIPPED)))

FAULTS: tuple[Script, ...] = (
    (ReadRequest(), Reset()),
    (ReadRequest(), Finish()),
    (ReadRequest(), Send(response()[:-20]), Finish()),
    (ReadRequest(), Send(response()[:-20]), Reset()),
    (ReadRequest(), Send(b"HTTP/1.1 2"), Finish()),
    (ReadRequest(), Send(b"no status line at all\r\n\r\n"), Finish()),
    (ReadRequest(), Send(CHUNKED + b"zz\r\n"), Finish()),
    (ReadRequest(), Send(CHUNKED), Flood(chunk(b" " * 65536), 1_000_000)),
    (
        ReadRequest(),
        Send(head(*GZIPPED)),
        Send(_BOMB_BEGIN),
        Flood(_BOMB_BLOCK, 1_000_000),
    ),
    (ReadRequest(), Send(response(PACKED[:-4], *GZIPPED))),
    (ReadRequest(), Send(response(GOOD, *GZIPPED))),
    (ReadRequest(), Send(response(HTML, "Content-Type: text/html"))),
    (ReadRequest(), Send(response(b""))),
    (ReadRequest(), Send(response(raw(b'"many"')))),
    (ReadRequest(), Send(response(raw(b"[" * 10_000)))),
    (ReadRequest(), Send(error_response("404 Not Found", error="no such website"))),
    (ReadRequest(), Send(error_response("503 Service Unavailable", error="later"))),
    (
        ReadRequest(),
        Send(error_response("429 Too Many Requests", "Retry-After: 0", error="later")),
    ),
    (
        ReadRequest(),
        Send(head("Location: %ELSEWHERE%/", "Content-Length: 0", status="302 No")),
    ),
    (ReadRequest(), Send(response()), Finish()),
    (ReadRequest(), Pause(0.01), Reset()),
    (ReadRequest(), Silence()),
)

MIXTURE = Case(
    "mixture",
    "responds, every other time compressed; every tenth response has a fault in turn",
    tuple(
        script for fault in FAULTS for script in (*(_GOOD, _PACKED) * 4, _GOOD, fault)
    ),
    "value",
    cycles=True,
)
