"""Plots: what is drawn, where, and that texts do not overlap."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.dates import date2num
from matplotlib.figure import Figure

from plotted import MONDAY, QUERY, axes_of, daily, entries_of, hourly, stats_of
from sitestats import (
    Client,
    Entries,
    FieldNotRequestedError,
    HistogramEntry,
    Outcomes,
    PageEntry,
    SiteStatsWarning,
    Stats,
    StatsQuery,
    Succeeded,
    UsageError,
)
from sitestats.emulator import Emulator
from sitestats.types import Comparison, HourEntry, WeekEntry

mpl.use("agg")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of an emulator with three months of three websites."""
    now = dt.datetime(2026, 6, 10, 9, 30, tzinfo=dt.UTC)
    with Emulator.made_up(3, days=100, now=now).client() as client:
        yield client


def weekly(count: int) -> Entries[Any]:
    """So many weeks."""
    mondays = [MONDAY + n * dt.timedelta(7) for n in range(count)]
    weeks = [WeekEntry(m, 70, 30, year=2026, week=m.isocalendar()[1]) for m in mondays]
    return entries_of(weeks, WeekEntry)


def monthly(count: int, *, clipped: bool = False) -> Entries[Any]:
    """So many months, the first and the last of which may be cut by the period."""
    months = [dt.date(2024 + n // 12, 1 + n % 12, 1) for n in range(count)]
    cut = {months[0], months[-1]} if clipped else set[dt.date]()
    return entries_of(
        [HistogramEntry(m, 900 + m.month, 400, clipped=m in cut) for m in months],
        HistogramEntry,
    )


# --- bars and steps ---------------------------------------------------------------


def test_where_it_is_drawn(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plot is drawn into new axes of pyplot, whose settings stay, or into the given
    ones, which need neither pyplot nor pandas.
    """
    settings = dict(mpl.rcParams)
    pages = [PageEntry(value, 9, 3) for value in ("/", "/a$b$\n")]
    axes = Entries(pages, name="pages", entry_type=PageEntry).plot()
    assert plt.gca() is axes
    axes.figure.canvas.draw()
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert ticks == ["/", r"/a$b$\n"]
    for name in ("pandas", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    query = QUERY.fields("histogram", "pages").last(days=4)
    figure = Figure(layout="constrained")
    first, second, *rest = figure.subplots(2, 2).ravel()
    assert client.stats.get(query).plot(ax=first) is first
    assert client.stats.compare(query).plot(ax=second) is second
    outcomes = client.stats.get_many([query, query.where(page="/")]).collect()
    assert [*outcomes.plot(ax=rest)] == rest
    FigureCanvasAgg(figure).draw()
    assert all(one.patches or one.lines for one in figure.axes)
    monkeypatch.undo()
    assert (plt.gca(), plt.get_fignums()) == (axes, [axes.figure.number])
    assert dict(mpl.rcParams) == settings


def test_a_bar_that_is_not_whole_is_hatched() -> None:
    """Behind a bar that is not over, or that the period cuts, is a hatched part of the
    axis, which shows an empty one too, and the axis says why.
    """
    axes = daily(2, partial=1).plot(ax=axes_of())
    *bars, span = axes.patches
    assert [bar.get_hatch() for bar in bars] == [None] * 4
    assert span.get_hatch() == "//"
    # A polygon before matplotlib 3.9, and a rectangle since.
    box = span.get_path().get_extents(span.get_patch_transform())
    assert box.width == 1
    assert box.x0 + 0.5 == bars[1].get_x() + bars[1].get_width() / 2
    assert axes.get_xlabel() == "hatched: not over yet"
    axes = monthly(3, clipped=True).plot(ax=axes_of())
    assert len(axes.patches) == 6 + 2
    assert axes.get_xlabel() == "hatched: cut by the period"
    assert daily(2).plot(ax=axes_of()).get_xlabel() == ""


def test_many_entries_are_steps() -> None:
    """Up to 60 entries have a bar each; more are two shapes, with a hole where entries
    are missing.
    """
    assert len(monthly(60).plot(ax=axes_of()).patches) == 120
    assert len(hourly(8760).plot(ax=axes_of()).collections) == 2
    days = [*daily(100)]
    axes = entries_of(days[:50] + days[60:], HistogramEntry).plot(ax=axes_of())
    (page_views, visitors), noon = axes.collections, date2num(MONDAY) + 0.5
    for shape, height in ((page_views, 8.9), (visitors, 2.9)):
        (path,) = shape.get_paths()
        drawn = [n for n in range(102) if path.contains_point((noon + n, height))]
        assert drawn == [*range(50), *range(60, 100)]


def test_an_hour_that_is_repeated_has_a_bar_of_its_own() -> None:
    """Where clocks are set back, the second hour of a name hides no other one."""
    first = dt.datetime(2026, 10, 25, 2, tzinfo=ZoneInfo("Europe/Amsterdam"))
    starts = (first, first.replace(fold=1))
    hours = [HourEntry(first.date(), 2, 1, start=s, hour=2) for s in starts]
    bars = entries_of(hours, HourEntry).plot(ax=axes_of()).patches
    assert bars[0].get_x() != bars[1].get_x()


@pytest.mark.parametrize("years", [(1, 2), (26, 2026), (9998, 9999), (1, 9999)])
def test_any_days_of_the_calendar_are_drawn(years: tuple[int, int]) -> None:
    """Two thousand years between entries are drawn, and the calendar's ends too."""
    first, last = dt.date(years[0], 1, 1), dt.date(years[1], 12, 31)
    ends = *daily(70, first=first), *daily(9, first=last - 8 * dt.timedelta(1))
    open_ones = *daily(1, first=first, partial=1), *daily(1, first=last, partial=1)
    for some in (ends, ends[:9], ends[-9:], ends[::30], open_ones):
        entries = entries_of(some, HistogramEntry)
        FigureCanvasAgg(entries.plot(ax=axes_of()).figure).draw()


# --- weekends, titles, limits -----------------------------------------------------


def test_weekends_are_told_apart() -> None:
    """Each Saturday and Sunday of days or hours is grey, to the ends of the axis."""
    for entries in (daily(8), hourly(24 * 8), daily(6)):
        axes = entries.plot(ax=axes_of())
        (weekend,) = axes.collections[-1].get_paths()
        box = weekend.get_extents()
        saturday = date2num(MONDAY + dt.timedelta(5)) - 0.5 * (len(entries) <= 60)
        assert (box.x0, box.width) == (saturday, min(2, len(entries) - 5))
        assert axes.get_xlabel() == "grey: Saturday and Sunday"
    comparison = Comparison(*[stats_of(daily(8))] * 2)
    for entries in (daily(5), weekly(9), monthly(9), daily(100), comparison):
        assert entries.plot(ax=axes_of()).get_xlabel() == ""


def test_a_title_says_what_is_drawn() -> None:
    """The title has the website and its page, the days, the zone, and the list; what
    visitors wrote in it is not mathematics, and a long one has more lines.
    """
    title = stats_of(daily(3)).plot(ax=axes_of()).get_title("left")
    assert title == "shop.example\n2026-06-01 to 2026-06-03, Europe/Amsterdam"
    query = StatsQuery("shop.example").fields("pages").path("/$a^{$")
    axes = Stats.of(query, pages=[("/$b^{$", 1, 1)]).plot(ax=axes_of())
    assert axes.get_title("left").splitlines()[0] == "shop.example/$a^{$: pages"
    FigureCanvasAgg(axes.figure).draw()


def test_a_second_plot_leaves_room_for_the_first() -> None:
    """Axes that are drawn into twice show both, and the labels once."""
    axes = daily(3).plot(ax=axes_of())
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    small = [HistogramEntry(MONDAY + dt.timedelta(9), 1, 1)]
    entries_of(small, HistogramEntry).plot(ax=axes)
    assert axes.get_xlim()[1] > right + 6
    assert axes.get_ylim() == (0, top)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["page views", "visitors"]


# --- colours, and what is refused -------------------------------------------------


def drawn(client: Client) -> list[Any]:
    """What has a plot."""
    week = QUERY.fields("histogram", "pages").last(days=7)
    stats, comparison = client.stats.get(week), client.stats.compare(week)
    both = QUERY.last(days=7).each(websites=client.websites.list()[:2])
    return [
        *(stats, stats.pages, comparison, comparison["pages"]),
        *(client.stats.compare(both), client.stats.get_many(both).collect()),
    ]


def brightness(colour: Any) -> float:
    """How light a colour is: from 0 to 1."""
    return sum(to_rgb(colour)) / 3


@pytest.mark.parametrize(
    ("style", "page"), [("dark_background", "black"), ("default", "w")]
)
def test_what_is_drawn_is_seen(client: Client, style: str, page: str) -> None:
    """Bars and lines stand out from the page, and from each other."""
    with plt.style.context(style):
        for result in drawn(client):
            axes = result.plot()
            ax = axes[0] if hasattr(axes, "__len__") else axes
            handles, _ = ax.get_legend_handles_labels()
            colours = [
                handle.get_color() if hasattr(handle, "get_color") else handle[0]
                for handle in handles
            ]
            colours = [
                one if isinstance(one, str) else one.get_facecolor() for one in colours
            ]
            colours += [patch.get_facecolor() for patch in ax.patches[:1]]
            page_light = brightness(page)
            assert all(abs(brightness(one) - page_light) > 0.3 for one in colours)
            plt.close("all")


def test_a_size_is_that_of_axes(client: Client) -> None:
    """Pandas takes ``figsize``; here a message says what to type instead."""
    for result in drawn(client):
        words = (
            re.escape("plot takes no figsize") + r".*plt\.subplots\(figsize=\(8, 4\)\)"
        )
        with pytest.raises(TypeError, match=words):
            result.plot(figsize=(8, 4))


# --- comparisons ------------------------------------------------------------------


def xs_of(axes: Any) -> list[list[float]]:
    """Where the points of each line are, that of the earlier period first."""
    return [[*line.get_xdata(orig=False)] for line in axes.lines]


@pytest.mark.filterwarnings("ignore:periods of 3 and 5 days")
def test_two_periods_lie_on_each_other() -> None:
    """Each day is below its own of the other period. Where one is longer, the axis has
    its dates, which do not lead into the future.
    """
    now, before = daily(3), daily(5, first=MONDAY - dt.timedelta(9))
    comparison = stats_of(now).compare_to(stats_of(before))
    axes = comparison.plot(ax=axes_of())
    before_xs, now_xs = xs_of(axes)
    assert before_xs == [date2num(MONDAY) - 9 + n for n in range(5)]
    assert now_xs == before_xs[:3]
    assert axes.get_xlabel() == "dates of the earlier period"
    assert [*axes.lines[0].get_ydata()] == before.column("pageviews")
    assert axes.get_title("left").splitlines() == [
        "shop.example: page views",
        "2026-06-01 to 2026-06-03, Europe/Amsterdam",
        "against 2026-05-23 to 2026-05-27",
        "3 days against 5 days",
    ]
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["2026-05-23 to 2026-05-27", "2026-06-01 to 2026-06-03"]
    axes = comparison.plot(count="visitors", ax=axes_of())
    assert [*axes.lines[1].get_ydata()] == now.column("visitors")


@pytest.mark.parametrize("lengths", [(3, 3), (2, 4), (3, 0), (0, 0)])
def test_months_are_compared_by_their_number(lengths: tuple[int, int]) -> None:
    """Months lie on each other however long they are, and none are not an error."""
    query = QUERY.interval("month")
    now, before = (
        Stats.of(query, pageviews=1, visitors=1, histogram=[*monthly(15)[skip:][:n]])
        for skip, n in zip((12, 0), lengths, strict=True)
    )
    xs = xs_of(now.compare_to(before).plot(ax=axes_of()))
    assert sorted(map(len, xs)) == sorted(filter(None, lengths))
    assert len({tuple(one[: min(lengths)]) for one in xs}) <= 1


def test_what_else_is_compared(client: Client) -> None:
    """Without a histogram the first list is drawn, also events, else the totals, with
    both periods in the title; changes draw themselves.
    """
    query = StatsQuery("shop.example").last(days=7)
    pages = client.stats.compare(query.fields("visitors", "pages"))
    axes: Any = pages.plot(count="visitors", ax=axes_of())
    now = [item.visitors.now for item in pages["pages"]]
    bars = [bar.get_width() for bar in axes.patches]
    assert bars[: len(bars) // 2] == now[: len(bars) // 2]
    title = axes.get_title("left")
    assert title.startswith("shop.example: pages\n2026-06-03 to 2026-06-09")
    assert "against 2026-05-27 to 2026-06-02" in title.replace("\n", " ")
    up = pages["pages"].of("up").plot(ax=axes_of())
    assert len(up.patches) == 2 * min(20, len(pages["pages"].of("up")))
    totals = client.stats.compare(query.fields("visitors", "pageviews"))
    labels = totals.plot(ax=axes_of()).get_yticklabels()
    assert [label.get_text() for label in labels] == ["page views", "visitors"]
    events = client.stats.compare(query.all_events())
    axes = events.plot(ax=axes_of())
    assert axes.get_xlabel() == "times"
    counts = [item.total.now for item in events["events"]]
    assert [bar.get_width() for bar in axes.patches[: len(counts)]] == counts


def test_a_line_ends_with_what_has_begun(client: Client) -> None:
    """The days of June to come are zeros, which would look like a fall."""
    query = StatsQuery(client.websites.list()[0]).fields("histogram")
    june = client.stats.compare(query.during("2026-06"), against="2026-05")
    lines = june.plot(ax=axes_of()).lines
    assert sorted(len(line.get_xdata()) for line in lines) == [10, 31]


def test_what_can_not_be_drawn_is_named() -> None:
    """The error names the step to add, the right name, or what there is; no figure is
    left open.
    """
    visitors, pages = (
        Stats.of(StatsQuery("shop.example").fields(name), **{name: value})
        for name, value in (("visitors", 1), ("pages", []))
    )
    comparison = Comparison(*[stats_of(daily(3))] * 2)
    totals = visitors.compare_to(visitors)
    of_events = Stats.of(StatsQuery("shop.example").all_events(), events={"sale": 3})
    events = of_events.compare_to(of_events)
    wrong: Any = "page"
    for wrong_ax in (Figure(), [axes_of()], "x"):
        with pytest.raises(UsageError, match="one of matplotlib's axes"):
            comparison.plot(ax=wrong_ax)
    for plot, words in (
        (visitors.plot, "'histogram' was not requested"),
        (lambda: visitors.plot(wrong), "did you mean 'pages'"),
        (lambda: comparison.plot(count=wrong), "not a count of an entry"),
        (lambda: totals.plot(count="visitors"), "no effect on totals, .*: leave it"),
        (lambda: totals.plot(count=wrong), "no effect on totals"),
        (lambda: events.plot(count="visitors"), "not a count .*; use one of total"),
        (lambda: comparison.plot("pages"), "'pages' was not requested"),
        (pages.compare_to(visitors).plot, "'histogram'"),
    ):
        with pytest.raises(FieldNotRequestedError, match=words):
            plot()
    assert plt.get_fignums() == []


# --- many websites ----------------------------------------------------------------


def titles_of(axes: Any) -> list[str]:
    """What is drawn where."""
    return [one.get_title("left") for one in axes]


WEBSITES = ["nobody.example", "shop.example", "blog.example", "docs.example"]


def test_each_website_has_axes(client: Client) -> None:
    """There is one picture for each website, on one time axis, and with one scale if
    that is wanted.
    """
    queries = [QUERY.last(days=7).website(website) for website in WEBSITES[1:]]
    outcomes = client.stats.get_many(queries).collect()
    axes = outcomes.plot()
    figure = axes[0].figure
    assert plt.get_fignums() == [figure.number]
    assert titles_of(axes) == ["shop.example", "blog.example", "docs.example"]
    assert len({one.get_xlim() for one in axes}) == 1
    assert len({one.get_ylim() for one in axes}) == 3
    assert figure.get_supxlabel() == "grey: Saturday and Sunday"
    assert "2026-06-03 to 2026-06-09" in figure.get_suptitle()
    shared = outcomes.plot(sharey=True)
    (low, high) = max(one.get_ylim() for one in axes)
    assert {one.get_ylim() for one in shared} == {(low, high)}
    assert "2 more" in outcomes.plot(most=1)[0].figure.get_supxlabel()


@pytest.mark.filterwarnings("ignore:'histogram' is left out:sitestats.SiteStatsWarning")
def test_a_website_without_a_histogram_hides_no_other_one(client: Client) -> None:
    """What failed, or what the service got wrong, is counted in the note, and a warning
    at the caller's line names it.
    """
    queries = [QUERY.last(days=7).website(website) for website in WEBSITES]
    failed, shop, *others = client.stats.get_many(queries).collect()
    body = json.dumps(shop.result().raw() | {"histogram": "none"}).encode()
    wrong = Succeeded(shop.query, shop.index, Stats.from_body(shop.query, body))
    for outcomes, drawn in (
        (Outcomes([failed, wrong, *others]), WEBSITES[2:]),
        (Outcomes([failed, wrong]), [""]),
    ):
        words = r"2 of \d .*nobody.*NotFound.*shop.example \(histogram can't be read\)$"
        with pytest.warns(SiteStatsWarning, match=words) as caught:
            axes = outcomes.plot()
        assert [warning.filename for warning in caught] == [__file__]
        assert titles_of(axes) == drawn
        note = axes[0].figure.get_supxlabel()
        assert note.startswith("1 failed; 1 can't be read")


def test_many_are_drawn_into_given_axes(client: Client) -> None:
    """Given axes hold as many as they are, and their figure has the note, also of more
    calls; nothing gives empty axes, and a query without a histogram is an error.
    """
    queries = [QUERY.last(days=3).website(website) for website in WEBSITES[1:]]
    outcomes = client.stats.get_many(queries).collect()
    grid = Figure((6, 3)).subplots(1, 2, squeeze=False)
    assert [*outcomes.plot(ax=grid)] == [*grid[0]]
    note = grid[0, 0].figure.get_supxlabel()
    assert note == "2026-06-07 to 2026-06-09; … 1 more"
    outcomes[1:].plot(ax=grid[0, 1])
    assert grid[0, 0].figure.get_supxlabel() == f"{note}; {note}"
    (alone,) = outcomes[:1].plot(ax=axes_of())
    assert titles_of([alone]) == ["shop.example"]
    assert len(outcomes[:2].plot(ax=[*Figure().subplots(1, 4)])) == 2
    (empty,) = outcomes[:0].plot(ax=axes_of())
    assert [text.get_text() for text in empty.texts] == ["nothing in this period"]
    stream = client.stats.get_many([StatsQuery("shop.example").fields("pages")])
    with pytest.raises(FieldNotRequestedError, match="'histogram' was not requested"):
        stream.collect().plot()
    assert plt.get_fignums() == []


def test_parts_of_one_website_are_drawn_together(client: Client) -> None:
    """A query for each month gives one picture of all of them; other filters give
    another one, and days that are there twice one for each query.
    """
    months = [*QUERY.between("2026-04-15", "2026-06-09").each("month")]
    nl = months[1].where(country="NL")
    outcomes = client.stats.get_many([*reversed(months), nl, nl]).collect()
    first, *others = outcomes.plot(ax=Figure((30, 5)).subplots(1, 4))
    assert titles_of(others) == ["shop.example, country=NL"] * 2
    xs = [bar.get_x() for bar in first.patches[:56]]
    assert xs == sorted(set(xs))
    assert sum(len(one.result().histogram) for one in outcomes[:3]) == 56


# --- can it be read? --------------------------------------------------------------


def texts_of(figure: Any) -> dict[str, Any]:
    """The box of each text that is drawn."""
    axes = figure.axes
    both = [axis for one in axes for axis in (one.xaxis, one.yaxis)]
    legends = [*figure.legends, *(one.get_legend() for one in axes)]
    texts = [
        *figure.texts,
        *(text for one in axes for text in (one._left_title, *one.texts)),  # noqa: SLF001 - matplotlib's
        *(text for legend in legends if legend for text in legend.get_texts()),
        *(text for axis in both for text in (axis.label, axis.offsetText)),
        # Those alone that are between the ends of the axis.
        *(tick.label1 for axis in both for tick in axis._update_ticks()),  # noqa: SLF001 - as above
    ]
    renderer = figure.canvas.get_renderer()
    return {
        f"{number} {text.get_text()!r}": text.get_window_extent(renderer)
        for number, text in enumerate(texts)
        if text.get_text() and text.get_visible()
    }


HOSTNAME = f"{'very-long-' * 5}name.shop.example"
LISTED = [PageEntry(f"/{'a-long-path/' * (n % 5)}{n}", 10**6 - n, 5) for n in range(30)]
LAST_DAY = dt.datetime(2026, 6, 30, 12, tzinfo=dt.UTC)
READ = {
    "hours of a day": stats_of(hourly(24)),
    "one day": stats_of(daily(1)),
    "seven days": stats_of(daily(7, first=dt.date(2026, 10, 27))),
    "sixteen days": stats_of(daily(16, first=dt.date(2026, 10, 20))),
    "a quarter": stats_of(daily(91)),
    "weeks": stats_of(weekly(53)),
    "months": stats_of(monthly(18, clipped=True)),
    "three years": stats_of(daily(1096)),
    "nothing": Stats.of(QUERY, pageviews=0, visitors=0, histogram=[]),
    "a long name": stats_of(
        daily(30),
        HOSTNAME,
        timezone="America/Argentina/Buenos_Aires",
        responded_at=LAST_DAY,
    ),
    "a large count": stats_of(
        entries_of([HistogramEntry(MONDAY, 10**12, 10**11)], HistogramEntry)
    ),
    "unequal periods": Comparison(stats_of(daily(7)), stats_of(daily(20))),
    "a list": Entries(LISTED, name="pages", entry_type=PageEntry, truncated=True),
}


@pytest.mark.parametrize("name", READ)
def test_texts_do_not_overlap(name: str) -> None:
    """In a figure of 6 by 3 inches each text is whole, and none is on another one."""
    assert illegible(READ[name].plot(ax=axes_of()).figure) == []


LONG = [monthly(36), daily(2), weekly(5), hourly(48)]


@pytest.mark.parametrize(
    ("histogram", "rows"),
    [
        (daily(30, partial=1), 2),
        *(pytest.param(one, 0, marks=pytest.mark.long) for one in LONG),
    ],
)
def test_texts_of_many_do_not_overlap(histogram: Entries[Any], rows: int) -> None:
    """The same of small multiples, in a figure of their own, or in small given axes."""
    results = [stats_of(histogram, f"shop{n}.example") for n in range(7)]
    outcomes = Outcomes([Succeeded(s.query, n, s) for n, s in enumerate(results)])
    grid = Figure((5, 2.6), layout="constrained").subplots(rows, 3) if rows else None
    axes = outcomes.plot(ax=grid)
    assert len(axes) == (3 * rows or 7)
    assert illegible(axes[0].figure) == []


def illegible(figure: Any) -> list[object]:
    """The texts that are cut off, or on another one."""
    FigureCanvasAgg(figure).draw()
    boxes = texts_of(figure)
    assert len(boxes) >= 2
    inside = figure.bbox.padded(1)
    cut_off = [
        text
        for text, box in boxes.items()
        if not all(inside.contains(*corner) for corner in (box.min, box.max))
    ]
    return cut_off + [
        (one, other)
        for (one, box), (other, another) in combinations(boxes.items(), 2)
        if box.padded(-1).overlaps(another.padded(-1))
    ]
