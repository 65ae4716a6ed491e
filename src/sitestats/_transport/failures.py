"""The error of a request that failed: which one, and what it says."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
import sys
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import attrs
from idna import IDNAError

from sitestats._base.errors import (
    TEMPORARY,
    ClientClosedError,
    ConnectionFailedError,
    InvalidResponseError,
    RequestTimeoutError,
    ResponseTooLargeError,
    TransportError,
)

from .bodies import MOST_BYTES, CorruptError, ProtocolError, TooLargeError
from .redaction import Redactor
from .sockets import Exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitestats._configuration.settings import Settings

_TICK: Final = 0.02
"""Seconds by which a wait may end too early: clocks differ."""
_UNSENT: Final = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
"""The errors of httpx after which certainly nothing was sent."""


class Failures:
    """Turns what was raised on the way into an error of this package."""

    def __init__(
        self,
        settings: Settings,
        redactor: Redactor,
        library: Any,
        client: Any,
        proxy: Any,
    ) -> None:
        """Know the errors of *library*, httpx or httpx2, and of its *client*."""
        self._client = client
        self._redactor, self._library = redactor, library
        # httpx lets errors of socksio through, which is there if a proxy needs it.
        self._socks = getattr(sys.modules.get("socksio"), "SOCKSError", ())
        self._unsent = *(getattr(library, name) for name in _UNSENT), self._socks
        self._limit = settings.max_connections
        self._proxy, self._is_of_environment = "", False
        if proxy is not None:
            source = settings.sources["proxy"]
            of_environment = "" if source == "proxy" else f" ({source})"
            self._proxy = f" by the proxy {proxy.url}{of_environment}"
            self._is_of_environment = bool(of_environment)
        scheme, host, port = settings.base.origin
        self._origin = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def of(self, exchange: Exchange, error: BaseException) -> Exception | None:
        """The error to raise instead of *error*, or None for *error* as it is.

        That is one of ours, an interrupt, or a mistake, whose author needs the
        traceback.
        """
        request, library = exchange.request, self._library
        if isinstance(error, TooLargeError):
            message = f"The response to {request} is larger than {MOST_BYTES:,} bytes."
            return ResponseTooLargeError(message, request=request)
        reason = self._redactor.text(str(error))
        is_body = isinstance(error, CorruptError)
        # httpx reads where a redirect leads, although none is followed.
        is_address = isinstance(error, (library.InvalidURL, IDNAError))
        if is_body or is_address or "location header" in reason:
            what = "can't be read" if is_body else "redirects to no address"
            message = f"The response to {request} {what}: {reason}."
            return InvalidResponseError(message, request=request)
        # A hook of the user may have a client of ours.
        ours = ProtocolError, TransportError
        if not isinstance(error, (OSError, *ours, library.HTTPError, self._socks)):
            is_closed = isinstance(error, RuntimeError) and self._client.is_closed
            message = "http_client= was closed: make a new client."
            return ClientClosedError(message) if is_closed else None
        # httpcore's pool raises its errors from None, so the cause is the context. An
        # error of a mock such as respx can be the cause of its own cause.
        links, last = list[BaseException](), error
        while last and last not in links:
            links.append(last)
            last = last.__cause__ or (last.__suppress_context__ and last.__context__)
        # If httpx connects to a proxy, its errors tell whether that failed.
        if self._proxy and isinstance(error, self._unsent):
            is_tls = any(isinstance(link, ssl.SSLError) for link in links)
            exchange.phase = "tls" if is_tls else "proxy"
        phase, was_sent = exchange.phase, exchange.phase == "response"
        known: Any = {"request": request, "maybe_sent": was_sent, "phase": phase}
        if time.monotonic() + _TICK >= exchange.until:
            message = f"No complete response to {request} before total_timeout."
            if exchange.event is not None:
                message += f" It waited for one of {self._limit} connections first."
            elif self._proxy:
                message += f" It goes{self._proxy}."
            return RequestTimeoutError(message, **known)
        if isinstance(error, (TimeoutError, library.TimeoutException)):
            what = f"{'response from' if was_sent else 'connection to'} {self._origin}"
            return RequestTimeoutError(
                f"No {what}{self._proxy} within timeout, {exchange.timeout:g} s.",
                **known,
            )
        return self._broken(links, known)

    def _broken(self, links: list[BaseException], known: Any) -> ConnectionFailedError:
        message = f"Could not connect to {self._origin}{self._proxy}: "
        if known["maybe_sent"]:
            message = f"The connection to {self._origin}{self._proxy} failed: "
        texts = filter(None, dict.fromkeys(map(str, links)))
        message += self._redactor.text(": ".join(texts) or repr(links[0]))[:300]
        cause = _cause(links)
        if self._proxy and cause is _UNKNOWN_NAME:
            # Whatever the service is called, its name is the proxy's to look up.
            cause = _UNKNOWN_PROXY
        if cause is not None:
            message += f". {cause.advice}"
        if self._is_of_environment and known["phase"] in {"name", "tcp", "proxy"}:
            message += ". If the service needs no proxy, name its host in NO_PROXY"
        temporary = cause is None or cause.is_temporary
        return ConnectionFailedError(message, temporary=temporary, **known)


# --- why a connection fails, and what to do ---------------------------------------


@attrs.frozen
class _Cause:
    """What a failed connection comes from."""

    advice: str
    is_temporary: bool = True
    """Whether it may be otherwise in some seconds."""


_AUTHORITY: Final = (
    "If an authority of your own made the certificate, name it by verify= or "
    "SSL_CERT_FILE; for a proxy, by SSL_CERT_FILE"
)
_OTHER_HOST: Final = (
    "The certificate is for another host: check the host name of the base address"
)
_CERTIFICATES: Final[Mapping[int, str]] = {
    9: "The certificate is not valid yet: check the clock of this machine",
    10: "The certificate has expired: whoever runs the server has to renew it, unless "
    "the clock of this machine is wrong",
    62: _OTHER_HOST,
    64: _OTHER_HOST,
}
"""What to do, by the codes of OpenSSL's ``X509_V_ERR_…``."""
_ERRORS: Final[Mapping[int, str]] = {
    errno.ECONNREFUSED: "Nothing listens there: check the host and the port",
    **dict.fromkeys(
        (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL),
        "This machine has no way there: check its network, and, if the host has only "
        "IPv6 addresses, whether this machine has IPv6",
    ),
}
_UNKNOWN_NAME, _UNKNOWN_PROXY = (
    _Cause(
        f"Check the host name of {what}, and the DNS of this machine",
        is_temporary=False,
    )
    for what in ("the base address", "the proxy")
)
_PLAIN_HTTP: Final = _Cause(
    "The server, or the proxy, speaks no TLS at this port: check the port, or begin "
    "its address with http://",
    is_temporary=False,
)
_LOGIN: Final = _Cause(
    "The proxy wants another login: write it in the address of the proxy, as in "
    "http://USER:PASSWORD@HOST:PORT, with other characters than letters and digits "
    "percent-encoded",
    is_temporary=False,
)


