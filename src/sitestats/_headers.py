"""The headers that go out with a request, and those that come back."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from ._settings import Settings
from ._wire import Credentials, HttpRequest

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]


@cache
def _user_agent() -> bytes:
    from importlib.metadata import version

    return f"sitestats/{version('sitestats')}".encode("ascii")


def outgoing_headers(
    request: HttpRequest, settings: Settings, host: bytes
) -> RawHeaders:
    """The headers of *request*: the one value that holds credentials in the clear."""
    headers = [
        (b"Host", host),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"gzip"),
        (b"User-Agent", _user_agent()),
    ]
    if request.content_type is not None:
        headers.append((b"Content-Type", request.content_type.encode("ascii")))
    if request.body or request.method not in {"GET", "HEAD"}:
        headers.append((b"Content-Length", b"%d" % len(request.body)))
    if request.credentials is not Credentials.NONE and settings.api_key:
        headers.append((b"Api-Key", settings.api_key.reveal().encode("ascii")))
    if request.credentials is Credentials.KEY_AND_USER and settings.user_id:
        headers.append((b"User-Id", settings.user_id.reveal().encode("ascii")))
    return headers


def incoming_headers(raw: RawHeaders) -> dict[str, str]:
    """The headers of an answer, with lower-case names; cookies are not kept.

    >>> incoming_headers([(b"Vary", b"a"), (b"Set-Cookie", b"id=1"), (b"vary", b"b")])
    {'vary': 'a, b'}
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.lower().decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    headers.pop("set-cookie", None)
    return headers
