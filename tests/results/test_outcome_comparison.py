"""Outcomes of two periods compared website by website: frames, tables, a plot."""

from __future__ import annotations

import datetime as dt
import io
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from rich.console import Console

from sitestats import (
    Client,
    ConnectionFailedError,
    Failed,
    FieldNotRequestedError,
    Outcome,
    Outcomes,
    SiteStatsWarning,
    StatsQuery,
)
from sitestats._results.outcome_comparison import pairs_of
from sitestats.analysis import Change, Comparison, Comparisons
from sitestats.emulator import Emulator

HOST, BLOG, PROJECTS = (
    "semicomplete.com",
    "blog.semicomplete.com",
    "projects.semicomplete.com",
)
QUERY = StatsQuery(HOST).fields("pageviews", "visitors", "pages", "seconds_on_page")
NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
LAST, FIRST = ("2026-03-03", "2026-03-04"), ("2026-03-01", "2026-03-02")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    with Emulator.demo(now=NOW).client() as client:
        yield client


def outcomes(client: Client, days: tuple[str, str], *hostnames: str) -> Outcomes:
    """The outcomes about some websites."""
    queries = [QUERY.website(name).between(*days) for name in hostnames]
    return client.stats.get_many(queries).collect()


@pytest.fixture(scope="module")
def growth(client: Client) -> Comparisons:
    """Two websites in two periods of two days."""
    return outcomes(client, LAST, HOST, BLOG).compare_to(
        outcomes(client, FIRST, BLOG, HOST)
    )


def test_each_website_is_compared_with_itself(
    client: Client, growth: Comparisons
) -> None:
    """A comparison is that of the two results, in the order of the later queries."""
    assert len(growth) == 2
    for name, comparison in zip((HOST, BLOG), growth, strict=True):
        now, before = (
            client.stats.get(QUERY.website(name).between(*days))
            for days in (LAST, FIRST)
        )
        assert comparison == Comparison(now, before)
    assert growth.failed == growth.unmatched == ()
    assert not growth.partial
    assert growth.totals == ("pageviews", "visitors", "seconds_on_page")


def test_a_frame_of_totals(growth: Comparisons) -> None:
    """A row for each website: both periods' days, before, after, and the change."""
    frame = growth.to_polars()
    assert frame.columns == [
        *("hostname", "timezone", "first_day", "last_day"),
        *("first_day_before", "last_day_before"),
        *(
            f"{name}{ending}"
            for name in ("pageviews", "visitors", "seconds_on_page")
            for ending in ("", "_before", "_change", "_percent")
        ),
        *("partial", "error", "query"),
    ]
    assert frame["hostname"].to_list() == [HOST, BLOG]
    assert frame["first_day"].to_list() == [dt.date(2026, 3, 3)] * 2
    assert frame["last_day_before"].to_list() == [dt.date(2026, 3, 2)] * 2
    for row, comparison in zip(frame.to_dicts(), growth, strict=True):
        change = comparison.totals["visitors"]
        assert row["visitors"] == change.now
        assert row["visitors_before"] == change.before
        assert row["visitors_change"] == change.absolute
        assert row["visitors_percent"] == change.percent
    assert frame["seconds_on_page_change"].dtype == pl.Float64
    assert frame["error"].to_list() == [None, None]
    pandas = growth.to_pandas()
    assert pandas["visitors_change"].tolist() == frame["visitors_change"].to_list()
    assert growth.to_arrow().column_names == frame.columns
    assert growth.to_dicts()[1]["first_day"] == "2026-03-03"
    assert growth.columns() == frame.columns
    assert growth.columns("pages") == growth.to_polars("pages").columns


def test_a_frame_of_a_list(growth: Comparisons) -> None:
    """The changes of each website one below the other, with their website."""
    frame = growth.to_polars("pages")
    each = [comparison["pages"] for comparison in growth]
    assert frame.height == sum(map(len, each))
    assert frame.columns[:7] == [
        *("hostname", "timezone", "first_day", "last_day"),
        *("first_day_before", "last_day_before", "value"),
    ]
    assert frame.columns[-3:] == ["direction", "partial", "query"]
    for name, changes in zip((HOST, BLOG), each, strict=True):
        rows = frame.filter(hostname=name)
        assert rows["value"].to_list() == [item.value for item in changes]
        assert rows["pageviews_change"].to_list() == [
            item.pageviews.absolute for item in changes
        ]


