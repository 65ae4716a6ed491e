"""The one file that knows httpx: its clients, its requests, and what is below them.

A client of httpx sends each request by ``httpx.HTTPTransport.handle_request``, so that
whatever mocks or traces httpx sees it. The pool below that transport is replaced:
directly to the service it is ours, and along a proxy one of httpcore, whose streams are
given the time that is left. What httpx calls its pool is private, and does not matter.
"""

from __future__ import annotations

import base64
import ssl
import sys
import threading
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import httpcore
import httpx

from sitestats._common.errors import ClientClosedError, ConfigurationError, QueryError
from sitestats._common.problems import Problem
from sitestats._common.secret import Secret
from sitestats._common.settings import Settings
from sitestats._common.wire import Credentials

from .connections import Pool, connect, look_up, send_and_read
from .limits import CURRENT, Exchange, run
from .reading import ProtocolError, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

_VERSION: Final = "0.1.0"
"""That of the package: to read its metadata takes as long as to import httpcore."""
EXTENSION: Final = "sitestats"
"""The name in the extensions of a request, whose value is its exchange; and in those of
a response, whose value is its whole body."""

NOTHING: Final = httpx.ByteStream(b"")

_MADE_UP: Final = "sa_api_key_made_up_by_sitestats_check"
_NO_AUTH: Final = httpx.Auth()
_READ_METHODS: Final = frozenset(("GET", "HEAD"))


# --- requests ---------------------------------------------------------------------


class Outgoing:
    """Makes the requests of a sender: credentials in plain text are here alone."""

    # Slots keep them from whatever shows the attributes of objects.
    __slots__ = ("_base", "_given", "_headers", "_library", "_nothing")

    def __init__(self, settings: Settings, library: ModuleType, given: Any) -> None:
        """Make requests of *library* for a client of ours, or the *given* one."""
        self._base = str(settings.base)
        self._library: Any = library
        self._given = given
        self._nothing = self._library.ByteStream(b"")
        agent = " ".join(filter(None, [settings.user_agent, f"sitestats/{_VERSION}"]))
        always = [
            ("Host", settings.base.authority),
            ("Accept", "application/json"),
            ("Accept-Encoding", "gzip"),
            ("User-Agent", agent),
            *((name, value.reveal()) for name, value in settings.headers),
        ]
        given_key, given_user = settings.api_key, settings.user_id
        key = [("Api-Key", given_key.reveal())] if given_key else []
        user = [("User-Id", given_user.reveal())] if given_user else []
        headers: Any = self._library.Headers
        self._headers: Mapping[Credentials, Any] = {
            Credentials.NONE: headers(always),
            Credentials.KEY: headers([*always, *key]),
            Credentials.KEY_AND_USER: headers([*always, *key, *user]),
            Credentials.MADE_UP: headers([*always, ("Api-Key", _MADE_UP), *user]),
        }

    def of(self, exchange: Exchange) -> tuple[Any, Any]:
        """The request of *exchange*, and the authentication that it is sent with.

        Raises:
            QueryError: httpx does not take its address.
            ClientClosedError: The user's client was closed.
        """
        request, given = exchange.request, self._given
        headers, auth = self._headers[request.credentials], _NO_AUTH
        if given is not None:
            if given.is_closed:
                raise ClientClosedError("http_client was closed: make a new client.")
            ours, headers = headers, given.headers.copy()
            headers.update(ours)
            # A write goes out once, and a scheme that waits for a challenge sends it
            # twice.
            if request.method in _READ_METHODS:
                auth = self._library.USE_CLIENT_DEFAULT
        if request.content_type is not None:
            headers = headers.copy()
            headers["Content-Type"] = request.content_type
        seconds = exchange.left()
        has_body = bool(request.body) or request.method not in _READ_METHODS
        outgoing = self._library.Request(
            request.method,
            _url(self._library, self._base + request.target),
            headers=headers,
            # Without a body this is the shortest way; httpx would look for a length.
            **({"content": request.body} if has_body else {"stream": self._nothing}),
            extensions={
                "timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds),
                EXTENSION: exchange,
            },
        )
        outgoing.read()
        return outgoing, auth


# To read an address takes as long as a tenth of a call.
@lru_cache(maxsize=256)
def _url(library: Any, address: str) -> Any:
    try:
        return library.URL(address)
    except library.InvalidURL as error:
        reason = str(error)
    # Not from the transport, and so nothing that a retry could mend.
    message = (
        f"The request's address has {len(address):,} characters and httpx, which sends "
        f"it, refuses it: {reason}."
    )
    raise QueryError([Problem(message, where="query")])


