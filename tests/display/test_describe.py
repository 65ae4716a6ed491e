"""What a result shows: which rows, in which order, what is left out, and of what."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import attrs
import matplotlib as mpl
import pytest

from display.inside import changes_of
from displayed import Page, pages_of, terminal
from plotted import axes_of, daily, entries_of, hourly, stats_of
from sitestats import (
    Client,
    Entries,
    Failed,
    HistogramEntry,
    ListEntry,
    NotFoundError,
    Outcomes,
    StatsQuery,
    UsageError,
    WebsiteSpec,
)
from sitestats.analysis import Display
from sitestats.emulator import Emulator
from sitestats.provisioning import (
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
)
from sitestats.types import Comparison

mpl.use("agg")

QUERY = StatsQuery("semicomplete.com").fields("pageviews", "histogram", "pages")
FILTERED = QUERY.last(days=4).where(country="US").path("/projects/xdotool/")
SHARED = StatsQuery("semicomplete.com").fields("pageviews", "pages").last(days=4)
AMERICAN = SHARED.where(country="US")
LABEL = "semicomplete.com/projects/xdotool/, country=US"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of the demo's traffic."""
    now = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
    with Emulator.demo(now=now).client() as client:
        yield client


def to_html(result: Any) -> str:
    """What a notebook shows."""
    return str(result._repr_html_())


def texts_of(result: Any) -> list[str]:
    """The texts that the HTML of a result shows, and what a terminal shows."""
    page = Page(result._repr_html_())
    html = "".join([*page.texts, *page.tips])
    return [html, terminal(result, width=200)]


def test_a_page_and_its_filters_are_said_wherever_they_are_shown(
    client: Client,
) -> None:
    """Otherwise, the numbers of a part of the traffic would pass for the whole
    website's.
    """
    stats, whole = client.stats.get(FILTERED), client.stats.get(QUERY.last(days=4))
    comparison = client.stats.compare(FILTERED)
    outcomes = client.stats.get_many([FILTERED, QUERY.last(days=4)]).collect()
    before = client.stats.get_many([FILTERED.between("today-9d", "today-6d")]).collect()
    compared = outcomes[:1].compare_to(before)
    for result in (stats, comparison, outcomes, compared):
        assert all(LABEL in text for text in texts_of(result)), result
    assert all("country" not in text for text in texts_of(whole))
    assert all(LABEL in repr(result) for result in (comparison, outcomes, compared))
    for axes in (
        stats.plot(ax=axes_of()),
        comparison.plot(ax=axes_of()),
        comparison.plot("pages", ax=axes_of()),
    ):
        assert axes.get_title("left").replace("\n", " ").startswith(LABEL)
    labels = compared.plot(ax=axes_of()).get_yticklabels()
    assert LABEL[:30] in [label.get_text()[:30] for label in labels]


def test_a_share_of_filtered_page_views(client: Client) -> None:
    """Only a share of all page views is called so, in each display; a list that is
    shown alone, as a text, a table, a terminal or a plot, names its filters.
    """
    every, some = client.stats.get(SHARED), client.stats.get(AMERICAN)
    for show in (repr, to_html, terminal):
        assert "of all page views" in show(every.pages)
        assert "only" not in show(every.pages)
        for shown in (some.pages, some):
            assert "of all page views" not in show(shown)
            assert "country=US" in show(shown)
        assert "only country=US" in show(some.pages)
    of_page = client.stats.get(SHARED.path("/projects/xdotool/")).pages
    assert "only page=/projects/xdotool/" in repr(of_page)
    both = client.stats.compare(AMERICAN)
    for shown in (both["pages"], both.largest()):
        assert "only country=US" in repr(shown)
    for list_ in (some.pages, both["pages"]):
        assert "only country=US" in list_.plot().get_title(loc="left")


def test_a_histogram_of_filtered_page_views(client: Client) -> None:
    """A histogram that is shown alone names its filters, also where it is empty."""
    query = StatsQuery("semicomplete.com").fields("histogram").where(country="US")
    for days in (query.last(days=4), query.on("2001-01-01")):
        histogram = client.stats.get(days).histogram
        for show in (to_html, terminal):
            assert "only country=US" in show(histogram)
        assert histogram.plot().get_title(loc="left") == "only country=US"


