"""A client of httpx that the user gives, and our transport within it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from loopback import Connection, contexts, polite, serve
from sitestats import (
    AsyncClient,
    AsyncHTTPTransport,
    Client,
    ClientClosedError,
    ConfigurationError,
    HTTPTransport,
    NotFoundError,
    PermissionDeniedError,
    RequestTimeoutError,
    SiteStatsError,
    StatsQuery,
)

KEY = "sa_api_key_Zw5fXq7RtY"
QUERY = StatsQuery("example.com").fields("pageviews")
BODY = b'{"ok":true,"hostname":"example.com","pageviews":7}'

CLIENTS: dict[str, Any] = {
    "blocking": (Client, httpx.Client, HTTPTransport),
    "asyncio": (AsyncClient, httpx.AsyncClient, AsyncHTTPTransport),
    "trio": (AsyncClient, httpx.AsyncClient, AsyncHTTPTransport),
}


def run(
    variant: str, address: str, work: Callable[[Any], Any], given: Any, **options: Any
) -> Any:
    """What *work* gives for a client over what *given* makes, which is closed here.

    *given* is called with the class of httpx's client and with our transport.
    """
    ours, theirs, transport = CLIENTS[variant]
    options = {"api_key": KEY, "user_id": "user", "retries": 0, **options}

    async def awaited() -> Any:
        async with given(theirs, transport) as mine:
            async with ours(address, http_client=mine, **options) as client:
                result = await work(client)
            assert not mine.is_closed
        return result

    if variant != "blocking":
        return anyio.run(awaited, backend=variant)
    with given(theirs, transport) as mine:
        with ours(address, http_client=mine, **options) as client:
            result = work(client)
        assert not mine.is_closed
    return result


def made_with(**options: Any) -> Callable[[Any, Any], Any]:
    """What makes a client of httpx with these options."""
    return lambda http, _: http(**options)


def over_ours(**options: Any) -> Callable[[Any, Any], Any]:
    """The same, with our transport within."""
    return lambda http, transport: http(transport=transport(), **options)


def get(client: Any) -> Any:
    """Request page views."""
    return client.stats.get(QUERY)


def add(client: Any) -> Any:
    """Write."""
    return client.request("POST", "/api/custom", json={})


def counts(connection: Connection) -> None:
    """Respond to every request with page views."""
    while connection.request():
        connection.respond(BODY)


def hooks(variant: str, on_request: Any = None, on_response: Any = None) -> Any:
    """Event hooks of httpx, which are coroutines in its asynchronous client."""

    def hook(function: Any) -> Any:
        async def awaited(what: Any) -> None:
            result = function(what)
            if result is not None:
                await result

        return function if variant == "blocking" else awaited

    return {
        "request": [hook(on_request)] if on_request else [],
        "response": [hook(on_response)] if on_response else [],
    }


def test_a_given_client_sends_the_requests(variant: str) -> None:
    """The user's client sends, with its hooks and its headers, and stays open."""
    seen: list[Any] = []
    with serve(counts) as server:
        stats = run(
            variant,
            server.address,
            get,
            made_with(
                event_hooks=hooks(variant, seen.append, seen.append),
                headers={"X-Team": "web", "Api-Key": "mine", "Accept": "text/html"},
            ),
        )
    assert stats.pageviews == 7
    assert [type(one) for one in seen] == [httpx.Request, httpx.Response]
    sent = server.requests[0].decode()
    assert "X-Team: web\r\n" in sent
    # Ours count for what we send.
    assert f"Api-Key: {KEY}\r\n" in sent
    assert "Accept: application/json\r\n" in sent
    assert "Accept-Encoding: gzip\r\n" in sent
    assert "mine" not in sent
    assert "text/html" not in sent


def test_a_redirect_is_never_followed(variant: str) -> None:
    """A key goes to no other origin, also where the user's client would follow."""

    def redirect(connection: Connection) -> None:
        connection.request()
        connection.respond(b"", 307, f"Location: {other.address}/stolen")

    with (
        serve(polite) as other,
        serve(redirect) as server,
        pytest.raises(SiteStatsError),
    ):
        run(variant, server.address, get, made_with(follow_redirects=True))
    assert other.connections == 0


def test_a_hook_may_read_the_response(variant: str) -> None:
    """A hook that reads a response, to log it, leaves the call as it is."""

    def read(response: Any) -> Any:
        return response.read() and None if variant == "blocking" else response.aread()

    with serve(counts) as server:
        reading = made_with(event_hooks=hooks(variant, on_response=read))
        assert run(variant, server.address, get, reading).pageviews == 7


def test_a_hook_may_raise_for_a_status(variant: str) -> None:
    """With a hook that raises for a status the error is that of the status."""

    def raise_for_status(response: httpx.Response) -> None:
        response.raise_for_status()

    def missing(connection: Connection) -> None:
        connection.request()
        connection.respond(b"{}", 404)

    given = made_with(event_hooks=hooks(variant, on_response=raise_for_status))
    with serve(missing) as server, pytest.raises(NotFoundError):
        run(variant, server.address, get, given)


class Challenged(httpx.Auth):
    """Sends a request again once the service wants to know who asks."""

    def auth_flow(self, request: httpx.Request) -> Any:
        response = yield request
        if response.status_code == 403:
            request.headers["Authorization"] = "Bearer me"
            yield request


def test_a_read_authenticates_as_the_given_client_does(variant: str) -> None:
    """A read has the authentication of the user's client, in two steps where it has
    two, over one connection.
    """

    def script(connection: Connection) -> None:
        while request := connection.request():
            known = b"Authorization: Bearer me" in request
            connection.respond(BODY, 200 if known else 403)

    with serve(script) as server:
        given = made_with(auth=Challenged())
        assert run(variant, server.address, get, given).pageviews == 7
        assert len(server.requests) == 2
        ours = over_ours(auth=Challenged())
        assert run(variant, server.address, get, ours).pageviews == 7
    assert server.connections == 2


def test_a_write_is_sent_once(variant: str) -> None:
    """A write has no authentication but ours: one that waits for a challenge would
    send it twice.
    """

    def refuse(connection: Connection) -> None:
        while connection.request():
            connection.respond(b"{}", 403)

    with serve(refuse) as server, pytest.raises(PermissionDeniedError):
        run(variant, server.address, add, made_with(auth=Challenged()))
    assert len(server.requests) == 1


def test_a_closed_client_is_an_error_of_ours(variant: str) -> None:
    """A call over a client that the user has closed says so."""
    ours, theirs, _ = CLIENTS[variant]
    mine = theirs()

    async def awaited() -> None:
        await mine.aclose()
        async with ours("http://stats.example", http_client=mine) as client:
            await get(client)

    def blocking() -> None:
        mine.close()
        with ours("http://stats.example", http_client=mine) as client:
            get(client)

    closed = pytest.raises(ClientClosedError, match="http_client was closed")
    if variant == "blocking":
        with closed:
            blocking()
    else:
        with closed:
            anyio.run(awaited, backend=variant)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("more", "names"),
    [
        (
            {"transport": httpx.MockTransport(lambda _: httpx.Response(200))},
            "transport=",
        ),
        ({"proxy": "http://127.0.0.1:9"}, "proxy="),
        ({"proxy": None, "verify": False}, "proxy= and verify="),
    ],
)
def test_nothing_is_given_beside_a_client(kind: Any, more: Any, names: str) -> None:
    """Transport, proxy and certificates are settings of the user's client."""
    mine = httpx.Client() if kind is Client else httpx.AsyncClient()
    with pytest.raises(ConfigurationError, match=f"so {names} can't be given besides"):
        kind("http://stats.example", http_client=mine, **more)


@pytest.mark.parametrize(
    ("kind", "given", "advice"),
    [
        (
            Client,
            httpx.AsyncClient(),
            "an httpx.AsyncClient is for an AsyncClient, as http_client=",
        ),
        (
            AsyncClient,
            httpx.Client(),
            "an httpx.Client is for a Client, as http_client=",
        ),
        (
            Client,
            HTTPTransport(),
            "the HTTPTransport is for a Client, as transport=",
        ),
        (Client, httpx.Client, "a class is none: give an instance of it"),
        (AsyncClient, "x", "a value of type str is none"),
    ],
)
def test_what_is_no_client_is_refused(kind: Any, given: Any, advice: str) -> None:
    """What can't send is refused when the client is made, with what to do."""
    with pytest.raises(ConfigurationError, match=f"http_client is an .*; {advice}$"):
        kind("http://stats.example", http_client=given)


