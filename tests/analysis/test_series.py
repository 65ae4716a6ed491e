"""Time series of a histogram: points, gaps, and means of longer units."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plotted import MONDAY, axes_of, daily, entries_of, hourly
from sitestats import HistogramEntry
from sitestats._results.histogram import HourEntry
from sitestats.analysis._series import Point, Series, series_of


def test_steps_have_a_gap_where_entries_are_missing() -> None:
    """What the response lacks is not drawn as if it were there."""
    entries = [*daily(100), *daily(100, first=MONDAY + dt.timedelta(150))]
    axes = entries_of(entries, HistogramEntry).plot(axes_of())
    values, edges, _ = axes.patches[0].get_data()
    (gap,) = np.flatnonzero(np.isnan(values))
    assert edges[gap + 1] - edges[gap] == 50
    assert edges[-1] - edges[0] == 250


def test_hours_that_are_not_over_lower_no_mean() -> None:
    """The mean of today is that of the hours that are over, if there are any."""
    hours = hourly(24 * 2)
    open_hours = [
        HourEntry(h.date, 0, 0, h.start, h.hour, partial=True) for h in hours[10:]
    ]
    series = series_of([*hours[:10], *open_hours]).coarser(2)
    assert series.mean_of == "day"
    # The day after has not begun.
    assert [point.pageviews for point in series.points] == [2 + 4.5]
    assert [point.mark for point in series.points] == ["not over yet"]


def test_what_has_not_begun_is_in_no_mean() -> None:
    """Half of during("2026") is zeros in July, which would look like a fall."""
    year = daily(365, partial=200, first=dt.date(2026, 1, 1))
    assert len(series_of(year).begun().points) == 166
    means = series_of(year).coarser(100)
    assert means.mean_of == "week"
    assert means.points[-1].when < dt.datetime(2026, 6, 20)  # noqa: DTZ001 - as above


def test_a_repeated_hour_does_not_hide_the_first_one() -> None:
    """Both hours of one name have a bar of their own."""
    zone = dt.timezone(dt.timedelta(hours=2))
    first = dt.datetime(2026, 10, 25, 2, tzinfo=zone)
    hours = [first.replace(hour=1), first, first.replace(fold=1), first.replace(hour=3)]
    entries = [HourEntry(s.date(), 1, 1, start=s, hour=s.hour) for s in hours]
    whens = [point.when for point in series_of(entries).points]
    assert len(set(whens)) == 4
    assert whens == sorted(whens)


POINTS = st.lists(
    st.tuples(st.integers(0, 4000), st.integers(0, 10**6), st.booleans()),
    min_size=1,
    max_size=200,
    unique_by=lambda point: point[0],
)


@given(POINTS, st.integers(1, 100))
def test_means_are_of_all_that_is_over(points: Any, most: int) -> None:
    """There are as few means as there is room for, each of a part of the points, in
    order, and what is not over counts only where there is nothing else.
    """
    first = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - local times, as in a series
    fine = Series(
        [
            Point(first + hour * dt.timedelta(hours=1), count, count, "open" * is_open)
            for hour, count, is_open in sorted(points)
        ],
        dt.timedelta(hours=1),
    )
    coarse = fine.coarser(most)
    if len(fine.points) <= most:
        assert coarse is fine
        return
    assert len(coarse.points) <= most or coarse.mean_of == "year"
    whens = [point.when for point in coarse.points]
    assert whens == sorted(set(whens))
    assert any(p.mark for p in coarse.points) == any(p.mark for p in fine.points)
    if coarse.mean_of == "day":
        for mean in coarse.points:
            day = [p for p in fine.points if p.when.date() == mean.when.date()]
            over = [p.pageviews for p in day if not p.mark]
            counted = over or [p.pageviews for p in day]
            assert mean.pageviews == pytest.approx(sum(counted) / len(counted))
