"""Our own client of httpx: direct connections, proxies, certificates.

A client of httpx sends each request by ``httpx.HTTPTransport.handle_request``, so that
whatever mocks or traces httpx sees it. The pool below that transport, whose name is
private, is replaced by ours. A proxy is httpx's own matter: its extension "trace" gives
us the connection, which has to end in time.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpcore
import httpx

from sitestats._base.errors import ConfigurationError
from sitestats._base.text import shown
from sitestats._configuration.secrets import Secret
from sitestats._configuration.settings import Settings

from .httpx_client import EXTENSION, OwnAsyncClient, OwnClient
from .pool import Pool
from .reading import Reading
from .sockets import Exchange, Route, run_blocking

_CERTIFICATES: Final = {"SSL_CERT_FILE": "cafile", "SSL_CERT_DIR": "capath"}
"""The variables that httpx and OpenSSL read, the first one first, and what each is of a
context.
"""


def own_client(
    settings: Settings, pool: Pool, proxy: httpx.Proxy | None, *, is_awaited: bool
) -> Any:
    """A client whose requests go by *pool*, directly to the service, or by *proxy*."""
    client: Any = OwnAsyncClient if is_awaited else OwnClient
    host, port = settings.base.origin[1:]
    context = (
        _context(verify=settings.verify) if settings.base.scheme == "https" else None
    )
    try:
        if proxy is None:
            direct = _AsyncDirectTransport if is_awaited else _DirectTransport
            transport: Any = direct(pool, (host, port, context))
        else:
            by_httpx = httpx.AsyncHTTPTransport if is_awaited else httpx.HTTPTransport
            # h11 would take bytes that are left over for the next response.
            limits = httpx.Limits(max_keepalive_connections=0)
            transport = by_httpx(verify=context or False, proxy=proxy, limits=limits)
    except ImportError as error:
        source = settings.sources["proxy"]
        raise ConfigurationError(f"{source} names a SOCKS proxy. {error}") from None
    except OSError as error:
        # Some versions of httpx make a context even where it verifies nothing.
        why = _why_no_context(str(error), settings.verify)
        raise ConfigurationError(why) from None
    return client(transport=transport, trust_env=False)


# --- direct connections -----------------------------------------------------------


class _Connection(SimpleNamespace):
    """A connection as httpcore sees it: httpcore2 collects them in a set."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # see above


class _DirectPool:
    """What both pools have in common: connections to the service's own origin."""

    def __init__(self, pool: Pool, route: Route) -> None:
        super().__init__(max_connections=None)  # type: ignore[call-arg]  # httpcore's
        self._pool, self._route = pool, route

    def create_connection(self, origin: httpcore.Origin) -> Any:  # noqa: ARG002
        """A connection for httpcore's own method, if a tool wraps and calls that."""
        return _Connection(
            handle_request=lambda it: run_blocking(self._exchanged(it, known=False)),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
            handle_async_request=partial(self._exchanged, known=False),
            # This connection serves only one request.
            is_closed=lambda: True,
            is_idle=lambda: False,
            can_handle_request=lambda _: False,  # pyright: ignore[reportUnknownLambdaType]
        )

    async def _exchanged(self, request: httpcore.Request, *, known: bool = True) -> Any:
        exchange: Exchange = cast("Any", request).extensions[EXTENSION]
        line = b"%b %b HTTP/1.1" % (request.method, request.url.target)
        head = b"\r\n".join([line, *map(b": ".join, request.headers)])
        data = b"%b\r\n\r\n%b" % (head, exchange.request.body)
        reading = Reading(exchange.request.method)
        await self._pool.send(data, self._route, reading, exchange)
        body = reading.finish()
        # This replaces httpcore's class, which looks at the type of each header.
        return SimpleNamespace(
            status=reading.status,
            headers=reading.headers,
            stream=httpx.ByteStream(body),
            # The extension has the body: httpx has three generators around a stream.
            extensions={EXTENSION: body} if known else {},
        )


class _Direct(_DirectPool, httpcore.ConnectionPool):
    def handle_request(self, request: httpcore.Request) -> Any:
        sends = httpcore.ConnectionPool.handle_request
        if _is_replaced(sends):
            return sends(self, request)
        return run_blocking(self._exchanged(request))


class _AsyncDirect(_DirectPool, httpcore.AsyncConnectionPool):
    async def handle_async_request(self, request: httpcore.Request) -> Any:
        sends = httpcore.AsyncConnectionPool.handle_async_request
        if _is_replaced(sends):
            return await sends(self, request)
        return await self._exchanged(request)


class _DirectTransport(httpx.HTTPTransport):
    """A transport of httpx whose pool is ours: what wraps that class sees requests."""

    def __init__(self, pool: Pool, route: Route) -> None:
        # Loading certificates takes as long as 100 calls; the replaced pool needs none.
        super().__init__(verify=False)
        _check_pool(self, httpcore.ConnectionPool)
        self._pool = _Direct(pool, route)


class _AsyncDirectTransport(httpx.AsyncHTTPTransport):
    def __init__(self, pool: Pool, route: Route) -> None:
        super().__init__(verify=False)
        _check_pool(self, httpcore.AsyncConnectionPool)
        self._pool = _AsyncDirect(pool, route)


def _check_pool(transport: object, kind: type[object]) -> None:
    """Check that *transport* has its pool, of this *kind*, where it is replaced.

    Otherwise httpx would send by a pool of its own, and no limit of ours would hold.
    """
    if not isinstance(getattr(transport, "_pool", None), kind):
        raise ConfigurationError(
            f"httpx {httpx.__version__} sends in a way that this version of sitestats "
            "does not know. Install another version of one of them."
        )


