"""Pool, the sync connection pool, with plain objects as connections."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest

from children import exit_code
from interrupts import Interrupt, at_each_place
from same_text import SameText
from sitestats._common import thread_locks
from sitestats._common.errors import ClientClosedError
from sitestats._transport import interrupt as interrupt_module
from sitestats._transport import pool as pool_module
from sitestats._transport.interrupt import Stop, StoppedError
from sitestats._transport.pool import Lease, Pool
from sitestats._transport.waiting import OutOfTimeError

LONG = 30.0
"""Seconds that pass only when a test fails."""


class Connection:
    """Counts its uses, and records when two threads use it at once."""

    made: ClassVar[set[Connection]] = set()

    def __init__(self) -> None:
        self.uses = 0
        self.busy = False
        self.closed = 0
        self.made.add(self)

    def is_open(self) -> bool:
        return True

    def close(self) -> None:
        self.closed += 1

    def use(self) -> Connection:
        assert not self.busy
        assert not self.closed
        self.busy = True
        self.uses += 1
        self.busy = False
        return self


@pytest.fixture(autouse=True)
def forget_connections() -> None:
    """Forget the connections of the test before."""
    Connection.made.clear()


def make_pool(limit: int = 3, idle_seconds: float = math.inf) -> Pool[Connection]:
    """A pool of counting connections."""
    return Pool(Connection, limit=limit, idle_seconds=idle_seconds)


def use(
    pool: Pool[Connection], *, fresh: bool = False, until: float = math.inf
) -> Connection:
    """Use a connection for a moment; the value is the connection."""
    return pool.use(Lease(fresh_connection=fresh), Connection.use, until=until)


def use_at_once(pool: Pool[Connection], count: int) -> list[Connection]:
    """Use *count* connections, all at the same time."""
    together = threading.Barrier(count)

    def work(connection: Connection) -> Connection:
        together.wait(LONG)
        return connection.use()

    with ThreadPoolExecutor(count) as executor:
        futures = [
            executor.submit(pool.use, Lease(), work, until=math.inf)
            for _ in range(count)
        ]
        return [future.result() for future in futures]


def test_sequential_uses_share_one_connection() -> None:
    """A connection is made when it is needed, and reused."""
    pool = make_pool()
    assert not pool.is_open
    first = use(pool)
    assert use(pool) is first
    assert len(Connection.made) == 1
    assert pool.is_open


def test_the_last_used_is_used_next() -> None:
    """The most recently used connection is reused first, so that others time out."""
    pool = make_pool()
    use_at_once(pool, 3)
    last = use(pool)
    assert [use(pool) for _ in range(5)] == [last] * 5


def test_no_more_than_the_limit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty threads share three connections, and each gets its lease."""
    monkeypatch.setattr(pool_module, "_LOOK_AGAIN", 10 * LONG)
    pool = make_pool(3)
    with ThreadPoolExecutor(50) as executor:
        futures = [executor.submit(use, pool) for _ in range(500)]
        assert len([future.result(LONG) for future in futures]) == 500
    assert len(Connection.made) <= 3
    assert sum(connection.uses for connection in Connection.made) == 500


def test_threads_wait_in_their_order() -> None:
    """Threads get a connection in the order in which they came."""
    pool = make_pool(1)
    order: list[int] = []
    threads: list[threading.Thread] = []

    def wait(number: int) -> None:
        pool.use(Lease(), lambda _: order.append(number), until=math.inf)

    def busy(connection: Connection) -> None:
        for number in range(5):
            thread = threading.Thread(target=wait, args=(number,))
            thread.start()
            threads.append(thread)
            while len(pool._state.waiting) <= number:
                time.sleep(0.001)

    pool.use(Lease(), busy, until=math.inf)
    wait(5)
    for thread in threads:
        thread.join(LONG)
    assert order == [0, 1, 2, 3, 4, 5]


def test_all_idle_connections_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """When two connections become free at once, two waiting requests get them."""
    monkeypatch.setattr(pool_module, "_LOOK_AGAIN", 10 * LONG)
    pool = make_pool(2)
    together = threading.Barrier(2)

    def work(connection: Connection) -> None:
        together.wait(LONG)

    with ThreadPoolExecutor(20) as executor:
        futures = [
            executor.submit(pool.use, Lease(), work, until=math.inf) for _ in range(20)
        ]
        for future in futures:
            future.result(LONG)


