"""The headers that go out with a request, and those that come back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from ._settings import Secret, Settings
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


# --- redaction --------------------------------------------------------------------


_SHORTEST: Final = 12
"""Characters: what is shorter is no secret, and may stand in data by chance."""

_MARK: Final = "…"


def without_secrets(text: str, secrets: Iterable[Secret | None]) -> str:
    """*text* with a mark in place of each secret.

    >>> without_secrets("the key is 0123456789ab", [Secret("0123456789ab")])
    'the key is …'
    """
    for spelling in _spellings(secrets):
        text = text.replace(spelling, _MARK)
    return text


def headers_without_secrets(
    headers: Mapping[str, str], secrets: Iterable[Secret | None]
) -> dict[str, str]:
    """The same for the values of headers."""
    clean = dict(headers)
    for spelling in _spellings(_long(secrets)):
        for name, value in clean.items():
            if spelling in value:
                clean[name] = value.replace(spelling, _MARK)
    return clean


def body_without_secrets(body: bytes, secrets: Iterable[Secret | None]) -> bytes:
    """The same for a body; the mark is in UTF-8."""
    for spelling in _spellings(_long(secrets)):
        body = body.replace(spelling.encode("ascii"), _MARK.encode())
    return body


def _long(secrets: Iterable[Secret | None]) -> list[Secret]:
    return [one for one in secrets if one and len(one.reveal()) >= _SHORTEST]


def _spellings(secrets: Iterable[Secret | None]) -> Iterator[str]:
    """How each secret is spelt: as it is, in JSON, and in Python's own strings."""
    for secret in secrets:
        if secret is None:
            continue
        yield secret.reveal()
        # The others differ from it by a backslash before one of these.
        if not {"\\", '"', "'"}.isdisjoint(secret.reveal()):
            yield json.dumps(secret.reveal())[1:-1]
            yield repr(secret.reveal())[1:-1]
            yield secret.reveal().replace("\\", "\\\\")