def test_totals_name_their_filters(client: Client) -> None:
    """The repr and the JSON of a result say to what its totals are limited."""
    some = client.stats.get(AMERICAN.where(page="/blog*"))
    assert "semicomplete.com/blog*, country=US" in repr(some)
    values = some.to_dict()
    assert (values["page"], values["filters"]) == ("/blog*", "country=US")
    assert not {"page", "filters"} & client.stats.get(SHARED).to_dict().keys()


@pytest.mark.filterwarnings("ignore:periods of 3 and 4 days")
def test_what_else_than_the_days_is_compared_is_said(client: Client) -> None:
    """Other websites, filters or numbers of days are not growth: each form says so."""
    asked = QUERY.last(days=4)
    for query, words in (
        (QUERY.between("today-9d", "today-7d"), "4 days against 3 days"),
        (
            asked.where(country="US"),
            "semicomplete.com against semicomplete.com, country=US",
        ),
        (
            asked.website("blog.semicomplete.com").path("/a/"),
            "semicomplete.com against blog.semicomplete.com/a/",
        ),
    ):
        one = client.stats.compare(asked, against=query)
        many = client.stats.compare([asked], against=query)
        for compared in (one, many, one["pages"]):
            title = compared.plot(ax=axes_of()).get_title("left").replace("\n", " ")
            for text in (title, repr(compared), *texts_of(compared)):
                assert text.count(words) == 1
        for row in one.to_dicts() + many.to_dicts():
            assert row["differs"] == words
    same = client.stats.compare(asked)
    assert same.differs == ""
    assert all("compared:" not in text for text in texts_of(same))


def test_a_display_can_show_the_code_that_makes_it_again(client: Client) -> None:
    """Whoever has the picture has the query, which runs."""
    stats = client.stats.get(FILTERED)
    for result, queries in (
        (stats, [FILTERED]),
        (Comparison(stats, stats), [FILTERED, FILTERED]),
        (client.stats.get_many([FILTERED, QUERY]).collect(), [FILTERED, QUERY]),
    ):
        for text in texts_of(Display(result, code=True)):
            assert all(repr(query) in text for query in queries)
    names = {"StatsQuery": StatsQuery}
    assert eval(repr(FILTERED), names) == FILTERED
    assert "StatsQuery" not in terminal(Display(stats.pages, code=True))


@pytest.mark.parametrize(("rows", "left_out"), [(2, 23), (10, 15), (25, 0), (50, 0)])
def test_a_table_has_as_many_rows_as_are_wanted(rows: int, left_out: int) -> None:
    """By itself ten, and it says how many more there are."""
    names = [f"/page-{number:02}" for number in range(25)]
    pages = pages_of(*names)
    for shown in texts_of(pages if rows == 10 else Display(pages, rows=rows)):
        assert [name for name in names if name in shown] == names[:rows]
        assert (f"… {left_out} more" in shown) is (left_out > 0)
        assert (" more" in shown) is (left_out > 0)


def test_no_rows_are_no_display(client: Client) -> None:
    """Without a row, or without the last ones, a note would say what is not true."""
    query = SHARED.fields("pageviews", "pages", "histogram")
    comparison = client.stats.compare(query)
    outcomes = client.stats.get_many([query]).collect()
    pages = pages_of("/a", "/b")
    wrong: Any
    for wrong in (0, -1, 1.5, "5", None):
        for call in (
            lambda wrong=wrong: pages.to_html(rows=wrong),
            lambda wrong=wrong: Display(comparison, rows=wrong).to_markdown(),
            lambda wrong=wrong: comparison.largest(wrong),
            lambda wrong=wrong: outcomes.plot(most=wrong),
        ):
            with pytest.raises(UsageError, match="is a whole number from 1, not"):
                call()
    for wrong in ([pages], query, None):
        with pytest.raises(UsageError, match="is not a result"):
            Display(wrong).to_html()


def test_the_changes_of_a_histogram_are_a_table(client: Client) -> None:
    """Each day or hour is beside that of the other period."""
    query = StatsQuery("semicomplete.com").fields("histogram").on("yesterday")
    for interval, other in (("day", "2026-03-03"), ("hour", "2026-03-03 00:00")):
        compared = client.stats.compare(query.interval(interval))["histogram"]  # type: ignore[arg-type]  # a str
        assert all(other in shown for shown in texts_of(compared))


