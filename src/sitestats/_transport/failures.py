"""The error of a request that failed: which one, and what it says."""

from __future__ import annotations

import socket
import ssl
import sys
import time
from collections.abc import Iterator
from typing import Any, Final, cast
from urllib.parse import urlsplit

from sitestats._common.errors import (
    ConnectionFailedError,
    RequestTimeoutError,
    ResponseError,
    ResponseTooLargeError,
    SiteStatsError,
)
from sitestats._common.settings import Settings

from .limits import MOST_BYTES, Exchange
from .reading import CorruptError, ProtocolError, TooLargeError
from .redaction import Redactor

_LONGEST_REASON: Final = 300
_NO_TLS: Final = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}
"""Why a handshake fails where the other side speaks plain HTTP."""


class Failures:
    """Turns what was raised on the way into an error of this package."""

    def __init__(self, settings: Settings, redactor: Redactor, library: Any) -> None:
        """Know the errors of *library*: of httpx, or of httpx2."""
        self._settings, self._redactor, self._library = settings, redactor, library
        # httpx lets its errors through; it is there where a proxy needs it.
        self._socks = getattr(sys.modules.get("socksio"), "SOCKSError", ())
        self._proxy = ""
        if settings.proxy is not None:
            parts = urlsplit(settings.proxy)
            name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            source = settings.sources.get("proxy", "proxy")
            self._proxy = f" by the proxy {name}"
            if source != "proxy":
                self._proxy += f" ({source})"
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
        if isinstance(error, CorruptError):
            reason = self._redactor.text(str(error))
            message = f"The body of the response to {request} can't be read: {reason}."
            return ResponseError(message, request=request)
        by_httpx = library.HTTPError, self._socks
        faults = OSError, ProtocolError, *by_httpx
        if isinstance(error, SiteStatsError) or not isinstance(error, faults):
            return None
        if isinstance(error, by_httpx):
            exchange.step = self._step(error)
        is_up = time.monotonic() >= exchange.until
        is_silent = isinstance(error, (TimeoutError, library.TimeoutException))
        if isinstance(error, TimeoutError):
            is_up |= exchange.is_last
        step, was_sent = exchange.step, exchange.step == "response"
        known: Any = {"request": request, "maybe_sent": was_sent, "step": step}
        if is_up or is_silent:
            message = self._late(exchange) if is_up else self._silent(exchange)
            return RequestTimeoutError(message, **known)
        message, temporary = self._broken(exchange, error)
        return ConnectionFailedError(message, temporary=temporary, **known)

    def _step(self, error: BaseException) -> str:
        """What was under way when httpx failed."""
        names = "ConnectError ConnectTimeout PoolTimeout ProxyError UnsupportedProtocol"
        kinds = (getattr(self._library, name) for name in names.split())
        if not isinstance(error, (*kinds, self._socks)):
            return "response"
        for link in _with_causes(error):
            if isinstance(link, (ssl.SSLError, socket.gaierror)):
                return "tls" if isinstance(link, ssl.SSLError) else "name"
        return "proxy" if self._proxy else "tcp"

    def _late(self, exchange: Exchange) -> str:
        message = (
            f"No complete response to {exchange.request} before total_timeout: this "
            f"attempt ended after {time.monotonic() - exchange.started:.3g} s"
        )
        if not exchange.waited:
            return f"{message}."
        return (
            f"{message}, {exchange.waited:.3g} s of them spent waiting for one of "
            f"{self._settings.max_connections} connections to be free."
        )

    def _silent(self, exchange: Exchange) -> str:
        what = "response from" if exchange.step == "response" else "connection to"
        return f"No {what} {self._origin} within timeout, {exchange.timeout:g} s."

    def _broken(self, exchange: Exchange, error: BaseException) -> tuple[str, bool]:
        """What the error says, and whether another attempt may succeed."""
        message, temporary = f"Could not connect to {self._origin}{self._proxy}: ", True
        if exchange.step == "response":
            message = f"The connection to {self._origin} failed: "
        links = [*_with_causes(error)]
        texts = [text for link in links if (text := str(link))] or [
            type(error).__name__
        ]
        reason = texts[0] if texts[-1] in texts[0] else f"{texts[0]} ({texts[-1]})"
        message += self._redactor.text(reason)[:_LONGEST_REASON]
        for link in links:
            if isinstance(link, ssl.SSLCertVerificationError):
                temporary = False
                message += (
                    ". If an authority of your own made the service's certificate, "
                    "name it by verify= or SSL_CERT_FILE"
                )
            elif isinstance(link, socket.gaierror):
                temporary = link.errno != socket.EAI_NONAME
            elif getattr(link, "reason", None) in _NO_TLS:
                message += ". Does the address begin with http:// in truth?"
        return message, temporary


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """*error*, and what led to it."""
    link: BaseException | None = error
    while link is not None:
        yield link
        if isinstance(link, BaseExceptionGroup):
            # One for each address of the host: the first stands for all.
            link = cast("BaseExceptionGroup[BaseException]", link).exceptions[0]
        else:
            link = link.__cause__ or link.__context__
