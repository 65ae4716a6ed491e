"""Which error each error response becomes."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_clients import VARIANTS, faked, opened
from fake_responses import REQUEST, http_response, read_response
from inside import decode_json
from sitestats import (
    AuthenticationError,
    BadRequestError,
    InvalidInputError,
    InvalidResponseError,
    NotFoundError,
    NotTheServiceError,
    PermissionDeniedError,
    Problem,
    RateLimitedError,
    ServerError,
    StatsQuery,
    StatusError,
    WebsiteLockedError,
)

NAMES = ("error", "message", "reason", "msg", "detail")
PAGE = b"<!DOCTYPE html><html><head><title>Down &amp; out</title></head></html>"


SHAPES: list[Any] = [
    {"error": {"message": "It broke."}},
    {"error": {"error": {"Message": "It broke."}}},
    {"errors": ["It broke."]},
    {"errors": [{"message": "It broke."}, {"message": "It broke."}]},
    {"error": ["It broke."]},
    {"error_description": "It broke."},
    {"errorMessage": "It broke."},
    {"detail": [{"loc": ["query"], "msg": "It broke."}]},
    {"title": "It broke."},
    {"ok": False, "note": "It broke.", "__note": "More prose."},
    ["It broke."],
]
"""Where else the message of an error may be: the document leaves it open."""


def failed(data: Any, status: int, **headers: str) -> Any:
    """The error that this response becomes, in both clients."""
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    errors = list[Any]()
    for variant in VARIANTS:
        with faked() as routes, opened(variant, retries=0) as client:
            route = routes.get("/example.com.json")
            route.respond(status, content=content, headers=names)
            with pytest.raises((StatusError, InvalidResponseError)) as caught:
                client.request("GET", "/example.com.json")
        errors.append(caught.value)
    error, other = errors
    # Their texts may differ by a second of our clock.
    assert (type(error), error.message) == (type(other), other.message)
    assert error.request.path == "/example.com.json"
    assert error.body == content
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
    return error


def error_body(error: str, **more: Any) -> dict[str, Any]:
    """An error response as the Stats API sends it."""
    return {"ok": False, "error": error, "__error": "prose", **more}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequestError),
        (401, AuthenticationError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (418, BadRequestError),
        (423, WebsiteLockedError),
        (429, RateLimitedError),
        (500, ServerError),
        (503, ServerError),
        (599, ServerError),
    ],
)
@pytest.mark.parametrize(
    "data", [error_body("It broke."), {"success": False}, b"It broke.", b"", b"{"]
)
def test_the_status_tells_the_kind(
    data: Any, status: int, kind: type[StatusError]
) -> None:
    """The status decides the class of the error, whatever the body is."""
    error = failed(data, status)
    assert type(error) is kind
    assert isinstance(error, StatusError)
    assert error.status_code == status
    assert f"(status {status}, GET /example.com.json)" in str(error)


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("No Api-Key found, specify via header", AuthenticationError),
        ("No User-Id defined", AuthenticationError),
        ("Invalid user id format, it should be a UUIDv4", AuthenticationError),
        ("A contains search requires an API key", AuthenticationError),
        ("Unauthorized", AuthenticationError),
        ("You need the owner, admin or developer role", PermissionDeniedError),
        ("Your plan allows 10 websites", PermissionDeniedError),
        ("Upgrade to add more websites", PermissionDeniedError),
        ("This API key has no access to the website", PermissionDeniedError),
    ],
)
def test_the_message_tells_credentials_from_roles(
    status: int, message: str, kind: type[StatusError]
) -> None:
    """A 400 becomes an authentication or permission error by its message."""
    for data in (error_body(message), {"success": False, "error": message}):
        error = failed(data, status)
        assert type(error) is kind
        assert isinstance(error, StatusError)
        assert (error.message, error.status_code) == (message, status)


@pytest.mark.parametrize(
    "message",
    [
        "Fields param is required, e.g. fields=pageviews",
        "Unknown field 'plan' in \"user-id\" or `role`",
        "Invalid metadata.api_key and metadata.role",
        "Invalid date, planned_at is not known",
        "This host isn't known in 'your plan', it can't be read",
        "This hostname is not allowed",
    ],
)
def test_words_of_the_request_are_ignored(message: str) -> None:
    """What the message repeats of the query does not decide the class."""
    assert type(failed(error_body(message), 400)) is BadRequestError


@pytest.mark.parametrize("status", [200, 201, 299])
@pytest.mark.parametrize("data", [error_body("It broke."), {"success": False}])
def test_ok_or_success_false_is_a_failure_whatever_the_status(
    data: Any, status: int
) -> None:
    """A response of 2xx with ok or success false raises an error."""
    error = failed(data, status)
    assert type(error) is StatusError
    assert error.status_code == status


@pytest.mark.parametrize("status", [200, 400, 402, 423, 500])
def test_the_code_of_a_locked_website(status: int) -> None:
    """The code BADGE_REQUIRED means a locked website, whatever the status is."""
    error = failed(error_body("Add the badge", code="BADGE_REQUIRED"), status)
    assert isinstance(error, WebsiteLockedError)
    assert (error.code, error.message) == ("BADGE_REQUIRED", "Add the badge")


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        *(({"ok": False, name: "It broke."}, 400, "It broke.") for name in NAMES),
        ({"ok": False, "error": 7, "message": "It broke."}, 400, "It broke."),
        *((shape, 400, "It broke.") for shape in SHAPES),
        ({"error": "bad_zone", "error_description": "No."}, 400, "bad_zone: No."),
        ({"error": "Bad Request", "message": "No."}, 400, "Bad Request: No."),
        ({"error": "a b", "errors": [{"msg": "c d"}]}, 400, "a b: c d"),
        ({"errors": {"label": ["is long", "is odd"]}}, 400, "label: is long"),
        ({"errors": {"a": ["no a"], "b": ["no b"]}}, 400, "a: no a; b: no b"),
        (b"null", 400, "the service responded without a message: null"),
        ({"ok": False, "code": "SLOW"}, 400, "the code SLOW, without a message"),
        ({"ok": False, "hint": 5}, 400, 'without a message: {"ok": false, "hint'),
        ({"ok": False, "error": None, "reason": "Why.", "msg": "No."}, 400, "Why."),
        ({"ok": False, "reason": "/a is wrong"}, 400, "/a is wrong"),
        ({"ok": False, "error": " "}, 400, "the service responded without a message"),
        (
            {"status": 404, "message": "/example.com.json"},
            404,
            "the service does not know /example.com.json",
        ),
        (b"It broke.", 404, "It broke."),
        (b'"It broke."', 404, "It broke."),
        (b"", 503, "the service responded without a message"),
        (b"upstream \x1b[31m\xff\ntimed out", 504, "upstream \\x1b[31m\ufffd timed"),
        (b"", 423, "the website is locked"),
        (b"[1]", 500, "[1]"),
    ],
)
def test_the_message_is_the_services_or_describes_the_response(
    data: Any, status: int, message: str
) -> None:
    """Every envelope gives its message; a response without one is described."""
    error = failed(data, status)
    assert isinstance(error, StatusError)
    assert message in error.message


@pytest.mark.parametrize(
    ("declared", "charset"),
    [
        ("iso-8859-1", "latin-1"),
        ('"Windows-1252"', "cp1252"),
        ("UTF-16", "utf-16"),
        ("utf-16le", "utf-16le"),
        ("utf-32", "utf-32"),
        ("iso-8859-1", "utf-8"),
        ("no-such-charset", "utf-8"),
        ("punycode", "utf-8"),
    ],
)
def test_a_message_is_read_in_its_charset(declared: str, charset: str) -> None:
    """A gateway may send texts or JSON in another one than the service, or name a
    charset that is not the right one.
    """
    for text, kind in (("Schlüssel fehlt", "text/plain"), ('"Kein ü"', "text/json")):
        content_type = f"{kind}; charset={declared}"
        error = failed(text.encode(charset), 400, content_type=content_type)
        assert error.message == text.strip('"')


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"Too many requests", "not JSON: .*; it says 'Too many requests'"),
        (b'{"error": "No key"}', "private .*; it says 'No key'"),
        (b'{"detail": [{"msg": "No start"}]}', "; it says 'No start'"),
    ],
)
def test_a_success_that_is_a_failure_says_why(body: bytes, words: str) -> None:
    """A text or an object without what was requested may have the reason."""
    with pytest.raises(InvalidResponseError, match=words) as caught:
        read_response(StatsQuery("example.com").fields("visitors"), body)
    assert len(str(caught.value)) < 500


def test_a_message_is_one_line_and_not_endless() -> None:
    """A message has no control characters and a limited length."""
    error = failed(error_body("It\nbroke \x1b[2J\ud800 " * 10_000), 400)
    assert isinstance(error, StatusError)
    assert error.message.isprintable()
    assert len(error.message) <= 500


@pytest.mark.parametrize("code", [None, "SLOW"])
@pytest.mark.parametrize(
    ("retry_after", "date", "seconds"),
    [
        ("7", "", 7.0),
        ("Fri, 20 Nov 2026 12:00:30 GMT", "Fri, 20 Nov 2026 12:00:10 GMT", 20.0),
        ("soon", "", None),
    ],
)
def test_retry_after_becomes_seconds(
    code: str | None, retry_after: str, date: str, seconds: float | None
) -> None:
    """A date in Retry-After counts from the service's Date."""
    body = error_body("Slow down", code=code)
    error = failed(body, 429, retry_after=retry_after, date=date)
    assert isinstance(error, RateLimitedError)
    assert (error.retry_after, error.code) == (seconds, code)


