"""Cases: refusals, redirects, and what a hostile Retry-After asks for."""

from __future__ import annotations

from .answers import answer, failure, head
from .bodies import HTML
from .script import (
    HASTY,
    Case,
    Finish,
    Hear,
    Pause,
    Reflect,
    Reset,
    Say,
    Script,
    Silence,
)


def _keeps(data: bytes) -> tuple[Script, ...]:
    return ((Hear(), Say(data)),)


def _then_good(data: bytes) -> tuple[Script, ...]:
    return ((Hear(), Say(data)), (Hear(), Say(answer())))


def _later(value: str, *, status: str = "429 Too Many Requests") -> bytes:
    return failure(status, f"Retry-After: {value}", error="slower")


REFUSALS = (
    *(
        Case(
            f"answers {status}",
            f"`{status}` with `ok` false",
            _keeps(failure(status, error="no")),
            gives,
            has={"status": int(status[:3])},
        )
        for status, gives in (
            ("400 Bad Request", "BadRequestError"),
            ("401 Unauthorized", "AuthenticationError"),
            ("403 Forbidden", "PermissionDeniedError"),
            ("404 Not Found", "NotFoundError"),
            ("410 Gone", "BadRequestError"),
            ("423 Locked", "WebsiteLockedError"),
        )
    ),
    Case(
        "refuses with 200",
        "200 with `ok` false",
        _keeps(failure("200 OK", error="no")),
        "ServiceError",
    ),
    Case(
        "refuses with HTML",
        "403 with a page",
        _keeps(answer(HTML, "Content-Type: text/html", status="403 Forbidden")),
        "PermissionDeniedError",
    ),
    Case(
        "refuses with nothing",
        "401 with an empty body",
        _keeps(answer(b"", status="401 Unauthorized")),
        "AuthenticationError",
    ),
    Case(
        "refuses with an odd message",
        "400 whose `error` is an object",
        _keeps(failure("400 Bad Request", error={"text": ["no"]})),
        "BadRequestError",
    ),
    Case(
        "refuses with terminal commands",
        "400 whose `error` has escape sequences",
        _keeps(failure("400 Bad Request", error="\x1b]0;owned\x07\x1b[2J\r\nok")),
        "BadRequestError",
    ),
    Case(
        "refuses at great length",
        "400 whose `error` has 500,000 letters",
        _keeps(failure("400 Bad Request", error="no " * 166_667)),
        "BadRequestError",
    ),
    *(
        Case(
            f"answers {status} for ever",
            f"`{status}` each time",
            _keeps(failure(status, error="broken")),
            "ServerError",
            tries=3,
            has={"status": int(status[:3])},
        )
        for status in (
            "500 Internal Server Error",
            "501 Not Implemented",
            "502 Bad Gateway",
            "503 Service Unavailable",
            "504 Gateway Timeout",
        )
    ),
    Case(
        "fails once with 503",
        "503, then a good answer",
        _then_good(failure("503 Service Unavailable", error="later")),
        "value",
        tries=2,
    ),
    Case(
        "fails with a page of 502",
        "502 with HTML each time",
        _keeps(answer(HTML, "Content-Type: text/html", status="502 Bad Gateway")),
        "ServerError",
        tries=3,
    ),
)

