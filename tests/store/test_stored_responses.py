"""Clients with a store: what is sent again, and that no result is ever wrong."""

from __future__ import annotations

import logging
import pickle
import ssl
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_variants import VARIANTS
from sitestats import (
    Client,
    ConfigurationError,
    NotFoundError,
    SiteStatsWarning,
    Stats,
    StatsQuery,
    Store,
)
from sitestats._client.runner import Runner
from sitestats._protocol.flow import Moment, Now
from sitestats._store import stored_responses as module
from sitestats.emulator import Emulator
from sitestats.emulator._emulator import BASE_URL
from stores import InMemory, Stuck, execute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sitestats._protocol.flow import Step, StepResult

pytestmark = pytest.mark.standard_library


HOSTNAME = "semicomplete.com"
# The demo's traffic is on the four days before today.
# The day after it ended long enough ago, too, that its response is stored.
DATE = datetime.now(UTC).date() - timedelta(days=3)
DAY = StatsQuery(HOSTNAME).fields("visitors", "pages").on(DATE)
Get = Callable[..., Stats]


@pytest.fixture
def emulator() -> Emulator:
    """An emulator with the demo's traffic."""
    return Emulator.demo()


@pytest.fixture(params=VARIANTS)
def get(request: pytest.FixtureRequest, emulator: Emulator, tmp_path: Path) -> Get:
    """Gets a query with one client variant that has a store in a file."""

    async def get_async(query: StatsQuery, **arguments: Any) -> Stats:
        async with emulator.async_client(store=tmp_path / "store") as client:
            return await client.stats.get(query, **arguments)

    def get(query: StatsQuery, **arguments: Any) -> Stats:
        if request.param == "blocking":
            with emulator.client(store=tmp_path / "store") as client:
                return client.stats.get(query, **arguments)
        return anyio.run(lambda: get_async(query, **arguments), backend=request.param)

    return get


def test_a_period_that_was_over_is_requested_once(get: Get, emulator: Emulator) -> None:
    """A second client with the same file gets the same result without a request."""
    first, second = get(DAY), get(DAY)
    assert len(emulator.requests) == 1
    assert (first.from_store, second.from_store) == (False, True)
    assert second == first
    assert second.body == first.body
    assert second.partial == first.partial
    assert second.to_dict() == first.to_dict()


def test_fresh_requests_and_stores(get: Get, emulator: Emulator) -> None:
    """With ``fresh`` a request is sent, and its response is stored."""
    get(DAY)
    emulator.load([row(DATE)])
    before = get(DAY)
    assert get(DAY, fresh=True).visitors == before.visitors + 1
    assert get(DAY).visitors == before.visitors + 1
    assert len(emulator.requests) == 2


def row(day: date, hostname: str = HOSTNAME) -> dict[str, Any]:
    """A page view at noon."""
    return {
        "hostname": hostname,
        "path": "/late",
        "is_unique": True,
        "added_iso": f"{day.isoformat()}T12:00:00Z",
    }


def test_errors_and_open_periods_are_requested_again(
    get: Get, emulator: Emulator
) -> None:
    """Neither an error nor a period that goes on is stored."""
    for _ in range(2):
        with pytest.raises(NotFoundError):
            get(DAY.website("nobody.example"))
    query = DAY.between(DATE, DATE + timedelta(days=3))
    assert not get(query).from_store
    assert not get(query).from_store
    assert len(emulator.requests) == 4


def test_the_display_tells_what_came_from_the_store(
    emulator: Emulator, tmp_path: Path
) -> None:
    """An analyst sees why the second run sends requests: words are never stored."""
    query = StatsQuery(HOSTNAME).fields("visitors")
    queries = [query.on(DATE), query.last(days=3)]
    with emulator.client(store=tmp_path / "store") as client:
        client.stats.get_many(queries).collect()
        again = client.stats.get_many(queries).collect()
        assert [one.index for one in again.never_stored] == [1]
        for part in (again, again[:2], again.retry()):
            assert "1 from the store" in repr(part)
            assert "1 never stored, since words name their days" in repr(part)
    with emulator.client() as client:
        outcomes = client.stats.get_many(queries).collect()
        assert "store" not in repr(outcomes)


