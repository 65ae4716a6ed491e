"""Addresses below the base address, without parsing it anew for each request.

httpx looks at an address character by character, which takes longer than anything
that this package does for a request: some 6 % of a whole call on loopback.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    import httpx


_CHARACTERS: Final = r"[A-Za-z0-9\-._~!$&()*+,;=:@/]*"
_ENCODED: Final = rf"{_CHARACTERS}(?:%[0-9A-Fa-f]{{2}}{_CHARACTERS})*"
_PLAIN: Final = re.compile(rf"/({_ENCODED})(?:\?({_ENCODED}))?")
"""What httpx leaves as it is, but for dots that lead upwards."""

_LONGEST: Final = 60_000
"""httpx refuses addresses of more than 65,536 characters."""


def joined(base: httpx.URL, path: str, target: str) -> httpx.URL | None:
    """The address of *target* below *base*, whose own path is *path*.

    None where it is not plain what httpx would make of it. httpx has no way to put
    an address together from parts that need no look, so this looks inside; where it
    finds something else than it knows, the value is None too.
    """
    plain = _PLAIN.fullmatch(target)
    parts: Any = getattr(base, "_uri_reference", None)
    if (
        plain is None
        or "/." in target
        or len(target) > _LONGEST
        or not hasattr(parts, "_replace")
    ):
        return None
    url = copy.copy(base)
    whole = parts._replace(path=f"{path}/{plain[1]}", query=plain[2])
    object.__setattr__(url, "_uri_reference", whole)
    return url


# --- leftover bytes ---------------------------------------------------------------


def has_leftover_bytes(transport: object) -> bool:
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


# --- bodies -----------------------------------------------------------------------


T = TypeVar("T")


class AsyncIter(Generic[T]):
    """What *pieces* gives, to be awaited.

    It is no asynchronous generator: trio warns of one that is left in its middle.
    """

    def __init__(self, pieces: Iterator[T]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> AsyncIter[T]:
        return self

    async def __anext__(self) -> T:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration
