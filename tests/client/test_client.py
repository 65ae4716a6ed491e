"""Both clients against the emulator, with and without a socket."""

from __future__ import annotations

import gc
import pickle
import warnings
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx
import pytest
from attrs import define

from sitestats import (
    AsyncClient,
    AuthenticationError,
    Client,
    ConfigurationError,
    QueryError,
    RateLimitedError,
    ReadOnlyError,
    RetryPolicy,
    ServerError,
    SpecError,
    StatsQuery,
)
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

HOST = "semicomplete.com"
QUICK = RetryPolicy(wait_initial=0.001, wait_max=0.002)
TOTALS = StatsQuery(HOST).fields("pageviews", "visitors").last(days=30)


@define
class ClientVariant:
    """Runs calls with one kind of client, on one loop, over a socket or without."""

    emulator: Emulator
    backend: str
    address: str | None

    def __call__(self, call: Callable[[Any], Any], **options: Any) -> Any:
        """The value of *call* for a client, awaited where the client is async."""
        if self.backend == "blocking":
            with self._client(Client, **options) as client:
                return call(client)
        return anyio.run(self._call_async, call, options, backend=self.backend)

    async def _call_async(
        self, call: Callable[[Any], Any], options: dict[str, Any]
    ) -> Any:
        async with self._client(AsyncClient, **options) as client:
            return await call(client)

    def _client(self, cls: Any, **options: Any) -> Any:
        options = {
            "api_key": self.emulator.api_key,
            "user_id": self.emulator.user_id,
            "retries": QUICK,
            **options,
        }
        if self.address is not None:
            return cls(self.address, **options)
        if cls is Client:
            return self.emulator.client(**options)
        return self.emulator.async_client(**options)


@pytest.fixture
def emulator() -> Emulator:
    """Real traffic, for one test alone."""
    return Emulator.demo()


