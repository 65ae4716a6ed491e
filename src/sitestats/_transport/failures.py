"""The error of a request that failed: which one, and what it says."""

from __future__ import annotations

import socket
import ssl
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import anyio

from sitestats._common.errors import (
    ConnectionFailedError,
    RequestTimeoutError,
    ResponseError,
    ResponseTooLargeError,
    SiteStatsError,
)

from .limits import MOST_BYTES
from .reading import CorruptError, ProtocolError, TooLargeError

if TYPE_CHECKING:
    from sitestats._common.settings import Settings

    from .limits import Exchange
    from .redaction import Redactor

_LONGEST_REASON: Final = 300
_NO_TLS: Final = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}
"""Why a handshake fails where the other side speaks plain HTTP."""
_FAULTS: Final = (
    *(OSError, ProtocolError, EOFError, anyio.EndOfStream),
    *(anyio.BrokenResourceError, anyio.ClosedResourceError),
)
"""By these the network failed; those of httpx are besides."""


class Failures:
    """Turns what was raised on the way into an error of this package."""

    def __init__(self, settings: Settings, redactor: Redactor, library: Any) -> None:
        """Know the errors of *library*: of httpx, or of httpx2."""
        self._settings = settings
        self._redactor = redactor
        self._timeout = library.TimeoutException
        # httpx lets its errors through; it is there where a proxy needs it.
        socks = getattr(sys.modules.get("socksio"), "SOCKSError", ())
        self._of_httpx = (
            library.HTTPError,
            library.StreamError,
            library.InvalidURL,
            socks,
        )
        self._faults = (*_FAULTS, *self._of_httpx)
        self._not_sent = (
            *(library.ConnectError, library.ConnectTimeout, library.PoolTimeout),
            *(library.ProxyError, library.UnsupportedProtocol, library.InvalidURL),
            socks,
        )
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
        request = exchange.request
        if isinstance(error, TooLargeError):
            return ResponseTooLargeError(
                f"The response to {request} is larger than {MOST_BYTES:,} bytes. It "
                "was not read to its end.",
                request=request,
            )
        if isinstance(error, CorruptError):
            reason = self._redactor.text(str(error))
            message = f"The body of the response to {request} can't be read: {reason}."
            return ResponseError(message, request=request)
        if isinstance(error, SiteStatsError) or not isinstance(error, self._faults):
            return None
        if isinstance(error, self._of_httpx):
            is_sent = not isinstance(error, self._not_sent)
            exchange.step = "response" if is_sent else self._failed_step(error)
        is_up = time.monotonic() >= exchange.until
        if isinstance(error, TimeoutError):
            return self.timed_out(exchange, is_up=is_up or exchange.is_last)
        if is_up or isinstance(error, self._timeout):
            return self.timed_out(exchange, is_up=is_up)
        return self._not_connected(exchange, error)

    def _failed_step(self, error: BaseException) -> str:
        """At what httpx failed to connect."""
        for link in _with_causes(error):
            if isinstance(link, (ssl.SSLError, socket.gaierror)):
                return "tls" if isinstance(link, ssl.SSLError) else "name"
        return "proxy" if self._proxy else "tcp"

    def timed_out(self, exchange: Exchange, *, is_up: bool) -> RequestTimeoutError:
        """The error for a wait that was too long, or where the time *is_up*."""
        was_sent = exchange.step == "response"
        if is_up:
            waited = ""
            if exchange.waited:
                waited = (
                    f", {exchange.waited:.3g} s of them spent waiting for one of "
                    f"{self._settings.max_connections} connections to be free"
                )
            took = time.monotonic() - exchange.started
            message = (
                f"No complete response to {exchange.request} before total_timeout: "
                f"this attempt ended after {took:.3g} s{waited}."
            )
        else:
            what = "response from" if was_sent else "connection to"
            message = (
                f"No {what} {self._origin} within timeout, {exchange.timeout:g} s."
            )
        return RequestTimeoutError(
            message,
            request=exchange.request,
            maybe_sent=was_sent,
            step=exchange.step,
        )

    def _not_connected(
        self, exchange: Exchange, error: BaseException
    ) -> ConnectionFailedError:
        """The error for a connection that could not be made, or that broke."""
        was_sent, temporary = exchange.step == "response", True
        message = f"Could not connect to {self._origin}{self._proxy}: "
        if was_sent:
            message = f"The connection to {self._origin} failed: "
        message += self._reason(error)
        for link in _with_causes(error):
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
        return ConnectionFailedError(
            message,
            request=exchange.request,
            maybe_sent=was_sent,
            temporary=temporary,
            step=exchange.step,
        )

    def _reason(self, error: BaseException) -> str:
        """What *error* says, and what it all began with, without secrets."""
        texts = [text for link in _with_causes(error) if (text := str(link))]
        text = texts[0] if texts else type(error).__name__
        if texts and texts[-1] not in text:
            text = f"{text} ({texts[-1]})"
        text = self._redactor.text(text)
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


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