def test_without_a_date_retry_after_counts_from_our_clock() -> None:
    """Of an hour from now at most an hour is left, however slow the machine is."""
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    error = failed({}, 429, retry_after=format_datetime(later, usegmt=True))
    assert 0 < error.retry_after <= 3_600


# --- something else than the service ------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, NotTheServiceError, "check the base address"),
        (401, NotTheServiceError, "whoever runs that to let it through"),
        (403, NotTheServiceError, "whoever runs that to let it through"),
        (404, NotTheServiceError, "check the base address"),
        (407, NotTheServiceError, "the proxy wants a login"),
        (408, BadRequestError, "try again"),
        (414, BadRequestError, "in several queries"),
        (423, NotTheServiceError, "check the base address"),
        (429, RateLimitedError, "wait"),
        (502, ServerError, "try later"),
        (511, ServerError, "log in"),
        (522, ServerError, "try later"),
    ],
)
@pytest.mark.parametrize(
    "page",
    [
        PAGE,
        b"\xef\xbb\xbf\n<html><h1>No key</h1>",
        b"<!-- a --><p>API key",
        b"<?xml version='1.0'?><Error>API key</Error>",
    ],
)
def test_a_page_is_not_by_the_service(
    page: bytes, status: int, kind: type[StatusError], advice: str
) -> None:
    """Its error blames neither key nor website, and says what to do instead. Its status
    alone decides whether to try again.
    """
    error = failed(page, status, retry_after="7")
    assert type(error) is kind
    assert isinstance(error, StatusError)
    assert advice in error.message
    assert error.retryable is (status in {408, 429} or status >= 500)
    assert error.retry_after == 7
    assert error.credentials_from == ""