def test_what_failed_has_its_row(client: Client) -> None:
    """A website that fails in one period has a row with the error, and no change."""
    growth = outcomes(client, LAST, HOST, "a.example").compare_to(
        outcomes(client, FIRST, HOST, "a.example")
    )
    frame = growth.to_polars()
    assert frame["visitors_change"].null_count() == 1
    assert frame["partial"].to_list() == [False, None]
    assert frame["hostname"].to_list() == [HOST, "a.example"]
    assert frame["first_day"].to_list() == [dt.date(2026, 3, 3)] * 2
    assert frame["error"][1].count("NotFoundError: ") == 2
    assert len(growth) == 1
    assert [one.index for one in growth.failed] == [1, 1]
    with pytest.warns(SiteStatsWarning, match="2 queries failed") as caught:
        assert set(growth.to_polars("pages")["hostname"]) == {HOST}
    assert caught[0].filename == __file__


def test_what_has_no_counterpart_has_its_row(client: Client) -> None:
    """A website that one period lacks has a row with what there is."""
    growth = outcomes(client, LAST, HOST, BLOG).compare_to(
        outcomes(client, FIRST, HOST, PROJECTS)
    )
    frame = growth.to_polars()
    assert frame["hostname"].to_list() == [HOST, BLOG, PROJECTS]
    assert frame["visitors"].is_null().to_list() == [False, False, True]
    assert frame["visitors_before"].is_null().to_list() == [False, True, False]
    assert frame["first_day_before"].is_null().to_list() == [False, True, False]
    assert [one.query.hostname for one in growth.unmatched] == [BLOG, PROJECTS]
    with pytest.warns(SiteStatsWarning, match="2 of the outcomes have none"):
        growth.to_polars("pages")


@given(
    now=st.lists(st.sampled_from("abc"), max_size=8),
    before=st.lists(st.sampled_from("abc"), max_size=8),
)
def test_every_outcome_is_in_one_pair(now: list[str], before: list[str]) -> None:
    """Each outcome of both periods is paired once, n-th with n-th of its website."""

    def outcomes(names: list[str]) -> list[Outcome]:
        return [
            Failed(StatsQuery(f"{name}.example"), n, ConnectionFailedError("gone"))
            for n, name in enumerate(names)
        ]

    later, earlier = outcomes(now), outcomes(before)
    pairs = pairs_of(later, earlier)
    assert [pair.now for pair in pairs[: len(now)]] == later
    assert all(pair.now is None for pair in pairs[len(now) :])
    found = [pair.before for pair in pairs if pair.before is not None]
    assert sorted(one.index for one in found) == [*range(len(earlier))]
    for name in "abc":
        mine = [pair for pair in pairs if pair.hostname == f"{name}.example"]
        both = [pair for pair in mine if pair.now and pair.before]
        assert len(both) == min(now.count(name), before.count(name))
        assert len(mine) == max(now.count(name), before.count(name))
        order = [pair.before.index for pair in mine if pair.before]
        assert order == sorted(order)


def test_a_page_is_compared_with_itself(client: Client) -> None:
    """Queries of one website for pages and with filters are told apart."""
    pages = [
        QUERY.path("/projects/xdotool/"),
        QUERY,
        QUERY.where(country="US"),
        QUERY.where(country="DE"),
    ]
    one, other = (
        client.stats.get_many([page.between(*days) for page in order]).collect()
        for days, order in ((LAST, pages), (FIRST, pages[::-1]))
    )
    growth = one.compare_to(other)
    assert len(growth) == 4
    for comparison, page in zip(growth, pages, strict=True):
        assert comparison.now.query == page.between(*LAST)
        assert comparison.before.query == page.between(*FIRST)


