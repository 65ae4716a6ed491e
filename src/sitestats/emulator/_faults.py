"""Simulated failures: status, latency, cut-off bodies, resets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Any, Final, cast

import attrs
from attrs import validators

from sitestats._wire.messages import HttpResponse

from ._http import RecordedRequest
from ._responses import WITHOUT_BODY, encode, json_response
from ._settings import check_flag, check_moment, flag, is_number, whole

_LONGEST: Final = 3600
"""The most seconds of a pause; a larger number is probably in milliseconds."""
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
"""Headers that the emulator writes itself."""
GARBAGE: Final = b'\x1f\x8b{"ok":tru\xff\xfe\x00\x80'
"""Neither JSON nor UTF-8 nor gzip."""


def _pause(_fault: object, attribute: Any, value: Any) -> None:
    if not is_number(value, int | float):
        raise TypeError(f"{attribute.name} must be seconds, not {value!r}")
    if not 0 <= value < _LONGEST:
        raise ValueError(f"{attribute.name} is seconds, from 0 to 3,600, not {value}")


def _function(_fault: object, attribute: Any, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"{attribute.name} must be a function, not {value!r}")


def _like(pattern: str, form: str) -> Callable[[object, Any, Any], None]:
    """An attrs validator: text of a *form*, or None."""

    def check(_fault: object, attribute: Any, value: Any) -> None:
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{attribute.name} must be text, not {value!r}")
        if value is not None and not re.fullmatch(pattern, value):
            raise ValueError(f"{attribute.name} {form}, not {value!r}")

    return check


def sent_headers(
    headers: object, *, redirect: object, retry_after: object
) -> dict[str, str]:
    """The headers of a failed response.

    Raises:
        TypeError: A name or a value has another type.
        ValueError: A name or a value can't be sent, or is given twice.
    """
    if headers is not None and not isinstance(headers, Mapping):
        raise TypeError(f"headers must be a mapping, not {headers!r}")
    pairs: list[tuple[object, Any]] = []
    if headers is not None:
        pairs += cast("Mapping[object, Any]", headers).items()
    if redirect is not None:
        pairs.append(("location", redirect))
    if retry_after is not None:
        pairs.append(("retry-after", _retry_after(retry_after)))
    sent: dict[str, str] = {}
    for name, value in pairs:
        lower = _header(name, value)
        if lower in sent:
            raise ValueError(f"the header {lower} is given twice")
        sent[lower] = value
    return sent


def _header(name: object, value: object) -> str:
    if not isinstance(name, str) or not isinstance(value, str):
        raise TypeError(
            "headers have texts as names and values, such as "
            f"{{'Retry-After': '7'}}, not {{{name!r}: {value!r}}}"
        )
    lower = name.lower()
    if not re.fullmatch(r"[a-z0-9!#$%&'*+.^_`|~-]+", lower):
        raise ValueError(f"{name!r} is not the name of a header")
    if not re.fullmatch(r"[\t -~\xa0-\xff]*", value):
        raise ValueError(f"a header can't have the value {value!r}")
    if lower in _FRAMING:
        raise ValueError(f"the emulator writes {name} itself: cut_off= breaks a body")
    return lower


def _retry_after(value: object) -> str:
    if isinstance(value, datetime):
        check_moment("retry_after", value)
        return format_datetime(value.astimezone(UTC), usegmt=True)
    if is_number(value, int | float) or isinstance(value, str):
        return str(value)
    raise TypeError(f"retry_after must be seconds, a datetime or text, not {value!r}")


def sent_body(body: object, *, garbage: object) -> bytes | None:
    """The body of a failed response; None for the usual one.

    Raises:
        TypeError: It can't become JSON.
        ValueError: It is given twice.
    """
    check_flag("garbage", garbage)
    if garbage:
        if body is not None:
            raise ValueError("garbage=True is a body: leave body= out")
        return GARBAGE
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else encode(body)


@attrs.define(kw_only=True, eq=False)
class Fault:
    """How a response fails; ``Emulator.fail_next`` explains the arguments."""

    times: int | None = attrs.field(
        default=None, validator=whole(1), on_setattr=attrs.setters.NO_OP
    )
    """The number of responses that it still fails; None for all."""
    status: int | None = attrs.field(default=None, validator=whole(200, 599))
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    body: bytes | None = None
    latency: float = attrs.field(default=0.0, validator=_pause)
    drip: float = attrs.field(default=0.0, validator=_pause)
    cut_off: int | None = attrs.field(default=None, validator=whole(0))
    reset: bool = attrs.field(default=False, validator=flag)
    processed: bool = attrs.field(default=False, validator=flag)
    method: str | None = attrs.field(
        default=None, validator=_like("[A-Z]+", "must be in capitals, such as 'POST'")
    )
    # No request has a path of another form, so that nothing would fail.
    path: str | None = attrs.field(
        default=None,
        validator=_like(
            r"[/*][!$->@-~]*",
            "begins with '/' or '*', is percent-encoded, and has no query",
        ),
    )
    when: Callable[[RecordedRequest], bool] | None = attrs.field(
        default=None, validator=validators.optional(_function)
    )

    def check(self) -> None:
        """Raise a ValueError if nothing would fail, or not what was typed."""
        is_late = self.latency > 0 or self.drip > 0
        parts = self.status, self.body, self.cut_off
        has_part = any(part is not None for part in parts) or bool(self.headers)
        if not (self.reset or has_part or is_late):
            raise ValueError("say what fails: pass status=, body=, latency=, …")
        if "retry-after" in self.headers and self.status is None:
            raise ValueError("retry_after needs a status, such as 429 or 503")
        if self.reset and (has_part or self.drip):
            raise ValueError("reset=True sends no response: leave its parts out")
        if self.status in WITHOUT_BODY and (self.body or self.cut_off is not None):
            raise ValueError(f"a response with the status {self.status} has no body")

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
        body = b"" if status in WITHOUT_BODY else self.body
        return response if body is None else attrs.evolve(response, body=body)


NO_FAULT: Final = Fault()
"""What a response has that does not fail."""
