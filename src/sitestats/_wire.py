"""HTTP as plain values: no socket, no HTTP library, and never a credential."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from urllib.parse import quote

import attrs


@lru_cache(maxsize=256)
def _encoded(text: str) -> str:
    # Names and most values are those of the request before.
    return quote(text, safe="*,:")


class Credentials(Enum):
    """Which credentials a request wants; the transport adds them (section 5)."""

    NONE = "none"
    KEY = "key"
    KEY_AND_USER = "key and user"


@attrs.frozen
class HttpRequest:
    """One request, relative to the base address.

    It says which credentials it wants and holds none, so it may be logged,
    pickled and kept in an error.
    """

    method: str
    path: str
    """Percent-encoded, with a leading slash: ``/example.com.json``."""
    params: tuple[tuple[str, str], ...] = ()
    """Query parameters in the order they are sent, not yet encoded."""
    body: bytes = b""
    content_type: str | None = None
    credentials: Credentials = Credentials.NONE
    fresh_connection: bool = False
    """Whether a connection that was used before must not carry it."""

    @property
    def target(self) -> str:
        """The path with its encoded query: what follows the base address."""
        if not self.params:
            return self.path
        pairs = (f"{_encoded(name)}={_encoded(value)}" for name, value in self.params)
        return f"{self.path}?{'&'.join(pairs)}"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@attrs.frozen
class HttpResponse:
    """One whole answer, its body decompressed."""

    status: int
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """Names are lower case."""
    body: bytes = b""
