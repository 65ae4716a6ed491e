"""Cases: bodies of other kinds than JSON; tests/protocol has what JSON may hold."""

from __future__ import annotations

from .responses import GOOD, response
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


def _body(body: bytes, *headers: str, status: str = "200 OK") -> tuple[Script, ...]:
    return ((ReadRequest(), Send(response(body, *headers, status=status))),)


TYPES = (
    Case(
        "responds correctly",
        "a good response",
        _body(GOOD),
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
