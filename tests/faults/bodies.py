"""Cases: response bodies that differ from the service's document."""

from __future__ import annotations

import gzip
import json

from .responses import ENVELOPE, GOOD, GZIPPED, STATS, raw, repeated, response, stats
from .script import Case, ReadRequest, Script, Send

WEBSITE = {
    "hostname": "example.com",
    "is_public": False,
    "timezone": "Europe/Amsterdam",
    "has_ssl": True,
    "has_script": True,
    "own_hostname": None,
    "label": "shop",
    "pageviews": 1000,
    "events": 10,
}
HTML = b"<!doctype html><html><body><h1>Welcome</h1></body></html>"
_DEEP = 10_000


def _body(body: bytes, *headers: str, status: str = "200 OK") -> tuple[Script, ...]:
    return ((ReadRequest(), Send(response(body, *headers, status=status))),)


def _changed(**changes: object) -> tuple[Script, ...]:
    return _body(stats(**changes))


TYPES = (
    Case(
        "responds correctly",
        "a good response",
        _body(GOOD),
        "value",
    ),
    Case(
        "sends JSON as plain text",
        "good JSON as `text/plain`",
        _body(GOOD, "Content-Type: text/plain"),
        "value",
    ),
    Case(
        "sends no content type",
        "good JSON without a `Content-Type`",
        _body(GOOD, "Content-Type:"),
        "value",
    ),
    Case(
        "sends HTML with 200",
        "an HTML page in place of the data",
        _body(HTML, "Content-Type: text/html"),
        "ResponseError",
    ),
    Case(
        "sends HTML as JSON",
        "an HTML page as `application/json`",
        _body(HTML),
        "ResponseError",
    ),
    Case(
        "sends nothing with 200",
        "an empty body",
        _body(b""),
        "ResponseError",
    ),
    Case(
        "sends 204",
        "no content",
        ((ReadRequest(), Send(b"HTTP/1.1 204 No Content\r\n\r\n")),),
        "ResponseError",
    ),
    Case(
        "sends a part",
        "206 with half of the body",
        _body(GOOD[:40], "Content-Range: bytes 0-39/500", status="206 Partial Content"),
        "ResponseError",
    ),
    Case(
        "sends 304",
        "not modified, to an unconditional request",
        ((ReadRequest(), Send(b"HTTP/1.1 304 Not Modified\r\n\r\n")),),
        "ResponseError",
    ),
)