def _cause(links: list[BaseException]) -> _Cause | None:
    """The cause of an error, which is first in its chain; None for most."""
    for link in links:
        match link:
            case ssl.SSLCertVerificationError():
                return _Cause(_of_certificate(link), is_temporary=False)
            case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
                # A port that speaks http gives this.
                return _PLAIN_HTTP
            case socket.gaierror(errno=socket.EAI_NONAME):
                return _UNKNOWN_NAME
            case OSError(errno=int(number)) if number in _ERRORS:
                return _Cause(_ERRORS[number])
            case _ if type(link).__name__ == "ProxyError":
                return _of_proxy(str(link))
            case _:
                pass
    return None


def _of_certificate(error: ssl.SSLCertVerificationError) -> str:
    advice = _CERTIFICATES.get(error.verify_code, _AUTHORITY)
    if advice is not _AUTHORITY:
        return advice
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if os.environ.get(variable):
            return f"{advice}. {variable} is set: it says which authorities are trusted"
    return advice


def _of_proxy(reply: str) -> _Cause | None:
    """What a proxy means by its reply: to CONNECT it begins with a status, and about
    SOCKS httpcore has a sentence.
    """
    if "username/password" in reply or reply.startswith("Requested "):
        return _LOGIN
    status = int(reply[:3]) if re.match("[0-9]{3}\\b", reply) else 0
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return _LOGIN
    if status >= HTTPStatus.BAD_REQUEST and status not in TEMPORARY:
        advice = "The proxy refuses to connect there: ask whoever runs it"
        return _Cause(advice, is_temporary=False)
    return None