def test_waiting_too_long_is_an_error() -> None:
    """The error says how long the request waited, and the pool is as before."""
    pool = make_pool(1)
    lease: Lease[Connection] = Lease()

    def busy(connection: Connection) -> None:
        with pytest.raises(OutOfTimeError):
            pool.use(lease, Connection.use, until=time.monotonic() + 0.5)

    pool.use(Lease(), busy, until=math.inf)
    assert 0.02 < lease.waited < LONG
    assert len(pool._state.waiting) == 0
    use(pool)


def test_a_stopped_lease_waits_no_longer() -> None:
    """A lease is stopped while it waits, and one that was before waits for nothing."""
    pool = make_pool(1)
    stop = Stop()
    leases = [Lease[Connection](stop=stop), Lease[Connection](stop=stop)]

    def busy(connection: Connection) -> None:
        with ThreadPoolExecutor(2) as executor:
            until = time.monotonic() + LONG
            begun = executor.submit(pool.use, leases[0], Connection.use, until=until)
            while leases[0].event is None:
                time.sleep(0.001)
            stop.stop()
            late = executor.submit(pool.use, leases[1], Connection.use, until=until)
            for future in (begun, late):
                with pytest.raises(StoppedError):
                    future.result()

    pool.use(Lease(), busy, until=math.inf)
    stop.close()
    assert all(lease.waited < LONG for lease in leases)
    assert not pool._state.waiting


def test_a_free_connection_takes_no_waiting() -> None:
    """A free connection is leased even when the time is up already."""
    lease: Lease[Connection] = Lease()
    make_pool().use(lease, Connection.use, until=-math.inf)
    assert lease.waited == 0


