"""All cases by kind, in the order of the tables in docs/evidence/faults.md."""

from __future__ import annotations

from .bodies import TYPES
from .connections import CONNECTING, NEVER_ENDING, STOPPING
from .encryption import TLS
from .framing import CHUNKS, ENCODINGS, HEADS, LENGTHS
from .statuses import ERROR_RESPONSES, RATE_LIMITS, REDIRECTS, REFLECTIONS, WRITES

KINDS = {
    "Connections": CONNECTING,
    "Incomplete responses": STOPPING,
    "Endless responses": NEVER_ENDING,
    "TLS": TLS,
    "Lengths and chunks": (*LENGTHS, *CHUNKS),
    "Compression": ENCODINGS,
    "Status lines and headers": HEADS,
    "Kinds of body": TYPES,
    "Error responses": ERROR_RESPONSES,
    "Rate limits": RATE_LIMITS,
    "Redirects": REDIRECTS,
    "Writes": WRITES,
    "Reflections": REFLECTIONS,
}

CASES = tuple(case for cases in KINDS.values() for case in cases)
