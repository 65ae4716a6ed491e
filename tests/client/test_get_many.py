"""get_many: outcomes, their order, how many at once, and what leaving it ends."""

from __future__ import annotations

import contextvars
import gc
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from respx import MockRouter

from both_clients import KEY, QUICK, VARIANTS, WITH_TRIO, faked, opened
from inside import set_clock_of_clients
from loopback import (
    COUNTED,
    Connection,
    Script,
    counting,
    serve,
    served,
    wait_until,
)
from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    Failed,
    InvalidInputError,
    InvalidResponseError,
    NotFoundError,
    RateLimitedError,
    RequestTimeoutError,
    SiteStatsWarning,
    StatsQuery,
    Succeeded,
    UnexpectedError,
    UsageError,
)

pytestmark = pytest.mark.slow
IN_ORDER = pytest.mark.parametrize("in_order", [False, True])
PLENTY = 30
"""Seconds that pass only when a test fails."""


def query(name: str = "quick") -> StatsQuery:
    """A query for a website whose name tells the service how to respond."""
    return StatsQuery(f"{name}.example.com").fields("pageviews")


@pytest.fixture
def good(routes: MockRouter) -> None:
    """The service responds to every query."""
    routes.get().respond(content=COUNTED)


def path(name: str) -> str:
    """The path of the requests for the query of that name."""
    return f"/{name}.example.com.json"


def our_threads(seconds: float = 0) -> list[str]:
    """The threads that get_many has started and that still run after *seconds*."""
    ours = [t for t in threading.enumerate() if "get-many" in t.name]
    for thread in ours if seconds else ():
        thread.join(seconds)
    return [t.name for t in ours if t.is_alive()]