def test_many_comparisons_show_each_total(client: Client) -> None:
    """Each requested total has a table, with the largest change of it first."""
    query = StatsQuery("semicomplete.com").fields("pageviews", "visitors", "pages")
    websites = [site.hostname for site in client.websites.list()]
    growth = client.stats.compare(query.last(days=2).each(websites=websites))
    any_name = "|".join(sorted(websites, key=len, reverse=True))
    for shown in (repr(growth), growth.to_markdown(), *texts_of(growth)):
        _, first, second = re.split("page views|visitors", shown)
        assert "3 comparisons" in shown
        for total, text in (("pageviews", first), ("visitors", second)):
            names = [name for name, _ in growth.largest(total)]  # type: ignore[arg-type]  # a str
            assert re.findall(any_name, text) == names


def test_a_bar_has_the_name_of_its_month_or_year() -> None:
    """The first day of a month or of a year is not a day of its own."""
    for months, label in (((10, 11), "Nov 2025"), ((1,), "2026")):
        firsts = [dt.date(year, n, 1) for year in (2025, 2026) for n in months]
        histogram = [HistogramEntry(first, 9, 3) for first in firsts]
        for shown in texts_of(entries_of(histogram, HistogramEntry)):
            assert (label in shown, "-01" in shown) == (True, False)


def test_a_list_that_was_cut_says_so() -> None:
    """And so does one without entries."""
    cut = pages_of("/", truncated=True)
    for result in (cut, changes_of(cut, pages_of("/")), changes_of(pages_of("/"), cut)):
        assert all("beyond the limit" in shown for shown in texts_of(result))
    assert all("limit" not in shown for shown in texts_of(pages_of("/")))
    assert all("nothing in this period" in shown for shown in texts_of(pages_of()))


def test_a_shortened_report_begins_with_what_needs_a_look() -> None:
    """Plans and reports show differences and failures before all the rest."""
    *specs, last = (WebsiteSpec(f"n{number}.example") for number in range(20))
    there, missing = [ProvisionedWebsite(spec, "present") for spec in specs], last
    plan = ProvisioningPlan((*there, ProvisionedWebsite(missing, "to_add")))
    report = ProvisioningReport((*there, ProvisionedWebsite(missing, "unknown")))
    for result in (plan, report):
        for shown in texts_of(result):
            assert shown.index("n19.example") < shown.index("n0.example")
            assert "… 10 more" in shown
            assert "20 websites: " in shown


def test_a_chart_of_very_many_hours_has_the_last_ones() -> None:
    """A bar narrower than a point of the screen would show nothing."""
    for shown in texts_of(hourly(1500)):
        assert "the last 1,000 of 1,500" in shown


@pytest.mark.parametrize(
    ("name", "words"), [("referrers", "(none)"), ("countries", "(unknown)")]
)
@pytest.mark.parametrize("value", [None, ""])
def test_an_entry_without_a_value_has_a_label(
    value: str | None, name: str, words: str
) -> None:
    """An entry without a value has the same label wherever it is displayed."""
    entries = Entries([ListEntry(value, 1, 1)], name=name, entry_type=ListEntry)
    (tick,) = entries.plot(ax=axes_of()).get_yticklabels()
    assert all(words in shown for shown in (*texts_of(entries), tick.get_text()))


def test_a_number_of_any_size_is_shown() -> None:
    """A count beyond 64 bits breaks no display and no comparison."""
    stats = stats_of(daily(2))
    absurd = attrs.evolve(stats, values={"pageviews": 10**30})
    for result in (absurd, Comparison(absurd, stats)):
        assert all("000,000" in shown for shown in texts_of(result))


def test_the_repr_is_a_table_of_one_line_a_query(client: Client) -> None:
    """Columns are aligned, numbers to the right, and texts are on one line. The title
    has the days, if they are the same.
    """
    query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
    blog = query.website("blog.semicomplete.com")
    assert repr(client.stats.get_many([blog, query]).collect()).splitlines() == [
        "2 queries, 2026-03-01 to 2026-03-04",
        "                       visitors",
        "blog.semicomplete.com       298",
        "semicomplete.com            953",
    ]
    two = client.stats.get_many([query.on("yesterday"), query]).collect()
    assert "first day   last day    visitors" in repr(two)
    odd = Failed(
        query, 0, NotFoundError("one\ntwo \x1b[31m" + "x" * 200, status_code=404)
    )
    lines = repr(Outcomes([odd])).splitlines()
    assert len(lines) == 4
    assert "one two \\x1b[31mxxx" in lines[2]
    assert len(lines[2]) < 120