def test_many_and_comparisons_use_the_store(emulator: Emulator, tmp_path: Path) -> None:
    """``get_many`` and ``compare`` send only what is missing."""
    base = StatsQuery(HOSTNAME).fields("visitors")
    base = base.between(DATE - timedelta(days=2), DATE + timedelta(days=1))
    with emulator.client(store=tmp_path / "store") as client:
        client.stats.get(next(iter(base.each("day"))))
        outcomes = client.stats.get_many(base.each("day")).collect()
        assert [outcome.result().from_store for outcome in outcomes] == [
            True,
            False,
            False,
            False,
        ]
        assert len(emulator.requests) == 4
        again = client.stats.get_many(base.each("day")).collect()
        assert [one.result() for one in again] == [one.result() for one in outcomes]
        day = base.on(DATE)
        client.stats.compare(day, against="previous_period")
        assert len(emulator.requests) == 4
        client.stats.compare(day, against="previous_period", fresh=True)
        client.stats.get_many([day], fresh=True).collect()
        assert len(emulator.requests) == 7


def test_the_first_of_many_is_found_again(emulator: Emulator, tmp_path: Path) -> None:
    """What threads store at the same time, in a file that is new, is found again."""
    queries = [DAY.limit(number) for number in range(1, 21)]
    for number in range(5):
        for _ in range(2):
            emulator.forget_requests()
            with emulator.client(store=tmp_path / f"{number}") as client:
                client.stats.get_many(queries, concurrency=20).collect()
        assert not emulator.requests


def test_after_new_days_only_those_are_requested(tmp_path: Path) -> None:
    """A history that is requested again some days later sends only the new days."""
    emulator = Emulator.made_up(2, days=30, now=datetime(2026, 3, 10, 12, tzinfo=UTC))
    base = StatsQuery("shop.example").fields("visitors")
    with (
        Store(tmp_path / "store", max_age=None) as store,
        emulator.client(store=store) as client,
    ):
        for end, new in (("2026-03-09", 9), ("2026-03-09", 0), ("2026-03-12", 3)):
            emulator.forget_requests()
            queries = base.between("2026-03-01", end).each("day")
            assert not client.stats.get_many(queries).collect().failed
            assert len(emulator.requests) == new
            emulator.now = datetime(2026, 3, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "others",
    [
        {"api_key": None},
        {"base_url": "https://x.example"},
        {"headers": {"X-Team": "b"}},
        {"headers": {"Authorization": "Basic Yjpi"}},
        {"user_agent": "dash/1.0"},
        {"verify": False},
        {"verify": "/etc/ssl/own.pem"},
        {"proxy": "http://gateway.test:3128"},
    ],
    ids=str,
)
def test_a_client_gets_its_own_responses_alone(
    emulator: Emulator, others: dict[str, Any]
) -> None:
    """All that decides what a response is tells clients apart: a client that sends
    something else, or trusts others, does not get what was stored for another one.
    """
    memory = InMemory()
    emulator.change_website(HOSTNAME, public=True)
    for options in ({}, others):
        for is_stored in (False, True):
            arguments = {"base_url": BASE_URL, "api_key": emulator.api_key, **options}
            with on_transport(
                Client(store=memory, **arguments), emulator.transport()
            ) as client:
                assert client.stats.get(DAY).from_store is is_stored


def test_another_key_of_the_user_gets_its_own_responses(emulator: Emulator) -> None:
    """A client with another key does not see what was stored for the first one."""
    memory = InMemory()
    for key in (emulator.api_key, emulator.add_key(access=[HOSTNAME])):
        with emulator.client(store=memory, api_key=key) as client:
            assert not client.stats.get(DAY).from_store
            assert client.stats.get(DAY).from_store


