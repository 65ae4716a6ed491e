"""Cases: error responses, rate limits, redirects, writes, reflected credentials."""

from __future__ import annotations

from .responses import error_response, head, response
from .script import (
    SHORT_TIMEOUT,
    Arrival,
    Case,
    Finish,
    ReadRequest,
    Reflect,
    Reset,
    Script,
    Send,
    Silence,
)


def _sends(data: bytes) -> tuple[Script, ...]:
    return ((ReadRequest(), Send(data)),)


def _then_good(data: bytes) -> tuple[Script, ...]:
    return ((ReadRequest(), Send(data)), (ReadRequest(), Send(response())))


def _later(value: str) -> bytes:
    status = "429 Too Many Requests"
    return error_response(status, f"Retry-After: {value}", error="slower")


ERROR_RESPONSES = (
    Case(
        "refuses with 200",
        "200 with `ok` false",
        _sends(error_response("200 OK", error="no")),
        "ServiceError",
    ),
    Case(
        "fails once with 503",
        "503, then a good response",
        _then_good(error_response("503 Service Unavailable", error="later")),
        "value",
        attempts=2,
    ),
)

RATE_LIMITS = (
    Case(
        "always responds 429",
        "429 without Retry-After each time",
        _sends(error_response("429 Too Many Requests", error="slower")),
        "RateLimitedError",
        attempts=3,
        has={"retry_after": None},
    ),
    Case(
        "requests a wait of half a second",
        "`Retry-After: 0.5`, then a good response",
        _then_good(_later("0.5")),
        "value",
        attempts=2,
    ),
    Case(
        "requests a wait of a day",
        "`Retry-After: 86400`",
        _sends(_later("86400")),
        "RateLimitedError",
        has={"retry_after": 86400.0},
    ),
    Case(
        "requests a wait twice",
        "two Retry-After headers, then a good response",
        _then_good(
            error_response(
                "429 Too Many Requests", "Retry-After: 0", "Retry-After: 0", error="no"
            )
        ),
        "value",
        attempts=2,
    ),
)

REDIRECTS = (
    Case(
        "redirects on its own origin",
        "301 to another path",
        _sends(
            head("Location: %ORIGIN%/other", "Content-Length: 0", status="301 Moved")
        ),
        "ServiceError",
    ),
    Case(
        "redirects to another host",
        "302 to another origin",
        _sends(head("Location: %ELSEWHERE%/", "Content-Length: 0", status="302 Found")),
        "ServiceError",
    ),
    Case(
        "redirects in a loop",
        "307 to the same address",
        _sends(
            head(
                "Location: %ORIGIN%/example.com.json",
                "Content-Length: 0",
                status="307 Temporary Redirect",
            )
        ),
        "ServiceError",
    ),
    Case(
        "redirects nowhere",
        "308 without a Location",
        _sends(head("Content-Length: 0", status="308 Permanent Redirect")),
        "ServiceError",
    ),
)

WRITES = (
    Case(
        "refuses a write's connection",
        "no socket listens, and a website is to be added",
        (),
        "ConnectionFailedError",
        attempts=0,
        listens="no",
        call="add",
        has={"maybe_sent": False},
    ),
    Case(
        "resets a write",
        "reads the request to add a website and resets",
        ((ReadRequest(), Reset()),),
        "ConnectionFailedError",
        call="add",
        has={"maybe_sent": True},
    ),
    Case(
        "resets a write before reading it",
        "resets when the first bytes of a request to add a website arrive",
        ((Arrival(), Reset()),),
        "ConnectionFailedError",
        call="add",
        has={"maybe_sent": True},
    ),
    Case(
        "is silent after a write",
        "reads the request to add a website and sends nothing",
        ((ReadRequest(), Silence()),),
        "RequestTimeoutError",
        call="add",
        options=SHORT_TIMEOUT,
        has={"maybe_sent": True},
    ),
    Case(
        "fails a write with 503",
        "503 to the request to add a website",
        _sends(error_response("503 Service Unavailable", error="later")),
        "ServerError",
        call="add",
    ),
    Case(
        "limits a write's rate",
        "429 with `Retry-After: 0` to the request to add a website",
        _sends(_later("0")),
        "RateLimitedError",
        call="add",
    ),
    Case(
        "cuts the response to a write",
        "half of the response to a request to add a website",
        (
            (
                ReadRequest(),
                Send(head("Content-Length: 100") + b'{"ok": true'),
                Finish(),
            ),
        ),
        "ConnectionFailedError",
        call="add",
        has={"maybe_sent": True},
    ),
    Case(
        "redirects a write",
        "307 to another origin for a request to add a website",
        _sends(
            head(
                "Location: %ELSEWHERE%/",
                "Content-Length: 0",
                status="307 Temporary Redirect",
            )
        ),
        "ServiceError",
        call="add",
    ),
)

REFLECTIONS = (
    Case(
        "reflects the request",
        "the bytes of the request, as if they were a response",
        ((ReadRequest(), Reflect(), Finish()),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "reflects the request in an error response",
        "400 whose `error` quotes all headers of the request",
        (
            (
                ReadRequest(),
                Send(head("Connection: close", status="400 Bad Request")),
                Reflect(b'{"ok": false, "error": "', b'"}', within_a_line=True),
                Finish(),
            ),
        ),
        "AuthenticationError",
    ),
    *(
        Case(
            f"reflects the request in {what}",
            f"400 whose `error` quotes all headers, each letter as `{sample}`",
            (
                (
                    ReadRequest(),
                    Send(head("Connection: close", status="400 Bad Request")),
                    Reflect(
                        b'{"ok": false, "error": "',
                        b'"}',
                        within_a_line=True,
                        escape=escape,
                    ),
                    Finish(),
                ),
            ),
            gives,
        )
        for what, sample, escape, gives in (
            ("JSON escapes", r"\u0061", "\\u{:04x}", "AuthenticationError"),
            ("HTML entities", "&#97;", "&#{};", "BadRequestError"),
            ("percent-encoding", "%61", "%{:02x}", "BadRequestError"),
        )
    ),
    Case(
        "reflects the request in the title of a page",
        "400 with an HTML page whose title quotes all headers, each letter as `&#x61;`",
        (
            (
                ReadRequest(),
                Send(head("Connection: close", status="400 Bad Request")),
                Reflect(
                    b"<html><title>", b"</title>", within_a_line=True, escape="&#x{:x};"
                ),
                Finish(),
            ),
        ),
        "BadRequestError",
    ),
    Case(
        "reflects the request in data",
        "200 that quotes all headers of the request in place of a count",
        (
            (
                ReadRequest(),
                Send(head("Connection: close")),
                Reflect(b'{"ok": true, "pageviews": "', b'"}', within_a_line=True),
                Finish(),
            ),
        ),
        "ResponseError",
    ),
    Case(
        "reflects the request in a header",
        "429 whose `Retry-After` quotes all headers of the request",
        (
            (
                ReadRequest(),
                Send(b"HTTP/1.1 429 Slower\r\nConnection: close\r\nRetry-After: "),
                Reflect(b"", b"\r\n\r\n", within_a_line=True),
                Finish(),
            ),
        ),
        "RateLimitedError",
        attempts=3,
    ),
)
