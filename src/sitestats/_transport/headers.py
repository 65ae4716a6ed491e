"""Request headers with credentials, response headers, and redaction.

A service may well repeat a key: in the error for a wrong one, or in a page that
shows the whole request. Whoever logs the error would log the key, so credentials
are taken out of whatever comes back.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from sitestats._common.wire import Credentials, HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sitestats._common.settings import Secret, Settings

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_SHORTEST: Final = 12
"""Characters: what is shorter is no secret, and may stand in data by chance."""

_MARK: Final = "…"


@cache
def _own_user_agent() -> str:
    from importlib.metadata import version

    return f"sitestats/{version('sitestats')}"


def _user_agent(program: str | None) -> bytes:
    return " ".join(filter(None, [program, _own_user_agent()])).encode("ascii")


class RequestHeaders:
    """The headers of a sender's requests: credentials in plain text are here alone."""

    # Slots keep them from whatever shows the attributes of objects.
    __slots__ = ("_always", "_credentials")

    def __init__(self, settings: Settings, host: bytes) -> None:
        self._always = (
            (b"Host", host),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"gzip"),
            (b"User-Agent", _user_agent(settings.user_agent)),
            *(
                (name.encode("ascii"), value.reveal().encode("ascii"))
                for name, value in settings.headers
            ),
        )
        key = _credential(b"Api-Key", settings.api_key)
        user = _credential(b"User-Id", settings.user_id)
        self._credentials: Mapping[Credentials, RawHeaders] = {
            Credentials.NONE: [],
            Credentials.KEY: key,
            Credentials.KEY_AND_USER: [*key, *user],
        }

    def of(self, request: HttpRequest) -> RawHeaders:
        """The headers of *request*, with the credentials that it wants."""
        headers = [*self._always]
        if request.content_type is not None:
            headers.append((b"Content-Type", request.content_type.encode("ascii")))
        if request.body or request.method not in {"GET", "HEAD"}:
            headers.append((b"Content-Length", b"%d" % len(request.body)))
        headers += self._credentials[request.credentials]
        return headers


def _credential(name: bytes, secret: Secret | None) -> RawHeaders:
    return [] if secret is None else [(name, secret.reveal().encode("ascii"))]


def response_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers of a response, with lower-case names; cookies are not kept.

    >>> response_headers([(b"Vary", b"a"), (b"Set-Cookie", b"id=1"), (b"vary", b"b")])
    {'vary': 'a, b'}
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.lower().decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    headers.pop("set-cookie", None)
    return headers


class Redactor:
    """Puts a mark in the place of each of a sender's credentials.

    >>> from sitestats._common.settings import Secret
    >>> Redactor([Secret("0123456789ab")]).text("the key is 0123456789ab")
    'the key is …'
    """

    # As for RequestHeaders.
    __slots__ = ("_forms", "_long_bytes", "_long_forms")

    def __init__(self, secrets: Iterable[Secret | None]) -> None:
        values = [secret.reveal() for secret in secrets if secret is not None]
        self._forms = [form for value in values for form in _forms(value)]
        self._long_forms = [
            form
            for value in values
            if len(value) >= _SHORTEST
            for form in _forms(value)
        ]
        self._long_bytes = [form.encode("ascii") for form in self._long_forms]

    def text(self, text: str) -> str:
        """*text* without credentials."""
        for form in self._forms:
            text = text.replace(form, _MARK)
        return text

    def response(
        self, status: int, headers: Mapping[str, str], body: bytes, received_at: float
    ) -> HttpResponse:
        """A response without credentials."""
        clean = dict(headers)
        for form in self._long_forms:
            for name, value in clean.items():
                if form in value:
                    clean[name] = value.replace(form, _MARK)
        for data in self._long_bytes:
            body = body.replace(data, _MARK.encode())
        return HttpResponse(status, clean, body, received_at)


def _forms(secret: str) -> list[str]:
    """How a secret may be written: as it is, in JSON, and in Python's own strings."""
    # The others differ from it by a backslash before one of these.
    if {"\\", '"', "'"}.isdisjoint(secret):
        return [secret]
    return [
        secret,
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        secret.replace("\\", "\\\\"),
    ]