@pytest.fixture(params=["blocking", "asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The client variant's loop, or ``"blocking"``."""
    return str(request.param)


@pytest.fixture(params=["no socket", "loopback socket"])
def run(
    request: pytest.FixtureRequest, emulator: Emulator, backend: str
) -> Iterator[ClientVariant]:
    """Runs calls with every client variant."""
    if request.param == "no socket":
        yield ClientVariant(emulator, backend, None)
    else:
        with emulator.serve() as address:
            yield ClientVariant(emulator, backend, address)


def test_statistics(run: ClientVariant) -> None:
    """The statistics of the demo have the expected values and types."""
    query = TOTALS.fields("pageviews", "visitors", "pages", "histogram").limit(3)
    stats = run(lambda client: client.stats.get(query))
    assert stats.pageviews == 1586
    assert [(page.value, page.pageviews) for page in stats.pages] == [
        ("/projects/xdotool/", 203),
        ("/projects/xdotool/xdotool.xhtml", 143),
        ("/articles/dynamic-dns-with-dhcp/", 122),
    ]
    assert sum(day.pageviews for day in stats.histogram) == 1586


def test_statistics_of_one_page(run: ClientVariant) -> None:
    """A path in the address restricts the statistics to that page."""
    query = TOTALS.path("/projects/xdotool/")
    assert run(lambda client: client.stats.get(query)).pageviews == 203


def test_event_counts(run: ClientVariant) -> None:
    """Events are counted by name."""
    query = StatsQuery(HOST).events("download", "feed_read").last(days=30)
    stats = run(lambda client: client.stats.get(query))
    assert {event.name for event in stats.events} == {"download", "feed_read"}
    assert all(event.total > 0 for event in stats.events)


def test_jsonp(run: ClientVariant) -> None:
    """JSONP is returned as it was received, and an invalid callback is refused."""
    script = run(lambda client: client.stats.get_jsonp(TOTALS, callback="a.show"))
    assert "a.show(" in script
    assert "1586" in script
    with pytest.raises(SpecError):
        run(lambda client: client.stats.get_jsonp(TOTALS, callback="alert(1)//"))


def test_listing_and_adding(run: ClientVariant) -> None:
    """A website that was added is in the list."""
    added = run(
        lambda client: client.websites.add(
            "Bücher.example", timezone="Europe/Berlin", public=True, label=""
        )
    )
    assert (added.hostname, added.timezone) == (
        "xn--bcher-kva.example",
        "Europe/Berlin",
    )
    assert added.public
    listed = run(lambda client: client.websites.list())
    assert added.hostname in {website.hostname for website in listed}


def test_custom_endpoint(run: ClientVariant) -> None:
    """The response of a custom endpoint is returned as plain JSON."""
    response = run(lambda client: client.request("GET", "/api/websites"))
    assert response["success"] is True


def test_an_invalid_query_is_not_sent(run: ClientVariant) -> None:
    """A query that breaks rules raises one error with all of them, and is not sent."""
    query = TOTALS.fields("pages").where(page="*dynamic-dns-with*").all_events()
    with pytest.raises(QueryError) as caught:
        run(lambda client: client.stats.get(query), api_key=None)
    assert len(caught.value.problems) >= 3
    assert run.emulator.requests == ()


def test_temporary_failures_are_retried(run: ClientVariant) -> None:
    """A GET that fails twice is retried, and the third attempt succeeds."""
    run.emulator.fail_next(2, status=503)
    assert run(lambda client: client.stats.get(TOTALS)).pageviews == 1586
    assert len(run.emulator.requests) == 3


def test_a_retry_after_beyond_the_timeout_is_raised_at_once(run: ClientVariant) -> None:
    """A Retry-After beyond the total timeout is raised as an error that has it."""
    run.emulator.fail_next(status=429, retry_after=7_000)
    with pytest.raises(RateLimitedError) as caught:
        run(lambda client: client.stats.get(TOTALS))
    assert caught.value.retry_after == 7_000


def test_a_write_is_not_repeated(run: ClientVariant) -> None:
    """A website is sent once, whatever the response is."""
    run.emulator.fail_next(status=503)
    with pytest.raises(ServerError):
        run(lambda client: client.websites.add("example.com"))
    assert len(run.emulator.requests) == 1


def test_a_read_only_client_writes_nothing(run: ClientVariant) -> None:
    """A read-only client refuses each write and nothing is sent."""
    with pytest.raises(ReadOnlyError):
        run(lambda client: client.websites.add("example.com"), read_only=True)
    with pytest.raises(ReadOnlyError):
        run(lambda client: client.request("POST", "/api/custom"), read_only=True)
    assert run.emulator.requests == ()


@pytest.mark.parametrize("missing", ["api_key", "user_id"])
def test_the_admin_api_needs_both_credentials(run: ClientVariant, missing: str) -> None:
    """Without a key or a user ID an Admin call is refused before it is sent."""
    for call in (
        lambda client: client.websites.list(),
        lambda client: client.websites.add("example.com"),
    ):
        with pytest.raises(ConfigurationError, match=missing):
            run(call, **{missing: None})
    assert run.emulator.requests == ()


def test_an_unknown_key_is_an_authentication_error(run: ClientVariant) -> None:
    """A key that the service does not know raises an error that names the cause."""
    with pytest.raises(AuthenticationError):
        run(lambda client: client.websites.list(), api_key="sa_api_key_of_nobody")


def test_a_view_shares_the_connections(run: ClientVariant) -> None:
    """with_options changes the limits of the view only, and shares its connections."""

    def call(client: Any) -> Any:
        view = client.with_options(retries=0, timeout=5.0, total_timeout=9.0)
        assert view._sender is client._sender
        assert client._settings.retry == QUICK
        return view.stats.get(TOTALS)

    run.emulator.fail_next(status=503)
    with pytest.raises(ServerError):
        run(call)


NAMES = ("SITESTATS_BASE_URL", "SITESTATS_API_KEY", "SITESTATS_USER_ID")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with all three variables."""
    for name, value in zip(
        NAMES, ("https://env.example", "env_key", "env_user"), strict=True
    ):
        monkeypatch.setenv(name, value)
    return monkeypatch


def held(client: Any) -> tuple[str, str | None, str | None]:
    """The base address and the credentials that *client* has."""
    settings = client._settings
    return (
        str(settings.base),
        settings.api_key and settings.api_key.reveal(),
        settings.user_id and settings.user_id.reveal(),
    )


@pytest.mark.parametrize("cls", [Client, AsyncClient])
class TestEnvironment:
    """Arguments that are left out come from the environment; None means without."""

    def test_everything_left_out(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A client without arguments takes everything from the environment."""
        assert held(cls()) == ("https://env.example", "env_key", "env_user")

    def test_none_is_without(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """None leaves out a credential that the environment has."""
        assert held(cls(api_key=None))[1] is None

    def test_a_key_does_not_go_to_an_address_given(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A key of the environment is not used with another base address."""
        assert held(cls("https://other.example"))[1:] == (None, None)

    def test_the_same_address_given(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A key of the environment is used when its own address is an argument."""
        assert held(cls("https://ENV.example/"))[1] == "env_key"

    def test_from_env(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """from_env sends the environment's credentials to the address given."""
        client = cls.from_env("https://other.example", retries=7)
        assert held(client) == ("https://other.example", "env_key", "env_user")
        assert client._settings.retry.retries == 7

    def test_no_base_address(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """Without any base address the error says how to give one."""
        environment.delenv("SITESTATS_BASE_URL")
        with pytest.raises(ConfigurationError, match="SITESTATS_BASE_URL"):
            cls()

    def test_pickling_keeps_settings(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A pickled client has its settings, and reads its key again."""
        data = pickle.dumps(cls(retries=5))
        assert b"env_key" not in data
        environment.setenv("SITESTATS_API_KEY", "another_key")
        copy, second = pickle.loads(data), pickle.loads(data)
        assert held(copy)[1] == "another_key"
        assert copy._settings.retry.retries == 5
        assert copy._sender is second._sender

    def test_pickling_without_the_variable(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A process without the key says which variable is missing."""
        data = pickle.dumps(cls())
        environment.delenv("SITESTATS_API_KEY")
        with pytest.raises(ConfigurationError, match="SITESTATS_API_KEY is not set"):
            pickle.loads(data)

    def test_a_key_given_is_never_pickled(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A client with a key of its own refuses to be pickled, and says why."""
        with pytest.raises(ConfigurationError, match="never pickled"):
            pickle.dumps(cls(api_key="my_own_key"))


BAD_KEYS = ["", " ", "a b", "a\nb", "a\r\nX: y", "é", "\x00", "\x7f", "a\t", "ключ"]


@pytest.mark.parametrize("name", ["api_key", "user_id"])
@pytest.mark.parametrize("value", BAD_KEYS, ids=ascii)
def test_a_credential_that_no_header_carries(name: str, value: Any) -> None:
    """A credential that no header can hold is refused, and not shown in the error."""
    with pytest.raises(ConfigurationError) as caught:
        Client(**{"base_url": "https://analytics.example", name: value})
    assert name in str(caught.value)
    if value.strip():
        assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("timeout", value) for value in (0, -1, None, True, "30", float("inf"))),
        *(("total_timeout", value) for value in (0, -1, None, float("nan"))),
        *(("retries", value) for value in (-1, True, "2", 1.5, None)),
        *(("max_connections", value) for value in (0, True, 1.5, None)),
        *(("max_response_bytes", value) for value in (0, True, None)),
        ("read_only", "yes"),
        ("proxy", 8080),
    ],
)
def test_a_setting_that_is_wrong(name: str, value: Any) -> None:
    """A setting of the wrong type is refused by name."""
    with pytest.raises(ConfigurationError, match=name.removesuffix("s")):
        Client(**{"base_url": "https://analytics.example", name: value})


@pytest.mark.parametrize(
    "base_url", ["", "example.com", "ftp://example.com", "https://a@b.example", None]
)
def test_an_invalid_base_address(base_url: Any) -> None:
    """A base address that no request can be sent to is refused."""
    with pytest.raises(ConfigurationError, match="base_url"):
        Client(base_url)


def test_the_longest_query_is_answered(run: ClientVariant) -> None:
    """An address of nearly the limit goes through, over a socket and a transport."""
    names = [f"event-{number:05}" for number in range(5300)]
    query = TOTALS.events(*names)
    assert 63_000 < len(query.url("https://a.example")) < 64_000
    assert len(run(lambda client: client.stats.get(query)).events) == len(names)


def test_a_query_that_is_too_long_is_not_sent(run: ClientVariant) -> None:
    """It is an error of the query, which is not retried as one of the connection."""
    query = TOTALS.events(*(f"event-{number:05}" for number in range(6000)))
    before = len(run.emulator.requests)
    with pytest.raises(QueryError, match=r"72,\d\d\d characters.*64,000.*events"):
        run(lambda client: client.stats.get(query))
    assert len(run.emulator.requests) == before


@pytest.mark.parametrize("cls", [Client, AsyncClient])
def test_an_address_that_a_transport_refuses_is_not_retried(cls: Any) -> None:
    """Any other address that a user's transport can't hold is told as what it is."""
    calls: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        return httpx.Response(200, json={})

    client = cls(
        "https://analytics.example",
        api_key="sa_api_key_0123456789abcdefghijklmn",
        user_id="sa_user_id_00000000-0000-4000-8000-000000000000",
        transport=httpx.MockTransport(respond),
    )
    refused = pytest.raises(QueryError, match=r"70,\d\d\d characters.*URL too long")

    def call() -> Any:
        return client.request("GET", "/custom", params={"a": "x" * 70_000})

    with refused:
        _ = call() if cls is Client else anyio.run(call)
    assert not calls


@pytest.mark.parametrize(
    ("cls", "value", "text"),
    [
        (Client, httpx.Client(), "the transport that it was made with"),
        (AsyncClient, httpx.AsyncClient(), "the transport that it was made with"),
        (Client, httpx.AsyncHTTPTransport(), "for an AsyncClient"),
        (AsyncClient, httpx.HTTPTransport(), "for a Client"),
        (Client, httpx.HTTPTransport, "instance"),
        (AsyncClient, httpx.AsyncHTTPTransport, "instance"),
        (Client, "https://secret.example", "of type str"),
        (AsyncClient, True, "of type bool"),
    ],
)
def test_a_value_that_is_no_transport(cls: Any, value: Any, text: str) -> None:
    """What carries no requests is refused when the client is made, and not shown."""
    with pytest.raises(ConfigurationError, match="transport") as caught:
        cls("https://analytics.example", transport=value)
    assert text in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_transport_need_not_be_of_a_class_of_httpx() -> None:
    """Whatever has the method of a transport is one."""

    class Wrapper:
        """Carries requests for another transport."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json={"success": True, "websites": []})

    with Client(
        "https://analytics.example",
        api_key="sa_api_key_0123456789abcdefghijklmn",
        user_id="sa_user_id_00000000-0000-4000-8000-000000000000",
        transport=cast("Any", Wrapper()),
    ) as client:
        assert list(client.websites.list()) == []


def test_a_client_that_was_never_closed(emulator: Emulator) -> None:
    """A client that is dropped with open connections warns, and does no I/O."""
    with emulator.serve() as address:
        client = Client(address)
        client.stats.get(TOTALS)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del client
            gc.collect()
            assert any("never closed" in str(warning.message) for warning in caught)
            # A caught warning keeps the client, whose sockets warn as well.
            caught.clear()
            gc.collect()


def test_a_client_that_was_never_used() -> None:
    """A client that opened no connection is dropped without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Client("https://analytics.example")
        gc.collect()