# --- clients ----------------------------------------------------------------------


class _NoCookies(httpx.Cookies):
    """A jar that takes none, as no request is sent with one."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


class _Client(httpx.Client):
    cookies: Any = _NoCookies()


class _AsyncClient(httpx.AsyncClient):
    cookies: Any = _NoCookies()


def own_client(settings: Settings, pool: Pool, *, is_awaited: bool) -> Any:
    """A client whose requests go to the service directly, or along a proxy."""
    make: Any = _AsyncClient if is_awaited else _Client
    kind: Any = httpx.AsyncHTTPTransport if is_awaited else httpx.HTTPTransport
    # The certificates are for the pool that is replaced: to read them takes time for
    # 100 calls.
    transport: Any = kind(verify=False)
    inner: dict[str, Any] = {**vars(transport)}
    for name, value in inner.items():
        if isinstance(value, (httpcore.ConnectionPool, httpcore.AsyncConnectionPool)):
            setattr(transport, name, _pool_below(settings, pool, is_awaited=is_awaited))
            return make(transport=transport, trust_env=False)
    # To send nevertheless would be worse: unseen by a mock, or without limits.
    raise ConfigurationError(
        f"httpx {httpx.__version__} sends in a way that this version of sitestats does "
        "not know. Install another version of one of them."
    )


def library_of(http_client: object, *, is_awaited: bool) -> ModuleType:
    """httpx, or httpx2 where *http_client* is of that.

    Raises:
        ConfigurationError: It is no client, or one for the other client of ours.
    """
    if http_client is None:
        return httpx
    name = "AsyncClient" if is_awaited else "Client"
    for library in filter(None, map(sys.modules.get, ("httpx", "httpx2"))):
        if isinstance(http_client, getattr(library, name)):
            return library
    raise ConfigurationError(
        f"http_client= is an httpx.{name}, which this {name} sends by, not a value of "
        f"type {type(http_client).__name__}."
    )


# --- direct connections -----------------------------------------------------------


class _DirectPool:
    """What both pools have in common: connections to the service's own origin."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        super().__init__()
        self._scheme, self._host, self._port = settings.base.origin
        self._verify, self._lock = settings.verify, threading.Lock()
        self._tls: ssl.SSLContext | None = None
        self._pool = pool

    def _context(self) -> ssl.SSLContext | None:
        # Reading them takes some 25 ms: threads that start at once do that once.
        with self._lock:
            if self._tls is None and self._scheme == "https":
                self._tls = _made_context(self._verify)
            return self._tls

    async def _exchanged(self, request: httpcore.Request) -> Any:
        exchange: Exchange = cast("Any", request).extensions[EXTENSION]
        reading = Reading(exchange.request.method)
        sock = self._pool.take(fresh=exchange.request.fresh_connection)
        try:
            if sock is None:
                sock = await connect(self._host, self._port, self._context(), exchange)
            else:
                exchange.use(sock)
            data = _bytes_of(request, exchange.request.body)
            await send_and_read(sock, data, reading, exchange)
        finally:
            exchange.release()
            self._pool.put_back(sock, is_clean=reading.is_reusable)
        body = reading.finish()
        return httpcore.Response(
            reading.status,
            headers=reading.headers,
            content=body,
            # Also here: httpx has three generators around a stream.
            extensions={EXTENSION: body},
        )


class _Direct(_DirectPool, httpcore.ConnectionPool):
    def handle_request(self, request: httpcore.Request) -> Any:
        sends = httpcore.ConnectionPool.handle_request
        if _is_mocked(sends):
            return sends(self, request)
        return run(self._exchanged(request))


class _AsyncDirect(_DirectPool, httpcore.AsyncConnectionPool):
    async def handle_async_request(self, request: httpcore.Request) -> Any:
        sends = httpcore.AsyncConnectionPool.handle_async_request
        if _is_mocked(sends):
            return await sends(self, request)
        return await self._exchanged(request)


def _is_mocked(method: Any) -> bool:
    """Whether a tool, such as respx, has put *method* in the place of httpcore's."""
    return not method.__module__.startswith("httpcore")


