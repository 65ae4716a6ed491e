"""Exceptions for error responses, and for responses that can't be read.

There are several kinds of error responses: ``ok`` or ``success`` is false,
whatever the status; or the status is 4xx or 5xx, with JSON, a text, a page of
HTML or nothing (section 7 leaves most of it open). Missing credentials may be
reported as 400, so the words of the message count too.

The service sends JSON, and perhaps a short text. A page of HTML, a redirect and a 407
are sent by something else: the web server of a wrong address, a firewall, a login
page, a proxy. That changes the class and the advice of an error, but not whether the
request is sent again, which the status alone decides.

An error is made of the response as it came, so that no redaction changes what it
means. What it shows is redacted here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from itertools import islice
from typing import Final

import attrs

from sitestats._base.errors import (
    AuthenticationError,
    BadRequestError,
    InvalidResponseError,
    NotFoundError,
    NotTheServiceError,
    PermissionDeniedError,
    Problem,
    RateLimitedError,
    ServerError,
    StatusError,
    WebsiteLockedError,
)
from sitestats._base.text import cut, plain
from sitestats._wire.messages import HttpRequest, HttpResponse, JsonValue, load_json

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
NOT_AS_DOCUMENTED: Final = "does not match the service's documentation"
_LOCKED: Final = "BADGE_REQUIRED"
_CHARSET: Final = r"""(?xi) charset=\"?
    (?P<name> (?P<wide> utf-(?:16|32)(?:[bl]e)? ) | iso-8859-\d+ | windows-\d+ )
"""
"""The charsets of texts that servers send, beside UTF-8."""
_LONGEST: Final = 500
"""Characters of a message, which a service may make longer."""
_READ: Final = 20_000
"""Characters of a text that are redacted before it is cut."""

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
    # To search a long text takes the square of its length.
    own = re.sub(_REPEATED, " ", message[: 4 * _LONGEST])
    return re.search(words, own, re.IGNORECASE | re.VERBOSE) is not None


def status_error(
    response: HttpResponse, request: HttpRequest, data: JsonValue
) -> StatusError:
    """The exception for an error response; *data* is its decoded body, or None."""
    without_keys = response.redacted()
    if data is None:
        response = _in_utf8(response)
        with suppress(ValueError):
            data = load_json(response.body)
    words = _words(response, data)
    if is_foreign(response, data):
        kind, message = _foreign_kind(response.status), _foreign(response)
    else:
        kind = _kind(response.status, words)
        message = words.message or _described(response, request, words)
    return kind(
        _on_a_line(response.redacted_text(message[:_READ])),
        status_code=response.status,
        code=words.code and _on_a_line(response.redacted_text(words.code[:_READ])),
        body=without_keys.body,
        headers=without_keys.headers,
        request=request,
        retry_after=response.retry_after,
    )


def _in_utf8(response: HttpResponse) -> HttpResponse:
    """The response with its body in UTF-8, if it says that it has another charset."""
    declared = re.search(_CHARSET, response.headers.get("content-type", ""))
    with suppress(UnicodeDecodeError):
        if declared is None or not declared["wide"]:
            # Many servers declare a default that is not true.
            response.body.decode()
            return response
    with suppress(LookupError, UnicodeDecodeError):
        if declared is not None:
            body = response.body.decode(declared["name"]).encode()
            return attrs.evolve(response, body=body)
    return response


def said(response: HttpResponse, data: JsonValue) -> str:
    """The message in a response that can't be read, to follow why; often nothing."""
    message = _words(_in_utf8(response), data).message[:_READ]
    text = cut(_on_a_line(response.redacted_text(message)), 100)
    return f"; it says '{text}'" if text else ""


def _kind(status: int, words: _Words) -> type[StatusError]:
    if _LOCKED in {words.code, words.message}:
        return WebsiteLockedError
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    if _has(words.message, _PERMISSION):
        return PermissionDeniedError
    if _has(words.message, _CREDENTIALS):
        return AuthenticationError
    return BadRequestError if status >= HTTPStatus.BAD_REQUEST else StatusError


