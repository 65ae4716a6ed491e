"""Stretches of days, held against a plain table of days."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.warehouse._held import DAY, Held, Period, count_days, covering, without

pytestmark = pytest.mark.once

FIRST = dt.date(2026, 1, 1)
DAYS = [FIRST + n * DAY for n in range(40)]
FEW = DAYS[:8]
LISTS = st.sampled_from([frozenset[str](), frozenset(["pages"])])
PERIODS = st.lists(
    st.tuples(st.integers(0, 39), st.integers(0, 9)).map(
        lambda drawn: (DAYS[drawn[0]], DAYS[min(39, sum(drawn))])
    ),
    max_size=8,
)


def days_of(periods: list[Period]) -> set[dt.date]:
    """Each day of the periods."""
    return {day for first, last in periods for day in DAYS if first <= day <= last}


@given(
    # Few days and few kinds, so that neighbours are often alike.
    puts=st.lists(st.tuples(st.sampled_from(FEW), st.none() | LISTS), min_size=8),
    wanted=LISTS,
    ends=st.tuples(st.sampled_from(FEW), st.sampled_from(FEW)),
)
def test_stretches_have_what_a_table_of_days_has(
    puts: list[tuple[dt.date, frozenset[str] | None]],
    wanted: frozenset[str],
    ends: Period,
) -> None:
    """Whatever was put in whatever order, each day has the last that was put, no two
    stretches that meet are alike, and exactly the days that lack a list are lacking.
    """
    held, table = Held(), dict[dt.date, frozenset[str] | None]()
    for day, lists in puts:
        held.put(day, lists)
        table[day] = lists
    assert [held.lists_of(day) for day in DAYS] == [table.get(day) for day in DAYS]
    for before, after in zip(held.parts, held.parts[1:], strict=False):
        assert before.last < after.first
        assert before.last + DAY < after.first or before.lists != after.lists
    lacking = [*Held(held.parts).lacking(*ends, wanted)]
    expected = {
        day
        for day in days_of([ends])
        if (there := table.get(day)) is None or not wanted <= there
    }
    assert days_of(lacking) == expected
    assert count_days(lacking) == len(expected)


@given(periods=PERIODS, others=PERIODS)
def test_days_are_taken_away(periods: list[Period], others: list[Period]) -> None:
    """What is left of periods has each of their days, but for those of the others."""
    assert days_of(without(periods, others)) == days_of(periods) - days_of(others)


@given(periods=PERIODS, longest=st.integers(1, 12))
def test_few_periods_cover_days(periods: list[Period], longest: int) -> None:
    """Each day is in one of the periods, which are no longer than they may be, begin
    and end with a day that is wanted, and are as few as any can be.
    """
    found, wanted = covering(periods, longest), sorted(days_of(periods))
    assert days_of(found) >= {*wanted}
    assert all(first in wanted and last in wanted for first, last in found)
    assert all(count_days([period]) <= longest for period in found)
    assert count_days(found) == len(days_of(found))
    fewest = 0
    while wanted:
        wanted = [day for day in wanted if day >= wanted[0] + longest * DAY]
        fewest += 1
    assert len(found) == fewest
