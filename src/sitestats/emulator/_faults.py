"""Simulated failures: status, latency, cut-off bodies, resets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Any, Final

import attrs

from sitestats._wire.messages import HttpResponse

from ._http import RecordedRequest
from ._responses import json_response

_STATUSES: Final = range(200, 600)
_LONGEST: Final = 3600
"""The most seconds of a pause; a larger number is probably in milliseconds."""
_KINDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("times", "status", "cut_off"), int),
    **dict.fromkeys(("latency", "drip"), int | float),
    **dict.fromkeys(("method", "path"), str),
    "when": Callable,
}
"""The types that could break a later response."""
GARBAGE: Final = b'\x1f\x8b{"ok":tru\xff\xfe\x00\x80'
"""Neither JSON nor UTF-8 nor gzip."""


@attrs.define(kw_only=True, eq=False)
class Fault:
    """How a response fails; ``Emulator.fail_next`` explains the arguments."""

    times: int | None = None
    """The number of responses that it still fails; None for all."""
    status: int | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    body: bytes | None = None
    latency: float = 0.0
    drip: float = 0.0
    cut_off: int | None = None
    reset: bool = False
    processed: bool = False
    method: str | None = None
    path: str | None = None
    when: Callable[[RecordedRequest], bool] | None = None

    def check(self) -> None:
        """Raise an error if nothing would fail, or a value is not as it should be."""
        for name, kind in _KINDS.items():
            if not isinstance(value := getattr(self, name), kind | None):
                raise TypeError(f"{name} can't be {value!r}")
        if self.times is not None and self.times < 1:
            raise ValueError("times must be 1 or more, or None for all")
        late = (self.latency, self.drip)
        if not (self.replaces or self.headers or any(late)) and self.cut_off is None:
            raise ValueError("say what fails: pass status=, body=, latency=, …")
        if self.status is not None and self.status not in _STATUSES:
            raise ValueError(f"status must be 200 to 599, not {self.status}")
        if not all(0 <= seconds < _LONGEST for seconds in late):
            raise ValueError("latency and drip are seconds, from 0 to 3,600")

    @property
    def replaces(self) -> bool:
        """Whether another response, or none, replaces the normal one."""
        return self.status is not None or self.body is not None or self.reset

    def matches(self, request: RecordedRequest) -> bool:
        """Whether the response to *request* should fail."""
        # fnmatch has other wildcards than the star.
        pattern = re.sub(r"[\[?]", r"[\g<0>]", self.path or "*")
        return (
            self.times != 0
            and self.method in {None, request.method}
            and fnmatchcase(request.path, pattern)
            and (self.when is None or self.when(request))
        )

    def respond(
        self,
        request: RecordedRequest,
        normal: Callable[[RecordedRequest], HttpResponse],
    ) -> HttpResponse:
        """The response to send; *normal* makes the response without a fault."""
        if not self.replaces:
            response = normal(request)
            return attrs.evolve(response, headers={**response.headers, **self.headers})
        if self.processed:
            normal(request)
        status = 200 if self.status is None else self.status
        code = {"code": "BADGE_REQUIRED"} if status == HTTPStatus.LOCKED else {}
        error = {"ok": False, "error": f"A fault with status {status}"} | code
        response = json_response(status, error, self.headers)
        body = b"" if status in {204, 304} else self.body
        return response if body is None else attrs.evolve(response, body=body)