@pytest.fixture(params=WITH_TRIO)
def variant(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each client; afterwards no thread is left."""
    yield request.param
    assert our_threads(PLENTY) == []


def indices(outcomes: Any) -> list[int]:
    """The indices of the queries, in the order of the outcomes."""
    return [outcome.index for outcome in outcomes]


# -- outcomes


def test_every_query_has_its_outcome(variant: str, routes: MockRouter) -> None:
    """A query that fails is its own outcome, and affects no other."""
    routes.get(path("unknown")).respond(404, json={"ok": False})
    routes.get(path("garbage")).respond(text="<html>")
    routes.get().respond(content=COUNTED)
    queries = [query("quick"), query("unknown"), query("garbage"), query("also")]
    queries.append(StatsQuery("unfinished.example.com"))
    with opened(variant) as client:
        outcomes = client.stats.get_many(iter(queries)).collect()
    assert indices(outcomes) == [0, 1, 2, 3, 4]
    kinds = [NotFoundError, InvalidResponseError, InvalidInputError]
    assert [type(one.error) for one in outcomes.failed] == kinds
    for outcome in outcomes:
        assert outcome.query == queries[outcome.index]
        copy = pickle.loads(pickle.dumps(outcome))
        assert (copy.query, copy.stats) == (outcome.query, outcome.stats)
        if outcome.error is None:
            assert isinstance(outcome, Succeeded)
            assert outcome.result().pageviews == 3
        else:
            assert isinstance(outcome, Failed)
            with pytest.raises(type(outcome.error)) as caught:
                outcome.result()
            assert caught.value is outcome.error


@IN_ORDER
def test_the_order_of_the_outcomes(variant: str, *, in_order: bool) -> None:
    """Outcomes come when they are ready; in order, a slow query holds back outcomes of
    later ones, and not their requests.
    """
    others = threading.Semaphore(0)

    def script(connection: Connection) -> None:
        while request := connection.request():
            if b"slow" in request:
                for _ in range(8):
                    assert others.acquire(timeout=PLENTY)
            others.release()
            connection.respond(COUNTED)

    queries = [query("slow"), *[query()] * 20]
    with (
        served(variant, script) as (client, _),
        client.stats.get_many(queries, concurrency=2, in_order=in_order) as stream,
    ):
        found = indices(stream)
    assert found[0] == (0 if in_order else 1)
    assert (found == sorted(found)) is in_order
    assert sorted(found) == [*range(21)]


# -- how many at once, and what is taken


@IN_ORDER
@pytest.mark.parametrize("variant", VARIANTS)
def test_as_many_at_once_as_requested(variant: str, *, in_order: bool) -> None:
    """Thirty are under way before the first response, and never one more."""
    together, lock, now, most = threading.Barrier(30), threading.Lock(), 0, 0

    def script(connection: Connection) -> None:
        nonlocal now, most
        while connection.request():
            with lock:
                now += 1
                most = max(most, now)
            together.wait(PLENTY)
            with lock:
                now -= 1
            connection.respond(COUNTED)

    queries, options = [query()] * 90, {"concurrency": 30, "in_order": in_order}
    with served(variant, script) as (client, server):
        outcomes = client.stats.get_many(queries, **options).collect()
        assert server.connections == 30
    assert (most, len(outcomes.succeeded)) == (30, 90)


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_periods_of_a_comparison_are_requested_at_once(variant: str) -> None:
    """It takes as long as one of the two."""
    together = threading.Barrier(2)

    def script(connection: Connection) -> None:
        while connection.request():
            together.wait(PLENTY)
            connection.respond(COUNTED)

    with served(variant, script) as (client, _):
        comparison = client.stats.compare(query().on("yesterday"))
    assert comparison.totals["pageviews"].absolute == 0


def test_a_warning_of_a_response_names_the_users_line(routes: MockRouter) -> None:
    """A warning is at the caller's line, also if another thread read the response."""
    routes.get().respond(json={"pageviews": 1, "version": 5})
    with opened("blocking") as client:
        for call, times in (
            (lambda: client.stats.get(query()), 1),
            (lambda: client.stats.compare(query().on("yesterday")), 2),
            (lambda: client.stats.get_many([query()]).collect(), 1),
        ):
            with pytest.warns(SiteStatsWarning, match="version 5") as caught:
                call()
            assert [one.filename for one in caught] == [__file__] * times


@pytest.mark.usefixtures("good")
def test_queries_are_taken_as_outcomes_are_read(variant: str) -> None:
    """Their iterable may be endless, and what is done with is not kept in memory."""
    alive: weakref.WeakSet[StatsQuery] = weakref.WeakSet()
    taken = 0

    def endless() -> Iterator[StatsQuery]:
        nonlocal taken
        while True:
            taken += 1
            one = query()
            alive.add(one)
            yield one

    async def awaited() -> Any:
        for one in queries:
            yield one

    queries = endless()
    source = awaited() if variant == "asyncio" else queries
    with opened(variant) as client:
        with client.stats.get_many(source, concurrency=5) as stream:
            assert taken == 0
            for given, _ in enumerate(stream):
                assert taken - given <= 5
                if given == 40:
                    break
            gc.collect()
            assert len(alive) <= 5 + 3
        # The caller's own generator stays open, and one that was made is closed.
        assert isinstance(next(queries), StatsQuery)


@pytest.mark.parametrize("variant", VARIANTS)
def test_in_order_few_are_taken_ahead(variant: str) -> None:
    """While the first one is slow, others are sent, and not without end."""
    taken, others = 0, threading.Semaphore(0)

    def endless() -> Iterator[StatsQuery]:
        nonlocal taken
        while True:
            taken += 1
            yield query("slow" if taken == 1 else "quick")

    def script(connection: Connection) -> None:
        while request := connection.request():
            if b"slow" in request:
                assert all(others.acquire(timeout=PLENTY) for _ in range(9))
                time.sleep(0.1)
            connection.respond(COUNTED)
            others.release()

    with (
        served(variant, script, max_connections=2) as (client, _),
        client.stats.get_many(endless(), concurrency=5, in_order=True) as stream,
    ):
        assert next(iter(stream)).index == 0
        # Five for each connection: more than those would only wait for one.
        assert taken <= 5 * 2


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_slow_source_does_not_delay_outcomes(variant: str) -> None:
    """A response that is there is returned before more queries are taken."""
    taken, most = 0, 1_000

    def slow() -> Iterator[StatsQuery]:
        nonlocal taken
        for taken in range(1, most + 1):  # noqa: B007 - the test reads it
            time.sleep(PLENTY / most)
            yield query()

    async def slow_too() -> Any:
        nonlocal taken
        for taken in range(1, most + 1):  # noqa: B007 - as above
            await anyio.sleep(PLENTY / most)
            yield query()

    source = slow() if variant == "blocking" else slow_too()
    with (
        opened(variant, max_connections=most) as client,
        client.stats.get_many(source, concurrency=most) as stream,
    ):
        next(iter(stream))
        assert taken < most


@pytest.mark.parametrize("loop", WITH_TRIO[1:])
def test_outcomes_that_are_ready_let_other_tasks_run(loop: str) -> None:
    """A loop that awaits nothing of its own does not hold up the event loop."""
    ran: list[bool] = []

    async def other() -> None:
        ran.append(True)

    async def main(address: str) -> None:
        async with (
            AsyncClient(address, proxy=None) as client,
            anyio.create_task_group() as group,
            client.stats.get_many([query()] * 9, concurrency=9) as stream,
        ):
            await anext(aiter(stream))
            await anyio.wait_all_tasks_blocked()
            group.start_soon(other)
            for _ in range(4):
                await anext(aiter(stream))
            assert ran

    with serve(patient()) as server:
        anyio.run(main, server.address, backend=loop)


@pytest.mark.parametrize(("count", "concurrency"), [(3, 40), (60, 4)])
def test_threads_are_few(count: int, concurrency: int, routes: MockRouter) -> None:
    """There is one for each query under way, in the context of the caller."""
    variable = contextvars.ContextVar("variable", default="unset")
    seen: set[object] = set()

    def look(_request: httpx.Request) -> httpx.Response:
        seen.add(variable.get())
        seen.add(len(our_threads()) <= min(count, concurrency))
        return httpx.Response(200, content=COUNTED)

    variable.set("mine")
    routes.get().mock(side_effect=look)
    with opened("blocking") as client:
        client.stats.get_many([query()] * count, concurrency=concurrency).collect()
    assert seen == {"mine", True}


def test_other_calls_work_meanwhile(variant: str) -> None:
    """Another call gets its response within a block, also with a single connection."""
    with (
        served(variant, counting, max_connections=1) as (client, _),
        client.stats.get_many([query()] * 5) as stream,
    ):
        assert sum(client.stats.get(query()).pageviews for _ in stream) == 15


@pytest.mark.usefixtures("good")
def test_progress_is_reported_in_order(variant: str) -> None:
    """Each number comes once, with the total where it is known."""
    told: list[tuple[int, int | None]] = []

    def hear(done: int, total: int | None) -> None:
        told.append((done, total))

    with opened(variant) as client:
        client.stats.get_many([query()] * 9, progress=hear).collect()
        client.stats.get_many(iter([query()]), progress=hear).collect()
    assert told == [*((n, 9) for n in range(1, 10)), (1, None)]


# -- pauses


@pytest.mark.parametrize(("name", "others"), [("plain", False), ("search", True)])
def test_a_retry_after_holds_the_others(
    variant: str,
    routes: MockRouter,
    name: str,
    others: bool,  # noqa: FBT001 - parametrized
) -> None:
    """While one query waits for its Retry-After no other is sent, unless it is a
    contains search, which has a limit of its own.
    """
    sent: list[float] = []
    sent_meanwhile: list[float] = []

    def refuse_once(_request: httpx.Request) -> httpx.Response:
        sent.append(time.monotonic())
        if len(sent) == 1:
            return httpx.Response(429, headers={"Retry-After": "0.5"}, json={})
        return httpx.Response(200, content=COUNTED)

    def respond(_request: httpx.Request) -> httpx.Response:
        sent_meanwhile.append(time.monotonic())
        return httpx.Response(200, content=COUNTED)

    routes.get(path(name)).mock(side_effect=refuse_once)
    routes.get().mock(side_effect=respond)
    first = query(name).where(page="*abcdefghijkl*") if others else query(name)
    with opened(variant) as client:
        outcomes = client.stats.get_many([first, *[query()] * 40], concurrency=2)
        assert not outcomes.collect().failed
    began, again = sent
    meanwhile = sum(began < at < began + 0.5 for at in sent_meanwhile)
    assert again - began >= 0.5
    assert (meanwhile > 20) is others


# -- what is not a use of it


@pytest.mark.usefixtures("good")
def test_outcomes_outside_of_a_block() -> None:
    """Outside of its block and in a second one, the error says what to do."""
    with opened("blocking") as client:
        outcomes = client.stats.get_many([query()])
        with pytest.raises(UsageError, match="needs a block"):
            next(iter(outcomes))
        with outcomes:
            assert indices(outcomes) == [0]
        with pytest.raises(UsageError, match="was left"):
            list(outcomes)
        with pytest.raises(UsageError, match="again"), outcomes:
            pass


def test_two_that_take_outcomes_at_once(variant: str) -> None:
    """The second one gets an error that says what to do, and the first one goes on."""
    requested, released = threading.Event(), threading.Event()

    def script(connection: Connection) -> None:
        while connection.request():
            requested.set()
            assert released.wait(PLENTY)
            connection.respond(COUNTED)

    with (
        served(variant, script) as (client, _),
        client.stats.get_many([query()]) as stream,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(lambda: next(iter(stream)))
        assert requested.wait(PLENTY)
        with pytest.raises(UsageError, match="in one, and hand them on"):
            next(iter(stream))
        released.set()
        assert first.result(PLENTY).error is None


@pytest.mark.parametrize("cls", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("queries", "options", "error"),
    [
        ([], {"concurrency": 0}, ConfigurationError),
        ([], {"progress": "yes"}, ConfigurationError),
        *(([], {"deadline": d}, ConfigurationError) for d in (0, -1.0, "3", True)),
    ],
)
def test_wrong_arguments(cls: Any, queries: Any, options: Any, error: Any) -> None:
    """They are an error of the call itself."""
    with pytest.raises(error):
        cls("https://a.example").stats.get_many(queries, **options)


@pytest.mark.usefixtures("good")
def test_an_item_that_is_no_query(variant: str) -> None:
    """The error has its index, and ends the block."""
    with (
        opened(variant) as client,
        pytest.raises(InvalidInputError, match=r"queries\[2\]"),
    ):
        client.stats.get_many([query(), query(), None, query()]).collect()


# -- leaving


def patient() -> Script:
    """A server that leaves silent queries without a response; some of the others have
    one once four silent ones have arrived.
    """
    arrived = threading.Semaphore(0)

    def script(connection: Connection) -> None:
        while request := connection.request():
            if b"silent" in request:
                arrived.release()
                connection.wait()
                return
            for _ in range(4 if b"after" in request else 0):
                assert arrived.acquire(timeout=PLENTY)
            connection.respond(COUNTED)

    return script


QUERIES = [*[query("silent")] * 4, query("after")]
"""The last one has a response once the others are under way."""


@contextmanager
def silence(variant: str, **options: Any) -> Iterator[Any]:
    """A client whose silent queries are hung up on by the end, and that works then."""
    with served(variant, patient(), **options) as (client, server):
        yield client
        wait_until(lambda: sum(one.closed for one in server.open) >= 4)
        assert client.stats.get(query()).pageviews == 3


class MineError(Exception):
    """An error of the caller."""


def test_leaving_ends_what_is_under_way(variant: str) -> None:
    """A break ends threads, tasks and connections at once."""
    with silence(variant) as client, client.stats.get_many(QUERIES) as stream:
        assert next(iter(stream)).index == 4


def fail(*_args: object) -> Any:
    """Raise the caller's error."""
    raise MineError


def failing() -> Iterator[StatsQuery]:
    """Queries whose iterable fails after the last one."""
    yield from QUERIES
    raise MineError


@pytest.mark.parametrize("place", ["block", "progress", "queries"])
def test_an_error_of_the_caller(variant: str, place: str) -> None:
    """It is raised unchanged, and ends what is under way."""

    def use(client: Any) -> None:
        with client.stats.get_many(
            failing() if place == "queries" else QUERIES,
            progress=fail if place == "progress" else None,
            concurrency=5,
        ) as stream:
            for _ in stream:
                if place == "block":
                    fail()

    with silence(variant) as client, pytest.raises(MineError):
        use(client)


class Stopping:
    """Queries whose iterator raises the given error after the first one."""

    def __init__(self, error: Exception) -> None:
        self._results = iter([query(), error])

    def __iter__(self) -> Iterator[StatsQuery]:
        return self

    def __next__(self) -> StatsQuery:
        result = next(self._results)
        if isinstance(result, Exception):
            raise result
        return result


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("progress", StopIteration),
        ("progress", StopAsyncIteration),
        ("queries", StopAsyncIteration),
    ],
)
def test_what_ends_iterations_ends_no_outcomes(
    variant: str, place: str, kind: type[Exception]
) -> None:
    """As Python does in a generator, the outcomes raise a RuntimeError in place of an
    error of the caller that would end a loop silently.
    """
    error = kind(place)

    def stop(_done: int, _total: int | None) -> None:
        raise error

    queries = Stopping(error) if place == "queries" else [query()] * 3
    progress = stop if place == "progress" else None
    with opened(variant) as client:
        stream = client.stats.get_many(queries, progress=progress)
        with pytest.raises(RuntimeError, match=f"raised {kind.__name__}") as raised:
            stream.collect()
    assert raised.value.__cause__ is error


