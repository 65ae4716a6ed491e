"""Check the status, decode the JSON, and map error responses to exceptions.

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
from urllib.parse import urlsplit

from sitestats._common.errors import (
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ResponseError,
    ServerError,
    ServiceError,
    WebsiteLockedError,
)
from sitestats._common.jsontext import JsonValue, NotJsonError, load_json
from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._common.wire import HttpRequest, HttpResponse

LOCKED_CODE: Final = "BADGE_REQUIRED"
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_LONGEST: Final = 500

# They are compiled for the first error response, which most programs never see.
_WORDS_OF_CREDENTIALS: Final = r"""\b(?:
        api[\s_-]?keys? | user[\s_-]?ids? | credentials?
      | unauth(?:ori[sz]ed|enticated) | authenticat\w* | authori[sz]\w*
      | log(?:ged)?[ ]?in
    )\b"""
# Words about roles and plans. One that has other uses too ("not allowed",
# "limit") counts only beside certain others.
_WORDS_OF_PERMISSION: Final = r"""\b(?:
        roles? | permissions? | permitted | forbidden
      | not[ ]allowed[ ]to | (?:access[ ]is|you'?(?:re|[ ]are))[ ]not[ ]allowed
      | access[ ]denied | no[ ]access
      | upgrad(?:e|ing) | plan'?s?[ ]limit
      | (?:your|the|this|current|free|larger|higher|team'?s?|account'?s?)[ ]plan
      | (?:web)?sites?[ ]limits?
      | limits?[ ](?:of|on|for|to)[ ][\w ]{0,40}(?:web)?sites?
      | (?:maximum|max|number|amount|many|more)[ ](?:\w+[ ]){0,2}(?:web)?sites
    )\b"""
# A field, an event or a metadata key may have these names too, so they count
# only for a request without any of those.
_MORE_WORDS_OF_THE_ACCOUNT: Final = r"""\b(?:
        sign(?:ed)?[ ]in | admins? | developers?
      | plans? | subscriptions? | upgrad\w+ | quotas? | billing | payments?
    )\b"""
# What a message quotes from the request does not count: a filter may be called
# metadata.role. An apostrophe within a word is no quote.
_QUOTED: Final = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|\bmetadata\.\w+")

_BY_STATUS: Final[Mapping[int, type[ServiceError]]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    423: WebsiteLockedError,
    429: RateLimitedError,
}


_NAMES_OF_MESSAGES: Final = ("error", "message", "reason", "msg", "detail")
"""Where an error message may be, the likeliest first: section 7 leaves it open."""


def is_about_account(message: str) -> bool:
    """Whether the error message for an add is about credentials, role or plan.

    >>> is_about_account("Your subscription has ended")
    True
    >>> is_about_account("The label 'plan' is too long")
    False
    """
    words = _WORDS_OF_CREDENTIALS, _WORDS_OF_PERMISSION, _MORE_WORDS_OF_THE_ACCOUNT
    return any(_has(message, kind) for kind in words)


def _has(message: str, words: str) -> bool:
    own = _QUOTED.sub(" ", message)
    return re.search(words, own, re.IGNORECASE | re.VERBOSE) is not None


def page_title(body: bytes) -> str | None:
    """The title of a page of HTML, ``""`` when it has none, None for no page."""
    text = body[:4096].decode(errors="replace").lstrip("\ufeff \t\r\n")
    if not re.match(r"<(?:!doctype html|html|head|body|\?xml)", text, re.IGNORECASE):
        return None
    import html  # slow to import, and rarely needed

    title = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
    return "" if title is None else clean(html.unescape(title[1]))


def clean(text: str) -> str:
    """Text of the service for a message: one printable line of bounded length."""
    words = " ".join(text[: 4 * _LONGEST].split())
    printable = "".join(char if char.isprintable() else "\ufffd" for char in words)
    if len(printable) <= _LONGEST:
        return printable
    return f"{printable[: _LONGEST - 1]}…"


def _class(status: int, code: str | None, words: str) -> type[ServiceError]:
    if code == LOCKED_CODE and status != HTTPStatus.TOO_MANY_REQUESTS:
        return WebsiteLockedError
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    if _has(words, _WORDS_OF_PERMISSION):
        return PermissionDeniedError
    if _has(words, _WORDS_OF_CREDENTIALS):
        return AuthenticationError
    return BadRequestError if status >= HTTPStatus.BAD_REQUEST else ServiceError


def _message(fields: Mapping[str, JsonValue]) -> str:
    """The service's own message, or nothing."""
    for name in _NAMES_OF_MESSAGES:
        value = fields.get(name)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value.strip():
            words = clean(value)
            # The message for an unknown address is that address alone.
            return "" if name == "message" and words.startswith("/") else words
    return ""


def _describe(
    response: HttpResponse, request: HttpRequest, fields: Mapping[str, JsonValue]
) -> str:
    """A sentence about an error response without a message."""
    status = response.status
    if status in _REDIRECTS:
        target = _without_secrets(response.headers.get("location", ""))
        return (
            f"the service redirected ({status}) to {target or 'another address'}: "
            "redirects are not followed, since credentials are for one origin alone; "
            "if the service has moved, change the base address"
        )
    if status == HTTPStatus.NOT_FOUND:
        return f"the service does not know {request.path}"
    if status == HTTPStatus.LOCKED:
        return (
            "the website is locked: on the Free plan the service's badge must be on it"
        )
    try:
        named = f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        named = str(status)
    title = page_title(response.body)
    if title is not None:
        what = f" with a page of HTML: {title or 'no title'}"
    elif fields or not response.body.strip():
        what = " without a message"
    else:
        what = f": {clean(response.body[:_LONGEST].decode(errors='replace'))}"
    return f"the service responded {named}{what}"


def _without_secrets(address: str) -> str:
    """An address without its user, password, query and fragment."""
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    scheme = f"{parts.scheme}://" if parts.scheme and host else ""
    return clean(f"{scheme}{host}{parts.path}")


# --- status and JSON --------------------------------------------------------------


OK: Final = range(200, 300)
"""The statuses of success."""


def decode_json(
    response: HttpResponse, request: HttpRequest, *, may_be_text: bool = False
) -> JsonValue:
    """The decoded body of a successful response; None where it *may be text*, and is.

    Raises:
        ServiceError: It is an error response, by its status or its body.
        ResponseError: It is not JSON, or the status is undocumented.
    """
    data, why_not = None, ""
    try:
        data = load_json(response.body)
    except NotJsonError as error:
        why_not = str(error)
    if response.status not in OK or (
        isinstance(data, dict)
        and (data.get("ok") is False or data.get("success") is False)
    ):
        raise _error(response, request, data)
    if why_not and not may_be_text:
        raise unreadable(response, request, why_not)
    return data


def _error(
    response: HttpResponse, request: HttpRequest, data: JsonValue
) -> ServiceError | ResponseError:
    """The exception for an error response, which *data* is the decoded body of."""
    status = response.status
    fields = data if isinstance(data, dict) else {}
    code, words, kind = fields.get("code"), _message(fields), ServiceError
    code = code if isinstance(code, str) else None
    if status in _REDIRECTS:
        words = ""
    elif status not in OK and status < HTTPStatus.BAD_REQUEST:
        return unreadable(response, request, f"has the undocumented status {status}")
    else:
        kind = _class(status, code, words)
    return kind(
        words or _describe(response, request, fields),
        status=status,
        code=code,
        body=response.body,
        headers=response.headers,
        request=request,
        retry_after=response.retry_after,
        credentials_from=response.credentials_from,
    )


def unreadable(response: HttpResponse, request: HttpRequest, why: str) -> ResponseError:
    """The error for a response that can't be read; *why* follows "the response"."""
    title = page_title(response.body)
    if title is not None:
        named = f" with the title {shown(title)}" if title else ""
        why = f"is a page of HTML{named}, not JSON: check the base address and the path"
    return ResponseError(
        f"the response to {request} {why}",
        body=response.body,
        headers=response.headers,
        request=request,
    )


def not_as_documented(
    response: HttpResponse,
    request: HttpRequest,
    problems: Iterable[Problem],
    *,
    what: str = "",
    hint: str = "",
) -> ResponseError:
    """The error for a response with *problems*."""
    what = what or f"the response to {request}"
    return ResponseError(
        f"{what} does not match the service's documentation{hint}",
        problems=problems,
        body=response.body,
        headers=response.headers,
        request=request,
    )
