"""A client of httpx that the user gives."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from anyio.from_thread import start_blocking_portal
from respx import MockRouter

from both_clients import KEY, QUERY, USER, VARIANTS, WITH_TRIO, Awaited
from loopback import COUNTED, Connection, counting, serve
from sitestats import (
    AsyncClient,
    Client,
    ClientClosedError,
    ConfigurationError,
    ConnectionFailedError,
    NotFoundError,
    PermissionDeniedError,
    RequestTimeoutError,
    ResponseTooLargeError,
    StatusError,
)

ADDRESS = "https://stats.example"
variants = pytest.mark.parametrize("variant", VARIANTS)


@contextmanager
def given(
    variant: str, address: str = ADDRESS, source: Any = httpx, **options: Any
) -> Iterator[Any]:
    """A client over a client of httpx with these options, which stays open."""
    more: Any = {"api_key": KEY, "user_id": USER, "retries": 0}
    with ExitStack() as stack:
        if variant == "blocking":
            mine = stack.enter_context(source.Client(**options))
            yield stack.enter_context(Client(address, http_client=mine, **more))
        else:
            portal = stack.enter_context(start_blocking_portal(variant))
            mine = source.AsyncClient(**options)
            stack.callback(portal.call, mine.aclose)
            ours = portal.call(lambda: AsyncClient(address, http_client=mine, **more))
            yield stack.enter_context(Awaited(portal, ours))
        assert not mine.is_closed


def hooks(variant: str, **functions: Callable[[Any], Any]) -> dict[str, list[Any]]:
    """Event hooks of httpx, which are coroutines in its asynchronous client."""

    def hook(function: Callable[[Any], Any]) -> Any:
        async def awaited(what: Any) -> None:
            result = function(what)
            if hasattr(result, "__await__"):
                await result

        return function if variant == "blocking" else awaited

    return {name: [hook(function)] for name, function in functions.items()}


@pytest.mark.parametrize("variant", WITH_TRIO)
@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_a_given_client_sends_the_requests(variant: str, name: str) -> None:
    """A client of httpx or of httpx2 sends, with its hooks and headers; what is sent
    for us counts.
    """
    source = pytest.importorskip(name)
    seen: list[Any] = []
    with (
        serve(counting) as server,
        given(
            variant,
            server.address,
            source,
            trust_env=False,
            event_hooks=hooks(variant, request=seen.append, response=seen.append),
            headers={"X-Team": "web", "Api-Key": "mine", "Accept": "text/html"},
        ) as client,
    ):
        assert client.stats.get(QUERY).pageviews == 3
        assert client.request("POST", "/api/custom", json={})["ok"]
    assert [type(one) for one in seen] == [source.Request, source.Response] * 2
    sent = server.requests[0].decode()
    assert "X-Team: web\r\n" in sent
    assert f"Api-Key: {KEY}\r\n" in sent
    assert "Accept: application/json\r\n" in sent
    assert "Accept-Encoding: gzip\r\n" in sent
    assert "mine" not in sent
    assert "text/html" not in sent


@variants
def test_a_redirect_is_never_followed(variant: str, routes: MockRouter) -> None:
    """A key goes to no other origin, also where the user's client would follow."""
    location = {"Location": "https://other.example/stolen"}
    routes.get("/example.com.json").respond(307, headers=location)
    with (
        given(variant, follow_redirects=True) as client,
        pytest.raises(StatusError, match="redirect"),
    ):
        client.stats.get(QUERY)
    assert len(routes.calls) == 1


@variants
def test_a_hook_may_read_the_response(variant: str, routes: MockRouter) -> None:
    """A hook that reads a response, to log it, leaves the call as it is; with one that
    raises for a status the error is that of the status.
    """

    def hook(response: Any) -> Any:
        if response.status_code == 404:
            response.raise_for_status()
        return response.read() if variant == "blocking" else response.aread()

    coding = {"Content-Encoding": "gzip"}
    compressed = httpx.Response(200, headers=coding, content=gzip.compress(COUNTED))
    unknown = httpx.Response(404, json={})
    routes.get("/example.com.json").mock(side_effect=[compressed, unknown])
    with given(variant, event_hooks=hooks(variant, response=hook)) as client:
        assert client.stats.get(QUERY).pageviews == 3
        with pytest.raises(NotFoundError):
            client.stats.get(QUERY)