class StopError(BaseException):
    """Such as the SystemExit of a signal handler."""


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ({"side_effect": MineError(KEY)}, MineError, "MineError: …"),
        (
            {"side_effect": StopAsyncIteration()},
            StopAsyncIteration,
            "StopAsyncIteration: ",
        ),
        (
            {"return_value": httpx.Response(200, json={"pageviews": 3, "version": 5})},
            SiteStatsWarning,
            "SiteStatsWarning: ",
        ),
    ],
)
def test_what_ends_one_query_alone(
    variant: str, routes: MockRouter, what: Any, cause: type[Exception], words: str
) -> None:
    """An error that is not ours, such as that of a transport or, where a filter makes
    errors of warnings, a warning, is the outcome of its query, and its cause.
    """
    routes.get(path("odd")).mock(**what)
    routes.get().respond(content=COUNTED)
    queries = [query("odd"), *[query()] * 9]
    with opened(variant) as client:
        outcomes = client.stats.get_many(queries, concurrency=2).collect()
    [failed] = outcomes.failed
    assert (failed.index, len(outcomes.succeeded)) == (0, 9)
    with pytest.raises(UnexpectedError, match=words) as raised:
        failed.result()
    assert isinstance(raised.value.__cause__, cause)
    assert pickle.loads(pickle.dumps(failed)).error.message == failed.error.message