def on_transport(client: Client, transport: httpx.BaseTransport) -> Client:
    """*client*, whose requests *transport* gets, as if they were sent by sockets."""
    client._set_up(
        client._settings, client._make_sender(client._settings, transport, None)
    )
    return client


def test_partitions_tell_clients_apart(emulator: Emulator, tmp_path: Path) -> None:
    """Clients with different partitions share no response, those with the same do."""
    for partition, is_stored in (("a", False), ("b", False), ("a", True), ("", False)):
        with (
            Store(tmp_path / "store", partition=partition) as store,
            emulator.client(store=store) as client,
        ):
            assert client.stats.get(DAY).from_store is is_stored


@pytest.mark.parametrize("name", ["http_client", "transport", "verify"])
def test_what_can_not_be_seen_needs_a_partition(
    emulator: Emulator, tmp_path: Path, name: str
) -> None:
    """Beside a client of httpx, a transport or an SSLContext, whose credentials and
    trust nobody sees, a store without a partition is refused, and one with it is used.
    """
    given: dict[str, Any] = {
        "http_client": httpx.Client(transport=emulator.transport()),
        "transport": httpx.MockTransport(lambda _: httpx.Response(500)),
        "verify": ssl.create_default_context(),
    }
    arguments = {"base_url": BASE_URL, "api_key": emulator.api_key, name: given[name]}
    with pytest.raises(ConfigurationError, match=r"partition='team-a'"):
        Client(store=tmp_path / "store", **arguments)
    with Store(tmp_path / "store", partition="a") as store:
        Client(store=store, **arguments).close()


def test_the_key_can_not_be_read_from_the_store(
    emulator: Emulator, tmp_path: Path
) -> None:
    """The file holds no credential, and its digests differ from file to file."""
    digests = []
    for name in ("a", "b"):
        with Store(tmp_path / name) as store, emulator.client(store=store) as client:
            client.stats.get(DAY)
            keys = execute(tmp_path / name, "SELECT key FROM entries")
        digests.append({key for (key,) in keys if ":response:" in key})
        data = b"".join(path.read_bytes() for path in tmp_path.glob(f"{name}*"))
        for secret in (emulator.api_key, emulator.user_id):
            assert secret.encode() not in data
    assert len(digests[0]) == len(digests[1]) == 1
    assert digests[0] != digests[1]


def test_a_change_of_the_zone_is_noticed(emulator: Emulator, tmp_path: Path) -> None:
    """When a newer response tells that a website has another time zone, what was stored
    without a zone is not used any more; what was stored with one is.
    """
    zoned = DAY.timezone("UTC")
    with emulator.client(store=tmp_path / "store") as client:
        client.stats.get(DAY)
        client.stats.get(zoned)
        emulator.change_website(HOSTNAME, timezone="Asia/Tokyo")
        assert client.stats.get(DAY).from_store, "nothing newer is known yet"
        client.stats.get(DAY.on(DATE + timedelta(days=1)))
        assert client.stats.get(zoned).from_store
        changed = client.stats.get(DAY)
        assert not changed.from_store
        assert changed.timezone == "Asia/Tokyo"
        assert client.stats.get(DAY).from_store


