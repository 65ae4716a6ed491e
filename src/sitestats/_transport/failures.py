"""The error of a request that failed: which one, and what it says."""

from __future__ import annotations

import socket
import ssl
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from idna import IDNAError

from sitestats._base.errors import (
    ConnectionFailedError,
    InvalidResponseError,
    RequestTimeoutError,
    ResponseTooLargeError,
    TransportError,
)

from .reading import MOST_BYTES, CorruptError, ProtocolError, TooLargeError
from .redaction import Redactor
from .sockets import Exchange

if TYPE_CHECKING:
    from sitestats._configuration.settings import Settings

_TICK: Final = 0.02
"""Seconds by which a wait may end too early: clocks differ."""
_UNSENT: Final = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
"""The errors of httpx after which certainly nothing was sent."""


class Failures:
    """Turns what was raised on the way into an error of this package."""

    def __init__(
        self, settings: Settings, redactor: Redactor, library: Any, proxy: Any
    ) -> None:
        """Know the errors of *library*: of httpx, or of httpx2."""
        self._redactor, self._library = redactor, library
        # httpx lets errors of socksio through, which is there if a proxy needs it.
        self._socks = getattr(sys.modules.get("socksio"), "SOCKSError", ())
        self._unsent = *(getattr(library, name) for name in _UNSENT), self._socks
        self._limit = settings.max_connections
        self._proxy = ""
        if proxy is not None:
            source = settings.sources["proxy"]
            of_environment = "" if source == "proxy" else f" ({source})"
            self._proxy = f" by the proxy {proxy.url}{of_environment}"
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
            return None
        # httpcore's pool raises its errors from None, so the cause is the context.
        links, last = list[BaseException](), error
        while last:
            links.append(last)
            last = last.__cause__ or (last.__suppress_context__ and last.__context__)
        # If httpx connects to a proxy, its errors tell whether that failed.
        if self._proxy and isinstance(error, self._unsent):
            is_tls = any(isinstance(link, ssl.SSLError) for link in links)
            exchange.step = "tls" if is_tls else "proxy"
        step, was_sent = exchange.step, exchange.step == "response"
        known: Any = {"request": request, "maybe_sent": was_sent, "step": step}
        if time.monotonic() + _TICK >= exchange.until:
            message = f"No complete response to {request} before total_timeout."
            if exchange.event is not None:
                message += f" It waited for one of {self._limit} connections first."
            return RequestTimeoutError(message, **known)
        if isinstance(error, (TimeoutError, library.TimeoutException)):
            what = f"{'response from' if was_sent else 'connection to'} {self._origin}"
            return RequestTimeoutError(
                f"No {what} within timeout, {exchange.timeout:g} s.", **known
            )
        return self._broken(links, known)

    def _broken(self, links: list[BaseException], known: Any) -> ConnectionFailedError:
        message, temporary = f"Could not connect to {self._origin}{self._proxy}: ", True
        if known["maybe_sent"]:
            message = f"The connection to {self._origin} failed: "
        texts = filter(None, dict.fromkeys(map(str, links)))
        message += self._redactor.text(": ".join(texts) or repr(links[0]))[:300]
        for link in links:
            if isinstance(link, ssl.SSLCertVerificationError):
                temporary = False
                message += (
                    ". If an authority of your own made the certificate, name it by "
                    "verify= or SSL_CERT_FILE, and that of a proxy by SSL_CERT_FILE"
                )
            elif isinstance(link, socket.gaierror | ssl.SSLError):
                # A port that speaks http gives WRONG_VERSION_NUMBER.
                temporary = getattr(link, "reason", link.errno) not in (
                    *(socket.EAI_NONAME, "WRONG_VERSION_NUMBER"),
                )
        return ConnectionFailedError(message, temporary=temporary, **known)
