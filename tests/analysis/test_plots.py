"""Plots: what is drawn, where, in which colours, and that texts do not overlap."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from io import BytesIO
from itertools import combinations
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import date2num
from matplotlib.figure import Figure

from plotted import MONDAY, QUERY, axes_of, daily, entries_of, hourly, stats_of
from sitestats import (
    Client,
    Entries,
    FieldNotRequestedError,
    HistogramEntry,
    PageEntry,
    ResponseError,
    Stats,
    StatsQuery,
)
from sitestats._results.histogram import WeekEntry
from sitestats.analysis._plots import ON_DARK, ON_LIGHT, Palette
from sitestats.emulator import Emulator

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
    return entries_of(
        [
            WeekEntry(m, 70 + n, 30, year=2026, week=m.isocalendar()[1])
            for n, m in enumerate(mondays)
        ],
        WeekEntry,
    )


def monthly(count: int, *, clipped: bool = False) -> Entries[Any]:
    """So many months, the first and the last of which may be cut by the period."""
    return entries_of(
        [
            HistogramEntry(
                dt.date(2024 + n // 12, 1 + n % 12, 1),
                900 + n,
                400,
                clipped=clipped and n in {0, count - 1},
            )
            for n in range(count)
        ],
        HistogramEntry,
    )


# --- bars and steps ---------------------------------------------------------------


def test_axes_are_taken_and_returned() -> None:
    """A plot is drawn into the given axes, or into new ones of pyplot."""
    figure, axes = plt.subplots()
    assert daily(2).plot(axes) is axes
    pages = [PageEntry(value, 9, 3) for value in ("/", "/a$b$\n")]
    other: Any = Entries(pages, name="pages", entry_type=PageEntry).plot()
    assert other.figure is not figure
    ticks = [tick.get_text() for tick in other.get_yticklabels()]
    assert ticks == ["/", r"/a$b$\n"]
    for drawn in (figure, other.figure):
        drawn.canvas.draw()


def test_a_bar_that_is_not_whole_is_hatched() -> None:
    """Behind a bar that is not over, or that the period cuts, is a hatched part of the
    axis, which shows an empty one too, and the axis says why.
    """
    axes = daily(2, partial=1).plot(axes_of())
    *bars, span = axes.patches
    assert [bar.get_hatch() for bar in bars] == [None] * 4
    assert span.get_hatch() == "//"
    # A polygon before matplotlib 3.9, and a rectangle since.
    box = span.get_path().get_extents(span.get_patch_transform())
    assert box.width == 1
    assert box.x0 + 0.5 == bars[1].get_x() + bars[1].get_width() / 2
    assert axes.get_xlabel() == "hatched: not over yet"
    axes = monthly(3, clipped=True).plot(axes_of())
    assert len(axes.patches) == 6 + 2
    assert axes.get_xlabel() == "hatched: cut by the period"
    assert daily(2).plot(axes_of()).get_xlabel() == ""


def test_many_entries_are_steps() -> None:
    """Up to 60 entries have a bar each; more are two shapes, with a hole where entries
    are missing.
    """
    assert len(monthly(60).plot(axes_of()).patches) == 120
    page_views, visitors = hourly(8760).plot(axes_of()).patches
    assert len(page_views.get_data().values) == len(visitors.get_data().values) == 8760
    days = [*daily(100)]
    with_a_gap = entries_of(days[:50] + days[60:], HistogramEntry)
    values = with_a_gap.plot(axes_of()).patches[0].get_data().values
    assert [place for place, value in enumerate(values) if np.isnan(value)] == [50]


# --- weekends, titles, limits -----------------------------------------------------


def test_weekends_are_told_apart() -> None:
    """Each Saturday and Sunday of days or hours is grey, to the ends of the axis."""
    note = "grey: Saturday and Sunday"
    for entries in (daily(8), hourly(24 * 8), daily(6)):
        axes = entries.plot(axes_of())
        *_, span = axes.patches
        box = span.get_path().get_extents(span.get_patch_transform())
        has_bars = len(entries) <= 60
        saturday = date2num(MONDAY + dt.timedelta(5)) - 0.5 * has_bars
        assert (box.x0, box.width) == (saturday, min(2, len(entries) - 5))
        assert axes.get_xlabel() == note
    for entries in (daily(5), weekly(9), monthly(9), daily(100)):
        assert entries.plot(axes_of()).get_xlabel() == ""
    comparison = stats_of(daily(8)).compare_to(stats_of(daily(8)))
    assert comparison.plot(ax=axes_of()).get_xlabel() == ""


def test_a_title_says_what_is_drawn() -> None:
    """The title has the website and its page, the days, the zone, and the list; what
    visitors wrote in it is no mathematics, and a long one has more lines.
    """
    title = stats_of(daily(3)).plot(ax=axes_of()).get_title("left")
    assert title == "shop.example\n2026-06-01 to 2026-06-03, Europe/Amsterdam"
    query = StatsQuery("shop.example").fields("pages").path("/$a^{$")
    axes = Stats.of(query, pages=[("/$b^{$", 1, 1)]).plot(ax=axes_of())
    assert axes.get_title("left").splitlines()[0] == "shop.example/$a^{$: pages"
    FigureCanvasAgg(axes.figure).draw()


def test_what_was_not_requested_is_named() -> None:
    """Without a histogram or a list the error names the step to add; no figure is
    left open.
    """
    nothing = Stats.of(StatsQuery("shop.example").fields("visitors"), visitors=1)
    with pytest.raises(FieldNotRequestedError, match="'histogram' was not requested"):
        nothing.plot()
    wrong: Any = "page"
    with pytest.raises(FieldNotRequestedError, match="did you mean 'pages'"):
        nothing.plot(wrong)
    absurd = entries_of([HistogramEntry(MONDAY, 10**400, 1)], HistogramEntry)
    with pytest.raises(ResponseError, match="does not fit into 64 bits"):
        absurd.plot()
    assert plt.get_fignums() == []


def test_pyplot_keeps_its_state() -> None:
    """Settings stay as they are, and so do the current axes if others are given."""
    settings = dict(mpl.rcParams)
    _, current = plt.subplots()
    daily(3).plot(axes_of())
    stats_of(daily(3)).compare_to(stats_of(daily(3))).plot(ax=axes_of())
    assert plt.gca() is current
    assert len(plt.get_fignums()) == 1
    assert dict(mpl.rcParams) == settings


def test_a_second_plot_leaves_room_for_the_first() -> None:
    """Axes that are drawn into twice show both, and the labels once."""
    axes = daily(3).plot(axes_of())
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    small = [HistogramEntry(MONDAY + dt.timedelta(9), 1, 1)]
    entries_of(small, HistogramEntry).plot(axes)
    assert axes.get_xlim()[1] > right + 6
    assert axes.get_ylim() == (0, top)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["page views", "visitors"]


def test_without_pandas_and_without_pyplot(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who uses polars, or draws on a server, needs neither pandas nor pyplot."""
    for name in ("pandas", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    query = QUERY.fields("histogram", "pages").last(days=4)
    figure = Figure(layout="constrained")
    first, second, *rest = figure.subplots(2, 2).ravel()
    client.stats.get(query).plot(ax=first)
    client.stats.compare(query).plot(ax=second)
    client.stats.get_many([query, query.where(page="/")]).collect().plot(ax=rest)
    FigureCanvasAgg(figure).draw()


# --- comparisons ------------------------------------------------------------------


def xs_of(axes: Any) -> list[list[float]]:
    """Where the points of each line are, that of the earlier period first."""
    return [[*line.get_xdata(orig=False)] for line in axes.lines]


def test_two_periods_lie_on_each_other() -> None:
    """Each day is below its own of the other period, also where one is longer."""
    now, before = daily(3), daily(5, first=MONDAY - dt.timedelta(9))
    comparison = stats_of(now).compare_to(stats_of(before))
    axes = comparison.plot(ax=axes_of())
    before_xs, now_xs = xs_of(axes)
    assert now_xs == [date2num(MONDAY) + n for n in range(3)]
    assert before_xs == [date2num(MONDAY) + n for n in range(5)]
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


@pytest.mark.parametrize("lengths", [(3, 3), (2, 4), (3, 0), (0, 3), (0, 0)])
def test_months_are_compared_by_their_number(lengths: tuple[int, int]) -> None:
    """Months lie on each other however long they are, and none are no error."""
    query = QUERY.interval("month")
    now, before = (
        Stats.of(query, pageviews=1, visitors=1, histogram=[*monthly(15)[skip:][:n]])
        for skip, n in zip((12, 0), lengths, strict=True)
    )
    xs = xs_of(now.compare_to(before).plot(ax=axes_of()))
    assert sorted(map(len, xs)) == sorted(n for n in lengths if n)
    if all(lengths):
        shared = min(lengths)
        assert xs[0][:shared] == xs[1][:shared]


def test_what_else_is_compared(client: Client) -> None:
    """Without a histogram the first list is drawn, else the totals, with both periods
    in the title; changes draw themselves.
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


def test_a_line_ends_with_what_has_begun(client: Client) -> None:
    """The days of June to come are zeros, which would look like a fall."""
    query = StatsQuery(client.websites.list()[0]).fields("histogram")
    june = client.stats.compare(query.during("2026-06"), against="2026-05")
    lines = june.plot(ax=axes_of()).lines
    assert sorted(len(line.get_xdata()) for line in lines) == [10, 31]


def test_events_are_compared_too(client: Client) -> None:
    """A comparison of events alone draws how often each happened."""
    query = StatsQuery("shop.example").all_events().last(days=7)
    comparison = client.stats.compare(query)
    axes = comparison.plot(ax=axes_of())
    assert axes.get_xlabel() == "times"
    totals = [item.total.now for item in comparison["events"]]
    assert [bar.get_width() for bar in axes.patches[: len(totals)]] == totals


def test_what_can_not_be_drawn_is_named() -> None:
    """A wrong name is an error with the right one, or with what there is."""
    comparison = stats_of(daily(3)).compare_to(stats_of(daily(3)))
    wrong: Any = "visitrs"
    with pytest.raises(FieldNotRequestedError, match="did you mean 'visitors'"):
        comparison.plot(count=wrong)
    with pytest.raises(FieldNotRequestedError, match="'pages' is not a list"):
        comparison.plot("pages")
    events, totals = (
        Stats.of(StatsQuery("shop.example").fields(name), **{name: value})
        for name, value in (("pages", []), ("visitors", 1))
    )
    with pytest.raises(FieldNotRequestedError, match="'histogram'"):
        events.compare_to(totals).plot()
    assert plt.get_fignums() == []


# --- many websites ----------------------------------------------------------------


def titles_of(axes: Any) -> list[str]:
    """What is drawn where."""
    return [one.get_title("left") for one in axes]


WEBSITES = ["shop.example", "nobody.example", "blog.example", "docs.example"]


def test_each_website_has_axes(client: Client) -> None:
    """There is one picture for each website, on one time axis, with a note about what
    failed, and with one scale if that is wanted.
    """
    queries = [QUERY.last(days=7).website(website) for website in WEBSITES]
    outcomes = client.stats.get_many(queries).collect()
    axes = outcomes.plot()
    figure = axes[0].figure
    assert plt.get_fignums() == [figure.number]
    assert titles_of(axes) == ["shop.example", "blog.example", "docs.example"]
    assert len({one.get_xlim() for one in axes}) == 1
    assert len({one.get_ylim() for one in axes}) == 3
    assert figure.get_supxlabel() == "1 failed; grey: Saturday and Sunday"
    assert "2026-06-03 to 2026-06-09" in figure.get_suptitle()
    shared = outcomes.plot(sharey=True)
    (low, high) = max(one.get_ylim() for one in axes)
    assert {one.get_ylim() for one in shared} == {(low, high)}
    assert "2 more" in outcomes.plot(most=1)[0].figure.get_supxlabel()


def test_many_are_drawn_into_given_axes(client: Client) -> None:
    """Given axes hold as many as they are, and the last one has the note."""
    queries = [QUERY.last(days=3).website(w) for w in WEBSITES if w != "nobody.example"]
    outcomes = client.stats.get_many(queries).collect()
    grid = Figure((6, 3)).subplots(1, 2, squeeze=False)
    assert [*outcomes.plot(grid)] == [*grid[0]]
    assert "1 more" in grid[0, 1].get_xlabel()
    (alone,) = outcomes[:1].plot(axes_of())
    assert titles_of([alone]) == ["shop.example"]
    assert len(outcomes[:2].plot([*Figure().subplots(1, 4)])) == 2
    assert plt.get_fignums() == []


def test_parts_of_one_website_are_drawn_together(client: Client) -> None:
    """A query for each month gives one picture of all of them; other filters give
    another one, and days that are there twice one for each query.
    """
    months = [*QUERY.between("2026-04-15", "2026-06-09").each("month")]
    nl = months[1].where(country="NL")
    outcomes = client.stats.get_many([*reversed(months), nl, nl]).collect()
    first, *others = outcomes.plot(Figure((30, 5)).subplots(1, 4))
    assert titles_of(others) == ["shop.example, country=NL"] * 2
    xs = [bar.get_x() for bar in first.patches[:56]]
    assert xs == sorted(set(xs))
    assert sum(len(one.result().histogram) for one in outcomes[:3]) == 56


def test_no_outcomes_and_no_histogram(client: Client) -> None:
    """Nothing gives empty axes; a query without a histogram is an error."""
    (empty,) = client.stats.get_many([]).collect().plot()
    assert [text.get_text() for text in empty.texts] == ["nothing in this period"]
    plt.close("all")
    stream = client.stats.get_many([StatsQuery("shop.example").fields("pages")])
    with pytest.raises(FieldNotRequestedError, match="'histogram' was not requested"):
        stream.collect().plot()
    assert plt.get_fignums() == []


# --- can it be read? --------------------------------------------------------------

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2."""
    rgb = np.array(mpl.colors.to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(LUMINANCE @ linear)


@pytest.mark.parametrize(
    ("palette", "backgrounds"),
    [(ON_LIGHT, ["white", "#ECECEC"]), (ON_DARK, ["black", "#131313"])],
    ids=["light", "dark"],
)
def test_everybody_tells_the_colours_apart(
    palette: Palette, backgrounds: list[str]
) -> None:
    """Both colours differ from each other and from the background, also that of a
    weekend, by a contrast of 3: in brightness, which the colour-blind see too.
    """
    for background in backgrounds:
        colors = palette.strong, palette.soft, background
        for low, high in combinations(sorted(map(luminance, colors)), 2):
            assert (high + 0.05) / (low + 0.05) >= 3


def test_the_palette_goes_with_the_background() -> None:
    """On dark axes the colours are light, also where the axes are transparent."""
    for background, palette in (("white", ON_LIGHT), ("#111111", ON_DARK)):
        axes = axes_of()
        axes.figure.set_facecolor(background)
        axes.set_facecolor("none")
        daily(2).plot(axes)
        colors = [mpl.colors.to_hex(bar.get_facecolor()) for bar in axes.patches[::2]]
        assert colors == [palette.soft.lower(), palette.strong.lower()]


@pytest.mark.parametrize(
    ("style", "palette"), [("default", ON_LIGHT), ("dark_background", ON_DARK)]
)
def test_a_transparent_figure_has_the_colours_of_the_style(
    style: str, palette: Palette
) -> None:
    """A notebook shows a transparent picture on its page: light texts are for a dark
    one.
    """
    with plt.style.context([style, {"figure.facecolor": "none"}]):
        axes = axes_of()
        axes.set_facecolor("none")
        daily(2).plot(axes)
    color = mpl.colors.to_hex(axes.patches[0].get_facecolor())
    assert color == palette.soft.lower()


def test_a_picture_has_the_background_of_the_style() -> None:
    """A notebook in a dark style gets a dark picture, its corner too."""
    picture = BytesIO()
    with plt.style.context("dark_background"):
        daily(2).plot().figure.savefig(picture)
    picture.seek(0)
    pixels = plt.imread(picture)
    assert not pixels[0, 0, :3].any()
    assert np.median(pixels[..., :3]) < 0.5


def texts_of(figure: Any) -> dict[str, Any]:
    """The box of each text that is drawn."""
    axes = figure.axes
    both = [axis for one in axes for axis in (one.xaxis, one.yaxis)]
    legends = [*figure.legends, *(one.get_legend() for one in axes)]
    texts = [
        *figure.texts,
        *(text for one in axes for text in (one._left_title, *one.texts)),
        *(text for legend in legends if legend for text in legend.get_texts()),
        *(text for axis in both for text in (axis.label, axis.offsetText)),
        # Those alone that are between the ends of the axis.
        *(tick.label1 for axis in both for tick in axis._update_ticks()),
    ]
    renderer = figure.canvas.get_renderer()
    return {
        f"{number} {text.get_text()!r}": text.get_window_extent(renderer)
        for number, text in enumerate(texts)
        if text.get_text() and text.get_visible()
    }


HOSTNAME = f"{'very-long-' * 5}name.shop.example"
LISTED = [PageEntry(f"/{'a-long-path/' * (n % 5)}{n}", 10**6 - n, 5) for n in range(30)]
NOTHING = StatsQuery("shop.example").fields("pageviews", "visitors", "histogram")
LAST_DAY = dt.datetime(2026, 6, 30, 12, tzinfo=dt.UTC)
READ = {
    "hours of a day": stats_of(hourly(24)),
    "hours of three days": stats_of(hourly(72)),
    "two hours": stats_of(hourly(2)),
    "one hour": stats_of(hourly(1)),
    "one day": stats_of(daily(1)),
    "two days": stats_of(daily(2)),
    "seven days": stats_of(daily(7, first=dt.date(2026, 10, 27))),
    "thirty days": stats_of(daily(30), responded_at=LAST_DAY),
    "a quarter": stats_of(daily(91)),
    "eighteen months": stats_of(daily(548)),
    "weeks": stats_of(weekly(53)),
    "a few weeks": stats_of(weekly(5)),
    "months": stats_of(monthly(18, clipped=True)),
    "three years": stats_of(daily(1096)),
    "nothing": Stats.of(NOTHING, pageviews=0, visitors=0, histogram=[]),
    "zeroes": Stats.of(
        NOTHING,
        pageviews=0,
        visitors=0,
        histogram=[(MONDAY + dt.timedelta(n), 0, 0) for n in range(9)],
    ),
    "a long name": stats_of(
        daily(30),
        HOSTNAME,
        timezone="America/Argentina/Buenos_Aires",
        responded_at=LAST_DAY,
    ),
    "a large count": Stats.of(
        NOTHING,
        pageviews=1,
        visitors=1,
        histogram=[(MONDAY, 10**12, 10**11)],
    ),
    "unequal periods": stats_of(daily(7)).compare_to(stats_of(daily(20))),
    "a list": Entries(LISTED, name="pages", entry_type=PageEntry, truncated=True),
}


@pytest.mark.parametrize("name", READ)
def test_texts_do_not_overlap(name: str) -> None:
    """In a figure of 6 by 3 inches each text is whole, and none is on another one."""
    axes = READ[name].plot(ax=axes_of())
    assert_legible(axes.figure)


def test_texts_of_many_do_not_overlap(client: Client) -> None:
    """The same of small multiples, in a figure of their own."""
    query = QUERY.last(days=30)
    queries = [query.website(w) for w in client.websites.list()]
    queries += [query.where(country=code) for code in ("NL", "DE", "FR", "US")]
    axes = client.stats.get_many(queries).collect().plot()
    assert len(axes) == 7
    assert_legible(axes[0].figure)


def assert_legible(figure: Any) -> None:
    """No text is cut off, or on another one."""
    FigureCanvasAgg(figure).draw()
    boxes = texts_of(figure)
    assert len(boxes) >= 2
    inside = figure.bbox.padded(1)
    for text, box in boxes.items():
        assert inside.containsx(box.x0), text
        assert inside.containsx(box.x1), text
        assert inside.containsy(box.y0), text
        assert inside.containsy(box.y1), text
    for (one, box), (other, another) in combinations(boxes.items(), 2):
        assert not box.padded(-1).overlaps(another.padded(-1)), (one, other)
