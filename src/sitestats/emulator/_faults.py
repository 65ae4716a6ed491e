"""What goes wrong on the way, as data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import Final

import attrs

from sitestats._common.wire import HttpResponse

from . import _shapes
from ._http import RecordedRequest

POSSIBLE: Final = range(200, 600)
REDIRECTS: Final = range(300, 400)
LONGEST: Final = 3600
"""Seconds; who wants to wait longer has mistaken the unit."""

GARBAGE: Final = b'\x1f\x8b{"ok":tru\xff\xfe\x00\x80'
"""No JSON, no UTF-8, no gzip."""


@attrs.frozen(kw_only=True)
class Fault:
    """How one answer fails. ``Emulator.fail_next`` makes it."""

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
        """Whether the true answer is not given."""
        return self.status is not None or self.body is not None or self.reset

    def meets(self, request: RecordedRequest) -> bool:
        """Whether *request* is one that fails in this way."""
        if self.method is not None and request.method != self.method:
            return False
        if self.path is not None and not _like(request.path, self.path):
            return False
        return self.when is None or self.when(request)

    def respond(
        self,
        request: RecordedRequest,
        answer: Callable[[RecordedRequest], HttpResponse],
    ) -> HttpResponse:
        """The answer with this fault; *answer* makes the true one."""
        if not self.replaces:
            true = answer(request)
            return attrs.evolve(true, headers={**true.headers, **self.headers})
        if self.processed:
            answer(request)
        status = 200 if self.status is None else self.status
        body = self.body
        if body is None:
            body = _shapes.encode(_default_body(status))
        headers = {
            **_shapes.CORS,
            "content-type": "application/json; charset=utf-8",
            **self.headers,
        }
        return HttpResponse(status, headers, b"" if status in {204, 304} else body)


def _default_body(status: int) -> dict[str, object]:
    body: dict[str, object] = {"ok": False, "error": f"A fault with status {status}"}
    if status == HTTPStatus.LOCKED:
        body["code"] = "BADGE_REQUIRED"
    return body


def _like(path: str, pattern: str) -> bool:
    if pattern.endswith("*"):
        return path.startswith(pattern[:-1])
    return path == pattern


class Faults:
    """The faults that are still to come; each is met by so many requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[Fault, int | None]] = []

    def add(self, fault: Fault, times: int | None) -> None:
        """Let the next *times* requests that match fail; None for all."""
        with self._lock:
            self._waiting.append((fault, times))

    def clear(self) -> None:
        """Let nothing fail any more."""
        with self._lock:
            self._waiting.clear()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, request: RecordedRequest) -> Fault | None:
        """The first fault that *request* meets; it is used up by one."""
        if not self._waiting:
            return None
        with self._lock:
            for place, (fault, times) in enumerate(self._waiting):
                if fault.meets(request):
                    if times is not None:
                        left = [(fault, times - 1)] if times > 1 else []
                        self._waiting[place : place + 1] = left
                    return fault
        return None


def make(
    *,
    status: int | None,
    retry_after: float | str | datetime | None,
    headers: Mapping[str, str] | None,
    body: object,
    garbage: bool,
    redirect: str | None,
    latency: float,
    drip: float,
    cut_off: int | None,
    reset: bool,
    processed: bool,
    method: str | None,
    path: str | None,
    when: Callable[[RecordedRequest], bool] | None,
) -> Fault:
    """The fault that is meant, or a ValueError when there can be none such."""
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
        content = _shapes.encode(body)
    fault = Fault(
        status=status,
        headers=sent,
        body=content,
        latency=latency,
        drip=drip,
        cut_off=cut_off,
        reset=reset,
        processed=processed,
        method=method,
        path=path,
        when=when,
    )
    shaped = fault.replaces or bool(sent)
    for wrong, text in (
        (
            not (shaped or latency or drip or cut_off is not None),
            "say what is to go wrong: a status, a body, latency=, reset=True, …",
        ),
        (
            status is not None and status not in POSSIBLE,
            f"status is 200 to 599, not {status}",
        ),
        (
            redirect is not None and status not in REDIRECTS,
            f"a redirect has a status from 300 to 399, not {status}",
        ),
        (
            retry_after is not None and status is None,
            "retry_after needs a status, such as 429 or 503",
        ),
        (garbage and body is not None, "garbage is a body already"),
        (
            status in {204, 304} and (content is not None or cut_off is not None),
            f"an answer with status {status} has no body",
        ),
        (
            reset and (status is not None or content is not None or bool(sent)),
            "after a reset no answer arrives: leave out status, headers and body",
        ),
        (
            reset and (cut_off is not None or drip > 0),
            "a reset comes before the first byte: leave out cut_off and drip",
        ),
        (
            processed and not fault.replaces,
            "processed is for answers that are replaced; a true one is processed",
        ),
        (not 0 <= latency < LONGEST, f"latency is 0 to 3,600 seconds, not {latency}"),
        (not 0 <= drip < LONGEST, f"drip is 0 to 3,600 seconds a byte, not {drip}"),
        (
            cut_off is not None and cut_off < 0,
            f"cut_off is a number of bytes from 0, not {cut_off}",
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