def test_a_lost_notification_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A waiting thread finds its free connection when it was not notified."""
    monkeypatch.setattr(pool_module, "_LOOK_AGAIN", 0.01)
    monkeypatch.setattr(pool_module._PoolState, "wake_next", lambda self: None)
    pool = make_pool(1)
    with ThreadPoolExecutor(5) as executor:
        futures = [executor.submit(use, pool) for _ in range(20)]
        assert len({future.result(LONG) for future in futures}) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_connection_that_failed_is_never_used_again(
    error: type[BaseException],
    same_text: SameText,
) -> None:
    """A failed connection is closed once, and the next use has another."""
    pool = make_pool(1)

    def fail(connection: Connection) -> None:
        raise error

    first = use(pool)
    with pytest.raises(error) as caught:
        pool.use(Lease(), fail, until=math.inf)
    same_text(caught.value)
    assert first.closed == 1
    assert use(pool) is not first


def test_a_failing_make_takes_no_place(same_text: SameText) -> None:
    """A connection that could not be made does not count towards the limit."""
    made = iter([OSError("no"), Connection()])

    def make() -> Connection:
        item = next(made)
        if isinstance(item, OSError):
            raise item
        return item

    pool = Pool(make, limit=1, idle_seconds=math.inf)
    with pytest.raises(OSError, match="no") as caught:
        use(pool)
    same_text(caught.value)
    assert use(pool).uses == 1


def test_fresh_is_never_used_before() -> None:
    """A fresh connection is new, and is kept for reuse afterwards."""
    pool = make_pool(3)
    first = use(pool)
    second = use(pool, fresh=True)
    assert second is not first
    assert second.uses == 1
    assert use(pool) is second
    assert not first.closed


def test_fresh_keeps_to_the_limit() -> None:
    """At the limit, the oldest idle connection is closed for a fresh one."""
    pool = make_pool(2)
    connections = [*use_at_once(pool, 2), use(pool, fresh=True)]
    assert sorted(connection.closed for connection in connections) == [0, 0, 1]
    pool = make_pool(1)
    assert use(pool) is not use(pool, fresh=True)


def test_idle_connections_grow_too_old() -> None:
    """The next use first closes connections that were idle for too long."""
    pool = make_pool(idle_seconds=0.01)
    old = use_at_once(pool, 3)
    time.sleep(0.02)
    closed: list[int] = []

    def work(connection: Connection) -> Connection:
        # A call may take long, and servers count open connections.
        closed.extend(connection.closed for connection in old)
        return connection

    assert pool.use(Lease(), work, until=time.monotonic() + 5) not in old
    assert closed == [connection.closed for connection in old] == [1, 1, 1]


def test_closing_closes_what_is_idle(same_text: SameText) -> None:
    """Each idle connection is closed once, however often the pool is."""
    pool = make_pool()
    connections = use_at_once(pool, 3)
    pool.close()
    pool.close()
    assert [connection.closed for connection in connections] == [1, 1, 1]
    assert not pool.is_open
    with pytest.raises(ClientClosedError) as caught:
        use(pool)
    same_text(caught.value)


def test_closing_lets_what_is_in_use_end() -> None:
    """A use in progress goes on, and its connection is closed after it."""
    pool = make_pool()

    def close(connection: Connection) -> Connection:
        pool.close()
        return connection.use()

    assert pool.use(Lease(), close, until=math.inf).closed == 1


def test_closing_ends_the_waiting() -> None:
    """Threads that wait for a connection fail when the pool is closed."""
    pool = make_pool(1)
    with ThreadPoolExecutor(3) as executor:

        def busy(connection: Connection) -> list[BaseException | None]:
            futures = [executor.submit(use, pool) for _ in range(3)]
            while len(pool._state.waiting) < 3:
                time.sleep(0.001)
            pool.close()
            return [future.exception(LONG) for future in futures]

        errors = pool.use(Lease(), busy, until=math.inf)
    assert [type(error) for error in errors] == [ClientClosedError] * 3


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_its_own() -> None:
    """A forked child opens its own connections, and takes no lock of its parent."""
    pool = make_pool(1)
    connection = use(pool)

    def in_child() -> None:
        mine = use(pool)
        pool.close()
        assert mine is not connection
        assert (mine.closed, connection.closed) == (1, 0)

    # Another thread has the lock when the process is forked.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(pool._state.lock.acquire).result()
        code = exit_code(in_child)
        thread.submit(pool._state.lock.release).result()
    assert code == 0
    assert use(pool) is connection


def test_a_child_of_a_closed_client_is_closed() -> None:
    """A pool that was closed before a fork is closed in the child."""
    pool = make_pool()
    pool.close()

    def in_child() -> None:
        with pytest.raises(ClientClosedError):
            use(pool)

    assert exit_code(in_child) == 0


# Interrupts -----------------------------------------------------------------

WITHIN = {pool_module.__file__, interrupt_module.__file__, thread_locks.__file__}


def interrupt_each_place(
    scenario: Callable[[Pool[Connection]], object], limit: int
) -> int:
    """Run *scenario* with an interrupt at each place of lease; how many there were."""
    for n, interrupt in enumerate(at_each_place(WITHIN.__contains__)):
        pool = make_pool(limit)
        use_at_once(pool, limit)

        def run(pool: Pool[Connection], interrupt: Interrupt) -> None:
            with interrupt:
                scenario(pool)

        # In a thread of its own: an interrupt in the middle of handling another
        # error leaves that one behind, as the context of all that come later.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(run, pool, interrupt).result(LONG)
        if interrupt.left:
            return n
        state = pool._state
        assert state.lock.acquire(blocking=False), n
        state.lock.release()
        # The rest is as if nothing had been.
        used = use_at_once(pool, limit)
        assert len(set(used)) == limit, n
        assert not state.using, n
        assert not state.waiting, n
        kept = [connection for connection, _ in state.idle]
        assert len(kept) == len(set(kept)) == limit, n
        # One that was never used has no connection to close.
        assert {s for s in Connection.made if s.uses and not s.closed} == set(kept), n
        Connection.made.clear()
    raise AssertionError


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("limit", [1, 2])
def test_an_interrupt_leaves_the_pool_whole(limit: int, fresh: bool) -> None:  # noqa: FBT001 - a parameter
    """Wherever Ctrl-C comes, no lease is lost and no connection has two users."""
    places = interrupt_each_place(lambda pool: use(pool, fresh=fresh), limit)
    assert places > 10


def test_an_interrupt_while_waiting_leaves_the_pool_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever Ctrl-C comes to a waiting thread, those behind it get their lease."""
    monkeypatch.setattr(pool_module, "_LOOK_AGAIN", 0.05)

    def scenario(pool: Pool[Connection]) -> None:
        holds, go = threading.Event(), threading.Event()

        def hold(connection: Connection) -> None:
            holds.set()
            go.wait(LONG)

        holder = threading.Thread(
            target=pool.use, args=(Lease(), hold), kwargs={"until": math.inf}
        )
        holder.start()
        holds.wait(LONG)
        releaser = threading.Timer(0.005, go.set)
        releaser.start()
        behind = threading.Timer(0.002, use, args=(pool,))
        behind.start()
        try:
            use(pool)
        finally:
            for thread in (holder, releaser, behind):
                thread.join(LONG)
                assert not thread.is_alive()

    assert interrupt_each_place(scenario, 1) > 10
