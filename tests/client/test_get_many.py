"""get_many over real sockets: outcomes, their order, and concurrency."""

from __future__ import annotations

import contextvars
import gc
import pickle
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest

from concurrency import (
    GOOD,
    QUICK,
    GetMany,
    indices,
    name_of,
    our_threads,
    query,
    respond_by_name,
)
from loopback import serve
from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    Failed,
    NotFoundError,
    Outcome,
    QueryError,
    ResponseError,
    StatsQuery,
    Succeeded,
)
from sitestats.emulator import Emulator, RecordedRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from loopback import Connection

pytestmark = pytest.mark.slow

BACKENDS = ["blocking", "asyncio", "trio"]
LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


@pytest.fixture(params=BACKENDS)
def get_many(request: pytest.FixtureRequest) -> GetMany:
    """get_many of each client variant."""
    return GetMany(request.param)


def test_every_query_has_its_outcome(get_many: GetMany) -> None:
    """Each outcome has its query, its index and its numbers, and none is missing."""
    emulator = Emulator.demo()
    total = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)
    countries = ["US", "DE", "FR", "GB", "CN", "IN", "NL", "RU"]
    queries = [total.where(country=code) for code in countries]
    with emulator.serve() as address:

        def make(cls: Any) -> Any:
            return cls(address, api_key=emulator.api_key)

        outcomes = get_many(make, queries, concurrency=4)
    with emulator.client() as client:
        expected = [client.stats.get(query).pageviews for query in queries]
    assert sorted(indices(outcomes)) == list(range(len(queries)))
    for outcome in outcomes:
        assert outcome.query == queries[outcome.index]
        assert outcome.error is None
        assert outcome.stats.pageviews == expected[outcome.index]
        assert outcome.result() is outcome.stats


def test_outcomes_come_when_they_are_ready(get_many: GetMany) -> None:
    """A slow query does not delay the outcome of a later one."""
    later_was_given = threading.Event()

    def script(connection: Connection) -> None:
        while request := connection.request():
            if name_of(request) == "slow":
                later_was_given.wait(30)
            connection.respond(GOOD)

    def visit(outcome: Outcome) -> None:
        if outcome.index == 1:
            later_was_given.set()

    with serve(script) as server:
        outcomes = get_many(server.address, [query("slow"), query()], visit)
    assert indices(outcomes) == [1, 0]


def test_outcomes_in_the_order_of_the_queries(get_many: GetMany) -> None:
    """In order, a slow query delays the outcomes of later ones, not their requests."""
    quick = threading.Semaphore(0)

    def script(connection: Connection) -> None:
        while request := connection.request():
            if name_of(request) == "slow":
                # Of the nine that are taken ahead.
                for _ in range(8):
                    assert quick.acquire(timeout=10)
            connection.respond(GOOD)
            quick.release()

    queries = [query("slow"), *[query()] * 30]
    with serve(script) as server:
        outcomes = get_many(server.address, queries, concurrency=2, in_order=True)
    assert indices(outcomes) == list(range(31))
    assert all(outcome.error is None for outcome in outcomes)


def test_a_failure_affects_one_outcome(get_many: GetMany) -> None:
    """The error of a query is its own outcome, and affects no other."""

    def script(connection: Connection) -> None:
        while request := connection.request():
            match name_of(request):
                case "unknown":
                    connection.respond(b'{"status":404,"message":"/"}', 404)
                case "garbage":
                    connection.respond(b"<html>")
                case "limited":
                    connection.respond(b"{}", 429, "Retry-After: 7000")
                case _:
                    connection.respond(GOOD)

    names = ["quick", "unknown", "garbage", "quick"]
    queries = [*map(query, names), StatsQuery("unfinished.example.com")]
    with serve(script) as server:
        outcomes = get_many(server.address, queries)
        assert {name_of(request) for request in server.requests} == set(names)
    kinds = {outcome.index: type(outcome.error) for outcome in outcomes}
    nothing = type(None)
    assert kinds == {
        0: nothing,
        1: NotFoundError,
        2: ResponseError,
        3: nothing,
        4: QueryError,
    }
    for outcome in outcomes:
        if outcome.error is not None:
            assert outcome.stats is None
            with pytest.raises(type(outcome.error)) as caught:
                outcome.result()
            assert caught.value is outcome.error


