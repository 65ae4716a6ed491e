"""What the tests of requests and retries know of the inside."""

from __future__ import annotations

from sitestats._protocol.flow import (
    NO_DEADLINE,
    ActionResult,
    Deadline,
    Flow,
    Pausing,
    Retrying,
    is_contains_search,
    send_with_retries,
)
from sitestats._protocol.requests import add_request, custom_request

__all__ = [
    "NO_DEADLINE",
    "ActionResult",
    "Deadline",
    "Flow",
    "Pausing",
    "Retrying",
    "add_request",
    "custom_request",
    "is_contains_search",
    "send_with_retries",
]
