"""What is of httpx wherever requests are sent: its requests, and which httpx it is.

In Pyodide that is httpx2, which has all the same names, and needs no sockets.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from sitestats._base.errors import ConfigurationError, InvalidInputError, Problem
from sitestats._configuration.settings import Settings
from sitestats._version import __version__
from sitestats._wire.messages import Credentials

if sys.platform == "emscripten":
    import httpx2 as httpx
else:
    import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from sitestats._wire.messages import HttpRequest

EXTENSION: Final = "sitestats"
"""The name in the extensions of a request, whose value is its exchange, and in the
extensions of a response, whose value is its whole body."""

NOTHING: Final = httpx.ByteStream(b"")

_MADE_UP: Final = "sa_api_key_made_up_by_sitestats_check"
_READ_METHODS: Final = frozenset(("GET", "HEAD"))


# --- requests ---------------------------------------------------------------------


class Outgoing:
    """Makes the requests of a sender: credentials in plain text are here alone."""

    # Slots keep them from whatever shows the attributes of objects.
    __slots__ = ("_base", "_given", "_headers", "_library", "_nothing")

    def __init__(self, settings: Settings, library: Any, given: Any) -> None:
        """Make requests of *library* for a client of ours, or the *given* one."""
        self._base = str(settings.base)
        self._library, self._given = library, given
        self._nothing = library.ByteStream(b"")
        agents = [settings.user_agent, f"sitestats/{__version__}"]
        agent = " ".join(filter(None, agents))
        always = {
            "Host": settings.base.authority,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": agent,
            **{name: value.reveal() for name, value in settings.headers},
        }
        key = {"Api-Key": settings.api_key.reveal()} if settings.api_key else {}
        user = {"User-Id": settings.user_id.reveal()} if settings.user_id else {}
        headers = library.Headers
        self._headers: Mapping[Credentials, Any] = {
            Credentials.NONE: headers(always),
            Credentials.KEY: headers(always | key),
            Credentials.KEY_AND_USER: headers(always | key | user),
            Credentials.MADE_UP: headers(always | user | {"Api-Key": _MADE_UP}),
        }

    def of(self, request: HttpRequest, extensions: dict[str, Any]) -> tuple[Any, Any]:
        """The request of httpx, and the authentication that it is sent with.

        Raises:
            InvalidInputError: httpx does not take its address.
        """
        headers, auth = self._headers[request.credentials], self._library.Auth()
        if self._given is not None:
            ours, headers = headers, self._given.headers.copy()
            headers.update(ours)
            # A write goes out once, and a scheme that waits for a challenge sends it
            # twice.
            if request.method in _READ_METHODS:
                auth = self._library.USE_CLIENT_DEFAULT
        if request.content_type is not None:
            headers = headers.copy()
            headers["Content-Type"] = request.content_type
        has_body = bool(request.body) or request.method not in _READ_METHODS
        outgoing = self._library.Request(
            request.method,
            _url(self._library, self._base + request.target),
            headers=headers,
            # Without a body this is the fastest way; httpx would look for a length.
            **({"content": request.body} if has_body else {"stream": self._nothing}),
            extensions=extensions,
        )
        outgoing.read()
        return outgoing, auth


# Reading an address takes a tenth of the time of a call.
@lru_cache(maxsize=256)
def _url(library: Any, address: str) -> Any:
    try:
        return library.URL(address)
    except library.InvalidURL as error:
        # The transport did not raise this, so a retry can't mend it.
        message = (
            f"httpx refuses an address of {len(address):,} characters ({error}): "
            "request less at once, in several queries"
        )
        raise InvalidInputError([Problem(message, where="query")]) from None


# --- clients ----------------------------------------------------------------------


class NoCookies(httpx.Cookies):
    """A jar that takes no cookie, as no request is sent with cookies."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


class OwnClient(httpx.Client):
    """A client of httpx, made here."""

    cookies: Any = NoCookies()


class OwnAsyncClient(httpx.AsyncClient):
    """The same, awaited."""

    cookies: Any = NoCookies()


def library_of(http_client: object, *, is_awaited: bool) -> ModuleType:
    """The library that *http_client* is of; without one, the library of our own client.

    Raises:
        ConfigurationError: It is not a client, or is for the other client of ours, or
            was closed.
    """
    name = "AsyncClient" if is_awaited else "Client"
    if http_client is None:
        return httpx
    for library in filter(None, map(sys.modules.get, ("httpx", "httpx2"))):
        if isinstance(http_client, getattr(library, name)):
            if cast("Any", http_client).is_closed:
                raise ConfigurationError("http_client= was closed: give an open one")
            return library
    raise ConfigurationError(
        f"http_client= must be an httpx.{name}, which this {name} sends by, and not a "
        f"value of type {type(http_client).__name__}."
    )
