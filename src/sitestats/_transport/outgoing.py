"""Outgoing requests: what httpx sends for an attempt, with credentials."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import httpx

from sitestats._common.errors import ClientClosedError, QueryError
from sitestats._common.problems import Problem
from sitestats._common.wire import Credentials

from .slot_pools import EXTENSION
from .waiting import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitestats._common.secret import Secret
    from sitestats._common.settings import Settings

    from .attempt import Attempt

_VERSION: Final = "0.1.0"
"""That of the package: to read its metadata takes as long as to import httpcore."""

_LONGEST: Final = 30 * 86_400.0
"""The most seconds of a limit: sockets refuse one of some centuries."""

_LONGEST_STORED: Final = 2_000
"""Characters of an address that is worth storing."""

_NO_AUTH: Final = httpx.Auth()
_MADE_UP: Final = "sa_api_key_made_up_by_sitestats_check"


class Outgoing:
    """Makes the requests of a sender: credentials in plain text are here alone."""

    # Slots keep them from whatever shows the attributes of objects.
    __slots__ = ("_base", "_given", "_headers")

    def __init__(
        self, settings: Settings, given: httpx.Client | httpx.AsyncClient | None
    ) -> None:
        """Make requests for a client of ours, or for the one of the user's."""
        self._base = str(settings.base)
        self._given = given
        always = [
            ("Host", settings.base.authority),
            ("Accept", "application/json"),
            ("Accept-Encoding", "gzip"),
            ("User-Agent", _user_agent(settings.user_agent)),
            *((name, value.reveal()) for name, value in settings.headers),
        ]
        key = _header("Api-Key", settings.api_key)
        user = _header("User-Id", settings.user_id)
        self._headers: Mapping[Credentials, httpx.Headers] = {
            Credentials.NONE: httpx.Headers(always),
            Credentials.KEY: httpx.Headers(always + key),
            Credentials.KEY_AND_USER: httpx.Headers(always + key + user),
            Credentials.MADE_UP: httpx.Headers([*always, ("Api-Key", _MADE_UP), *user]),
        }

    def of(self, attempt: Attempt) -> tuple[httpx.Request, dict[str, Any]]:
        """The request of *attempt*, and how a client sends it.

        Raises:
            QueryError: Its address is none that httpx takes.
            ClientClosedError: The user's client was closed.
            OutOfTimeError: No time is left.
        """
        left = attempt.until - time.monotonic()
        if left <= 0:
            raise OutOfTimeError
        seconds = min(attempt.timeout, left, _LONGEST)
        request, given = attempt.request, self._given
        target = request.target
        url = _stored_url if len(target) <= _LONGEST_STORED else _url
        headers = self._headers[request.credentials]
        is_read = request.method in {"GET", "HEAD"}
        has_length = bool(request.body) or not is_read
        if has_length or request.content_type is not None:
            headers = headers.copy()
        if has_length:
            headers["Content-Length"] = str(len(request.body))
        if request.content_type is not None:
            headers["Content-Type"] = request.content_type
        auth: Any = _NO_AUTH
        if given is not None:
            if given.is_closed:
                raise ClientClosedError("http_client was closed; make a new client")
            ours, headers = headers, given.headers.copy()
            headers.update(ours)
            # A write goes out once, and a scheme that waits for a challenge sends it
            # twice.
            if is_read:
                auth = httpx.USE_CLIENT_DEFAULT
        outgoing = httpx.Request(
            request.method,
            url(self._base, target),
            headers=headers,
            stream=_Content(request.body) if request.body else _NO_CONTENT,
            extensions={
                "timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds),
                EXTENSION: attempt,
            },
        )
        # So that hooks and transports can look at its content.
        outgoing.read()
        attempt.began = True
        return outgoing, {"stream": True, "auth": auth, "follow_redirects": False}


def _header(name: str, value: Secret | None) -> list[tuple[str, str]]:
    return [] if value is None else [(name, value.reveal())]


def _user_agent(program: str | None) -> str:
    return " ".join(filter(None, [program, f"sitestats/{_VERSION}"]))


def _url(base: str, target: str) -> httpx.URL:
    address = f"{base}{target}"
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        reason = str(error)
    # Not from the transport, and so nothing that a retry could mend.
    raise QueryError(
        [
            Problem(
                f"the request's address has {len(address):,} characters and httpx, "
                f"which sends it, refuses it: {reason}",
                where="query",
            )
        ]
    )


_stored_url: Final = lru_cache(maxsize=1024)(_url)
"""To read an address takes as long as a tenth of a call."""


class _Content(httpx.ByteStream):
    """A request's body, without a generator: trio warns of one left in its middle."""

    def __init__(self, content: bytes) -> None:
        # No piece at all where there is no content: each is written by itself.
        self._pieces = (content,) if content else ()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    def __aiter__(self) -> AsyncIterator[bytes]:
        self._rest = iter(self._pieces)
        return self

    async def __anext__(self) -> bytes:
        for piece in self._rest:
            return piece
        raise StopAsyncIteration


_NO_CONTENT: Final = _Content(b"")
