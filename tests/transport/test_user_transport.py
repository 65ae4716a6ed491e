"""A user's own httpx transport below the senders."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import httpx
import pytest

from loopback import Connection, serve
from sender_variants import ADD, GET, KEY, LONG, SyncSender, open_sender, settings_for
from sitestats import AsyncClient, Client
from sitestats._common.errors import (
    ConfigurationError,
    ConnectionFailedError,
    RequestTimeoutError,
    ResponseTooLargeError,
)
from user_transports import Given, raises

ADDRESS = "https://stats.example"
# These load no certificates.
TRANSPORT, ASYNC_TRANSPORT = httpx.WSGITransport(print), httpx.ASGITransport(print)
CLIENT = httpx.Client(transport=TRANSPORT)
ASYNC_CLIENT = httpx.AsyncClient(transport=ASYNC_TRANSPORT)


@pytest.mark.parametrize(
    ("cls", "name", "value", "advice"),
    [
        (Client, "http_client", ASYNC_CLIENT, "is for an AsyncClient, as http_client="),
        (AsyncClient, "http_client", CLIENT, "is for a Client, as http_client="),
        (Client, "http_client", TRANSPORT, "is for a Client, as transport="),
        (AsyncClient, "http_client", httpx.AsyncClient, "give an instance of it"),
        (Client, "http_client", 7, "a value of type int is none"),
        (Client, "transport", ASYNC_TRANSPORT, "is for an AsyncClient, as transport="),
        (AsyncClient, "transport", TRANSPORT, "is for a Client, as transport="),
        (AsyncClient, "transport", CLIENT, "is for a Client, as http_client="),
        (Client, "transport", httpx.HTTPTransport, "give an instance of it"),
        (Client, "transport", "direct", "a value of type str is none"),
    ],
)
def test_what_can_not_send_is_refused(
    cls: type[Client | AsyncClient], name: str, value: object, advice: str
) -> None:
    """What is no client or transport of httpx, or one for the other client, is refused
    when a client is made; the error says what it is for.
    """
    options: Any = {name: value}
    with pytest.raises(ConfigurationError, match=f"^{name} is .*; .*{advice}$"):
        cls(ADDRESS, **options)


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in pieces, each made by a function."""

    def __init__(self, piece: Callable[[], bytes]) -> None:
        self.piece = piece
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.piece():
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := self.piece():
            yield piece

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


def test_a_given_transport_carries_the_requests(variant: str) -> None:
    """A user's transport gets every request, and is not closed by the sender."""
    given = Given(
        lambda: httpx.Response(201, headers={"A": "b"}, content=b'{"ok":true}')
    )
    with open_sender(variant, ADDRESS, transport=given) as sender:
        response = sender.send(ADD)
        sender.send()
    assert response.status == 201
    assert response.headers["a"] == "b"
    assert response.body == b'{"ok":true}'
    request = given.requests[0]
    assert request.method == "POST"
    assert str(request.url) == f"{ADDRESS}/api/websites/add"
    assert request.content == b'{"hostname":"example.com"}'
    assert request.headers["Api-Key"] == KEY
    assert request.extensions["timeout"]["read"] > 0
    assert given.closed == 0


FAULTS = [
    httpx.ConnectError("x"),
    httpx.ReadError("x"),
    httpx.WriteError("x"),
    httpx.CloseError("x"),
    httpx.RemoteProtocolError("x"),
    httpx.LocalProtocolError("x"),
    httpx.ProxyError("x"),
    httpx.UnsupportedProtocol("x"),
    httpx.DecodingError("x"),
    httpx.TooManyRedirects("x"),
    httpx.InvalidURL("x"),
    httpx.StreamConsumed(),
    httpx.StreamClosed(),
    httpx.RequestNotRead(),
    ConnectionResetError("x"),
    OSError(),
    EOFError(),
    ssl.SSLError(1, "x"),
    StopIteration("x"),
    StopAsyncIteration("x"),
    anyio.ClosedResourceError(),
    anyio.BrokenResourceError(),
    anyio.EndOfStream(),
]
"""What transports raise when the network fails, and what passes for it."""