def test_an_exit_in_a_transport() -> None:
    """What is no Exception is raised where the outcomes are used. Whoever goes on has
    the other ones.
    """

    def leave(_request: httpx.Request) -> httpx.Response:
        raise StopError

    queries, found = [query("odd"), *[query()] * 9], list[Any]()
    with (
        # respx does not count a call that ends so.
        faked(assert_all_called=False) as routes,
        opened("blocking") as client,
        client.stats.get_many(queries, concurrency=2) as stream,
    ):
        routes.get(path("odd")).mock(side_effect=leave)
        routes.get().respond(content=COUNTED)
        outcomes = iter(stream)
        with pytest.raises(StopError):
            found.extend(outcomes)
        found.extend(outcomes)
    assert sorted(indices(found)) == [*range(1, 10)]


def test_leaving_in_a_pause(variant: str) -> None:
    """Leaving ends the waits before retries, too."""
    paused = threading.Semaphore(0)

    def script(connection: Connection) -> None:
        while request := connection.request():
            if b"unwell" in request:
                connection.respond(b"{}", 503, "Retry-After: 100")
                paused.release()
            else:
                assert all(paused.acquire(timeout=PLENTY) for _ in range(5))
                connection.respond(COUNTED)

    queries = [*[query("unwell")] * 5, query()]
    with (
        served(variant, script) as (client, _),
        client.stats.get_many(queries) as stream,
    ):
        assert next(iter(stream)).index == 5


