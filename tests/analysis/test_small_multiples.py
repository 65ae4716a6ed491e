"""Small multiples: one picture for each website, on one time axis."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from plotted import axes_of
from sitestats import Client, FieldNotRequestedError, StatsQuery
from sitestats.emulator import Emulator

QUERY = StatsQuery("shop.example").fields("pageviews", "visitors", "histogram")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of an emulator with three months of three websites."""
    now = dt.datetime(2026, 6, 10, 9, 30, tzinfo=dt.UTC)
    with Emulator.made_up(3, days=100, now=now).client() as client:
        yield client


def titles_of(axes: Any) -> list[str]:
    """What is drawn where."""
    return [one.get_title("left") for one in axes]


def test_each_website_has_axes(client: Client) -> None:
    """There is one picture for each website, on one time axis, with a note about what
    failed, and with one scale if that is wanted.
    """
    websites = ["shop.example", "nobody.example", "blog.example", "docs.example"]
    queries = [QUERY.last(days=7).website(website) for website in websites]
    outcomes = client.stats.get_many(queries).collect()
    axes = outcomes.plot()
    (number,) = plt.get_fignums()
    figure: Any = plt.figure(number)
    assert titles_of(axes) == ["shop.example", "blog.example", "docs.example"]
    assert [one.figure for one in axes] == [figure] * 3
    assert len({one.get_xlim() for one in axes}) == 1
    assert len({one.get_ylim() for one in axes}) == 3
    assert figure.get_supxlabel() == "grey: Saturday and Sunday; 1 failed"
    assert "2026-06-03 to 2026-06-09" in figure.get_suptitle()
    assert len({one.get_ylim() for one in outcomes.plot(sharey=True)}) == 1
    assert "2 more" in outcomes.plot(most=1)[0].figure.get_supxlabel()
    later = [q.on("yesterday") for q in queries[2:]]
    others = client.stats.get_many([*queries[:1], *later]).collect().plot()
    assert {one.get_xlim() for one in others} == {axes[0].get_xlim()}


def test_the_first_axes_of_each_row_have_labels(client: Client) -> None:
    """What the axes show stands at the left, once a row, and the days below."""
    websites = ["shop.example", "blog.example", "docs.example"]
    queries = [QUERY.last(days=7).website(website) for website in websites]
    outcomes = client.stats.get_many(queries).collect()
    assert all(has_labels(one.yaxis) for one in outcomes.plot(sharey=False))
    axes = outcomes.plot(sharey=True)
    assert [one.get_ylabel() for one in axes] == ["per day", "", "per day"]
    assert [has_labels(one.yaxis) for one in axes] == [True, False, True]
    assert [has_labels(one.xaxis) for one in axes] == [False, True, True]


def has_labels(axis: Axis) -> bool:
    """Whether the ticks of *axis* have labels."""
    visible: bool = axis.get_major_ticks()[0].label1.get_visible()
    return visible


def test_many_are_drawn_into_given_axes(client: Client) -> None:
    """Given axes hold as many as they are, and the last one has the note."""
    websites = ["shop.example", "blog.example", "docs.example"]
    queries = [QUERY.last(days=3).website(website) for website in websites]
    outcomes = client.stats.get_many(queries).collect()
    grid = Figure((6, 3)).subplots(1, 2, squeeze=False)
    assert [*outcomes.plot(grid)] == [*grid[0]]
    assert "1 more" in grid[0, 1].get_xlabel().replace("\n", " ")
    (alone,) = outcomes[:1].plot(axes_of())
    assert titles_of([alone]) == ["shop.example"]
    assert len(outcomes[:2].plot([*Figure().subplots(1, 4)])) == 2
    assert plt.get_fignums() == []


def test_parts_of_one_website_are_drawn_together(client: Client) -> None:
    """A query for each month gives one picture of all of them; the same days twice,
    or other filters, give another one.
    """
    months = [*QUERY.between("2026-04-15", "2026-06-09").each("month")]
    nl = months[1].where(country="NL")
    outcomes = client.stats.get_many([*reversed(months), nl, months[1]]).collect()
    first, *others = outcomes.plot(Figure((30, 5)).subplots(1, 4))
    assert titles_of(others) == ["shop.example, country=NL", "shop.example"]
    xs = [bar.get_x() for bar in first.patches[: len(first.patches) // 2]]
    days = [entry for one in outcomes[:3] for entry in one.result().histogram]
    assert len(xs) == len(days) == 56
    assert xs == sorted(set(xs))


def test_no_outcomes_and_no_histogram(client: Client) -> None:
    """Nothing gives empty axes; a query without a histogram is an error."""
    (empty,) = client.stats.get_many([]).collect().plot()
    assert [text.get_text() for text in empty.texts] == ["nothing in this period"]
    plt.close("all")
    stream = client.stats.get_many([StatsQuery("shop.example").fields("pages")])
    with pytest.raises(FieldNotRequestedError, match="'histogram' was not requested"):
        stream.collect().plot()
    assert plt.get_fignums() == []