def test_a_page_is_named_by_its_title_and_its_server() -> None:
    """They tell who answered."""
    page = b"<html><title>\n404 Not\x1b Found</title><body>nginx"
    error = failed(page, 404, server="nginx/1.22")
    assert "HTML ('404 Not\\x1b Found', sent by nginx/1.22)" in str(error)
    page = b"<html><title>400 The plain HTTP request was sent to HTTPS port</title>"
    assert "begin the base address with https://" in str(failed(page, 400))
    assert "('Down" in str(failed(PAGE, 200))


@pytest.mark.parametrize("status", [200, 403, 503])
@pytest.mark.parametrize(
    ("body", "content_type", "words"),
    [
        (
            b"<?xml version='1.0'?>\n<Error><Code>Denied</Code><Text>No</Text></Error>",
            "application/xml",
            ["an XML document", "('Denied No', sent by S3)"],
        ),
        (
            b"<Fault><!-- a > b --><text><![CDATA[No route\nhere]]></text></Fault>",
            "text/xml; charset=utf-8",
            ["an XML document", "('No route here', sent by S3)"],
        ),
        (
            b'<?xml version="1.0"?><problem><title>Down</title><detail/></problem>',
            "text/html",
            ["an XML document", "('Down', sent by S3)"],
        ),
        (b'<?xml version="1.0"?><e/>', "", ["an XML document", "(sent by S3)"]),
        (
            b'<?xml version="1.0"?><!DOCTYPE html><html><title>Log in</title>Text',
            "application/xhtml+xml",
            ["a page of HTML", "('Log in', sent by S3)"],
        ),
    ],
)
def test_a_page_of_xml_is_named_as_such(
    body: bytes, content_type: str, words: list[str], status: int
) -> None:
    """The error says what came, and quotes the title, or the text of XML."""
    message = str(failed(body, status, content_type=content_type, server="S3"))
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize("kind", ["text/html", "text/plain; charset=utf-8"])
def test_a_text_that_is_declared_as_html_is_a_message(kind: str) -> None:
    """Many servers declare everything as HTML. What is in it counts."""
    error = failed(b"No Api-Key <found>, a < b", 400, content_type=kind)
    assert isinstance(error, AuthenticationError) is (kind != "text/html")
    error = failed(b"No Api-Key found, a < b", 400, content_type=kind)
    assert type(error) is AuthenticationError
    assert error.message == "No Api-Key found, a < b"
    json = failed(error_body("No <b>role</b>"), 400, content_type=kind)
    assert type(json) is PermissionDeniedError