@pytest.mark.parametrize("loop", WITH_TRIO[1:])
def test_cancelled_at_any_point(loop: str) -> None:
    """Cancelled at any step of the loop, the client works afterwards."""

    async def main(address: str) -> None:
        async with AsyncClient(address, max_connections=3, retries=QUICK) as client:

            async def run_block(scope: anyio.CancelScope) -> None:
                queries = [query(), query("silent")] * 10
                with scope:
                    await client.stats.get_many(queries, concurrency=3).collect()

            for steps in (*range(12), *range(12, 60, 8), *range(60, 300, 60)):
                async with anyio.create_task_group() as group:
                    scope = anyio.CancelScope()
                    group.start_soon(run_block, scope)
                    for _ in range(steps):
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()
                outcomes = await client.stats.get_many([query()] * 3).collect()
                assert not outcomes.failed

    with serve(patient()) as server:
        anyio.run(main, server.address, backend=loop)


@pytest.mark.parametrize("backend", WITH_TRIO)
def test_ctrl_c(backend: str) -> None:
    """Ctrl-C raises KeyboardInterrupt itself, and leaves nothing behind."""
    main, arrived = threading.main_thread().ident, count(1)
    assert main is not None
    queries = [*[query("silent")] * 6, *[query()] * 6]

    def script(connection: Connection) -> None:
        connection.request()
        if next(arrived) == 6:
            signal.pthread_kill(main, signal.SIGINT)
        connection.wait()

    async def run_async(address: str) -> None:
        async with AsyncClient(address) as client:
            await client.stats.get_many(queries, concurrency=6).collect()

    def run(address: str) -> None:
        if backend != "blocking":
            anyio.run(run_async, address, backend=backend)
        with Client(address) as client:
            client.stats.get_many(queries, concurrency=6).collect()

    with serve(script) as server, pytest.raises(KeyboardInterrupt):
        run(server.address)
    assert our_threads(PLENTY) == []


