"""An attempt to send a request: its limits, and the errors when it fails."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import attrs
import httpx

from sitestats._common.errors import (
    ConnectionFailedError,
    RequestTimeoutError,
    ResponseError,
    ResponseTooLargeError,
    SiteStatsError,
)
from sitestats._common.wire import HttpRequest

from .body import CorruptError, TooLargeError
from .pool import Lease
from .waiting import NoConnectionError, OutOfTimeError

if TYPE_CHECKING:
    from sitestats._common.settings import Settings

    from .redaction import Redactor

_LONGEST_REASON: Final = 300
_AUTHORITY: Final = (
    "; if an authority of your own made the service's certificate, name it by verify= "
    "or SSL_CERT_FILE"
)
_NO_TLS: Final = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}
"""Why a handshake fails where the other side speaks plain HTTP."""

_NEVER_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
"""With these the request did not leave the machine: there was no connection."""

_SILENCES: Final = {
    httpx.ConnectTimeout: "no connection to",
    httpx.WriteTimeout: "nothing could be sent to",
    httpx.PoolTimeout: "no free connection in the transport to",
    httpx.TimeoutException: "nothing came from",
}
"""What was waited for in vain."""

_FAULTS: Final = (
    OSError,
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    EOFError,
    StopIteration,
    StopAsyncIteration,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)
"""By these a transport means that the network failed."""


@attrs.define(eq=False, repr=False)
class Attempt:
    """One request on its way."""

    request: HttpRequest
    settings: Settings
    _redactor: Redactor
    lease: Lease[Any]
    until: float
    timeout: float
    started: float = attrs.field(factory=time.monotonic, init=False)
    began: bool = attrs.field(default=False, init=False)
    """Whether something may have left the machine; the connection sets it."""

    def failure(self, error: BaseException) -> Exception | None:
        """The error to raise instead of *error*, or None for *error* as it is.

        That is one of ours, an interrupt, or a mistake, whose author needs the
        traceback.
        """
        if isinstance(error, (TooLargeError, CorruptError)):
            return self.body_error(error)
        if isinstance(error, OutOfTimeError):
            return self.total_timeout_error()
        # Python wraps a StopIteration that leaves a generator or a coroutine.
        cause = error.__cause__ if isinstance(error, RuntimeError) else None
        stopped = isinstance(cause, (StopIteration, StopAsyncIteration))
        is_fault = isinstance(error, _FAULTS) or stopped
        if isinstance(error, SiteStatsError) or not is_fault:
            return None
        self.began = not isinstance(error, _NEVER_SENT)
        if time.monotonic() >= self.until:
            return self.total_timeout_error()
        for kind, what in _SILENCES.items():
            if isinstance(error, kind):
                # Ours knows more, such as the proxy.
                is_ours = isinstance(error.__cause__, NoConnectionError)
                text = str(error) if is_ours else what
                return self.timeout_error(text, self._step(error))
        return self.connection_error(error)

    def _step(self, error: BaseException) -> str:
        """What failed: a step of connecting, or the response."""
        if self.began:
            return "response"
        for link in with_causes(error):
            if isinstance(link, httpx.ProxyError):
                return "proxy"
            if isinstance(link, NoConnectionError):
                return link.step
            if isinstance(link, (ssl.SSLError, socket.gaierror)):
                return "tls" if isinstance(link, ssl.SSLError) else "name"
        return "tcp"

    def total_timeout_error(self) -> RequestTimeoutError:
        """The error for a call that reached the limit of all its attempts together."""
        took = time.monotonic() - self.started
        waited = ""
        if self.lease.waited:
            waited = (
                f", {self.lease.waited:.3g} s of them spent waiting for one of "
                f"{self.settings.max_connections} connections to be free"
            )
        message = (
            f"no complete response to {self.request} before total_timeout: this "
            f"attempt ended after {took:.3g} s{waited}"
        )
        return RequestTimeoutError(
            message,
            request=self.request,
            maybe_sent=self.began,
            step="response" if self.began else "tcp",
        )

    def timeout_error(self, what: str, step: str) -> RequestTimeoutError:
        """The error for a single wait that was too long; *what* it was for."""
        return RequestTimeoutError(
            f"{what} {self._origin} within timeout, {self.timeout:g} s",
            request=self.request,
            maybe_sent=self.began,
            step=step,
        )

    def connection_error(self, error: BaseException) -> ConnectionFailedError:
        """The error for a connection that could not be made, or that broke."""
        what = "the connection to" if self.began else "could not connect to"
        failed = " failed" if self.began else ""
        message = f"{what} {self._origin}{failed}: {self._reason(error)}"
        temporary = True
        for link in with_causes(error):
            if isinstance(link, ssl.SSLCertVerificationError):
                temporary = False
                message += _AUTHORITY
            elif isinstance(link, socket.gaierror):
                temporary = link.errno != socket.EAI_NONAME
            elif getattr(link, "reason", None) in _NO_TLS:
                message += "; does the address begin with http:// in truth?"
        return ConnectionFailedError(
            message,
            request=self.request,
            maybe_sent=self.began,
            temporary=temporary,
            step=self._step(error),
        )

    def body_error(self, error: TooLargeError | CorruptError) -> ResponseError:
        """The error for a body that is not taken."""
        if isinstance(error, CorruptError):
            return ResponseError(
                f"the body of the response to {self.request} can't be read: "
                f"{self._redactor.text(str(error))}",
                request=self.request,
            )
        return ResponseTooLargeError(
            f"the response to {self.request} is larger than max_response_bytes, "
            f"{self.settings.max_response_bytes:,} bytes; it was not read on",
            request=self.request,
        )

    @property
    def _origin(self) -> str:
        scheme, host, port = self.settings.base.origin
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def _reason(self, error: BaseException) -> str:
        """What *error* says, and what it all began with, without secrets."""
        texts = [text for link in with_causes(error) if (text := str(link))]
        text = texts[0] if texts else type(error).__name__
        if texts and texts[-1] not in text:
            text = f"{text} ({texts[-1]})"
        text = self._redactor.text(text)
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """*error*, and what led to it."""
    link: BaseException | None = error
    while link is not None:
        yield link
        if isinstance(link, BaseExceptionGroup):
            # One for each address of the host: the first stands for all.
            link = cast("BaseExceptionGroup[BaseException]", link).exceptions[0]
        else:
            link = link.__cause__ or link.__context__
