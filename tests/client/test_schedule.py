"""Schedule of get_many: when the next query is taken."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import (
    ConfigurationError,
    Outcomes,
    QueryError,
    Stats,
    StatsQuery,
    Succeeded,
)
from sitestats._client.schedule import END, BlockOptions, Schedule
from sitestats._common.errors import ConnectionFailedError
from sitestats._protocol.retry import NO_DEADLINE
from sitestats._results.outcomes import Failed

pytestmark = pytest.mark.standard_library


QUERY = StatsQuery("example.com").fields("pageviews")


def schedule(queries: object = (), limit: int | None = 3, **more: Any) -> Schedule:
    """A schedule of a client with fifty connections."""
    connections = more.pop("max_connections", 50)
    options = BlockOptions(concurrency=limit, **more)
    return Schedule(queries, (list, tuple), options, connections)


def begun(limit: int | None = 3, **more: Any) -> Schedule:
    """A schedule whose block was entered."""
    one = schedule(limit=limit, **more)
    one.begin()
    return one


def failed(index: int) -> Failed:
    """An outcome."""
    return Failed(QUERY, index, ConnectionFailedError("gone"))


def take_all(one: Schedule, *, ready: bool = False) -> int:
    """Take as many queries as are wanted; the value is how many."""
    count = 0
    while one.wants_one(ready=ready):
        one.take(QUERY)
        count += 1
    return count


def test_a_ready_outcome_comes_before_more_queries() -> None:
    """With an outcome ready, one query is taken at most before it is given."""
    one = begun(limit=5)
    assert take_all(one, ready=True) == 1
    assert take_all(one) == 4


@given(
    limit=st.integers(1, 6),
    steps=st.lists(st.booleans(), max_size=60),
    length=st.integers(0, 20),
)
def test_never_more_than_the_limit(limit: int, steps: list[bool], length: int) -> None:
    """Never are more queries than the limit taken and not yet given."""
    one = begun(limit=limit)
    taken = given = 0
    for ready in steps:
        while one.wants_one(ready=ready):
            taken += one.take(QUERY if taken < length else END) is not None
        assert taken - given <= limit
        assert one.under_way == taken - given
        if one.under_way:
            one.give(failed(given))
            given += 1
    assert taken <= length


def test_in_order_a_slow_query_lets_others_go_on() -> None:
    """While the first outcome is missing, five times the limit are taken, not more."""
    one = begun(limit=3, in_order=True)
    taken = take_all(one)
    for index in range(1, 100):
        if one.under_way == 1:
            break
        assert one.give(failed(index)) is None
        assert one.next_in_order() is None
        taken += take_all(one)
    assert taken == 15
    assert one.give(failed(0)) is None
    first = one.next_in_order()
    assert first is not None
    assert first.index == 0


@given(
    limit=st.integers(1, 4),
    length=st.integers(0, 60),
    choices=st.lists(st.integers(0, 100), min_size=60, max_size=60),
    slow=st.integers(0, 60),
)
def test_in_order_each_outcome_comes_after_the_one_before(
    limit: int, length: int, choices: list[int], slow: int
) -> None:
    """In order, every outcome is given once and in its turn, whichever arrives first,
    and no more queries are taken ahead than five times the limit.
    """
    one = begun(limit=limit, in_order=True)
    under_way: list[int] = []
    given: list[int] = []
    taken = 0
    while True:
        while one.wants_one(ready=False):
            job = one.take(QUERY if taken < length else END)
            if job is not None:
                under_way.append(job[1])
                taken += 1
        assert taken - len(given) <= 5 * limit
        outcome = one.next_in_order()
        if outcome is None:
            if not one.under_way:
                break
            # The slow one arrives when nothing else is under way.
            others = [index for index in under_way if index != slow] or under_way
            index = others[choices[len(given)] % len(others)]
            under_way.remove(index)
            outcome = one.give(failed(index))
        if outcome is not None:
            given.append(outcome.index)
    assert given == list(range(length))


@pytest.mark.parametrize(
    ("concurrency", "connections", "limit"),
    [(None, 50, 20), (None, 8, 8), (200, 50, 50)],
)
def test_connections_bound_how_many(
    concurrency: int | None, connections: int, limit: int
) -> None:
    """The limit is at most the number of connections, and 20 by default."""
    assert take_all(begun(limit=concurrency, max_connections=connections)) == limit


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "3"])
def test_a_concurrency_that_is_wrong(value: Any, same_text: SameText) -> None:
    """Anything but an int from 1 on is refused by name."""
    with pytest.raises(ConfigurationError, match="concurrency") as caught:
        schedule(limit=value)
    same_text(caught.value)


@pytest.mark.parametrize("value", [None, 3, QUERY])
def test_queries_that_are_none(value: object, same_text: SameText) -> None:
    """Anything but an iterable of queries is refused, and the error names it."""
    with pytest.raises(QueryError, match="a list") as caught:
        schedule(value)
    same_text(caught.value)


def test_an_item_that_is_no_query(same_text: SameText) -> None:
    """An item that is no query is refused with its index."""
    one = begun()
    one.take(QUERY)
    with pytest.raises(QueryError, match=r"queries\[1\].*'example.com'") as caught:
        one.take("example.com")
    same_text(caught.value)


def test_outcomes_want_their_block(same_text: SameText) -> None:
    """Outside of its block and in a second one, the error says what to do."""
    one = schedule()
    with pytest.raises(ConfigurationError, match="with client") as caught:
        one.check_open()
    same_text(caught.value)
    one.begin()
    one.check_open()
    one.end()
    with pytest.raises(ConfigurationError, match="within") as caught:
        one.check_open()
    same_text(caught.value)
    with pytest.raises(ConfigurationError, match="again") as caught:
        one.begin()
    same_text(caught.value)


def test_what_is_no_outcome_is_raised(same_text: SameText) -> None:
    """An unexpected exception is raised as it is, and not counted."""
    one = begun()
    one.take(QUERY)
    mistake = ZeroDivisionError("mine")
    with pytest.raises(ZeroDivisionError) as caught:
        one.give(mistake)
    same_text(caught.value)
    assert caught.value is mistake
    assert one.under_way == 1


def test_progress_is_reported() -> None:
    """A callback gets the number of outcomes and the total."""
    calls: list[tuple[int, int | None]] = []

    def hear(done: int, total: int | None) -> None:
        calls.append((done, total))

    one = schedule([QUERY] * 2, progress=hear)
    one.begin()
    take_all(one)
    one.give(failed(0))
    one.give(failed(1))
    assert calls == [(1, 2), (2, 2)]


def test_the_deadline_counts_from_the_beginning() -> None:
    """Its seconds begin when the block is entered; without it there is none."""
    one = schedule(deadline=7.5)
    assert one.deadline == NO_DEADLINE
    before = time.monotonic()
    one.begin()
    assert one.deadline.seconds == 7.5
    assert before + 7.5 <= one.deadline.at <= time.monotonic() + 7.5
    assert begun().deadline == NO_DEADLINE


@given(
    st.lists(st.booleans(), max_size=12).flatmap(
        lambda failing: st.tuples(
            st.just(failing), st.permutations(range(len(failing)))
        )
    )
)
def test_a_retry_puts_each_outcome_in_its_place(
    given: tuple[list[bool], list[int]],
) -> None:
    """Whatever failed, and in whatever order it arrives, each index is there once."""
    failing, order = given
    queries = [QUERY.limit(1 + index) for index in range(len(failing))]
    outcomes = [
        Failed(queries[index], index, ConnectionFailedError("gone"))
        if failing[index]
        else Succeeded(queries[index], index, stats=Stats.__new__(Stats))
        for index in order
    ]
    collected = Outcomes(outcomes)
    assert [one.query for one in collected] == queries
    retried = [
        Succeeded(one.query, place, stats=Stats.__new__(Stats))
        for place, one in enumerate(collected.failed)
    ]
    better = collected._with_retried(retried[::-1])
    assert [one.query for one in better] == queries
    assert [one.index for one in better] == [*range(len(queries))]
    assert better.failed == ()


def test_progress_is_about_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar says what it counts, and ends with the block."""
    terminal = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    one = schedule([QUERY] * 2, progress=True)
    one.begin()
    take_all(one)
    for index in range(2):
        one.give(failed(index))
    one.end()
    *_, last, blank, _ = terminal.getvalue().split("\r")
    assert last.endswith("2 of 2 queries")
    assert blank.strip() == ""
