"""What a hostile network does, case by case, and what a call gives then.

    for name, case in CASES.items():
        given, play = run(variant, case)

A case has a line or two: the steps of the server at each attempt, and the name of the
error, or "value". A step is bytes to send, or a function that does something else.
"""

from __future__ import annotations

import gzip
import json
import ssl
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from itertools import count
from typing import Any

import attrs
import httpx
import trustme

from both_clients import QUERY, opened
from loopback import AUTHORITY, Connection, head, serve, silent, whole
from sitestats import RetryPolicy, SiteStatsError

MIB = 1024 * 1024
PLENTY = 30.0
"""Seconds that pass only when a test fails."""

FAILED, LATE = "ConnectionFailedError", "RequestTimeoutError"
LARGE, BAD = "ResponseTooLargeError", "InvalidResponseError"

# -- what a server sends

GOOD = json.dumps({"ok": True, "hostname": "example.com", "pageviews": 3}).encode()
JSON = "Content-Type: application/json"
LENGTH = f"Content-Length: {len(GOOD)}"
GZIP = "Content-Encoding: gzip"


def error(status: str, *lines: str, **values: object) -> bytes:
    """An error response in the service's form."""
    body = json.dumps({"ok": False, "error": "no", **values}).encode()
    return whole(body, *lines, status=status)


def chunk(data: bytes = b"") -> bytes:
    """A chunk; an empty one is the last."""
    return b"%x\r\n%s\r\n" % (len(data), data)


OK = whole(GOOD, JSON)
HALF = head(JSON, LENGTH) + GOOD[:20]
CHUNKED = head(JSON, "Transfer-Encoding: chunked")
PACKED = gzip.compress(GOOD, mtime=0)
_packer = zlib.compressobj(9, zlib.DEFLATED, 31)
BOMB = _packer.compress(b'{"ok":"') + _packer.flush(zlib.Z_FULL_FLUSH)
BLOCK = _packer.compress(b"a" * MIB) + _packer.flush(zlib.Z_FULL_FLUSH)
"""It inflates to one MiB, and may be repeated without end."""
SPACES = b" " * MIB
FIELD = b"X-Padding: and so on\r\n"

# -- what a server does: bytes are sent, other steps do something

Step = bytes | Callable[[Connection], object]


def unread(connection: Connection) -> None:
    """Begin without reading the request."""


def close(connection: Connection) -> None:
    """End orderly."""
    connection.close()


def reset(connection: Connection) -> None:
    """End with a reset, after what was sent before has arrived."""
    time.sleep(0.01)
    connection.reset()


def deaf(connection: Connection) -> None:
    """Read nothing more."""
    connection.server.ending.wait(PLENTY)


def forever(piece: bytes, pause: float = 0) -> Step:
    """Send *piece* again and again, until the client hangs up."""

    def send(connection: Connection) -> None:
        while not connection.server.ending.wait(pause):
            connection.send(piece)

    return send


def drip(data: bytes) -> Step:
    """Send *data* byte by byte."""
    return lambda connection: connection.drip(data)


def echo(before: bytes, after: bytes, form: str = "") -> Step:
    """Send the request's head back in one line, each character written in *form*."""

    def send(connection: Connection) -> None:
        request = connection.server.requests[-1]
        if before:
            request = request.replace(b"\r\n", b" ").replace(b'"', b"")
        if form:
            request = "".join(map(form.format, request)).encode()
        connection.send(before + request + after)

    return send


FOREIGN = trustme.CA()
PAST = {"not_before": datetime(2020, 1, 1, tzinfo=UTC)}
PAST["not_after"] = datetime(2020, 2, 1, tzinfo=UTC)
CERTIFICATES = {
    "good": AUTHORITY.issue_cert("127.0.0.1"),
    "foreign": FOREIGN.issue_cert("127.0.0.1"),
    "another host's": AUTHORITY.issue_cert("elsewhere.example"),
    "expired": AUTHORITY.issue_cert("127.0.0.1", **PAST),
}