def test_words_without_a_zone_are_requested_and_reported_once(
    emulator: Emulator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Words without a zone are not read from the store; a log says once what helps."""
    caplog.set_level(logging.INFO, "sitestats")
    words = StatsQuery(HOSTNAME).fields("visitors").on("yesterday")
    with emulator.client(store=tmp_path / "store") as client:
        for _ in range(3):
            assert not client.stats.get(words).from_store
    (record,) = [record for record in caplog.records if record.name == "sitestats"]
    assert record.getMessage().endswith("give the query a timezone")


def test_a_damaged_value_is_a_warning_and_a_request(emulator: Emulator) -> None:
    """A stored response that was changed is one warning, and is requested and replaced;
    the others are used further on.
    """
    memory = InMemory()
    with emulator.client(store=memory) as client:
        good = client.stats.get(DAY)
        (key,) = [key for key in memory.values if ":response:" in key]
        sealed = memory.values[key]
        memory.values[key] = b""
        with pytest.warns(SiteStatsWarning, match="returned a damaged value"):
            assert not client.stats.get(DAY).from_store
        other = bytes([sealed[5] ^ 1])
        for bad in (b"later", sealed[:-5], sealed[:5] + other + sealed[6:]):
            memory.values[key] = bad
            assert not client.stats.get(DAY).from_store
            assert client.stats.get(DAY) == good
            assert client.stats.get(DAY).from_store


def test_a_client_with_a_store_is_pickled_with_its_path(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pickled client has the same store; a store is equal to what it was made of."""
    monkeypatch.setenv("SITESTATS_API_KEY", emulator.api_key)
    with emulator.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        with Client(store=Store(tmp_path / "store", max_age=None)) as client:
            client.stats.get(DAY)
            again = pickle.loads(pickle.dumps(client))
            assert again.stats.get(DAY).from_store
            assert again._settings.store.max_age is None
            again.close()


# --- a store that is slow or damaged ------------------------------------------------


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    """A store that is at work until the test ends."""
    stuck = Stuck()
    yield stuck
    stuck.let_go.set()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_slow_store_is_a_miss(emulator: Emulator, stuck: Stuck, variant: str) -> None:
    """A store that takes longer than a call may take is one warning, and a request is
    sent before the store is done.
    """

    async def get_async() -> Stats:
        async with emulator.async_client(store=stuck, total_timeout=1.0) as client:
            return await client.stats.get(DAY)

    def get() -> Stats:
        if variant != "blocking":
            return anyio.run(get_async, backend=variant)
        with emulator.client(store=stuck, total_timeout=1.0) as client:
            return client.stats.get(DAY)

    with pytest.warns(
        SiteStatsWarning, match="Stuck is not used.* than 0.125 s"
    ) as told:
        assert get().visitors
    assert len(told) == 1


def test_a_store_that_failed_rests(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that failed is not used for ten seconds, and then it is."""
    moments, memory = [1_000], InMemory()
    clock = SimpleNamespace(monotonic=lambda: moments[-1])
    monkeypatch.setattr(module, "time", clock)
    with emulator.client(store=memory) as client:
        with monkeypatch.context() as broken:
            broken.setattr(memory, "get", None)
            with pytest.warns(SiteStatsWarning, match="is not used"):
                client.stats.get(DAY)
        for moment, is_stored in ((1_009, 0), (1_009, 0), (1_010, 0), (1_010, 1)):
            moments.append(moment)
            assert client.stats.get(DAY).from_store == is_stored


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_scope_does_not_wait_for_the_store(
    emulator: Emulator, stuck: Stuck, backend: str
) -> None:
    """A cancelled call ends while its store is at work."""

    async def get() -> None:
        async with emulator.async_client(store=stuck, total_timeout=500) as client:
            with anyio.move_on_after(0.05) as scope:
                await client.stats.get(DAY)
            assert scope.cancelled_caught

    anyio.run(get, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_threads_that_are_busy_are_a_miss(
    emulator: Emulator, tmp_path: Path, backend: str
) -> None:
    """Where all threads of a loop are busy, a call goes on without its store."""
    event = threading.Event()
    with emulator.client(store=tmp_path / "store") as client:
        client.stats.get(DAY)

    async def get() -> Stats:
        anyio.to_thread.current_default_thread_limiter().total_tokens = 1
        async with (
            emulator.async_client(store=tmp_path / "store", total_timeout=2) as client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(anyio.to_thread.run_sync, event.wait)
            await anyio.wait_all_tasks_blocked()
            try:
                with anyio.fail_after(60):
                    return await client.stats.get(DAY)
            finally:
                event.set()

    assert not anyio.run(get, backend=backend).from_store


COUNTRIES = ("AT", "BE", "CH", "DE", "DK", "ES", "FR", "IT", "NL", "PL")


def test_a_flipped_bit_gives_nobody_the_numbers_of_another(
    emulator: Emulator, tmp_path: Path
) -> None:
    """Where one bit of the file's index leads to another row, the stored response is
    not used: a warning tells it, and the request is sent.
    """
    path = tmp_path / "store"
    queries = [DAY.where(country=country) for country in COUNTRIES]
    with emulator.client(store=path) as client:
        for query in queries:
            client.stats.get(query)
    wrong = flip_rows_of_index(path)
    with emulator.client(store=path) as client:
        with pytest.warns(SiteStatsWarning, match="returned a damaged value"):
            stored = [client.stats.get(query) for query in queries]
        assert sum(not stats.from_store for stats in stored) == wrong
    with emulator.client() as client:
        assert stored == [client.stats.get(query) for query in queries]


def flip_rows_of_index(path: Path) -> int:
    """Flip the lowest bit of each row that the index of keys leads to; how many exist.

    A row is behind its key there, in one byte while there are few.
    """
    [(page,)] = execute(
        path,
        "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entries_1'",
    )
    rows = execute(path, "SELECT rowid, key FROM entries WHERE rowid > 1")
    data = bytearray(path.read_bytes())
    wrong = 0
    for row, key in rows:
        place = data.index(key.encode(), (page - 1) * 4096, page * 4096) + len(key)
        assert data[place] == row
        data[place] ^= 1
        wrong += ":response:" in key
    path.write_bytes(data)
    return wrong


# --- time goes on -----------------------------------------------------------------


def on_the_clock_of(emulator: Emulator, client: Client) -> Client:
    """*client*, to which it is as late as it is to the emulator."""

    class OnTheClock(Runner):
        def _run_step(self, step: Step, on_note: Any) -> StepResult:
            if isinstance(step, Now):
                assert emulator.now is not None
                return Moment(time.monotonic(), emulator.now.timestamp())
            return super()._run_step(step, on_note)

    runner = client.stats._runner
    client.stats._runner = OnTheClock(runner.settings, runner._sender, runner._stored)
    return client


zones = st.sampled_from(["UTC", "Europe/Amsterdam", "Asia/Tokyo", "America/New_York"])
days = st.dates(date(2025, 3, 27), date(2025, 4, 2))


@st.composite
def periods(draw: st.DrawFn) -> StatsQuery:
    """A query of a few days around a change of daylight time."""
    query = StatsQuery("example.com").fields("visitors", "histogram")
    if draw(st.booleans()):
        query = query.timezone(draw(zones))
    kind = draw(st.sampled_from(["dates", "on", "last", "today"]))
    if kind == "dates":
        first, last = sorted([draw(days), draw(days)])
        return query.between(first, last)
    if kind == "on":
        return query.on(draw(st.sampled_from(["yesterday", "today", "today-2d"])))
    if kind == "last":
        return query.last(days=draw(st.integers(1, 3)))
    return query.between("today-1d", "today")


@given(
    zones,
    st.lists(
        st.tuples(periods(), st.timedeltas(timedelta(0), timedelta(hours=20))),
        min_size=5,
        max_size=8,
    ),
)
def test_the_store_is_never_wrong(
    zone: str, steps: list[tuple[StatsQuery, timedelta]]
) -> None:
    """Whatever is requested, and however time goes on, a client with a store gets what
    the service would respond at that moment.
    """
    emulator = Emulator(now=datetime(2025, 3, 27, tzinfo=UTC))
    emulator.add_website("example.com", timezone=zone)
    emulator.load(
        [
            {
                "hostname": "example.com",
                "path": "/",
                "is_unique": True,
                "added_iso": (
                    datetime(2025, 3, 25, tzinfo=UTC) + timedelta(minutes=40 * n)
                ).isoformat(),
            }
            for n in range(400)
        ]
    )
    storing = on_the_clock_of(emulator, emulator.client(store=InMemory()))
    plain = emulator.client()
    with storing, plain:
        for query, passed in steps:
            assert emulator.now is not None
            emulator.now += passed
            assert storing.stats.get(query) == plain.stats.get(query), query