def test_outcomes_survive_pickling(get_many: GetMany) -> None:
    """Outcomes can be pickled, of queries that succeeded and that failed."""
    with serve(respond_by_name) as server:
        outcomes = get_many(server.address, [query(), StatsQuery("a.example.com")])
    for outcome in outcomes:
        copy = pickle.loads(pickle.dumps(outcome))
        assert type(copy) is type(outcome)
        assert (copy.query, copy.index) == (outcome.query, outcome.index)
        assert copy.stats == outcome.stats
        assert str(copy.error) == str(outcome.error)
    assert {type(outcome) for outcome in outcomes} == {Succeeded, Failed}


@pytest.mark.parametrize("many", [30, 200])
def test_as_many_at_once_as_requested(get_many: GetMany, many: int) -> None:
    """With a concurrency of 30, 30 requests are sent before the first response; and
    200 with as many connections.
    """
    barrier = threading.Barrier(many)

    def script(connection: Connection) -> None:
        while connection.request():
            barrier.wait(30)
            connection.respond(GOOD)

    def make(cls: Any) -> Any:
        return cls(server.address, **({"max_connections": many} if many > 50 else {}))

    with serve(script) as server:
        outcomes = get_many(make, [query()] * 2 * many, concurrency=many)
        assert server.connections == many
    assert [outcome.error for outcome in outcomes] == [None] * 2 * many


