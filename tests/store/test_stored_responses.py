"""Clients with a store: what is sent again, and that no result is ever wrong."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_clients import VARIANTS, opened
from sitestats import (
    Client,
    ClientClosedError,
    ConfigurationError,
    NotFoundError,
    SiteStatsError,
    SiteStatsWarning,
    Stats,
    StatsQuery,
    Store,
)
from sitestats.emulator import Emulator
from store.inside import set_clock
from store.stores import InMemory, Stuck, execute

if TYPE_CHECKING:
    from pathlib import Path

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
    """Gets a query with a new client that has a store in a file."""

    def get(query: StatsQuery, **arguments: Any) -> Stats:
        with opened(request.param, emulator, store=tmp_path / "store") as client:
            stats: Stats = client.stats.get(query, **arguments)
            return stats

    return get


def test_a_period_that_was_over_is_requested_once(get: Get, emulator: Emulator) -> None:
    """A second client with the same file gets the same result without a request; with
    ``fresh`` a request is sent, and its response is stored.
    """
    first, second = get(DAY), get(DAY)
    assert len(emulator.requests) == 1
    assert (first.from_store, second.from_store) == (False, True)
    assert second == first
    assert second.body == first.body
    assert second.partial == first.partial
    assert second.to_dict() == first.to_dict()
    noon = f"{DATE.isoformat()}T12:00:00Z"
    late = {"path": "/late", "is_unique": True, "added_iso": noon}
    emulator.load([late], hostname=HOSTNAME)
    assert get(DAY, fresh=True).visitors == first.visitors + 1
    assert get(DAY).visitors == first.visitors + 1
    assert len(emulator.requests) == 2


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


@pytest.mark.parametrize(
    "other",
    [
        {"timezone": "Asia/Tokyo"},
        {"path": "/another"},
        {"version": 5},
        {"events": [{"name": "signup", "total": 1}]},
        {"start": f"{DATE - timedelta(days=1)}T00:00:00.000Z"},
        {"pages": [{"value": 7, "pageviews": 1, "visitors": 1}]},
    ],
    ids=str,
)
def test_what_comes_with_a_warning_is_requested_again(
    emulator: Emulator, other: dict[str, Any]
) -> None:
    """A response of another zone, page, version or day than requested, without a
    requested event or with a wrong entry, is not stored.
    """
    query = DAY.path("/projects/xdotool/").timezone("UTC").events("signup", "refund")
    body = json.loads(emulator.client().stats.get(query).body)
    with emulator.client(store=InMemory()) as client:
        emulator.fail_next(body={**body, **other})
        with pytest.warns(SiteStatsWarning):
            assert client.stats.get(query).visitors
        assert not client.stats.get(query).from_store
        assert client.stats.get(query).from_store


def test_a_closed_client_has_no_store_either(emulator: Emulator) -> None:
    """It refuses what a request would not be needed for, as all else."""
    with emulator.client(store=InMemory()) as client:
        client.stats.get(DAY)
    with pytest.raises(ClientClosedError):
        client.stats.get(DAY)


def test_many_and_comparisons_use_the_store(emulator: Emulator, tmp_path: Path) -> None:
    """``get_many`` and ``compare`` send only what is missing."""
    base = StatsQuery(HOSTNAME).fields("visitors")
    base = base.between(DATE - timedelta(days=2), DATE + timedelta(days=1))
    with emulator.client(store=tmp_path / "store") as client:
        client.stats.get(next(iter(base.each("day"))))
        outcomes = client.stats.get_many(base.each("day")).collect()
        stored = [outcome.result().from_store for outcome in outcomes]
        assert stored == [True, False, False, False]
        assert len(emulator.requests) == 4
        # Threads have stored the others at the same time.
        again = client.stats.get_many(base.each("day")).collect()
        assert [one.result() for one in again] == [one.result() for one in outcomes]
        day = base.on(DATE)
        client.stats.compare(day, against="previous-period")
        assert len(emulator.requests) == 4
        client.stats.compare(day, against="previous-period", fresh=True)
        client.stats.get_many([day], fresh=True).collect()
        assert len(emulator.requests) == 7


@pytest.mark.parametrize(
    "others",
    [
        {"api_key": None},
        {"api_key": "another-key-of-the-account"},
        {"base_url": "http://localhost:1"},
        {"headers": {"X-Team": "b"}},
        {"headers": {"Authorization": "Basic Yjpi"}},
        {"verify": False},
        {"proxy": "http://127.0.0.1:1"},
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
    with emulator.serve() as address:
        own = {"base_url": address, "api_key": emulator.api_key, "proxy": None}
        for options, is_stored in ((own, False), (own, True), (own | others, False)):
            client = Client(store=memory, retries=0, **options)
            # Some of the keys and addresses are wrong.
            with client, suppress(SiteStatsError):
                assert client.stats.get(DAY).from_store is is_stored


def test_partitions_tell_clients_apart(emulator: Emulator, tmp_path: Path) -> None:
    """Clients with different partitions share no response, those with the same do.
    Beside a client of httpx or an SSLContext, whose credentials and trust nobody sees,
    a store needs one.
    """
    for partition, is_stored in (("a", False), ("b", False), ("a", True), ("", False)):
        with (
            Store(tmp_path / "store", partition=partition) as store,
            emulator.client(store=store) as client,
        ):
            assert client.stats.get(DAY).from_store is is_stored
    for opaque in (
        {"http_client": httpx.Client(trust_env=False)},
        {"verify": ssl.create_default_context()},
    ):
        options: dict[str, Any] = {"base_url": "https://stats.example", **opaque}
        with pytest.raises(ConfigurationError, match=r"partition='team-a'"):
            Client(store=tmp_path / "store", **options)
        with Store(tmp_path / "store", partition="a") as store:
            Client(store=store, **options).close()


def test_no_credential_is_in_the_file(emulator: Emulator, tmp_path: Path) -> None:
    """No value and no key of the file has a credential."""
    with emulator.client(store=tmp_path / "store") as client:
        client.stats.get(DAY)
        assert execute(tmp_path / "store", "SELECT key FROM entries")
        data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (emulator.api_key, emulator.user_id):
        assert secret.encode() not in data


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


def test_without_the_newest_zone_nothing_is_used(emulator: Emulator) -> None:
    """A store may have lost it: then nobody knows which days a query without a zone is
    about, and a request is sent.
    """
    memory = InMemory()
    with emulator.client(store=memory) as client:
        client.stats.get(DAY)
        assert client.stats.get(DAY).from_store
        for key in [key for key in memory.values if ":zone:" in key]:
            del memory.values[key]
        assert not client.stats.get(DAY).from_store
        assert client.stats.get(DAY).from_store


def test_a_damaged_value_is_requested_and_replaced(emulator: Emulator) -> None:
    """A stored response that was changed is not used."""
    memory = InMemory()
    with emulator.client(store=memory) as client:
        good = client.stats.get(DAY)
        (key,) = [key for key in memory.values if ":response:" in key]
        whole = memory.values[key]
        flipped = whole[:90] + bytes([whole[90] ^ 1]) + whole[91:]
        for bad in (b"", b"later", whole[:-5], flipped):
            memory.values[key] = bad
            assert not client.stats.get(DAY).from_store
            assert client.stats.get(DAY) == good
            assert client.stats.get(DAY).from_store


class Broken(InMemory):
    """A store that fails while it is told to, and counts how often it is asked."""

    asked = 0
    fails = True

    def __repr__(self) -> str:
        return "Broken(password='secret')"

    def get(self, key: str) -> bytes | None:
        self.asked += 1
        if self.fails:
            raise ConnectionError("no route")
        return super().get(key)


def test_a_store_that_failed_rests(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One warning tells it, the results come, and the store is left alone for a while;
    then it is used again.
    """
    broken = Broken()
    with emulator.client(store=broken) as client:
        with pytest.warns(SiteStatsWarning, match="store Broken is not used.*no route"):
            assert client.stats.get(DAY).visitors
        assert not client.stats.get(DAY).from_store
        assert broken.asked == 1
        broken.fails = False
        later = time.monotonic() + 10
        set_clock(monkeypatch, later)
        assert not client.stats.get(DAY).from_store
        assert client.stats.get(DAY).from_store


