"""Bytes after the end of an answer, which belong to no request of ours.

A connection that is used again would take them for the answer to its next
request: another query's numbers, without any error.
"""

from __future__ import annotations

from typing import Any


def has_surplus(transport: object) -> bool:
    """Whether the connection of *transport* holds bytes that nobody asked for.

    httpx has no way to ask for them, so this looks inside. Where it finds
    something else than it knows, it finds nothing.
    """
    pool = getattr(transport, "_pool", None)
    for connection in getattr(pool, "connections", ()):
        # Through a proxy there is a connection within the connection.
        inner: Any = connection
        while inner is not None:
            state = getattr(inner, "_h11_state", None)
            if state is not None and state.trailing_data[0]:
                return True
            inner = getattr(inner, "_connection", None)
    return False
