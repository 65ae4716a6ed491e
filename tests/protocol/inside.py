"""What the tests of requests, responses and retries know of the inside."""

from __future__ import annotations

from sitestats._protocol.flow import (
    NO_DEADLINE,
    Deadline,
    Flow,
    Pausing,
    Retrying,
    StepResult,
    is_contains_search,
    send_with_retries,
)
from sitestats._protocol.requests import add_request, custom_request
from sitestats._protocol.responses import (
    decode_json,
    read_added,
    read_json,
    read_jsonp,
    read_websites,
)

__all__ = [
    "NO_DEADLINE",
    "Deadline",
    "Flow",
    "Pausing",
    "Retrying",
    "StepResult",
    "add_request",
    "custom_request",
    "decode_json",
    "is_contains_search",
    "read_added",
    "read_json",
    "read_jsonp",
    "read_websites",
    "send_with_retries",
]
