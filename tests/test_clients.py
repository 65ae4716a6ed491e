"""Both clients, every way to reach the service: one body for each test."""

from __future__ import annotations

import gc
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import anyio
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
    """One way to reach the emulator: a kind of client, a loop, a socket or none."""

    emulator: Emulator
    backend: str
    address: str | None

    def __call__(self, call: Callable[[Any], Any], **options: Any) -> Any:
        """What *call* gives for a client, awaited where the client is async."""
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
    """What runs the client."""
    return str(request.param)


@pytest.fixture(params=["no socket", "loopback socket"])
def run(
    request: pytest.FixtureRequest, emulator: Emulator, backend: str
) -> Iterator[ClientVariant]:
    """Every way to ask the emulator."""
    if request.param == "no socket":
        yield ClientVariant(emulator, backend, None)
    else:
        with emulator.serve() as address:
            yield ClientVariant(emulator, backend, address)


def test_statistics(run: ClientVariant) -> None:
    """The numbers of the real traffic arrive, typed."""
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
    """A path in the address asks for that page alone."""
    query = TOTALS.path("/projects/xdotool/")
    assert run(lambda client: client.stats.get(query)).pageviews == 203


def test_event_counts(run: ClientVariant) -> None:
    """Events are counted by name."""
    query = StatsQuery(HOST).events("download", "feed_read").last(days=30)
    stats = run(lambda client: client.stats.get(query))
    assert {event.name for event in stats.events} == {"download", "feed_read"}
    assert all(event.total > 0 for event in stats.events)


def test_jsonp(run: ClientVariant) -> None:
    """JSONP comes as it was served, and a callback that is no name is refused."""
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
    """A custom endpoint's answer comes as plain JSON."""
    response = run(lambda client: client.request("GET", "/api/websites"))
    assert response["success"] is True


def test_what_the_query_breaks_is_told_before_sending(run: ClientVariant) -> None:
    """A query that breaks rules is refused whole, and nothing is sent."""
    query = TOTALS.fields("pages").where(page="*dynamic-dns-with*").all_events()
    with pytest.raises(QueryError) as caught:
        run(lambda client: client.stats.get(query), api_key=None)
    assert len(caught.value.problems) >= 3
    assert run.emulator.requests == ()


def test_passing_failures_are_tried_again(run: ClientVariant) -> None:
    """A GET that meets two failures is answered by the third try."""
    run.emulator.fail_next(2, status=503)
    assert run(lambda client: client.stats.get(TOTALS)).pageviews == 1586
    assert len(run.emulator.requests) == 3


def test_a_long_pause_is_told_at_once(run: ClientVariant) -> None:
    """A Retry-After beyond the total timeout comes out as an error that tells it."""
    run.emulator.fail_next(status=429, retry_after=7_000)
    with pytest.raises(RateLimitedError) as caught:
        run(lambda client: client.stats.get(TOTALS))
    assert caught.value.retry_after == 7_000


def test_a_write_is_not_repeated(run: ClientVariant) -> None:
    """A website is sent once, whatever the service answers."""
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
    with pytest.raises(ConfigurationError, match=missing):
        run(lambda client: client.websites.list(), **{missing: None})
    assert run.emulator.requests == ()


def test_a_wrong_key_is_told(run: ClientVariant) -> None:
    """A key that the service does not know becomes an error that names the cause."""
    with pytest.raises(AuthenticationError):
        run(lambda client: client.websites.list(), api_key="sa_api_key_of_nobody")


def test_a_view_shares_the_connections(run: ClientVariant) -> None:
    """with_options changes the limits of a view, and not of the client."""

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
    """What is left out comes from the environment; None means without."""

    def test_everything_left_out(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A client made without arguments is the environment's."""
        assert held(cls()) == ("https://env.example", "env_key", "env_user")

    def test_none_is_without(self, cls: Any, environment: pytest.MonkeyPatch) -> None:
        """None goes without a credential that the environment has."""
        assert held(cls(api_key=None))[1] is None

    def test_a_key_does_not_go_to_an_address_given(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """A key of the environment does not go to an address from elsewhere."""
        assert held(cls("https://other.example"))[1:] == (None, None)

    def test_the_same_address_given(
        self, cls: Any, environment: pytest.MonkeyPatch
    ) -> None:
        """The environment's own address may be given as an argument too."""
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
    """A credential that no header can carry is refused, and not repeated."""
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
    """A setting of the wrong kind is refused by name."""
    with pytest.raises(ConfigurationError, match=name.removesuffix("s")):
        Client(**{"base_url": "https://analytics.example", name: value})


@pytest.mark.parametrize(
    "base_url", ["", "example.com", "ftp://example.com", "https://a@b.example", None]
)
def test_a_base_address_that_is_none(base_url: Any) -> None:
    """A base address that no request can go to is refused."""
    with pytest.raises(ConfigurationError, match="base_url"):
        Client(base_url)


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
    """A client that opened nothing may be dropped in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Client("https://analytics.example")
        gc.collect()
