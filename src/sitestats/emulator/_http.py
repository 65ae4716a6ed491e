"""Recorded requests and their headers, with reprs that hide credentials."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qsl

import attrs

from sitestats._wire import messages

_ADDRESS: Final = re.compile(r"\Ahttps?://[^/]*", re.IGNORECASE)
"""The start of a target that is a whole address, as proxies are sent it."""
HOST: Final = "127.0.0.1"
"""The address that an emulator listens on."""
SECRET: Final = frozenset({"api-key", "user-id", "authorization", "cookie"})
"""Headers whose values a repr hides, because reprs appear in logs and test reports."""


class Headers(messages.Headers):
    """The headers of a request; names are case-insensitive."""

    def __repr__(self) -> str:
        shown = {
            name: "…" if name in SECRET else value
            for name, value in self._values.items()
        }
        return f"Headers({shown})"


@attrs.frozen
class RecordedRequest:
    """A request that the emulator received.

    ``emulator.requests`` has them in order of arrival.
    """

    method: str
    path: str
    """The path as it was sent, percent-encoded: ``/example.com/caf%C3%A9.json``."""
    pairs: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    """The query parameters, decoded, in the order they were sent."""
    headers: Headers = attrs.field(factory=lambda: Headers({}))
    body: bytes = b""

    @classmethod
    def of(
        cls,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> RecordedRequest:
        """Parse *target*, the path with its encoded query.

        As HTTP says, blanks around a header's value are not part of it, several headers
        of one name are one list, and a target may be a whole address.
        """
        path, _, query = target.partition("?")
        if not path.startswith("/"):
            path = _ADDRESS.sub("", path) or "/"
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        values: dict[str, str] = {}
        for name, text in headers:
            lower, value = name.lower(), text.strip(" \t")
            values[lower] = f"{values[lower]}, {value}" if lower in values else value
        return cls(method, path, pairs, Headers(values), body)

    @property
    def params(self) -> dict[str, str]:
        """The query parameters, decoded; the last one if a name was sent twice."""
        return dict(self.pairs)

    def json(self) -> Any:
        """The body, decoded from JSON."""
        return json.loads(self.body)

    def to_dict(self) -> dict[str, Any]:
        """The request, ready for JSON, with its made-up credentials."""
        return {
            "method": self.method,
            "path": self.path,
            "params": self.params,
            "headers": dict(self.headers),
            "body": self.body.decode(errors="replace"),
        }

    def __str__(self) -> str:
        return f"{self.method} {self.path}"