TEXT = (
    Case(
        "sends invalid UTF-8",
        "a lone 0xFF within a string",
        _body(stats(timezone="?").replace(b'"?"', b'"\xff"')),
        "ResponseError",
    ),
    Case(
        "sends JSON in Latin-1",
        "`charset=iso-8859-1`, and an é as one byte",
        _body(
            stats(url="?").replace(b'"?"', b'"caf\xe9"'),
            "Content-Type: application/json; charset=iso-8859-1",
        ),
        "ResponseError",
    ),
    Case(
        "sends a byte order mark",
        "good JSON after the three bytes of a mark",
        _body(b"\xef\xbb\xbf" + GOOD),
        "value",
    ),
    Case(
        "cuts the JSON",
        "half of the JSON, with the right length",
        _body(GOOD[: len(GOOD) // 2]),
        "ResponseError",
    ),
    Case(
        "sends two documents",
        "good JSON twice in a row",
        _body(GOOD + GOOD),
        "ResponseError",
    ),
    Case(
        "sends JSON nested 10,000 deep",
        "arrays within arrays in an unknown key",
        _body(stats(deep="?").replace(b'"?"', b"[" * _DEEP + b"]" * _DEEP)),
        "ResponseError",
    ),
    Case(
        "sends only brackets",
        "100,000 opening brackets",
        _body(b"[" * 100_000),
        "ResponseError",
    ),
    Case(
        "repeats a key",
        "`pageviews` twice with two values; the last one is used",
        _body(raw(b'1, "pageviews": 3')),
        "value",
    ),
    Case(
        "sends a lone surrogate",
        r"`\ud800` in a value that is not checked",
        _body(stats(url="\ud800")),
        "value",
    ),
)

VALUES = (
    Case("counts with NaN", "`NaN` as a count", _body(raw(b"NaN")), "ResponseError"),
    Case(
        "counts to infinity",
        "`-Infinity` as a count",
        _body(raw(b"-Infinity")),
        "ResponseError",
    ),
    Case(
        "counts to 1e400",
        "a number that no float holds",
        _body(raw(b"1e400")),
        "ResponseError",
    ),
    Case(
        "counts with 5,000 digits",
        "a whole number that Python refuses to read",
        _body(raw(b"9" * 5000)),
        "ResponseError",
    ),
    Case(
        "counts beyond 64 bits",
        "a whole number of 22 digits",
        _body(raw(b"3" + b"0" * 21)),
        "value",
        has={"pageviews": 3 * 10**21},
    ),
    Case("counts with a float", "`3.0`", _body(raw(b"3.0")), "ResponseError"),
    Case("counts with a string", '`"3"`', _body(raw(b'"3"')), "ResponseError"),
    Case("counts with null", "`null`", _body(raw(b"null")), "ResponseError"),
    Case("counts with true", "`true`", _body(raw(b"true")), "ResponseError"),
    Case(
        "leaves out a requested field",
        "a response without the requested field",
        _body(json.dumps(ENVELOPE).encode()),
        "ResponseError",
    ),
    Case(
        "responds for another website",
        "another host name than the requested one",
        _changed(hostname="other.example"),
        "ResponseError",
    ),
    Case(
        "responds with an array",
        "`[]` in place of the object",
        _body(b"[]"),
        "ResponseError",
    ),
    Case(
        "responds with a string",
        "a string in place of the object",
        _body(b'"pageviews"'),
        "ResponseError",
    ),
    Case(
        "responds with null",
        "`null` in place of the object",
        _body(b"null"),
        "ResponseError",
    ),
    Case(
        "adds unrequested keys",
        "unknown keys and fields, which are kept",
        _changed(novelty=[1, {"a": None}], visitors="many"),
        "value",
    ),
    Case(
        "lists no websites",
        "an object without `websites`",
        _body(b'{"success": true}'),
        "ResponseError",
        call="list",
    ),
    Case(
        "lists websites as text",
        "websites that are strings",
        _body(b'{"success": true, "websites": ["example.com"]}'),
        "ResponseError",
        call="list",
    ),
    Case(
        "wraps JSONP in another call",
        "a script that calls something else",
        _body(b"steal(" + GOOD + b")", "Content-Type: text/javascript"),
        "ResponseError",
        call="jsonp",
    ),
    Case(
        "reverses the order of its keys",
        "a good response with its keys in reverse order",
        _body(json.dumps(dict(reversed(STATS.items()))).encode()),
        "value",
    ),
)


def _with_list(name: str, item: bytes) -> bytes:
    return stats(**{name: "?"}).replace(b'"?"', repeated(item, 1_000_000))


COSTS = (
    Case(
        "compresses 500,000 wrong entries",
        "1 MB of zeros for pages, gzipped to some kilobytes",
        _body(gzip.compress(_with_list("pages", b"0"), mtime=0), *GZIPPED),
        "ResponseError",
        call="get lists",
    ),
    Case(
        "sends 333,333 empty paths",
        "pages that are empty strings",
        _body(_with_list("pages", b'""')),
        "ResponseError",
        call="get lists",
    ),
    Case(
        "sends 333,333 empty days",
        "a histogram of empty objects",
        _body(_with_list("histogram", b"{}")),
        "ResponseError",
        call="get lists",
    ),
    Case(
        "lists 500,000 wrong websites",
        "zeros in place of websites",
        _body(b'{"success": true, "websites": %s}' % repeated(b"0", 1_000_000)),
        "ResponseError",
        call="list",
    ),
    Case(
        "names itself at length",
        "a host name of 1,000,000 letters",
        _changed(hostname="a" * 1_000_000),
        "ResponseError",
    ),
    Case(
        "nests a value 200 deep",
        "a website with arrays within arrays in an unknown key",
        _body(b'[{"deep": %s}]' % (b"[" * 200 + b"]" * 200)),
        "ResponseError",
        call="list",
    ),
    Case(
        "labels a website at length",
        "a website whose label has 900,000 letters",
        _body(json.dumps([{**WEBSITE, "label": "x" * 900_000}]).encode()),
        "value",
        call="list",
    ),
)
