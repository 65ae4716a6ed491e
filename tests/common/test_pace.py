"""The estimate of a rate and of the time left, and its words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.pace import Pace, duration, frequency


def pace_of(
    counts: list[tuple[float, int]], total: int | None, *, then: float = 0
) -> Pace:
    """The pace after *counts*: the seconds since the one before, and how much is done;
    and after *then* seconds more.
    """
    now = 1_000.0
    pace = Pace("queries", lambda: now)
    for seconds, done in counts:
        now += seconds
        pace.count(done, total)
    now += then
    return pace


@pytest.mark.parametrize(
    ("counts", "total", "text"),
    [
        ([], None, "0 queries so far"),
        ([(0.5, 12)], 18_000, "12 of 18,000 queries"),
        ([(25, 1204)], 18_000, "1,204 of 18,000 queries, 48 a second, 6 min left"),
        ([(25, 1204)], None, "1,204 queries so far, 48 a second"),
        ([(25, 1)], 3, "1 of 3 queries, 2.4 a minute, 50 s left"),
        ([(350, 18_000)], 18_000, "18,000 of 18,000 queries in 6 min"),
        ([(0.5, 2)], 2, "2 of 2 queries"),
        ([(20, 0)], 0, "0 of 0 queries"),
        # A source of queries may have more than its length says.
        ([(10, 20)], 10, "20 of 10 queries, 2 a second, 0 s left"),
    ],
)
def test_the_text_is_in_plain_words(
    counts: list[tuple[float, int]], total: int | None, text: str
) -> None:
    """The numbers come with a rate and the time left, as far as these are known."""
    assert pace_of(counts, total).text() == text


def test_a_beginning_that_cost_nothing_is_forgotten() -> None:
    """After 400 websites that were there already, the time left is that of adding."""
    there = [(0.001, done) for done in range(1, 401)]
    added = [(1.0, 400 + done) for done in range(1, 11)]
    pace = pace_of(there + added, 500)
    assert pace.text() == "410 of 500 queries, 1 a second, 90 s left"


def test_the_time_left_grows_while_nothing_is_done() -> None:
    """A service that hangs is not about to be done."""
    steady = [(1.0, done) for done in range(1, 61)]
    assert pace_of(steady, 120).text().endswith("1 a second, 60 s left")
    stalled = pace_of(steady, 120, then=600).text()
    assert stalled == "60 of 120 queries, 4.2 a minute, 14 min left"


def test_the_time_of_all_does_not_grow() -> None:
    """What is done took as long as it took, while the database still loads it."""
    assert pace_of([(50, 120)], 120, then=600).text() == "120 of 120 queries in 50 s"


COUNTS = st.lists(
    st.tuples(st.floats(0, 1e5), st.integers(1, 1_000)), min_size=1, max_size=30
)


def seconds_of(text: str) -> float:
    """The seconds that *text* says are left."""
    found = re.search(r"([\d,.]+) (s|min|h) left$", text)
    assert found is not None, text
    return float(found[1].replace(",", "")) * {"s": 1, "min": 60, "h": 3600}[found[2]]


@given(COUNTS, st.integers(1, 10**7), st.floats(1, 1e6))
def test_the_time_left_is_that_of_a_rate_there_was(
    counts: list[tuple[float, int]], rest: int, then: float
) -> None:
    """Whatever happened when, the time left is never negative, and between those of the
    fastest step and of one step in all the time; at the end there is none.
    """
    done = 0
    steps: list[tuple[float, int]] = []
    for seconds, more in counts:
        done += more
        # No time at all has no rate.
        steps.append((seconds + 0.001, done))
    fastest = max(more / (seconds + 0.001) for seconds, more in counts)
    slowest = 1 / (then + sum(seconds for seconds, _ in steps))
    left = seconds_of(pace_of(steps, done + rest, then=then).text())
    assert 0 <= left <= 1.1 * rest / slowest + 60
    assert left >= 0.9 * rest / fastest - 60
    assert "left" not in pace_of(steps, done, then=then).text()


@given(st.floats(0, 1e7), st.floats(0, 1e7))
def test_a_longer_time_never_reads_shorter(one: float, other: float) -> None:
    """A duration grows with its seconds, whatever its unit, and is at most 8 wide."""
    less, more = sorted((one, other))
    texts = [duration(less), duration(more)]
    assert seconds_of(f"{texts[0]} left") <= seconds_of(f"{texts[1]} left")
    assert max(map(len, texts)) <= len("10,000 min")


@given(st.floats(1e-3, 1e5))
def test_a_frequency_says_the_rate(rate: float) -> None:
    """The number and the unit of a frequency are its rate, but for the rounding."""
    found = re.fullmatch(r"([\d,.]+) an? (second|minute|hour)", frequency(rate))
    assert found is not None
    in_a_second = {"second": 1, "minute": 60, "hour": 3600}[found[2]]
    number = float(found[1].replace(",", ""))
    assert number / in_a_second == pytest.approx(rate, rel=0.06)


@given(
    st.integers(0, 9_999_999),
    st.integers(0, 9_999_999),
    st.floats(1, 1e4),
)
def test_a_bar_fits_into_a_terminal(done: int, rest: int, seconds: float) -> None:
    """A bar of millions, as fast as a service can be, has less than 80 columns."""
    pace = pace_of([(max(seconds, done / 9_999), done)], done + rest)
    assert len(pace.bar()) < 80
    filled = pace.bar().count("#")
    assert pace_of([(10, 20)], 10).bar().count("#") == 16
    assert filled == 16 * (100 * done // max(1, done + rest)) // 100
