"""Exceptions for error responses, and for responses that can't be read.

There are several kinds of error responses: ``ok`` or ``success`` is false,
whatever the status; or the status is 4xx or 5xx, with a JSON object, a page of
HTML or nothing (section 7 leaves most of it open). Missing credentials may be
reported as 400, so the words of the message count too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final

from sitestats._base.errors import (
    AuthenticationError,
    BadRequestError,
    InvalidResponseError,
    NotFoundError,
    PermissionDeniedError,
    Problem,
    RateLimitedError,
    ServerError,
    StatusError,
    WebsiteLockedError,
)
from sitestats._base.text import cut, plain
from sitestats._wire.json_values import JsonValue
from sitestats._wire.messages import HttpRequest, HttpResponse

OK: Final = range(200, 300)
"""The statuses of success."""
_REDIRECTS: Final = frozenset(range(300, 400)) - {HTTPStatus.NOT_MODIFIED}
_BY_STATUS: Final[Mapping[int, type[StatusError]]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    423: WebsiteLockedError,
    429: RateLimitedError,
}
_NAMES_OF_MESSAGES: Final = ("error", "message", "reason", "msg", "detail")
"""Where an error message may be, the likeliest first: section 7 leaves it open."""
_LONGEST: Final = 500

# They are compiled for the first error response, which most programs never see.
_CREDENTIALS: Final = r"""\b(?:
    api[\s_-]?keys? | user[\s_-]?ids? | credentials? | unauth\w+ | authenticat\w*
  | authori[sz]\w* | log(?:ged)?[ ]?in | sign(?:ed)?[ ]in
)\b"""
_PERMISSION: Final = r"""\b(?:
    roles? | admins? | developers? | permissions? | permitted | forbidden
  | not[ ]allowed[ ]to | access[ ]denied | no[ ]access
  | plans? | upgrad\w+ | subscriptions? | quotas? | billing | payments?
  | (?:web)?sites?[ ]limits? | (?:limit|max\w*|number|many|more)[ ][\w ]{0,40}sites?
)\b"""
_REPEATED: Final = r"""\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|[\w-]+(?:\.[\w-]+)+"""
"""What a message repeats of a request: quoted values, host names, ``metadata.plan``."""


def is_about_account(message: str) -> bool:
    """Whether the error message for an add is about credentials, role or plan.

    >>> is_about_account("Your subscription has ended")
    True
    >>> is_about_account("The label 'plan' is too long")
    False
    """
    return _has(message, _CREDENTIALS) or _has(message, _PERMISSION)


def _has(message: str, words: str) -> bool:
    own = re.sub(_REPEATED, " ", message)
    return re.search(words, own, re.IGNORECASE | re.VERBOSE) is not None


def status_error(
    response: HttpResponse, request: HttpRequest, data: JsonValue
) -> StatusError:
    """The exception for an error response; *data* is its decoded body, or None."""
    fields = data if isinstance(data, dict) else {}
    code, message = fields.get("code"), _message(fields)
    if response.status in _REDIRECTS:
        message = ""
    return _class(response.status, code, message)(
        message or _described(response, request, fields),
        status_code=response.status,
        code=code if isinstance(code, str) else None,
        body=response.body,
        headers=response.headers,
        request=request,
        retry_after=response.retry_after,
        credentials_from=response.credentials_from,
    )


def _class(status: int, code: JsonValue, message: str) -> type[StatusError]:
    if code == "BADGE_REQUIRED":
        return WebsiteLockedError
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    if _has(message, _PERMISSION):
        return PermissionDeniedError
    if _has(message, _CREDENTIALS):
        return AuthenticationError
    return BadRequestError if status >= HTTPStatus.BAD_REQUEST else StatusError


def _message(fields: Mapping[str, JsonValue]) -> str:
    """The service's own message, or nothing."""
    for name in _NAMES_OF_MESSAGES:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            # The message for an unknown address is that address alone.
            is_address = name == "message" and value.startswith("/")
            return "" if is_address else _on_a_line(value)
    return ""


def _described(
    response: HttpResponse, request: HttpRequest, fields: Mapping[str, JsonValue]
) -> str:
    """A sentence about an error response without a message."""
    if response.status in _REDIRECTS:
        # The address is shown without a user, a password, parameters and a fragment.
        target = response.headers.get("location", "another address")
        target = _on_a_line(re.sub(r"(?<=//)[^/?#]*@|[?#].*", "", target))
        return (
            f"the service redirected to {target}, and redirects are not followed: "
            "if the service has moved, change the base address"
        )
    if response.status == HTTPStatus.NOT_FOUND:
        return f"the service does not know {request.path}"
    if response.status == HTTPStatus.LOCKED:
        return "the website is locked, as the service's badge is missing from it"
    if is_page(response):
        return "the service responded with a page of HTML"
    text = "" if fields else response.body[:_LONGEST].decode(errors="replace")
    return _on_a_line(text) or "the service responded without a message"


def is_page(response: HttpResponse) -> bool:
    """Whether the body is a page of HTML."""
    start = response.body[:100].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith((b"<!doctype", b"<html", b"<?xml"))


def _on_a_line(text: str) -> str:
    """Text of the service for a message: one printable line of bounded length."""
    return cut(plain(" ".join(text[: 4 * _LONGEST].split())), _LONGEST)


def invalid_response(
    response: HttpResponse,
    request: HttpRequest,
    why: str,
    problems: Iterable[Problem] = (),
) -> InvalidResponseError:
    """The exception for a response that can't be read; *why* follows "the response"."""
    return InvalidResponseError(
        f"the response to {request} {why}",
        problems=problems,
        body=response.body,
        headers=response.headers,
        request=request,
    )
