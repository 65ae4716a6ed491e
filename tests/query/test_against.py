"""The other period of a comparison, by its relation, its days, or as a query."""

from __future__ import annotations

import itertools
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.errors import QueryError
from sitestats._query.builder import StatsQuery

QUERY = StatsQuery("example.com").fields("visitors")
DAY = timedelta(days=1)


def days_of(query: StatsQuery) -> tuple[date, date]:
    """The first and the last day of a query with dates."""
    params = query.params()
    return date.fromisoformat(params["start"]), date.fromisoformat(params["end"])


BEFORE = {
    "a month": ("2026-03", "previous_month", ("2026-02-01", "2026-02-28")),
    "January": ("2026-01", "previous_month", ("2025-12-01", "2025-12-31")),
    "a leap day": ("2024-03", "previous_month", ("2024-02-01", "2024-02-29")),
    "a quarter": ("2026-Q1", "previous_month", ("2025-10-01", "2025-12-31")),
    "a year": ("2026", "previous_month", ("2025-01-01", "2025-12-31")),
    "a week": ("2026-W01", "previous_week", ("2025-12-22", "2025-12-28")),
}


@pytest.mark.parametrize(("name", "against", "days"), BEFORE.values(), ids=BEFORE)
def test_months_and_weeks_before(
    name: str, against: Any, days: tuple[str, str]
) -> None:
    """A month is compared with a whole month, however many days it has."""
    assert QUERY.during(name).against(against) == QUERY.between(*days)


@given(st.dates(date(3, 1, 1), date(9999, 12, 31)), st.integers(0, 30))
def test_as_many_months_before(first: date, more: int) -> None:
    """The months before end where these begin, and are as many."""
    first = first.replace(day=1)
    months = [*itertools.islice(QUERY.between(first, date.max).each("month"), more + 1)]
    query = QUERY.between(first, days_of(months[-1])[1])
    if 12 * first.year + first.month - 12 <= len(months):
        with pytest.raises(QueryError, match="too early"):
            query.against("previous_month")
        return
    before = query.against("previous_month")
    assert days_of(before)[1] == first - DAY
    assert len([*before.each("month")]) == len(months)
    assert days_of(before)[0].day == 1


@pytest.mark.parametrize(
    ("query", "against", "words"),
    [
        (QUERY.last(days=7), "previous_week", "is not known here"),
        (QUERY, "previous_month", "is not known here"),
        (QUERY.since("2026-03-01"), "previous_month", "is not known here"),
        (QUERY.between("2026-03-02", "2026-03-31"), "previous_month", "is not whole m"),
        (QUERY.between("2026-03-01", "2026-03-30"), "previous_month", "is not whole m"),
        (QUERY.during("2026-03"), "previous_week", "is not whole weeks"),
        (QUERY.during("0001-01"), "previous_month", "too early"),
        (QUERY.during("0001-W01"), "previous_week", "too early"),
        (
            QUERY.extra_param("start", "2026-02-30").extra_param("end", "2026-03-31"),
            "previous_period",
            "two dates",
        ),
    ],
)
def test_a_part_of_a_month_has_no_month_before(
    query: StatsQuery, against: Any, words: str
) -> None:
    """Thirty days compared with a month of 28 would pass for a growth."""
    with pytest.raises(QueryError, match=words):
        query.against(against)