RATE_LIMITS = (
    Case(
        "answers 429 for ever",
        "429 without Retry-After each time",
        _keeps(failure("429 Too Many Requests", error="slower")),
        "RateLimitedError",
        tries=3,
        has={"retry_after": None},
    ),
    Case(
        "asks to wait for 0 s",
        "`Retry-After: 0`, then a good answer",
        _then_good(_later("0")),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait for a negative time",
        "`Retry-After: -5`, then a good answer",
        _then_good(_later("-5")),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait until a day that is past",
        "a date of 1994, then a good answer",
        _then_good(_later("Sun, 06 Nov 1994 08:49:37 GMT")),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait for a while in words",
        "`Retry-After: soon`, then a good answer",
        _then_good(_later("soon")),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait for NaN seconds",
        "`Retry-After: nan`, then a good answer",
        _then_good(_later("nan")),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait with 400 digits",
        "a Retry-After that no float holds, then a good answer",
        _then_good(_later("9" * 400)),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait for half a second",
        "`Retry-After: 0.5`, then a good answer",
        _then_good(_later("0.5")),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait for a day",
        "`Retry-After: 86400`",
        _keeps(_later("86400")),
        "RateLimitedError",
        has={"retry_after": 86400.0},
    ),
    Case(
        "asks to wait until the year 9999",
        "a date far away",
        _keeps(_later("Fri, 31 Dec 9999 23:59:59 GMT")),
        "RateLimitedError",
    ),
    Case(
        "asks twice to wait",
        "two Retry-After headers, then a good answer",
        _then_good(
            failure(
                "429 Too Many Requests", "Retry-After: 0", "Retry-After: 0", error="no"
            )
        ),
        "value",
        tries=2,
    ),
    Case(
        "asks to wait for a day with 503",
        "`503` with `Retry-After: 86400`",
        _keeps(_later("86400", status="503 Service Unavailable")),
        "ServerError",
    ),
)

REDIRECTS = (
    Case(
        "redirects on its own origin",
        "301 to another path",
        _keeps(
            head("Location: %ORIGIN%/other", "Content-Length: 0", status="301 Moved")
        ),
        "ServiceError",
    ),
    Case(
        "redirects to another host",
        "302 to another origin",
        _keeps(head("Location: %ELSEWHERE%/", "Content-Length: 0", status="302 Found")),
        "ServiceError",
    ),
    Case(
        "redirects in a loop",
        "307 to the same address",
        _keeps(
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
        _keeps(head("Content-Length: 0", status="308 Permanent Redirect")),
        "ServiceError",
    ),
)

WRITES = (
    Case(
        "refuses a write's connection",
        "nobody listens, and a website is to be added",
        (),
        "ConnectionFailedError",
        tries=0,
        listens="no",
        call="add",
        has={"maybe_sent": False},
    ),
    Case(
        "resets a write",
        "reads the request to add a website and resets",
        ((Hear(), Reset()),),
        "ConnectionFailedError",
        call="add",
        has={"maybe_sent": True},
    ),
    Case(
        "resets a write before reading it",
        "accepts and resets 0.3 s later, when a website is to be added",
        ((Pause(0.3), Reset()),),
        "ConnectionFailedError",
        call="add",
        has={"maybe_sent": True},
    ),
    Case(
        "is silent after a write",
        "reads the request to add a website and says nothing",
        ((Hear(), Silence()),),
        "RequestTimeoutError",
        call="add",
        options=HASTY,
        has={"maybe_sent": True},
    ),
    Case(
        "fails a write with 503",
        "503 to the request to add a website",
        _keeps(failure("503 Service Unavailable", error="later")),
        "ServerError",
        call="add",
    ),
    Case(
        "limits a write's rate",
        "429 with `Retry-After: 0` to the request to add a website",
        _keeps(_later("0")),
        "RateLimitedError",
        call="add",
    ),
    Case(
        "cuts the answer to a write",
        "half of the answer to a request to add a website",
        ((Hear(), Say(head("Content-Length: 100") + b'{"ok": true'), Finish()),),
        "ConnectionFailedError",
        call="add",
        has={"maybe_sent": True},
    ),
    Case(
        "redirects a write",
        "307 to another origin for a request to add a website",
        _keeps(
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
        "the request's own bytes, as if they were an answer",
        ((Hear(), Reflect(), Finish()),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "reflects the request in a refusal",
        "400 whose `error` quotes all headers of the request",
        (
            (
                Hear(),
                Say(head("Connection: close", status="400 Bad Request")),
                Reflect(b'{"ok": false, "error": "', b'"}', within_a_line=True),
                Finish(),
            ),
        ),
        "AuthenticationError",
    ),
    Case(
        "reflects the request in data",
        "200 that quotes all headers of the request where a count belongs",
        (
            (
                Hear(),
                Say(head("Connection: close")),
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
                Hear(),
                Say(b"HTTP/1.1 429 Slower\r\nConnection: close\r\nRetry-After: "),
                Reflect(b"", b"\r\n\r\n", within_a_line=True),
                Finish(),
            ),
        ),
        "RateLimitedError",
        tries=3,
    ),
)