class Challenged(httpx.Auth):
    """Sends a request again once the service wants to know who asks."""

    def auth_flow(self, request: httpx.Request) -> Any:
        response = yield request
        if response.status_code == 403:
            request.headers["Authorization"] = "Bearer me"
            yield request


@variants
def test_authentication_is_for_reads(variant: str, routes: MockRouter) -> None:
    """A read has that of the user's client, in two steps where it has two; a write has
    none but its key, as it would be sent twice.
    """
    routes.route(headers={"Authorization": "Bearer me"}).respond(content=COUNTED)
    unknown = routes.route().respond(403)
    with given(variant, auth=Challenged()) as client:
        assert client.stats.get(QUERY).pageviews == 3
        assert [call.response.status_code for call in routes.calls] == [403, 200]
        with pytest.raises(PermissionDeniedError):
            client.request("POST", "/api/custom", json={})
    assert unknown.call_count == 2
    assert len(routes.calls) == 3


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Client, httpx.AsyncClient()),
        (AsyncClient, httpx.Client()),
        (Client, httpx.Client),
        (Client, httpx.HTTPTransport()),
        (AsyncClient, "x"),
    ],
)
def test_what_is_no_client_is_refused(kind: Any, value: object) -> None:
    """What can't send is refused when the client is made."""
    with pytest.raises(ConfigurationError, match=r"http_client= must be an httpx\."):
        kind(ADDRESS, http_client=value)


def test_a_client_that_was_closed() -> None:
    """It is refused; one that is closed later makes calls fail with an own error."""
    with httpx.Client() as mine:
        client = Client(ADDRESS, http_client=mine)
    with pytest.raises(ConfigurationError, match="was closed"):
        Client(ADDRESS, http_client=mine)
    with pytest.raises(ClientClosedError, match="http_client= was closed"):
        client.stats.get(QUERY)


# --- what goes wrong --------------------------------------------------------------

FAULTS: dict[Exception, type[Exception]] = {
    httpx.ConnectError("x"): ConnectionFailedError,
    httpx.ProxyError("x"): ConnectionFailedError,
    httpx.ReadError("x"): ConnectionFailedError,
    httpx.DecodingError("x"): ConnectionFailedError,
    ConnectionResetError("x"): ConnectionFailedError,
    ConnectionFailedError("x", maybe_sent=False): ConnectionFailedError,
    ssl.SSLError(1, "x"): ConnectionFailedError,
    httpx.ConnectTimeout("x"): RequestTimeoutError,
    httpx.PoolTimeout("x"): RequestTimeoutError,
    httpx.ReadTimeout("x"): RequestTimeoutError,
}


@variants
@pytest.mark.parametrize("error", FAULTS, ids=repr)
def test_every_fault_becomes_an_error_of_ours(
    variant: str, routes: MockRouter, error: Exception
) -> None:
    """Whatever its type says, a write may have been received: it is sent once."""
    route = routes.post("/api/websites/add").mock(side_effect=error)
    with given(variant) as client, pytest.raises(FAULTS[error]) as caught:
        client.websites.add("example.com")
    assert caught.value.maybe_sent  # type: ignore[attr-defined]
    assert route.call_count == 1


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that never ends."""

    closed = 0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield bytes(8_000_000)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


@variants
def test_a_body_that_never_ends_is_left(variant: str, routes: MockRouter) -> None:
    """A body over the limit is closed."""
    body = Pieces()
    routes.get().mock(return_value=httpx.Response(200, stream=body))
    with given(variant) as client, pytest.raises(ResponseTooLargeError):
        client.stats.get(QUERY)
    assert body.closed == 1


@pytest.mark.parametrize("variant", WITH_TRIO)
def test_the_total_limit_holds_in_a_given_client(variant: str) -> None:
    """Blocking, it is checked between the pieces of a response."""

    def script(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n")
        connection.drip(bytes(3000))

    with (
        serve(script) as server,
        given(variant, server.address, trust_env=False) as client,
        pytest.raises(RequestTimeoutError, match="before total_timeout"),
    ):
        client.with_options(total_timeout=0.2).stats.get(QUERY)