def test_nothing_to_compare() -> None:
    """Without queries there is an empty table, with columns in its frames."""
    nothing = Outcomes([]).compare_to(Outcomes([]))
    assert len(nothing) == 0
    assert "hostname" in nothing.to_pandas().columns
    assert "pageviews_change" in nothing.to_polars("pages").columns
    assert repr(nothing) == "0 comparisons\n\nnone".replace("\n\n", "\n")


@pytest.mark.parametrize(
    ("field", "words"),
    [("page", "did you mean 'pages'"), ("visitors", "it is a total")],
)
def test_what_is_no_list(growth: Comparisons, field: Any, words: str) -> None:
    """A misspelt list, a total, and what was not requested are errors by name."""
    with pytest.raises(FieldNotRequestedError, match=words):
        growth.to_pandas(field)
    with pytest.raises(FieldNotRequestedError, match="countries"):
        growth.to_pandas("countries")


def test_months_of_one_website_have_their_days(client: Client) -> None:
    """Six rows with one name would be six riddles, and the largest change is what an
    analyst looks for.
    """
    query = StatsQuery(HOST).fields("visitors")
    now, before = (
        client.stats.get_many(
            [*query.during(year).each("month"), query.between(f"{year}-03-02", last)]
        ).collect()
        for year, last in (("2026", "2026-04-03"), ("2025", "2025-04-03"))
    )
    growth = now.compare_to(before)
    labels = [label for label, _ in growth.largest("visitors")]
    assert f"{HOST}, 2026-03" in labels
    assert f"{HOST}, 2026-03-02 to 2026-04-03" in labels
    assert len({*labels}) == len(labels) == 13
    sizes = [abs(change.absolute or 0) for _, change in growth.largest("visitors")]
    assert sizes == sorted(sizes, reverse=True)
    assert f"{HOST}, 2026-" in repr(growth)


def test_a_slice_is_one_again(growth: Comparisons) -> None:
    """A slice has a table and frames, and a pickle is the same."""
    part = growth[1:]
    assert isinstance(part, Comparisons)
    assert part.to_pandas()["hostname"].tolist() == [BLOG]
    copy = pickle.loads(pickle.dumps(growth))
    assert [*copy] == [*growth]


def in_a_terminal(value: object) -> str:
    """What rich prints."""
    console = Console(file=io.StringIO(), width=120)
    console.print(value)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("render", [repr, lambda one: one._repr_html_(), in_a_terminal])
def test_they_show_themselves(client: Client, render: Callable[[Any], str]) -> None:
    """Each way to show them has websites, both numbers, the change, what failed."""
    growth = outcomes(client, LAST, HOST, "a.example").compare_to(
        outcomes(client, FIRST, HOST, "a.example")
    )
    now, before = (
        growth[0].totals["pageviews"].now,
        growth[0].totals["pageviews"].before,
    )
    shown = render(growth)
    for text in (
        HOST,
        "a.example",
        f"{now:,}",
        f"{before:,}",
        "page views",
        "2 failed",
    ):
        assert text in shown


def test_a_plot(growth: Comparisons) -> None:
    """Two bars for each website, of the total that was chosen."""
    axes = Figure().subplots()
    assert growth.plot("visitors", axes) is axes
    widths = [bar.get_width() for bar in axes.patches]
    changes = [change for _, change in growth.largest("visitors")]
    assert widths == [*(one.now for one in changes), *(one.before for one in changes)]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [HOST, BLOG]
    assert axes.get_xlabel() == "visitors"
    assert re.fullmatch(
        r"\d.{9} to \d.{9}, against \d.{9} to .*", axes.get_title("left")
    )
    assert isinstance(changes[0], Change)
    wrong: Any = "visitrs"
    with pytest.raises(FieldNotRequestedError, match="visitrs"):
        growth.plot(wrong)


def test_a_plot_of_many(client: Client) -> None:
    """Beyond twenty websites the plot says how many more there are."""
    now = outcomes(client, LAST, *[HOST] * 23)
    axes = now.compare_to(now).plot(ax=Figure().subplots())
    assert len(axes.patches) == 40
    assert "3 more" in axes.get_xlabel()
