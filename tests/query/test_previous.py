"""The period before: as many days, weeks or months, or a year ago."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats._common.errors import QueryError
from sitestats._query.builder import StatsQuery
from sitestats._query.periods import days_back, placeholder
from sitestats._query.previous import find_previous

pytestmark = pytest.mark.once


@given(st.data())
def test_the_period_before_ends_where_the_period_starts(data: st.DataObject) -> None:
    """The previous period has as many days, and ends the day before."""
    final = data.draw(st.integers(0, 20_000))
    first = data.draw(st.integers(final, 40_000))
    start, end = find_previous("period", placeholder(first), placeholder(final))
    earlier = days_back(start), days_back(end)
    assert earlier == (2 * first - final + 1, first + 1)

    today = date(2026, 3, 1)
    days = [(today - timedelta(days=n)).isoformat() for n in (first, final, *earlier)]
    assert find_previous("period", days[0], days[1]) == (days[2], days[3])


BEFORE = {
    "a day": ("2026-03-01", "2026-03-01", ("2026-02-28", "2026-02-28")),
    "a month": ("2026-03-01", "2026-03-31", ("2026-01-29", "2026-02-28")),
    "a week": ("today-7d", "yesterday", ("today-14d", "today-8d")),
    "today": ("today", "today", ("yesterday", "yesterday")),
    "until now": ("today-6d", None, ("today-13d", "today-7d")),
}


@pytest.mark.parametrize(("start", "end", "before"), BEFORE.values(), ids=BEFORE)
def test_the_period_before(
    start: str, end: str | None, before: tuple[str, str]
) -> None:
    """Dates are shifted to dates, and placeholders to placeholders."""
    assert find_previous("period", start, end) == before


YEARS = {
    "a month": ("2026-03-01", "2026-03-31", ("2025-03-01", "2025-03-31")),
    "a leap day": ("2024-02-29", "2024-03-01", ("2023-02-28", "2023-03-01")),
    "placeholders": ("today-30d", "yesterday", ("today-395d", "today-366d")),
    "until now": ("today", None, ("today-365d", "today-365d")),
}


@pytest.mark.parametrize(("start", "end", "before"), YEARS.values(), ids=YEARS)
def test_the_year_before(start: str, end: str | None, before: tuple[str, str]) -> None:
    """The same calendar days, or 365 days earlier where no day is known."""
    assert find_previous("year", start, end) == before


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (None, None),
        (None, "2026-03-01"),
        (None, "today"),
        ("2026-03-01", None),
        ("2026-03-01", "today"),
        ("today-7d", "2026-03-01"),
        ("0001-01-01", "0001-01-02"),
        ("today-99999d", "today"),
        ("2026-W10", "2026-W11"),
    ],
)
def test_a_period_with_none_before_it_is_refused(
    start: str | None, end: str | None, same_text: SameText
) -> None:
    """No period, half a period, and one of each kind have no previous period."""
    with pytest.raises(QueryError) as caught:
        find_previous("period", start, end)
    same_text(caught.value)
    with pytest.raises(QueryError) as caught:
        find_previous("year", start, end)
    same_text(caught.value)


# --- as the query of it ------------------------------------------------------------

QUERY = StatsQuery("example.com").fields("visitors")
DAY = timedelta(days=1)


def days_of(query: StatsQuery) -> tuple[date, date]:
    """The first and the last day of a query with dates."""
    params = query.params()
    return date.fromisoformat(params["start"]), date.fromisoformat(params["end"])


BEFORE = {
    "a month": ("2026-03", "month", ("2026-02-01", "2026-02-28")),
    "January": ("2026-01", "month", ("2025-12-01", "2025-12-31")),
    "a leap day": ("2024-03", "month", ("2024-02-01", "2024-02-29")),
    "a quarter": ("2026-Q1", "month", ("2025-10-01", "2025-12-31")),
    "a year": ("2026", "month", ("2025-01-01", "2025-12-31")),
    "a week": ("2026-W01", "week", ("2025-12-22", "2025-12-28")),
}


@pytest.mark.parametrize(("name", "unit", "days"), BEFORE.values(), ids=BEFORE)
def test_months_and_weeks_before(name: str, unit: Any, days: tuple[str, str]) -> None:
    """A month is compared with a whole month, however many days it has."""
    assert QUERY.during(name).previous(unit) == QUERY.between(*days)


@given(st.dates(date(3, 1, 1), date(9999, 12, 31)), st.integers(0, 30))
def test_as_many_months_before(first: date, more: int) -> None:
    """The months before end where these begin, and are as many."""
    first = first.replace(day=1)
    end = first + min(31 * (more + 1), (date.max - first).days) * DAY
    months = QUERY.between(first, end).each("month")[: more + 1]
    query = QUERY.between(first, days_of(months[-1])[1])
    if 12 * first.year + first.month - 12 <= len(months):
        with pytest.raises(QueryError, match="too early"):
            query.previous("month")
        return
    before = query.previous("month")
    assert days_of(before)[1] == first - DAY
    assert len([*before.each("month")]) == len(months)
    assert days_of(before)[0].day == 1


@pytest.mark.parametrize(
    ("query", "unit", "words"),
    [
        (QUERY.last(days=7), "week", "is not known here"),
        (QUERY, "month", "is not known here"),
        (QUERY.since("2026-03-01"), "month", "is not known here"),
        (QUERY.between("2026-03-02", "2026-03-31"), "month", "is not whole m"),
        (QUERY.between("2026-03-01", "2026-03-30"), "month", "is not whole m"),
        (QUERY.during("2026-03"), "week", "is not whole weeks"),
        (QUERY.during("0001-01"), "month", "too early"),
        (QUERY.during("0001-W01"), "week", "too early"),
        (
            QUERY.extra_param("start", "2026-02-30").extra_param("end", "2026-03-31"),
            "period",
            "two dates",
        ),
    ],
)
def test_a_part_of_a_month_has_no_month_before(
    query: StatsQuery, unit: Any, words: str
) -> None:
    """Thirty days compared with a month of 28 would pass for a growth."""
    with pytest.raises(QueryError, match=words):
        query.previous(unit)
