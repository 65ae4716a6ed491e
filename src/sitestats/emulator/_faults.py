"""Simulated failures: status, latency, cut-off bodies, resets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Final, Unpack

import attrs

from sitestats._common.wire import HttpResponse

from . import _responses
from ._http import RecordedRequest

if TYPE_CHECKING:
    from ._options import Delivery

POSSIBLE: Final = range(200, 600)
REDIRECTS: Final = range(300, 400)
LONGEST: Final = 3600
"""The most seconds of a pause; a larger number is probably in milliseconds."""

GARBAGE: Final = b'\x1f\x8b{"ok":tru\xff\xfe\x00\x80'
"""Neither JSON nor UTF-8 nor gzip."""


@attrs.frozen(kw_only=True)
class Fault:
    """How a response fails; made by ``Emulator.fail_next``, which explains it."""

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

    @property
    def replaces(self) -> bool:
        """Whether something else is sent in place of the normal response."""
        return self.status is not None or self.body is not None or self.reset

    def matches(self, request: RecordedRequest) -> bool:
        """Whether the response to *request* is to fail."""
        if self.method is not None and request.method != self.method:
            return False
        if self.path is not None and not _path_matches(request.path, self.path):
            return False
        return self.when is None or self.when(request)

    def respond(
        self,
        request: RecordedRequest,
        normal: Callable[[RecordedRequest], HttpResponse],
    ) -> HttpResponse:
        """The response that is sent; *normal* makes the one without this fault."""
        if not self.replaces:
            response = normal(request)
            headers = {**response.headers, **self.headers}
            return attrs.evolve(response, headers=headers)
        if self.processed:
            normal(request)
        status = 200 if self.status is None else self.status
        body = self.body
        if body is None:
            body = _responses.encode(_default_body(status))
        headers = {
            **_responses.CORS,
            "content-type": "application/json; charset=utf-8",
            **self.headers,
        }
        return HttpResponse(status, headers, b"" if status in {204, 304} else body)


def _default_body(status: int) -> dict[str, object]:
    body: dict[str, object] = {"ok": False, "error": f"A fault with status {status}"}
    if status == HTTPStatus.LOCKED:
        body["code"] = "BADGE_REQUIRED"
    return body


def _path_matches(path: str, pattern: str) -> bool:
    if pattern.endswith("*"):
        return path.startswith(pattern[:-1])
    return path == pattern


class Faults:
    """A thread-safe queue of faults, each with what gives its uses."""

    # Without a lock: each line is one step, whatever comes between two of them.

    def __init__(self) -> None:
        self._waiting: dict[repeat[bool], Fault] = {}

    def add(self, fault: Fault, times: int | None) -> None:
        """Append a fault for the next *times* matching requests; None for all."""
        uses = repeat(True) if times is None else repeat(True, times)  # noqa: FBT003 - a value
        self._waiting[uses] = fault

    def clear(self) -> None:
        """Remove all faults."""
        self._waiting.clear()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, request: RecordedRequest) -> Fault | None:
        """The first fault that matches *request*, which uses it once."""
        for uses, fault in self._waiting.copy().items():
            if fault.matches(request) and next(uses, False):
                if not length_hint(uses, 1):
                    self._waiting.pop(uses, None)
                return fault
        return None


def make(
    *,
    status: int | None = None,
    retry_after: float | str | datetime | None = None,
    headers: Mapping[str, str] | None = None,
    body: object = None,
    garbage: bool = False,
    redirect: str | None = None,
    **delivery: Unpack[Delivery],
) -> Fault:
    """Make a fault from the arguments of ``Emulator.fail_next``.

    Raises:
        ValueError: They contradict each other, or one is invalid.
    """
    sent = {name.lower(): value for name, value in (headers or {}).items()}
    if redirect is not None:
        status = 302 if status is None else status
        sent["location"] = redirect
    if retry_after is not None:
        sent["retry-after"] = _retry_after(retry_after)
    content = None
    if garbage:
        content = GARBAGE
    elif isinstance(body, bytes):
        content = body
    elif isinstance(body, str):
        content = body.encode()
    elif body is not None:
        content = _responses.encode(body)
    fault = Fault(status=status, headers=sent, body=content, **delivery)
    latency, drip, cut_off = fault.latency, fault.drip, fault.cut_off
    for wrong, text in (
        (
            not (fault.replaces or sent or latency or drip or cut_off is not None),
            "say what fails: pass status=, body=, latency=, reset=True, …",
        ),
        (
            status is not None and status not in POSSIBLE,
            f"status must be 200 to 599, not {status}",
        ),
        (
            redirect is not None and status not in REDIRECTS,
            f"a redirect needs a status from 300 to 399, not {status}",
        ),
        (
            retry_after is not None and status is None,
            "retry_after needs a status, such as 429 or 503",
        ),
        (garbage and body is not None, "garbage sets the body: leave out body"),
        (
            status in {204, 304} and (content is not None or cut_off is not None),
            f"status {status} has no body: leave out body, garbage and cut_off",
        ),
        (
            fault.reset and (status is not None or content is not None or bool(sent)),
            "no response arrives after a reset: leave out status, headers and body",
        ),
        (
            fault.reset and (cut_off is not None or drip > 0),
            "a reset comes before the first byte: leave out cut_off and drip",
        ),
        (
            fault.processed and not fault.replaces,
            "processed=True needs a status, a body or reset=True",
        ),
        (
            not 0 <= latency < LONGEST,
            f"latency must be 0 to 3,600 seconds, not {latency}",
        ),
        (
            not 0 <= drip < LONGEST,
            f"drip must be 0 to 3,600 seconds a byte, not {drip}",
        ),
        (
            cut_off is not None and cut_off < 0,
            f"cut_off must be 0 or more bytes, not {cut_off}",
        ),
    ):
        if wrong:
            raise ValueError(text)
    return fault


def _retry_after(value: float | str | datetime) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("retry_after as a datetime needs a time zone")
        return format_datetime(value.astimezone(UTC), usegmt=True)
    return str(value)