def _described(response: HttpResponse, request: HttpRequest, words: _Words) -> str:
    """A sentence about an error response without a message."""
    if response.status == HTTPStatus.NOT_FOUND:
        # The service has the addresses of its own interfaces.
        is_own = request.path.startswith("/api/")
        advice = ": check the base address" if is_own else ""
        return f"the service does not know {request.path}{advice}"
    if response.status == HTTPStatus.LOCKED or words.code == _LOCKED:
        return "the website is locked, as the service's badge is missing from it"
    if words.code is not None:
        return f"the service responded with the code {words.code}, without a message"
    beginning = response.body[:_READ].decode(errors="replace").strip()
    text = "the service responded without a message"
    return f"{text}: {beginning}" if beginning else text


# --- the service's words ----------------------------------------------------------


@attrs.frozen
class _Words:
    """What an error response says."""

    message: str = ""
    """The service's own message, or nothing."""
    code: str | None = None


_MESSAGES: Final = (
    "error",
    "errors",
    "message",
    "messages",
    "errormessage",
    "reason",
    "msg",
    "detail",
    "details",
    "errordescription",
    "description",
    "title",
    "text",
)
"""Where an error message may be, the likeliest first: section 7 leaves it open. Names
are in small letters, without ``_`` and ``-``."""
_LISTS: Final = frozenset(("errors", "messages", "details"))
"""What tells more beside a message."""
_CODES: Final = ("code", "errorcode")
_NO_MESSAGE: Final = frozenset((*_CODES, "status"))
_ENVELOPE: Final = frozenset(("docs", "hostname", "ok", "success", "url"))
"""What a response without any of the names above has beside its message."""
_PROSE: Final = "__"
"""How the names begin of prose about the fields of a response."""
_MOST: Final = 5
"""Messages of a list that are shown, and levels of nested objects that are read."""
_LABEL: Final = r"[\w-]+([.:][\w-]+)*"
"""A word that stands for an error, such as ``invalid_token``."""


def _words(response: HttpResponse, data: JsonValue) -> _Words:
    if data is None:
        text = response.body[:_READ].decode(errors="replace").strip()
        return _Words() if is_page(response) or text == "null" else _Words(text)
    code = _code(data, _MOST)
    # Of what it says of several mistakes, each is named once.
    texts = dict.fromkeys(_texts(data, _MOST))
    return _Words("; ".join(texts), code)


def _texts(value: JsonValue, levels: int) -> Iterator[str]:
    """The messages in *value*."""
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, list):
        if levels:
            for item in value[:_MOST]:
                yield from _texts(item, levels - 1)
    elif isinstance(value, dict) and levels:
        if told := _named(value, levels):
            yield ": ".join(dict.fromkeys(told))
        else:
            yield from _unnamed(value, levels)


def _named(fields: Mapping[str, JsonValue], levels: int) -> list[str]:
    """The message of an object, by the names that messages have; a word that stands
    for an error, or the name of a status, is followed by the sentence beside it.
    """
    known = _by_folded(fields)
    told, is_told = list[str](), False
    for name in _MESSAGES:
        value = known.get(name)
        if is_told and (name not in _LISTS or isinstance(value, str)):
            continue
        texts = [*_texts(value, levels - 1)]
        # The message for an unknown address is that address alone.
        if name == "message" and isinstance(value, str) and value.startswith("/"):
            texts = []
        told += ["; ".join(texts)] if texts else []
        is_told = is_told or not all(map(_is_label, texts))
    return told


def _unnamed(fields: Mapping[str, JsonValue], levels: int) -> Iterator[str]:
    """What an object says under other names: messages by what they are about, such as
    ``{"hostname": ["is taken"]}``, or a sentence.
    """
    is_inner = levels < _MOST
    others = _NO_MESSAGE if is_inner else _NO_MESSAGE | _ENVELOPE
    for name, value in islice(fields.items(), _MOST * _MOST):
        if _folded(name) in others or name.startswith(_PROSE):
            continue
        for text in _texts(value, levels - 1):
            if is_inner:
                yield f"{name}: {text}"
            elif " " in text:
                yield text