def _is_replaced(fn: Any) -> bool:
    """Whether a tool, such as respx, has put its own in the place of httpcore's."""
    # The name of its module is of no help: functools.wraps copies that.
    return not getattr(fn, "__globals__", {}).get("__name__", "").startswith("httpcore")


# --- proxies and certificates -----------------------------------------------------


_SCHEMES: Final = "https?|socks5"
_SOCKS: Final = "(?i:socks|socks5h?)://"
"""How a SOCKS proxy is written: GNOME and several proxies set ALL_PROXY=socks://…, and
httpx lets every SOCKS proxy look names up, which others do by ``socks5h``."""
_LONGEST_LOGIN: Final = 255
"""Bytes of a user name and of a password (RFC 1929, section 2)."""


def proxy_of(settings: Settings) -> httpx.Proxy | None:
    """The proxy of *settings*, whose repr has no password.

    Raises:
        ConfigurationError: It is not the address of a proxy. The message names the
            argument or the variable. Neither it nor a variable of a frame shows the
            address, as it may hold a password.
    """
    given = settings.proxy_address
    if given is None:
        return None
    address = given
    if given.fits(f"(?s:{_SOCKS}.*)"):
        address = Secret(re.sub(f"^{_SOCKS}", "socks5://", given.reveal()))
    why = _why_no_proxy(address)
    with suppress(ValueError, TypeError, httpx.InvalidURL):
        proxy = None if why else httpx.Proxy(address.reveal())
        if proxy is not None and _has_place(address):
            if _has_long_login(proxy):
                raise ConfigurationError(
                    f"{given.source} has a user name or a password of more than "
                    f"{_LONGEST_LOGIN} bytes, which SOCKS can't send (it is not shown "
                    "here)"
                )
            if address.fits("(?s:https://.*)"):
                # httpx would make it when it connects, and load certificates each time.
                proxy.ssl_context = _context(verify=True)
            return proxy
    raise ConfigurationError(
        f"{given.source} is not the address of a proxy, such as "
        f"'http://localhost:3128' or 'socks5://localhost:1080': "
        f"{why or 'look at its host and port'} (it is not shown here)"
    )


def _why_no_proxy(address: Secret) -> str:
    """What is wrong with the form of the address of a proxy; empty if nothing is."""
    if not address.fits("(?s:.*)"):
        return "it is a text"
    if stray := address.stray():
        return stray
    if not address.fits(f"(?i:{_SCHEMES})://.*"):
        return "it begins with http://, https:// or socks5://"
    if address.fits(r".*[?#\\].*"):
        return (
            "it has a '#', a '?' or a backslash; in a password, write them as %23, %3F "
            "and %5C"
        )
    return ""


def _has_place(address: Secret) -> bool:
    """Whether it has a host and no impossible port: httpx takes "[a" and 99999.

    Raises:
        ValueError: The port is not a number up to 65,535.
    """
    parts = urlsplit(address.reveal())
    return bool(parts.hostname) and parts.port != 0


def _has_long_login(proxy: httpx.Proxy) -> bool:
    """Whether SOCKS can't send it. Its caller's traceback does not have the login."""
    lengths = map(len, proxy.raw_auth or ())
    return proxy.url.scheme == "socks5" and max(lengths, default=0) > _LONGEST_LOGIN


def proxy_secrets(proxy: httpx.Proxy | None) -> list[Secret]:
    """The secrets in the login at *proxy*."""
    if proxy is None or (auth := proxy.raw_auth) is None:
        return []
    return [
        Secret(base64.b64encode(b":".join(auth)).decode()),
        Secret(auth[1].decode()),
    ]


def _context(*, verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:
    try:
        for variable, argument in _CERTIFICATES.items() if verify is True else ():
            # httpx below 0.28 takes no notice of a file that does not exist.
            if path := os.environ.get(variable):
                named: dict[str, Any] = {argument: path}
                return ssl.create_default_context(**named)
        if isinstance(verify, bool):
            return httpx.create_ssl_context(verify=verify)
        # A class may have taken the place of ssl.SSLContext since the context was made,
        # as truststore's does.
        if not isinstance(verify, str):
            return verify
        options: dict[str, Any] = {
            "capath" if Path(verify).is_dir() else "cafile": verify
        }
        return ssl.create_default_context(**options)
    except OSError as error:
        why = str(error)
    raise ConfigurationError(_why_no_context(why, verify))


def _why_no_context(why: str, verify: object) -> str:
    """Which variable or argument makes TLS fail, and what a right one looks like."""
    log = os.environ.get("SSLKEYLOGFILE", "")
    try:
        # Python opens it whenever it makes a context.
        with open(log or os.devnull, "ab"):  # noqa: PTH123 - it may not be a path
            pass
    except (OSError, ValueError) as error:
        return (
            "SSLKEYLOGFILE names a file that can't be written "
            f"({getattr(error, 'strerror', None) or error}): unset it, as it is for "
            "looking into TLS with a tool such as Wireshark, or name a file in a "
            "folder that exists"
        )
    source = "verify="
    if verify is True:
        for variable in _CERTIFICATES:
            if os.environ.get(variable):
                source = variable
                break
    # A key at the wrong place has no dot and no slash.
    is_path = isinstance(verify, str) and re.search(r"[./\\]", verify)
    file = f" of {shown(verify)}" if is_path else ""
    return (
        f"The certificates{file} to verify the service by can't be read: {why}. "
        f"{source} names a file of certificates in PEM format, such as "
        "'/etc/ssl/certs/ca-certificates.crt'. See verify=, SSL_CERT_FILE and "
        "SSL_CERT_DIR."
    )