def test_the_proxy_of_the_environment_is_the_given_clients_business(
    monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    """A wrong proxy in the environment does not keep a client with one of its own."""
    monkeypatch.setenv("HTTP_PROXY", "ftp://nowhere")
    with serve(counts) as server:
        given = made_with(trust_env=False)
        assert run(variant, server.address, get, given).pageviews == 7


def test_a_client_over_a_given_one_is_not_pickled() -> None:
    """What holds a user's client can't be sent to another process."""
    client = Client("http://stats.example", http_client=httpx.Client())
    with pytest.raises(ConfigurationError, match="http_client= of yours"):
        pickle.dumps(client)


# Our transport in a client of theirs --------------------------------------------


def drips(connection: Connection) -> None:
    """Respond a byte at a time, to a used connection."""
    connection.request()
    connection.respond(BODY)
    connection.request()
    connection.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 3000)


def test_our_transport_keeps_the_limit_in_a_given_client(variant: str) -> None:
    """With our transport within, a call ends by its total limit while headers drip."""

    def twice(client: Any) -> Any:
        hasty = client.with_options(total_timeout=0.1)

        async def awaited() -> None:
            await get(client)
            await get(hasty)

        if variant != "blocking":
            return awaited()
        get(client)
        return get(hasty)

    with serve(drips) as server, pytest.raises(RequestTimeoutError, match="total"):
        run(variant, server.address, twice, over_ours())
    assert server.connections == 1


def test_our_transport_may_be_given_by_itself(variant: str) -> None:
    """As ``transport=`` it sends over connections that are used again."""
    ours, _, transport = CLIENTS[variant]

    async def awaited() -> None:
        async with ours(server.address, transport=transport()) as client:
            for _ in range(3):
                await get(client)

    with serve(counts) as server:
        if variant == "blocking":
            with ours(server.address, transport=transport()) as client:
                for _ in range(3):
                    get(client)
        else:
            anyio.run(awaited, backend=variant)
    assert server.connections == 1


def theirs(variant: str, requests: Callable[[Any], Any], **options: Any) -> Any:
    """What *requests* gives for a client of httpx over our transport."""
    _, http, transport = CLIENTS[variant]

    async def awaited() -> Any:
        async with http(transport=transport(**options), trust_env=False) as mine:
            return await requests(mine)

    if variant != "blocking":
        return anyio.run(awaited, backend=variant)
    with http(transport=transport(**options), trust_env=False) as mine:
        return requests(mine)


def both(variant: str, *calls: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The responses of several calls, awaited or not."""

    async def awaited(mine: Any) -> list[httpx.Response]:
        return [await call(mine) for call in calls]

    def blocking(mine: Any) -> list[httpx.Response]:
        return [call(mine) for call in calls]

    return blocking if variant == "blocking" else awaited


def test_requests_of_the_user_go_through_it_too(variant: str) -> None:
    """What a user's client sends besides goes to any host, over open connections."""
    with serve(counts) as server, serve(polite) as other:
        calls = [
            lambda mine: mine.get(server.address),
            lambda mine: mine.get(other.address),
            lambda mine: mine.post(server.address, json={}),
        ]
        responses = theirs(variant, both(variant, *calls))
    assert [one.status_code for one in responses] == [200] * 3
    assert (server.connections, other.connections) == (1, 1)


def test_a_request_of_the_user_has_the_timeouts_of_httpx(variant: str) -> None:
    """A request that is none of ours ends by the timeout of httpx, as it names it."""

    def silent(connection: Connection) -> None:
        connection.request()
        connection.wait()

    with serve(silent) as server, pytest.raises(httpx.ReadTimeout):
        theirs(
            variant,
            both(variant, lambda mine: mine.get(server.address, timeout=0.05)),
        )


def test_our_transport_trusts_what_it_is_told_to(variant: str) -> None:
    """Certificates are checked as ``verify`` says, for every request."""
    behind, trusting = contexts("localhost")
    with serve(polite, behind) as server:
        call = both(variant, lambda mine: mine.get(server.address))
        (response,) = theirs(variant, call, verify=trusting)
        assert response.status_code == 200
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            theirs(variant, call)


def test_an_extension_that_is_kept_leads_nowhere(variant: str) -> None:
    """A request that a hook stored and sends later takes a connection of its own."""
    stored: list[httpx.Request] = []
    with serve(counts) as server:
        run(
            variant,
            server.address,
            get,
            over_ours(event_hooks=hooks(variant, stored.append)),
        )
        (response,) = theirs(variant, both(variant, lambda mine: mine.send(stored[0])))
    assert response.status_code == 200
    assert server.connections == 2
