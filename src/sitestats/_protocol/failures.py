"""Which error an answer that says no becomes.

The service says no in several ways: ``ok`` or ``success`` is false, whatever
the status; or the status is 4xx or 5xx, with a JSON object, a page of HTML or
nothing (section 7 leaves most of it open). Credentials that are missing may
come as 400, so the words of the message are judged too.
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
    Problem,
    RateLimitedError,
    ResponseError,
    ServerError,
    ServiceError,
    WebsiteLockedError,
)
from sitestats._common.jsontext import JsonValue, NotJsonError, load_json
from sitestats._common.text import shown
from sitestats._common.wire import HttpRequest, HttpResponse

LOCKED_CODE: Final = "BADGE_REQUIRED"
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_LONGEST: Final = 500

_WORDS_OF_CREDENTIALS: Final = re.compile(
    r"""\b(?:
        api[\s_-]?keys? | user[\s_-]?ids? | credentials?
      | unauth(?:ori[sz]ed|enticated) | authenticat\w* | authori[sz]\w*
      | log(?:ged)?[ ]?in
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
# The words of roles and plans. A word that is about other things as well
# ("not allowed", "limit") stands with its neighbours.
_WORDS_OF_PERMISSION: Final = re.compile(
    r"""\b(?:
        roles? | permissions? | permitted | forbidden
      | not[ ]allowed[ ]to | (?:access[ ]is|you'?(?:re|[ ]are))[ ]not[ ]allowed
      | access[ ]denied | no[ ]access
      | upgrad(?:e|ing) | plan'?s?[ ]limit
      | (?:your|the|this|current|free|larger|higher|team'?s?|account'?s?)[ ]plan
      | (?:web)?sites?[ ]limits? | limits?[ ](?:of|on|for|to)[ ][\w ]*(?:web)?sites?
      | (?:maximum|max|number|amount|many|more)[ ](?:\w+[ ]){0,2}(?:web)?sites
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Words that a field, an event or a metadata key may be called by too, so that
# they count only where the request has none of these.
_MORE_WORDS_OF_THE_ACCOUNT: Final = re.compile(
    r"""\b(?:
        sign(?:ed)?[ ]in | admins? | developers?
      | plans? | subscriptions? | upgrad\w+ | quotas? | billing | payments?
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BY_WORDS: Final = (
    (_WORDS_OF_PERMISSION, PermissionDeniedError),
    (_WORDS_OF_CREDENTIALS, AuthenticationError),
)
# What a message repeats of the request is not the service's own word: a filter
# may well be called metadata.role. An apostrophe within a word is no quote.
_QUOTED: Final = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|\bmetadata\.\w+")

_BY_STATUS: Final[Mapping[int, type[ServiceError]]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    423: WebsiteLockedError,
}


def is_failure(data: JsonValue) -> bool:
    """Whether a decoded answer says of itself that it is a failure.

    >>> is_failure({"ok": True}), is_failure({"success": False, "error": "No"})
    (False, True)
    """
    return isinstance(data, dict) and (
        data.get("ok") is False or data.get("success") is False
    )


def failure(
    response: HttpResponse,
    request: HttpRequest,
    data: JsonValue,
) -> ServiceError:
    """The error that an answer is which says no.

    Args:
        response: The answer.
        request: What it answers.
        data: The decoded body; None when it is no JSON.
    """
    status = response.status
    answer = data if isinstance(data, dict) else {}
    code = answer.get("code")
    code = code if isinstance(code, str) else None
    words = _words(answer)
    message = words or _describe(response, request, answer)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimitedError(
            message,
            code=code,
            body=response.body,
            request=request,
            retry_after=response.retry_after,
        )
    return _class(status, code, words)(
        message, status=status, code=code, body=response.body, request=request
    )


def is_about_account(message: str) -> bool:
    """Whether the error message for an add is about credentials, role or plan.

    >>> is_about_account("Your subscription has ended")
    True
    >>> is_about_account("The label 'plan' is too long")
    False
    """
    own_words = _QUOTED.sub(" ", message)
    return any(
        words.search(own_words)
        for words in (
            _WORDS_OF_CREDENTIALS,
            _WORDS_OF_PERMISSION,
            _MORE_WORDS_OF_THE_ACCOUNT,
        )
    )


def redirect(response: HttpResponse, request: HttpRequest) -> ServiceError | None:
    """The error of an answer that points elsewhere, None when it does not."""
    if response.status not in _REDIRECTS:
        return None
    target = _without_secrets(response.headers.get("location", ""))
    return ServiceError(
        f"the service answered {response.status} and points to "
        f"{target or 'another address'}: redirects are not followed, since "
        "credentials are for one origin alone; if the service has moved, change the "
        "base address",
        status=response.status,
        body=response.body,
        request=request,
    )


def page_title(body: bytes) -> str | None:
    """The title of a page of HTML, ``""`` when it has none, None for no page."""
    text = body[:4096].decode(errors="replace").lstrip("\ufeff \t\r\n")
    if not re.match(r"<(?:!doctype html|html|head|body|\?xml)", text, re.IGNORECASE):
        return None
    import html  # its table of names takes time to load, and few answers are pages

    title = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
    return "" if title is None else clean(html.unescape(title[1]))


def clean(text: str) -> str:
    """Text of the service for a message: on one line, printable, not endless."""
    words = " ".join(text[: 4 * _LONGEST].split())
    printable = "".join(char if char.isprintable() else "\ufffd" for char in words)
    if len(printable) <= _LONGEST:
        return printable
    return f"{printable[: _LONGEST - 1]}…"


def _class(status: int, code: str | None, words: str) -> type[ServiceError]:
    if code == LOCKED_CODE:
        return WebsiteLockedError
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    own_words = _QUOTED.sub(" ", words)
    for pattern, kind in _BY_WORDS:
        if pattern.search(own_words):
            return kind
    return BadRequestError if status >= HTTPStatus.BAD_REQUEST else ServiceError


def _words(answer: Mapping[str, JsonValue]) -> str:
    """The service's own message, or nothing."""
    for name in ("error", "message"):
        value = answer.get(name)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value.strip():
            words = clean(value)
            # An unknown address is answered with nothing but itself.
            return "" if name == "message" and words.startswith("/") else words
    return ""


def _describe(
    response: HttpResponse, request: HttpRequest, answer: Mapping[str, JsonValue]
) -> str:
    """Our own sentence about an answer that brought no message."""
    status = response.status
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
        return (
            f"the service answered {named} with a page of HTML: {title or 'no title'}"
        )
    if answer or not response.body.strip():
        return f"the service answered {named} without a message"
    text = clean(response.body[:_LONGEST].decode(errors="replace"))
    return f"the service answered {named}: {text}"


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
"""The statuses of answers that may say yes."""
_LOWEST_FAILURE: Final = 400


def judge(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded body of an answer that says yes; None when it is no JSON."""
    pointing_elsewhere = redirect(response, request)
    if pointing_elsewhere is not None:
        raise pointing_elsewhere
    try:
        data = load_json(response.body)
    except NotJsonError:
        data = None
    if response.status >= _LOWEST_FAILURE or (
        response.status in OK and is_failure(data)
    ):
        raise failure(response, request, data)
    if response.status not in OK:
        raise unreadable(
            response, request, f"has the status {response.status}, which no answer has"
        )
    return data


def decoded(response: HttpResponse, request: HttpRequest) -> JsonValue:
    """The decoded body of an answer that says yes, in JSON."""
    data = judge(response, request)
    if data is None:
        try:
            data = load_json(response.body)
        except NotJsonError as error:
            raise unreadable(response, request, str(error)) from None
    return data


def unreadable(response: HttpResponse, request: HttpRequest, why: str) -> ResponseError:
    """The error of an answer that can't be read; *why* follows "the answer"."""
    title = page_title(response.body)
    if title is not None:
        named = f" with the title {shown(title)}" if title else ""
        why = f"is a page of HTML{named}, not JSON: check the base address and the path"
    return ResponseError(
        f"the answer to {request} {why}", body=response.body, request=request
    )


def not_as_documented(
    response: HttpResponse,
    request: HttpRequest,
    problems: Iterable[Problem],
    *,
    what: str = "",
    hint: str = "",
) -> ResponseError:
    """The error of an answer with *problems*."""
    what = what or f"the answer to {request}"
    return ResponseError(
        f"{what} is not what the service's document says{hint}",
        problems=problems,
        body=response.body,
        request=request,
    )