class Crowd:
    """Counts how many requests are in progress at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self._all = threading.Barrier(3)
        self.most = 0

    def respond(self, connection: Connection) -> None:
        is_first = True
        while connection.request():
            with self._lock:
                self._now += 1
                self.most = max(self.most, self._now)
            if is_first:
                # However slow the machine is, three are in progress here.
                self._all.wait(timeout=30)
                is_first = False
            time.sleep(0.002)
            with self._lock:
                self._now -= 1
            connection.respond(GOOD)


def test_never_more_at_once_than_requested(get_many: GetMany) -> None:
    """A concurrency of 3 never has 4 requests in progress, and uses 3 connections."""
    crowd = Crowd()
    with serve(crowd.respond) as server:
        outcomes = get_many(server.address, [query()] * 40, concurrency=3)
        assert server.connections == 3
    assert crowd.most == 3
    assert len(outcomes) == 40


def test_an_endless_source(get_many: GetMany) -> None:
    """Queries are taken as outcomes are read, so their iterable may be endless."""
    taken = given = 0
    ahead: list[int] = []

    def endless() -> Iterator[StatsQuery]:
        nonlocal taken
        while True:
            taken += 1
            yield query()

    def visit(_outcome: Outcome) -> bool:
        nonlocal given
        given += 1
        ahead.append(taken - given)
        return given == 300

    with serve(respond_by_name) as server:
        get_many(server.address, endless(), visit, concurrency=5)
    assert max(ahead) <= 5
    assert taken <= 305


def test_nothing_is_taken_before_it_is_wanted(get_many: GetMany) -> None:
    """A block that reads no outcome takes no query and starts no thread."""
    taken: list[int] = []
    queries = (taken.append(1) or query() for _ in range(3))
    if get_many.is_async:

        async def main() -> None:
            client = AsyncClient("https://analytics.example")
            async with client.stats.get_many(queries):
                pass

        anyio.run(main, backend=get_many.backend)
    else:
        with Client("https://analytics.example").stats.get_many(queries):
            assert our_threads() == []
    assert taken == []


def test_memory_is_bounded(get_many: GetMany) -> None:
    """Only queries and outcomes in progress are in memory, however many there are."""
    seen: list[weakref.ref[StatsQuery]] = []
    alive: list[int] = []

    def many() -> Iterator[StatsQuery]:
        for _ in range(400):
            one = query()
            seen.append(weakref.ref(one))
            yield one

    def visit(_outcome: Outcome) -> None:
        got.clear()
        alive.append(sum(reference() is not None for reference in seen))

    class Nothing(list[Outcome]):
        def append(self, outcome: Outcome) -> None:
            pass

    got: list[Outcome] = Nothing()
    gc.disable()
    try:
        with serve(respond_by_name) as server:
            if get_many.is_async:
                anyio.run(
                    _get_all, server.address, many(), visit, backend=get_many.backend
                )
            else:
                with (
                    Client(server.address) as client,
                    client.stats.get_many(many(), concurrency=5) as stream,
                ):
                    for outcome in stream:
                        visit(outcome)
    finally:
        gc.enable()
    assert len(alive) == 400
    # Those in progress, the one that is visited, and the generator's own.
    assert max(alive) <= 5 + 2


async def _get_all(address: str, queries: Any, visit: Any) -> None:
    async with (
        AsyncClient(address) as client,
        client.stats.get_many(queries, concurrency=5) as stream,
    ):
        async for outcome in stream:
            visit(outcome)


def test_no_more_threads_than_queries() -> None:
    """Few queries start few threads, whatever the concurrency is."""
    most = 0

    def visit(_outcome: Outcome) -> None:
        nonlocal most
        # A program that ends does not wait for them.
        assert all(thread.daemon for thread in our_threads())
        names = [thread.name for thread in our_threads()]
        most = max(most, sum("get-many" in name for name in names))

    with serve(respond_by_name) as server:
        GetMany("blocking")(server.address, [query()] * 3, visit, concurrency=40)
    assert 1 <= most <= 3
    assert our_threads() == []


def test_a_call_within_the_loop(get_many: GetMany) -> None:
    """Other calls of the client work while outcomes are read."""

    def script(connection: Connection) -> None:
        while connection.request():
            connection.respond(GOOD)

    with serve(script) as server:
        if get_many.is_async:

            async def main() -> int:
                total = 0
                async with (
                    AsyncClient(server.address, max_connections=1) as client,
                    client.stats.get_many([query()] * 5) as stream,
                ):
                    async for _ in stream:
                        total += (await client.stats.get(query())).pageviews
                return total

            assert anyio.run(main, backend=get_many.backend) == 5
        else:
            with (
                Client(server.address, max_connections=1) as client,
                client.stats.get_many([query()] * 5) as stream,
            ):
                total = sum(client.stats.get(query()).pageviews for _ in stream)
            assert total == 5


@LOOPS
def test_an_asynchronous_source(loop: str) -> None:
    """An async generator of queries is read as outcomes are read."""
    closed: list[bool] = []
    taken: list[StatsQuery] = []
    ahead: list[int] = []

    class Source:
        async def __aiter__(self) -> AsyncIterator[StatsQuery]:
            try:
                while True:
                    await anyio.lowlevel.checkpoint()
                    taken.append(query())
                    yield taken[-1]
            finally:
                closed.append(True)

    def visit(_outcome: Outcome) -> bool:
        ahead.append(len(taken) - len(ahead))
        return len(ahead) == 30

    with serve(respond_by_name) as server:
        outcomes = GetMany(loop)(server.address, Source(), visit, concurrency=4)
    # Outcomes come in any order, but no query is taken before it can be sent.
    assert max(ahead) <= 4
    assert len(set(indices(outcomes))) == 30
    # It was made for this, so it was ended with it.
    assert closed == [True]


@LOOPS
def test_outcomes_that_are_ready_let_other_tasks_run(loop: str) -> None:
    """A loop that awaits nothing of its own does not hold up the event loop."""
    ran: list[bool] = []
    seen: list[bool] = []

    async def other() -> None:
        await anyio.lowlevel.checkpoint()
        ran.append(True)

    async def main() -> None:
        async with (
            AsyncClient(server.address) as client,
            anyio.create_task_group() as group,
            client.stats.get_many([query()] * 9, concurrency=9) as stream,
        ):
            async for _ in stream:
                if not seen:
                    while len(stream._results) < 8:  # noqa: ASYNC110 - no event tells
                        await anyio.sleep(0.001)
                    group.start_soon(other)
                seen.append(bool(ran))

    with serve(respond_by_name) as server:
        anyio.run(main, backend=loop)
    assert seen[-1]


def test_a_given_generator_stays_open(get_many: GetMany) -> None:
    """The caller can go on with a generator of queries after the block."""
    queries = (query() for _ in range(50))
    with serve(respond_by_name) as server:
        first = get_many(server.address, queries, lambda _: True, concurrency=2)
        rest = get_many(server.address, queries)
    assert len(first) == 1
    assert 50 - 3 <= len(rest) <= 50 - 1


def test_an_iterator_of_an_iterable_is_closed(get_many: GetMany) -> None:
    """An iterator that get_many made of an iterable is closed with the block."""
    closed: list[bool] = []

    class Source:
        def __iter__(self) -> Iterator[StatsQuery]:
            try:
                while True:
                    yield query()
            finally:
                closed.append(True)

    source = Source()
    with serve(respond_by_name) as server:
        get_many(server.address, source, lambda _: True)
    assert closed == [True]


def test_work_is_done_in_the_callers_context() -> None:
    """The caller's context variables are set where requests are sent."""
    variable = contextvars.ContextVar("variable", default="unset")
    seen: set[str] = set()

    def respond(request: httpx.Request) -> httpx.Response:
        seen.add(variable.get())
        return httpx.Response(200, content=GOOD)

    variable.set("mine")

    def make(cls: Any) -> Any:
        address = "https://analytics.example"
        return cls(address, transport=httpx.MockTransport(respond))

    GetMany("blocking")(make, [query()] * 8, concurrency=4)
    assert seen == {"mine"}