@pytest.mark.parametrize("error", FAULTS, ids=repr)
@pytest.mark.parametrize("where", ["response", "body"])
def test_every_fault_becomes_a_failed_connection(
    variant: str, error: Exception, where: str
) -> None:
    """Any exception of httpx becomes ours, and never a result."""
    given = Given(raises(error))
    if where == "body":
        given.respond = lambda: httpx.Response(200, stream=Pieces(raises(error)))
    with (
        open_sender(variant, ADDRESS, transport=given) as sender,
        pytest.raises(ConnectionFailedError) as caught,
    ):
        sender.send()
    assert caught.value.request == GET
    assert str(caught.value).rpartition(": ")[2]


@pytest.mark.parametrize(
    ("error", "maybe_sent"),
    [
        (httpx.ConnectTimeout("x"), False),
        (httpx.PoolTimeout("x"), False),
        (httpx.ReadTimeout("x"), True),
        (httpx.WriteTimeout("x"), True),
    ],
    ids=repr,
)
def test_every_timeout_becomes_ours(
    variant: str,
    error: Exception,
    maybe_sent: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A timeout of httpx becomes ours, with what was waited for, and if it was sent."""
    with (
        open_sender(variant, ADDRESS, transport=Given(raises(error))) as sender,
        pytest.raises(RequestTimeoutError, match="within timeout, 30 s") as caught,
    ):
        sender.send()
    assert caught.value.maybe_sent is maybe_sent


@pytest.mark.parametrize(
    "error", [TypeError("x"), AssertionError("x"), RuntimeError("x")]
)
def test_other_errors_of_a_transport_are_raised_unchanged(
    variant: str, error: Exception
) -> None:
    """Other exceptions of a user's transport are raised with their traceback."""
    with (
        open_sender(variant, ADDRESS, transport=Given(raises(error))) as sender,
        pytest.raises(type(error)) as caught,
    ):
        sender.send()
    assert caught.value is error
    assert any(entry.name == "fail" for entry in caught.traceback)


def test_a_given_transport_keeps_to_the_limit() -> None:
    """A user's transport has at most ``max_connections`` requests at once."""
    lock = threading.Lock()
    now = most = 0

    def respond() -> httpx.Response:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.002)
        with lock:
            now -= 1
        return httpx.Response(200)

    blocking = SyncSender(settings_for(ADDRESS, max_connections=3), Given(respond))
    with ThreadPoolExecutor(20) as executor:
        for future in [executor.submit(blocking.send) for _ in range(60)]:
            assert future.result(LONG).status == 200
    blocking.close()
    assert most == 3


# httpx wraps the body in a generator of its own, and closes that one alone.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_body_that_never_ends_is_left(variant: str) -> None:
    """A body over the limit is closed, also when it never ends."""
    body = Pieces(lambda: bytes(1000))
    given = Given(lambda: httpx.Response(200, stream=body))
    with (
        open_sender(
            variant, ADDRESS, transport=given, max_response_bytes=5000
        ) as sender,
        pytest.raises(ResponseTooLargeError, match="5,000 bytes; it was not read on"),
    ):
        sender.send()
    assert body.closed == 1


def test_a_body_that_hangs_is_left_in_the_end(
    loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that hangs after it was closed is given up."""
    monkeypatch.setattr("sitestats._transport.sender._GRACE", 0.01)

    class Hanging(Pieces):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield bytes(1000)
            await anyio.sleep_forever()

    given = Given(lambda: httpx.Response(200, stream=Hanging(lambda: b"")))
    with (
        open_sender(loop, ADDRESS, transport=given, max_response_bytes=10) as sender,
        pytest.raises(ResponseTooLargeError),
    ):
        sender.send()


def test_the_total_limit_holds_in_httpx_own_transport() -> None:
    """The total timeout works inside an httpx.HTTPTransport, which pools by itself."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.respond()
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n")
        connection.drip(bytes(3000))

    with (
        serve(script) as server,
        httpx.HTTPTransport() as given,
        open_sender("blocking", server.address, transport=given) as sender,
    ):
        sender.send()
        with pytest.raises(RequestTimeoutError, match="before total_timeout"):
            sender.send(total=0.1)
        # Its own pool went on with another connection.
        assert sender.send().status == 200
    assert server.connections == 2