def _code(value: JsonValue, levels: int) -> str | None:
    """The service's own code: of the whole, or else of an error in it."""
    if isinstance(value, list) and levels:
        found = (_code(item, levels - 1) for item in value[:_MOST])
        return next(filter(None, found), None)
    if not isinstance(value, dict) or not levels:
        return None
    known = _by_folded(value)
    for name in _CODES:
        code = known.get(name)
        if isinstance(code, str) and code.strip():
            return code.strip()
    inner = (_code(known.get(name), levels - 1) for name in _MESSAGES)
    return next(filter(None, inner), None)


def _by_folded(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    known = dict[str, JsonValue]()
    for name, value in fields.items():
        if not name.startswith(_PROSE):
            known.setdefault(_folded(name), value)
    return known


def _folded(name: str) -> str:
    return re.sub("[_-]", "", name).lower()


def _is_label(text: str) -> bool:
    """Whether *text* says no more than a status does."""
    phrases = {status.phrase.lower() for status in HTTPStatus}
    return text.lower() in phrases or re.fullmatch(_LABEL, text) is not None


def _on_a_line(text: str) -> str:
    """Text of the service for a message: one printable line of bounded length."""
    return cut(plain(" ".join(text[: 4 * _LONGEST].split())), _LONGEST)


# --- something else than the service ----------------------------------------------


_PAGE: Final = rb"""(?xi) (\xef\xbb\xbf)? \s* <(
    [!?] | (html|head|title|meta|link|style|script|body|center|div|h[1-6]|p|pre|table)\b
)"""
"""How a page begins; a text of the service may have a ``<`` too."""
_ANY_TAG: Final = rb"(?i)<[/!]?[a-z]"
_XML: Final = rb"(\xef\xbb\xbf)?\s*<\?xml\b"
_HTML: Final = rb"(?i)<(!doctype\s+)?html\b"
_MARKUP: Final = rb"(?s)<!--.*?-->|<!\[CDATA\[|\]\]>|<[^>]*>"
_HEADING: Final = rb"(?is)<(title|h1)\b[^>]*>(.*?)</\1"
_HEAD: Final = 5_000
"""Bytes of a page in which its title is looked for."""
_NEEDS_TLS: Final = r"(?i)HTTPS (port|server)|SSL-enabled|plain HTTP"
"""What nginx, Apache, Go and others say of a request without TLS where they have it."""
_OF_THE_API: Final = r"(?i)\b(api[\s_-]?key|user[\s_-]?id)"
"""What nothing on the way knows of."""
_TOO_LONG: Final = frozenset((413, 414, 431))
_KEPT: Final[Mapping[int, type[StatusError]]] = {
    **dict.fromkeys((408, *_TOO_LONG), BadRequestError),
    429: RateLimitedError,
}
"""Statuses with the same advice, whoever sent the response."""
_REFUSED: Final = (
    "a login page, a firewall or a proxy on the way refuses this program, whatever its "
    "key is: ask whoever runs that to let it through"
)
_ADVICE: Final[Mapping[int, str]] = {
    401: _REFUSED,
    403: _REFUSED,
    408: "the request took too long on its way: try again",
    429: "something on the way limits how many requests you send: wait",
    451: _REFUSED,
    511: "the network wants you to log in: open a page in a browser",
    **dict.fromkeys(_TOO_LONG, "request less at once, in several queries"),
}
_GATEWAY: Final = "a gateway on the way can't reach the service: try later"
_BASE: Final = "check the base address, above all its path"


def is_page(response: HttpResponse) -> bool:
    """Whether the body is a page of HTML, or XML."""
    if re.match(_PAGE, response.body):
        return True
    declared = response.headers.get("content-type", "").lower()
    is_declared = "html" in declared or "xml" in declared
    # Many servers declare a text as HTML by default.
    return is_declared and re.search(_ANY_TAG, response.body[:_HEAD]) is not None


def is_foreign(response: HttpResponse, data: JsonValue) -> bool:
    """Whether something else than the service sent this error response, whose decoded
    body is *data*.
    """
    return (
        response.status in _REDIRECTS
        or response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
        or (data is None and is_page(response))
    )


def is_own(response: HttpResponse) -> bool:
    """Whether the service itself sent *response*, whatever it says."""
    try:
        data = load_json(response.body)
    except ValueError:
        text = response.body[:_READ].decode(errors="replace")
        is_short = len(response.body) <= _LONGEST and not is_page(response)
        return is_short and re.search(_OF_THE_API, text) is not None
    return isinstance(data, (dict, list)) and not is_foreign(response, data)


def kind_of_page(response: HttpResponse) -> str:
    """What a page is, for a sentence."""
    return "an XML document" if _is_xml(response) else "a page of HTML"


def _is_xml(response: HttpResponse) -> bool:
    """Whether a page is XML, and not HTML in the form of XML."""
    if re.search(_HTML, response.body[:_HEAD]):
        return False
    is_declared = "xml" in response.headers.get("content-type", "").lower()
    return is_declared or re.match(_XML, response.body) is not None


def of_page(response: HttpResponse) -> str:
    """The title and the server of a page, such as `` ('Log in', sent by nginx)``; the
    text of XML without a title.
    """
    quoted = b""
    if heading := re.search(_HEADING, response.body[:_HEAD]):
        quoted = heading[2]
    elif _is_xml(response):
        quoted = response.body[:_HEAD]
    text = re.sub(_MARKUP, b" ", quoted).decode(errors="replace")
    name = _on_a_line(response.redacted_text(text))
    server = _on_a_line(response.redacted_text(response.headers.get("server", "")))
    known = list[str]()
    if name:
        known.append(f"'{cut(name, 100)}'")
    if server:
        known.append(f"sent by {cut(server, 50)}")
    return f" ({', '.join(known)})" if known else ""


def _foreign_kind(status: int) -> type[StatusError]:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    return _KEPT.get(status, NotTheServiceError)


def _foreign(response: HttpResponse) -> str:
    """A sentence about a response of another program than the service."""
    status = response.status
    if status in _REDIRECTS:
        # The address is shown without a user, a password, parameters and a fragment.
        target = response.headers.get("location", "another address")
        target = _on_a_line(re.sub(r"(?<=//)[^/?#]*@|[?#].*", "", target))
        return (
            f"the service redirected to {target}, and redirects are not followed: if "
            "the service has moved, change the base address; if that is a page to log "
            "in, something on the way asks for it"
        )
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return (
            "the proxy wants a login: give its address as http://USER:PASSWORD@HOST, "
            "with other characters than letters and digits percent-encoded"
        )
    advice = _ADVICE.get(status, _BASE)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        advice = _ADVICE.get(status, _GATEWAY)
    elif status == HTTPStatus.BAD_REQUEST:
        text = response.body[:_HEAD].decode(errors="replace")
        if re.search(_NEEDS_TLS, text):
            advice = "the server expects TLS: begin the base address with https://"
    page = f"{kind_of_page(response)}{of_page(response)}"
    return f"{page} came in place of the service's response: {advice}"


def invalid_response(
    response: HttpResponse,
    request: HttpRequest,
    why: str,
    problems: Iterable[Problem] = (),
) -> InvalidResponseError:
    """The exception for a response that can't be read; *why* follows "the response"."""
    without_keys = response.redacted()
    return InvalidResponseError(
        response.redacted_text(f"the response to {request} {why}"),
        problems=redacted(problems, response),
        body=without_keys.body,
        headers=without_keys.headers,
        request=request,
    )


def redacted(
    problems: Iterable[Problem], response: HttpResponse
) -> tuple[Problem, ...]:
    """The *problems* of a response, whose messages quote no credential."""
    redact = response.redacted_text
    return tuple(
        attrs.evolve(problem, message=redact(problem.message)) for problem in problems
    )
