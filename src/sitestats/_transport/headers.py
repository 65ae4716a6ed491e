"""Request headers, with credentials."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sitestats._common.wire import Credentials, HttpRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitestats._common.secret import Secret
    from sitestats._common.settings import Settings

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]


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

    def __init__(self, settings: Settings) -> None:
        self._always = (
            (b"Host", settings.base.authority.encode("ascii")),
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