@pytest.mark.parametrize("status", [300, 301, 308, 399])
@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://me:pw@other.example/a.json?k=v#f", "https://other.example/a.json"),
        ("//me:pw@other.example/a.json?k=v", " to //other.example/a.json,"),
        ("/login?next=%2F", " to /login,"),
        ("https://[", " to https://[,"),
    ],
)
def test_redirects_are_not_followed(status: int, location: str, shown: str) -> None:
    """The error of a redirect names its target, and says what to do."""
    error = failed(b"", status, location=location)
    assert type(error) is NotTheServiceError
    assert shown in error.message
    assert "base address" in error.message
    assert not {"pw", "k=v"} & set(error.message.replace("?", " ").split())
    assert type(failed(b"", 304, location=location)) is StatusError


def test_no_repr_is_endless() -> None:
    """Neither a long code nor thousands of problems make one."""
    long = "x y" * 30_000
    errors: list[Exception] = [
        failed(error_body(long, code=long), 400),
        failed({"errors": {long: [long] * 9}, "code": [long]}, 400),
        failed(long.encode(), 200),
        InvalidInputError([Problem("It is wrong.")] * 10_000),
        InvalidResponseError("It is wrong.", problems=[Problem("It is.")] * 10_000),
    ]
    for error in errors:
        assert len(repr(error)) < 5_000
        assert len(str(error)) < 5_000


NESTED = st.recursive(
    st.just("No Api-Key found"),
    lambda inner: (
        st.tuples(inner)
        | st.sampled_from(
            ["error", "Errors", "error_message", "detail", "msg"]
        ).flatmap(lambda name: st.fixed_dictionaries({name: inner}))
    ),
    max_leaves=1,
)


@given(NESTED, st.sampled_from([400, 403, 409, 422]))
def test_a_message_is_found_wherever_it_is(inner: Any, status: int) -> None:
    """In nested objects and lists, up to four of them, and under any usual name."""
    depth = str(inner).count("{") + str(inner).count("(")
    error = failed({"ok": False, "error": inner}, status)
    assert isinstance(error, StatusError)
    if depth < 4:
        assert error.message == "No Api-Key found"
    assert "without a message: None" not in error.message


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(
        st.sampled_from(
            ["ok", "success", "error", "errors", "message", "code", "status", "a"]
        ),
        inner,
        max_size=4,
    ),
)


@given(
    JSON | st.binary(max_size=50),
    st.integers(100, 599),
    st.dictionaries(
        st.sampled_from(["retry_after", "date", "location", "content_type"]),
        st.text(max_size=20),
    ),
)
def test_any_response_passes_or_is_one_of_our_errors(
    data: Any, status: int, headers: dict[str, str]
) -> None:
    """No body, status or header raises any other exception."""
    try:
        decode_json(http_response(data, status, **headers), REQUEST)
    except (StatusError, InvalidResponseError) as error:
        assert str(error)  # noqa: PT017  either outcome is right
    else:
        assert 200 <= status < 300
