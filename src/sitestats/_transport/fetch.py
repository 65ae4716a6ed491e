"""Our own client in Pyodide: the ``fetch`` of a browser or of node sends requests.

The transports that httpx2 brings for this follow a redirect with the key, to whatever
address it names, go on with a request whose call was cancelled, and fail where a
response has no body. The limits of a call hold here as on a socket.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import anyio

from sitestats._base.errors import ConfigurationError, UsageError
from sitestats._configuration.secrets import Secret
from sitestats._configuration.settings import Settings

from .bodies import MOST_BYTES, TooLargeError
from .httpx_client import EXTENSION, OwnAsyncClient, OwnClient
from .pool import Pool
from .sockets import Exchange

if TYPE_CHECKING:
    # It has the same classes.
    import httpx as httpx2
else:
    import httpx2

# Nothing but Pyodide has these, and no stubs are installed with it.
_JS: Final[Any] = import_module("js")
_FFI: Final[Any] = import_module("pyodide.ffi")

_ITS_OWN: Final = frozenset(("accept-encoding", "host", "user-agent"))
"""The headers that a browser sets itself. Another ``User-Agent`` would need a preflight
request (the standard Fetch, section 2.2.2)."""
_WHY: Final = (
    "A browser says no more: check the address, whether it begins with https:// if the "
    "page's does, and whether the service allows requests from pages of other websites"
)
_REDIRECT: Final = "the service redirects, and a request follows to no other address"


def own_client(
    settings: Settings, _pool: Pool, _proxy: None, *, is_awaited: bool
) -> Any:
    """A client whose requests are sent by ``fetch``.

    Raises:
        ConfigurationError: A setting is for connections, which the browser makes.
    """
    if settings.verify is not True:
        raise ConfigurationError(
            "verify= has no effect here: the browser, or node, makes the connections, "
            "and trusts its own certificates"
        )
    if settings.user_agent:
        raise ConfigurationError(
            "headers= has a User-Agent, which the browser sets itself: leave it out"
        )
    kind: Any = OwnAsyncClient if is_awaited else OwnClient
    return kind(transport=_Transport(), trust_env=False)


def proxy_of(settings: Settings) -> None:
    """No proxy.

    Raises:
        ConfigurationError: One is given.
    """
    if settings.proxy_address is not None:
        raise ConfigurationError(
            f"{settings.sources['proxy']} has no effect here: the browser, or node, "
            "makes the connections, and has its own proxy settings"
        )


def proxy_secrets(_proxy: None) -> Iterable[Secret]:
    """No secrets, as there is no proxy."""
    return ()


class _Transport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Sends each request by ``fetch``; a blocking one waits for its promise by JSPI."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if not _FFI.can_run_sync():
            raise UsageError(
                "a blocking Client can't wait here: that needs a browser with JSPI, or "
                "node from 25 on, and code that runs by pyodide.runPythonAsync. An "
                "AsyncClient works everywhere: “await client.stats.get(query)”"
            )
        response: httpx2.Response = _FFI.run_sync(self.handle_async_request(request))
        return response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange: Exchange = request.extensions[EXTENSION]
        aborting = _JS.AbortController.new()
        options: dict[str, Any] = {
            "method": request.method,
            "headers": {
                name: value
                for name, value in request.headers.items()
                if name not in _ITS_OWN
            },
            "signal": aborting.signal,
            "redirect": "manual",
            "credentials": "omit",
            "cache": "no-store",
        }
        if exchange.request.body:
            options["body"] = exchange.request.body
        given = _FFI.to_js(options, dict_converter=_JS.Object.fromEntries)
        send = partial(_JS.fetch, str(request.url), given)
        try:
            response = await _in_time(send, exchange)
            body = await _read(response, exchange)
        finally:
            # What was cancelled or is too large ends; what is complete does not notice.
            aborting.abort()
        headers = dict(response.headers.entries())
        # The body was decompressed already.
        headers.pop("content-encoding", None)
        return httpx2.Response(
            response.status,
            headers=headers,
            stream=httpx2.ByteStream(body),
            extensions={EXTENSION: body},
        )


async def _in_time(call: Callable[[], Awaitable[Any]], exchange: Exchange) -> Any:
    """The value of the promise that *call* gives.

    Raises:
        TimeoutError: A limit of the exchange was reached.
        NetworkError: The promise was rejected.
    """
    try:
        with anyio.fail_after(exchange.left()):
            return await call()
    except _FFI.JsException as error:
        message = error.message
    # Raised here, it does not name the one of JavaScript as well.
    raise httpx2.NetworkError(f"{message}. {_WHY}")


async def _read(response: Any, exchange: Exchange) -> bytes:
    """The body of a *response* of ``fetch``, which may have none.

    Raises:
        TooLargeError: It is too large.
        RemoteProtocolError: It is a redirect, which has neither a status nor a body.
    """
    if response.type == "opaqueredirect":
        raise httpx2.RemoteProtocolError(_REDIRECT)
    body = bytearray()
    if not response.body:
        return b""
    reader = response.body.getReader()
    while not (piece := await _in_time(reader.read, exchange)).done:
        body += piece.value.to_bytes()
        if len(body) > MOST_BYTES:
            raise TooLargeError
    return bytes(body)
