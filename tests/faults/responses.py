"""Raw HTTP responses for the cases: bodies, heads, chunks, a gzip bomb."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

HOSTNAME = "example.com"

ENVELOPE = {
    "ok": True,
    "docs": "https://docs.example/api",
    "info": "false",
    "hostname": HOSTNAME,
    "url": f"https://{HOSTNAME}",
    "path": "*",
    "start": "2024-03-01T00:00:00.000Z",
    "end": "2024-03-31T23:59:59.999Z",
    "version": 6,
    "timezone": "UTC",
    "generated_in_ms": 7,
}
"""The keys of a response beside the requested fields."""

STATS = {**ENVELOPE, "pageviews": 3}
GOOD = json.dumps(STATS).encode()

MIB = 1024 * 1024


def stats(**changes: Any) -> bytes:
    """The body of a good response, with changes."""
    return json.dumps({**STATS, **changes}).encode()


def raw(pageviews: bytes) -> bytes:
    """The body of a good response, with *pageviews* as the bytes of its number."""
    return (
        json.dumps({**ENVELOPE, "pageviews": "?"}).encode().replace(b'"?"', pageviews)
    )


def repeated(item: bytes, size: int) -> bytes:
    """An array of the same items, about *size* bytes long."""
    return b"[" + b",".join([item] * max(1, size // (len(item) + 1))) + b"]"


def head(*headers: str, status: str = "200 OK") -> bytes:
    """A status line and headers, with the empty line after them."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1")


def response(body: bytes = GOOD, *headers: str, status: str = "200 OK") -> bytes:
    """A complete response that follows HTTP."""
    if not any(header.lower().startswith("content-type:") for header in headers):
        headers = ("Content-Type: application/json", *headers)
    return head(*headers, f"Content-Length: {len(body)}", status=status) + body


def error_response(status: str, *headers: str, **values: Any) -> bytes:
    """An error response in the service's form."""
    body = json.dumps({"ok": False, **values}).encode()
    return response(body, *headers, status=status)


def chunk(data: bytes) -> bytes:
    """One chunk of the chunked transfer encoding; an empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)


CHUNKED = head("Content-Type: application/json", "Transfer-Encoding: chunked")
GZIPPED = ("Content-Type: application/json", "Content-Encoding: gzip")
PACKED = gzip.compress(GOOD, mtime=0)


def bomb_block() -> tuple[bytes, bytes]:
    """The beginning of a gzip stream, and a block that inflates to 1 MiB.

    The block can be repeated without end, since it ends with a full flush.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin = packer.compress(b'{"ok":"') + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"a" * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin, block