# -- the deadline


def test_what_hangs_is_failed_by_the_deadline(variant: str) -> None:
    """What was sent fails then, and what was not is never sent."""
    with silence(variant, timeout=100.0, total_timeout=100.0) as client:
        began = time.monotonic()
        queries = [query(), *QUERIES[:4], query("never")]
        outcomes = client.stats.get_many(queries, deadline=1.5, concurrency=4).collect()
        assert 1.5 <= time.monotonic() - began < PLENTY
        assert indices(outcomes.failed) == [1, 2, 3, 4, 5]
        for failed in outcomes.failed:
            assert isinstance(failed.error, RequestTimeoutError)
            assert "deadline of get_many, 1.5 s" in str(failed.error)
            assert failed.error.maybe_sent is (failed.index < 5)


@pytest.mark.usefixtures("good")
def test_the_deadline_counts_from_the_beginning_of_the_block(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time that the caller takes counts."""
    with (
        opened(variant) as client,
        client.stats.get_many([query()] * 2, deadline=PLENTY, concurrency=1) as stream,
    ):
        outcomes = iter(stream)
        assert next(outcomes).error is None
        set_clock_of_clients(monkeypatch, monotonic=lambda: time.monotonic() + PLENTY)
        assert isinstance(next(outcomes).error, RequestTimeoutError)


def test_a_pause_beyond_the_deadline_is_not_begun(
    variant: str, routes: MockRouter
) -> None:
    """The query fails at once, as do those that the same pause would hold."""
    routes.get().respond(429, headers={"Retry-After": "70"}, json={})
    with opened(variant) as client:
        outcomes = client.stats.get_many([query()] * 3, deadline=50.0, concurrency=1)
        failed = outcomes.collect().failed
    assert [type(one.error) for one in failed] == [RateLimitedError] * 3
    assert "longer than the deadline allows" in str(failed[1].error)


def test_a_retry_has_the_deadline_anew() -> None:
    """A retry of the failed outcomes has the same deadline again, or another one."""
    silent = iter([True, False, False])

    def script(connection: Connection) -> None:
        while connection.request():
            if next(silent):
                connection.wait()
                return
            connection.respond(COUNTED)

    with serve(script) as server, Client(server.address, retries=0) as client:
        outcomes = client.stats.get_many([query()], deadline=1).collect()
        assert len(outcomes.failed) == 1
        assert outcomes.retry().failed == ()
        with pytest.raises(ConfigurationError, match="deadline is a number"):
            outcomes.retry(deadline=-1)