def test_a_retry_after_holds_all(get_many: GetMany) -> None:
    """While one request waits for its Retry-After, no other is sent."""
    lock = threading.Lock()
    arrivals: list[float] = []
    refused: list[float] = []

    def script(connection: Connection) -> None:
        while connection.request():
            with lock:
                now = time.monotonic()
                arrivals.append(now)
                refuse = len(arrivals) == 10
                if refuse:
                    refused.append(now)
            if refuse:
                connection.respond(b"{}", 429, "Retry-After: 0.3")
            else:
                connection.respond(GOOD)

    with serve(script) as server:
        outcomes = get_many(server.address, [query()] * 60, concurrency=4)
    assert [outcome.error for outcome in outcomes] == [None] * 60
    (began,) = refused
    late = [arrival for arrival in arrivals if arrival > began]
    # Those that were under way when it was heard of arrive; the others wait.
    assert sum(arrival < began + 0.3 for arrival in late) < 15
    assert len(arrivals) == 61


def test_a_refused_search_holds_no_other_query(get_many: GetMany) -> None:
    """While a contains search waits for its Retry-After, other queries are sent."""

    def is_search(request: RecordedRequest) -> bool:
        return "pages" in dict(request.pairs)

    emulator = Emulator.demo(contains_per_minute=None)
    emulator.fail_next(status=429, retry_after=1.5, when=is_search)
    plain = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)
    search = plain.where(pages="*dynamic-dns-with*")
    queries = [search, *[plain] * 40]

    def make(cls: Any) -> Any:
        return cls(address, api_key=emulator.api_key)

    with emulator.serve() as address:
        outcomes = get_many(make, queries, concurrency=4)
    assert [outcome.error for outcome in outcomes] == [None] * 41
    first, second = (n for n, r in enumerate(emulator.requests) if is_search(r))
    # Held as well, only the three that were under way would have come between.
    assert second - first > 4


def test_a_client_with_other_limits(get_many: GetMany) -> None:
    """The limits of a view apply to each query: here, no retries."""
    emulator = Emulator.demo()
    emulator.fail_next(3, status=503)
    plain = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)

    def make(cls: Any) -> Any:
        return emulator.client() if cls is Client else emulator.async_client()

    outcomes = get_many(make, [plain] * 5, limits={"retries": 0})
    assert sum(outcome.error is not None for outcome in outcomes) == 3
    assert len(emulator.requests) == 5


def test_progress_is_reported_in_order(get_many: GetMany) -> None:
    """A callback gets every number once and in order, in the caller's thread."""
    traced: list[tuple[int, int | None]] = []
    threads: set[int] = set()

    def hear(done: int, total: int | None) -> None:
        traced.append((done, total))
        threads.add(threading.get_ident())

    with serve(respond_by_name) as server:
        get_many(server.address, [query()] * 9, progress=hear)
        get_many(server.address, iter([query()]), progress=hear)
    assert traced == [*((n, 9) for n in range(1, 10)), (1, None)]
    assert threads == {threading.get_ident()}


def test_outcomes_outside_of_a_block() -> None:
    """Outside of its block and in a second one, the error says what to do."""
    with (
        serve(respond_by_name) as server,
        Client(server.address, retries=QUICK) as client,
    ):
        outcomes = client.stats.get_many([query()])
        with pytest.raises(ConfigurationError, match="needs a block"):
            next(iter(outcomes))
        with outcomes:
            assert [outcome.result().pageviews for outcome in outcomes] == [1]
            assert list(outcomes) == []
        with pytest.raises(ConfigurationError, match="was left"):
            list(outcomes)
        with pytest.raises(ConfigurationError, match="again"), outcomes:
            pass


@pytest.mark.parametrize("cls", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("queries", "options", "error"),
    [
        (query(), {}, QueryError),
        ([], {"concurrency": 0}, ConfigurationError),
        ([], {"progress": "yes"}, ConfigurationError),
    ],
)
def test_arguments_that_are_wrong(
    cls: Any, queries: Any, options: Any, error: type[Exception]
) -> None:
    """Wrong arguments are an error of the call itself."""
    client = cls("https://analytics.example")
    with pytest.raises(error):
        client.stats.get_many(queries, **options)


def test_an_item_that_is_no_query(get_many: GetMany) -> None:
    """An item that is no query raises with its index, and ends the block."""
    with serve(respond_by_name) as server:
        with pytest.raises(QueryError, match=r"queries\[2\]"):
            get_many(server.address, [query(), query(), None, query()])
        assert our_threads() == []
