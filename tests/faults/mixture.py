"""One case for long runs: good answers, and every tenth time a fault in turn."""

from __future__ import annotations

from .answers import (
    CHUNKED,
    GOOD,
    GZIPPED,
    PACKED,
    answer,
    bomb_block,
    chunk,
    failure,
    head,
    raw,
)
from .bodies import HTML
from .script import Case, Finish, Flood, Hear, Pause, Reset, Say, Script, Silence

_BOMB_BEGIN, _BOMB_BLOCK = bomb_block()
_GOOD: Script = (Hear(), Say(answer()))
_PACKED: Script = (Hear(), Say(answer(PACKED, *GZIPPED)))

FAULTS: tuple[Script, ...] = (
    (Hear(), Reset()),
    (Hear(), Finish()),
    (Hear(), Say(answer()[:-20]), Finish()),
    (Hear(), Say(answer()[:-20]), Reset()),
    (Hear(), Say(b"HTTP/1.1 2"), Finish()),
    (Hear(), Say(b"no status line at all\r\n\r\n"), Finish()),
    (Hear(), Say(CHUNKED + b"zz\r\n"), Finish()),
    (Hear(), Say(CHUNKED), Flood(chunk(b" " * 65536), 1_000_000)),
    (Hear(), Say(head(*GZIPPED)), Say(_BOMB_BEGIN), Flood(_BOMB_BLOCK, 1_000_000)),
    (Hear(), Say(answer(PACKED[:-4], *GZIPPED))),
    (Hear(), Say(answer(GOOD, *GZIPPED))),
    (Hear(), Say(answer(HTML, "Content-Type: text/html"))),
    (Hear(), Say(answer(b""))),
    (Hear(), Say(answer(raw(b'"many"')))),
    (Hear(), Say(answer(raw(b"[" * 10_000)))),
    (Hear(), Say(failure("404 Not Found", error="no such website"))),
    (Hear(), Say(failure("503 Service Unavailable", error="later"))),
    (Hear(), Say(failure("429 Too Many Requests", "Retry-After: 0", error="later"))),
    (Hear(), Say(head("Location: %ELSEWHERE%/", "Content-Length: 0", status="302 No"))),
    (Hear(), Say(answer()), Finish()),
    (Hear(), Pause(0.01), Reset()),
    (Hear(), Silence()),
)

MIXTURE = Case(
    "mixture",
    "answers, compressed every other time, and every tenth time has a fault in turn",
    tuple(
        script for fault in FAULTS for script in (*(_GOOD, _PACKED) * 4, _GOOD, fault)
    ),
    "value",
    cycles=True,
)