class Silent:
    """An awaited store that never responds, as a client of Redis that tries again."""

    let_go = threading.Event()

    async def get(self, _key: str) -> Any:
        await anyio.sleep_forever()

    async def set(self, _key: str, _value: bytes) -> None:
        await anyio.sleep_forever()


@pytest.mark.parametrize("kind", [Stuck, Silent])
def test_an_event_loop_does_not_wait_for_a_slow_store(
    emulator: Emulator, kind: type[Any]
) -> None:
    """A store that hangs, in its thread or awaited, is a miss. One warning tells, and
    the next call does not wait for it at all.
    """
    stuck = kind()
    with opened("asyncio", emulator, store=stuck, total_timeout=0.5) as client:
        began = time.monotonic()
        with pytest.warns(SiteStatsWarning, match="did not respond within 0.125 s"):
            assert client.stats.get(DAY).visitors
        assert client.stats.get(DAY).visitors
        assert time.monotonic() - began < 5
        stuck.let_go.set()


# --- time goes on -------------------------------------------------------------------


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


@pytest.mark.filterwarnings("ignore:nothing was counted yet:sitestats.SiteStatsWarning")
@given(
    zones,
    st.lists(
        st.tuples(periods(), st.timedeltas(timedelta(0), timedelta(hours=20))),
        min_size=3,
        max_size=5,
    ),
)
def test_the_store_is_never_wrong(
    zone: str, steps: list[tuple[StatsQuery, timedelta]]
) -> None:
    """Whatever is requested, and however time goes on, a client with a store gets what
    the service would respond at that moment.
    """
    now = datetime(2025, 3, 27, tzinfo=UTC)
    emulator = Emulator(now=now)
    emulator.add_website("example.com", timezone=zone)
    moments = (now + timedelta(minutes=40 * n) for n in range(-72, 328))
    rows = [
        {"path": "/", "is_unique": True, "added_iso": m.isoformat()} for m in moments
    ]
    emulator.load(rows, hostname="example.com")
    with (
        emulator.client(store=InMemory()) as storing,
        emulator.client() as plain,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(time, "time", lambda: now.timestamp())  # noqa: PLW0108 - it goes on
        for query, passed in steps:
            emulator.now = now = now + passed
            assert storing.stats.get(query) == plain.stats.get(query), query