@cache
def tls(certificate: str) -> Step:
    """Do a TLS handshake, before anything is read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    CERTIFICATES[certificate].configure_cert(context)

    def start(connection: Connection) -> None:
        connection.start_tls(context)
        connection.request()

    return start


TLS = tls("good")
TRUSTING = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
AUTHORITY.configure_trust(TRUSTING)
BEFORE_READING = (unread, *map(tls, CERTIFICATES))

# -- the cases


def get(client: Any) -> Any:
    """Request statistics."""
    return client.stats.get(QUERY)


def get_twice(client: Any) -> Any:
    """Request statistics, and again by the connection that is idle then."""
    get(client)
    return get(client)


def add(client: Any) -> Any:
    """Add a website, which is never repeated."""
    return client.websites.add("example.com")


def post_much(client: Any) -> Any:
    """Send more than fits into the buffers of the system."""
    return client.request("POST", "/api/custom", json="x" * 16 * MIB)


SHORT = {"timeout": 0.1}
TOTAL = {"total_timeout": 0.3}
UNSENT = {"maybe_sent": False}
SENT = {"maybe_sent": True}
ONE_RETRY = RetryPolicy(retries=1, wait_initial=0.001, wait_max=0.002)


@attrs.frozen
class Case:
    """What the server does at each attempt, and what the call gives."""

    attempts: tuple[tuple[Step, ...], ...]
    """The last one is repeated."""
    gives: str = "value"
    count: int = 1
    """How many attempts there are."""
    call: Callable[[Any], Any] = get
    has: dict[str, object] = attrs.field(factory=dict)
    """Attributes of the error."""
    options: dict[str, Any] = attrs.field(factory=dict)


def case(*steps: Step, **more: Any) -> Case:
    """A case whose attempts are all the same; a broken connection has two."""
    if more.get("gives") == FAILED and more.get("call") is not add:
        more = {"count": 2, **more}
    return Case((steps,), **more)


def once(*steps: Step, **more: Any) -> Case:
    """A case whose second attempt succeeds."""
    return Case((steps, (OK,)), count=2, **more)


def broken(*steps: Step, **more: Any) -> Case:
    """A case that gives a failed connection, after two attempts."""
    return case(*steps, gives=FAILED, **more)


def late(*steps: Step, **more: Any) -> Case:
    """A case whose bytes never end, so that only total_timeout ends it."""
    return case(*steps, gives=LATE, options=TOTAL, **more)


def hung(*steps: Step, **more: Any) -> Case:
    """A case that is silent at some place, at each of two attempts."""
    options = {**SHORT, **more.pop("options", {})}
    return Case((steps,), LATE, more.pop("count", 2), options=options, **more)


def redirect(status: str, location: str, **more: Any) -> Case:
    """A redirect, which is never followed."""
    response = whole(b"", f"Location: {location}", status=status)
    return case(response, **{"gives": "NotTheServiceError", **more})


HTTPS = {"scheme": "https"}
LATER = "429 Too Many Requests"
ECHO_400 = head("Connection: close", status="400 Bad Request")
ERROR = b'{"ok": false, "error": "'
CASES: dict[str, Case] = {
    # Connections that break.
    "resets at once": broken(unread, reset),
    "hangs up after the request": broken(close, has=SENT),
    "resets after the request": broken(reset, has=SENT),
    "resets once": once(reset),
    "is silent once": once(silent, options={"timeout": 0.5}),
    "closes an idle connection": Case(((OK, close),), count=2, call=get_twice),
    "resets an idle connection": Case(
        ((OK,), (reset,), (OK,)), count=3, call=get_twice
    ),
    "accepts and is silent": hung(silent, has=SENT),
    "does not read a large request": hung(
        *(unread, deaf), count=1, call=post_much, has=SENT
    ),
    # Responses that stop.
    "stops within the status line": broken(b"HTTP/1.1 2", close),
    "resets within the headers": broken(b"HTTP/1.1 200 OK\r\nContent-Ty", reset),
    "cuts the body": broken(HALF, close),
    "resets within the body": broken(HALF, reset),
    "is silent within the headers": hung(b"HTTP/1.1 200 OK\r\nContent-Ty", silent),
    "is silent within the body": hung(HALF, silent),
    # Responses that never end.
    "drips the headers": late(b"HTTP/1.1 200 OK\r\n", drip(FIELD * 9)),
    "drips the body": late(HALF, drip(GOOD[20:]), silent),
    "drips chunks": late(CHUNKED, forever(chunk(b" "), 0.02)),
    "drips a gzip stream": late(head(JSON, GZIP), drip(BOMB + BLOCK)),
    "drips 100 Continue": late(forever(head(status="100 Continue"), 0.02)),
    "never ends its headers": broken(b"HTTP/1.1 200 OK\r\n", forever(FIELD * 500)),
    "never ends a header": broken(b"HTTP/1.1 200 OK\r\nX: ", forever(b"x" * 8192)),
    "never ends its chunks": case(CHUNKED, forever(chunk(SPACES)), gives=LARGE),
    "never ends a chunk's size": case(
        CHUNKED + b"1;", forever(b"x" * 8192), gives=LARGE
    ),
    "never ends its trailers": case(
        CHUNKED + b"0\r\n", forever(b"X: %s\r\n" % (b"x" * 8192)), gives=LARGE
    ),
    "never ends its body": case(
        head(JSON, "Connection: close"), forever(SPACES), gives=LARGE
    ),
    "sends gigabytes": case(
        head(f"Content-Length: {4096 * MIB}"), forever(SPACES), gives=LARGE
    ),
    "sends a gzip bomb": case(head(GZIP), BOMB + 300 * BLOCK, close, gives=LARGE),
    "sends a gzip bomb with an error": case(
        *(head(GZIP, status="400 Bad Request"), BOMB + 300 * BLOCK, close),
        gives="BadRequestError",
    ),
    "never ends the body of an error": case(
        head(status="400 Bad Request"), forever(SPACES), gives="BadRequestError"
    ),
    # TLS.
    "encrypts correctly": case(TLS, OK, options=HTTPS),
    "encrypts each byte": case(TLS, *map(bytes, zip(OK)), options=HTTPS),
    "encrypts much at once": case(
        TLS, whole(GOOD + bytes(2 * MIB).replace(b"\0", b" ")), options=HTTPS
    ),
    **{
        f"shows a certificate that is {name}": case(
            tls(name), OK, gives=FAILED, count=1, has=UNSENT, options=HTTPS
        )
        for name in ("expired", "foreign", "another host's")
    },
    "speaks plain HTTP instead": broken(
        *(unread, OK, close), count=1, has=UNSENT, options=HTTPS
    ),
    "is silent in the handshake": hung(unread, silent, has=UNSENT, options=HTTPS),
    "resets in the handshake": broken(unread, reset, has=UNSENT, options=HTTPS),
    "speaks TLS in place of HTTP": broken(TLS),
    "cuts the body within TLS": broken(TLS, HALF, close, options=HTTPS),
    "resets within TLS": broken(TLS, reset, has=SENT, options=HTTPS),
    # Lengths and chunks.
    "announces too much": broken(head("Content-Length: 999") + GOOD, close),
    "announces too little": case(head("Content-Length: 9") + GOOD, close, gives=BAD),
    "sends bytes after the response": Case(
        ((OK + whole(b"{}"),),), count=2, call=get_twice
    ),
    **{
        f"announces a length of {' and of '.join(lengths)}": broken(
            head(*(f"Content-Length: {length}" for length in lengths)) + GOOD, close
        )
        for lengths in (["-1"], ["many"], ["9" * 30], [str(len(GOOD)), "5"])
    },
    "sends broken chunks": broken(CHUNKED + b"zz\r\n" + GOOD, close),
    "compresses": case(whole(PACKED, JSON, GZIP)),
    "breaks the gzip stream": case(whole(PACKED[:-8] + bytes(8), GZIP), gives=BAD),
    "ends the gzip stream early": case(whole(PACKED[:-12], GZIP), gives=BAD),
    "compresses in another way": case(
        whole(b"\x0b\x02\x80{}\x03", "Content-Encoding: br"), gives=BAD
    ),
    # Status lines, headers and kinds of body.
    "speaks HTTP/1.0": case(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD, close),
    "speaks another protocol": broken(b"SSH-2.0-OpenSSH_9.6\r\n", close),
    "speaks HTTP/2": broken(b"\0\0\0\4\0\0\0\0\0", close),
    "sends a header without a colon": broken(head("no header", LENGTH) + GOOD, close),
    "sends a NUL in a header": broken(head("X-Odd: a\0b", LENGTH) + GOOD, close),
    "sends many headers": case(whole(GOOD, *(f"X-{n}: {n}" for n in range(1000)))),
    "sets cookies": Case(((whole(GOOD, "Set-Cookie: a=1"),),), count=2, call=get_twice),
    "sends 100 and 103 first": case(
        head(status="100 Continue"), head("Link: <a>", status="103 Early"), OK
    ),
    "switches protocols": broken(head(status="101 Switching Protocols"), close),
    "has status 99": broken(whole(GOOD, status="099 Odd"), close),
    "has status 799": case(error("799 Odd"), gives="ServerError"),
    "sends HTML": case(whole(b"<html>Hi</html>", "Content-Type: text/html"), gives=BAD),
    "sends 204": case(b"HTTP/1.1 204 No Content\r\n\r\n", gives=BAD),
    "refuses with 200": case(error("200 OK"), gives="StatusError"),
    # Retries, rate limits, redirects.
    "fails once with 503": once(error("503 Service Unavailable")),
    "always limits": case(error(LATER), gives="RateLimitedError", count=2),
    "limits once": once(error(LATER, "Retry-After: 0.1")),
    "limits for a day": case(
        error(LATER, "Retry-After: 86400"),
        gives="RateLimitedError",
        has={"retry_after": 86400.0},
    ),
    "redirects to itself": redirect("307 Temporary", "%HERE%/example.com.json"),
    # httpx2 does not read the address of a redirect that is not followed.
    **{
        f"redirects to {place}": redirect(
            "307 Temporary",
            place,
            **({} if httpx.__name__ == "httpx2" else {"gives": BAD}),
        )
        for place in ("a:b", "http://[::1", "http://xn--0/")
    },
    "redirects to another host": redirect("302 Found", "%ELSEWHERE%/"),
    # Writes, which are never repeated.
    "resets a write": case(reset, gives=FAILED, call=add, has=SENT),
    "is silent after a write": hung(silent, count=1, call=add, has=SENT),
    "fails a write with 503": case(error("503 No"), gives="ServerError", call=add),
    "limits a write": case(
        error(LATER, "Retry-After: 0"), gives="RateLimitedError", call=add
    ),
    "cuts the response to a write": case(
        head("Content-Length: 100") + b'{"ok": true', close, gives=FAILED, call=add
    ),
    "redirects a write": redirect("307 Temporary", "%ELSEWHERE%/", call=add),
    # Servers that send back what they got.
    "echoes the request": broken(echo(b"", b""), close),
    **{
        f"echoes the request {name}": case(
            ECHO_400, echo(before, after, form), close, gives=gives
        )
        for name, form, before, after, gives in (
            ("in JSON", "", ERROR, b'"}', "AuthenticationError"),
            ("in escapes of JSON", "\\u{:04x}", ERROR, b'"}', "AuthenticationError"),
            ("in decimal escapes", "&#{};", ERROR, b'"}', "BadRequestError"),
            ("percent-encoded", "%{:02x}", ERROR, b'"}', "BadRequestError"),
            (
                *("in escapes of HTML", "&#x{:x};"),
                *(b"<html><title>", b"</title>", "NotTheServiceError"),
            ),
        )
    },
    "echoes the request in data": case(
        *(head("Connection: close"), echo(b'{"ok": true, "pageviews": "', b'"}')),
        *(close,),
        gives=BAD,
    ),
    "echoes the request in a header": case(
        *(b"HTTP/1.1 429 Slower\r\nConnection: close\r\n",),
        *(echo(b"Retry-After: ", b"\r\n\r\n"), close),
        gives="RateLimitedError",
        count=2,
    ),
}


class Play:
    """Plays a case on each connection, and counts attempts and bytes."""

    def __init__(self, case: Case, elsewhere: str) -> None:
        self.case, self.elsewhere = case, elsewhere.encode()
        self.attempts = self.sent = 0
        self.requests: list[bytes] = []

    def __call__(self, connection: Connection) -> None:
        send, here = connection.send, connection.server.address.encode()

        def counted(data: bytes) -> None:
            self.sent += len(data)
            if data.startswith(b"HTTP"):
                data = data.replace(b"%HERE%", here)
                data = data.replace(b"%ELSEWHERE%", self.elsewhere)
            send(data)

        connection.send = counted  # type: ignore[method-assign]  # to count
        for number in count():
            steps = self.case.attempts[min(self.attempts, len(self.case.attempts) - 1)]
            if steps[0] in BEFORE_READING:
                if number:
                    return
            elif not connection.request():
                return
            self.attempts += 1
            for step in steps:
                counted(step) if isinstance(step, bytes) else step(connection)


def run(variant: str, case: Case, elsewhere: str = "", **more: Any) -> tuple[Any, Play]:
    """What the call of a client with *more* options gave, and what was counted."""
    play = Play(case, elsewhere)
    options = {"timeout": PLENTY, "total_timeout": PLENTY, **case.options, **more}
    scheme = options.pop("scheme", "http")
    options |= {"verify": TRUSTING, "retries": ONE_RETRY}
    with serve(play) as server:
        address = server.address.replace("http", scheme, 1)
        with opened(variant, address, **options) as client:
            try:
                given = case.call(client)
            except SiteStatsError as caught:
                given = caught
        play.requests = server.requests
    return given, play