def _bytes_of(request: httpcore.Request, body: bytes) -> bytes:
    """*request* as it is sent."""
    lines = [b"%b %b HTTP/1.1" % (request.method, request.url.target)]
    lines += [b"%b: %b" % header for header in request.headers]
    head = b"\r\n".join(lines)
    if head.count(b"\n") + head.count(b"\r") != 2 * len(lines) - 2:
        raise ProtocolError("a header of the request has a line break")
    return b"%b\r\n\r\n%b" % (head, body)


# --- proxies ----------------------------------------------------------------------


class _Backend(httpcore.SyncBackend):
    """Connects to a proxy for the exchange that is under way in this thread."""

    def connect_tcp(
        self, host: str, port: int, *_: Any, **__: Any
    ) -> httpcore.NetworkStream:
        exchange = CURRENT.get()
        addresses = run(look_up(host, port, exchange))
        exchange.step = "proxy"
        stream = super().connect_tcp(addresses[0][4][0], port, exchange.left())
        # Another descriptor, since TLS will take this one over.
        exchange.use(stream.get_extra_info("socket").dup())
        return stream


def _pool_below(settings: Settings, pool: Pool, *, is_awaited: bool) -> Any:
    if settings.proxy is None:
        return (_AsyncDirect if is_awaited else _Direct)(settings, pool)
    proxy = _checked_proxy(settings)
    kinds: Any = httpcore.HTTPProxy, httpcore.AsyncHTTPProxy
    options: dict[str, Any] = {}
    if settings.base.scheme == "https":
        options["ssl_context"] = _made_context(settings.verify)
    if proxy.url.scheme == "https":
        # A proxy is not verified by the certificates that are for the service.
        options["proxy_ssl_context"] = _made_context(verify=True)
    if proxy.url.scheme.startswith("socks"):
        if find_spec("socksio") is None:
            raise ConfigurationError(
                "A SOCKS proxy needs the package socksio: pip install 'httpx[socks]'."
            )
        kinds = httpcore.SOCKSProxy, httpcore.AsyncSOCKSProxy
    return kinds[is_awaited](
        proxy_url=httpcore.URL(str(proxy.url)),
        proxy_auth=proxy.raw_auth,
        network_backend=httpcore.AnyIOBackend() if is_awaited else _Backend(),
        # h11 would take bytes that are left over for the next response.
        max_keepalive_connections=0,
        **options,
    )


def _checked_proxy(settings: Settings) -> httpx.Proxy:
    """The proxy of *settings*, whose repr has no password.

    Raises:
        ConfigurationError: It is no address of a proxy. Neither the message nor a
            variable shows it, as it may hold a password.
    """
    with suppress(ValueError, TypeError, httpx.InvalidURL):
        proxy = httpx.Proxy(cast("str", settings.proxy))
        # urlsplit reads the password, and refuses what httpx takes.
        if proxy.url.host and urlsplit(settings.proxy):
            return proxy
    raise ConfigurationError(
        "proxy is not the address of a proxy, such as 'http://localhost:3128' (it is "
        "not shown here). It is given, or from the environment."
    )


def proxy_secrets(settings: Settings) -> list[Secret]:
    """What must not be shown of a proxy, in each form in which it gets that."""
    if settings.proxy is None or (auth := _checked_proxy(settings).raw_auth) is None:
        return []
    login, password = base64.b64encode(b":".join(auth)).decode(), auth[1].decode()
    written = urlsplit(settings.proxy).password or ""
    # As it is in a header, and as others read that.
    forms = {login, password, written, password.encode().decode("latin-1")}
    return [Secret(form) for form in forms if form]


# --- certificates -----------------------------------------------------------------


def _made_context(
    verify: bool | str | ssl.SSLContext,  # noqa: FBT001 - a user's argument
) -> ssl.SSLContext:
    # A class may have taken the place of ssl.SSLContext since the context was made, as
    # truststore's does.
    if not isinstance(verify, (bool, str)):
        return verify
    try:
        if isinstance(verify, bool):
            context = httpx.create_ssl_context(verify=verify)
        else:
            is_folder = Path(verify).is_dir()
            file, folder = (None, verify) if is_folder else (verify, None)
            context = ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:
        raise ConfigurationError(
            f"The certificates to verify the service by can't be read: {error}. See "
            "verify=, SSL_CERT_FILE and SSL_CERT_DIR."
        ) from None
    # A name that stands nowhere else is not what the certificate is for (RFC 9525).
    context.hostname_checks_common_name = False
    return context
