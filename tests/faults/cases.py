"""The table: every case in the order of the documentation, by kind."""

from __future__ import annotations

from .bodies import TEXT, TYPES, VALUES
from .connections import CONNECTING, NEVER_ENDING, STOPPING
from .encryption import TLS
from .framing import CHUNKS, ENCODINGS, HEADS, LENGTHS
from .statuses import RATE_LIMITS, REDIRECTS, REFLECTIONS, REFUSALS, WRITES

KINDS = {
    "Connections": CONNECTING,
    "Answers that stop": STOPPING,
    "Answers that never end": NEVER_ENDING,
    "TLS": TLS,
    "Lengths and chunks": (*LENGTHS, *CHUNKS),
    "Compression": ENCODINGS,
    "Status lines and headers": HEADS,
    "Kinds of body": TYPES,
    "Text": TEXT,
    "Values": VALUES,
    "Refusals": REFUSALS,
    "Rate limits": RATE_LIMITS,
    "Redirects": REDIRECTS,
    "Writes": WRITES,
    "Reflections": REFLECTIONS,
}

CASES = tuple(case for cases in KINDS.values() for case in cases)
