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
from matplotlib.dates import date2num, num2date
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
from sitestats.analysis._plots import ON_DARK, ON_LIGHT, Palette, _set_time_ticks
from sitestats.analysis._series import DAY, Point, Series, series_of
from sitestats.emulator import Emulator

mpl.use("agg")

DAYS = [dt.datetime(2025, 3, 7) + n * DAY for n in range(1500)]  # noqa: DTZ001 - local


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


def days_of(spans: Any) -> list[tuple[dt.date, float]]:
    """The first day of each span of a collection, and its length in days."""
    boxes = [path.get_extents() for path in spans.get_paths()]
    # Bars stand around midnight.
    return [(num2date(box.x0 + 0.5).date(), box.width) for box in boxes]


# --- bars, steps, means -----------------------------------------------------------


def test_axes_are_taken_and_returned() -> None:
    """A plot is drawn into the given axes, or into new ones of pyplot."""
    figure, axes = plt.subplots()
    assert daily(2).plot(axes) is axes
    pages = [PageEntry(value, 9, 3) for value in ("/", "/a$b$\n")]
    other: Any = Entries(pages, name="pages", entry_type=PageEntry).plot()
    assert other.figure is not figure
    ticks = [tick.get_text() for tick in other.get_yticklabels()]
    assert ticks == ["/", r"/a\$b\$\n"]
    for drawn in (figure, other.figure):
        drawn.canvas.draw()


def test_the_bucket_that_is_not_over_is_hatched() -> None:
    """The current bucket's bars are hatched before a hatched part of the axis that is
    as wide, which shows an empty one too, and the axis says why.
    """
    axes = daily(2, partial=1).plot(axes_of())
    *bars, span = axes.patches
    assert [bar.get_hatch() for bar in bars] == [None, "//", None, "//"]
    # A polygon before matplotlib 3.9, and a rectangle since.
    box = span.get_path().get_extents(span.get_patch_transform())
    assert box.width == 1
    assert box.x0 + 0.5 == bars[1].get_x() + bars[1].get_width() / 2
    assert axes.get_xlabel() == "hatched: not over yet"
    axes = daily(2).plot(axes_of())
    assert len(axes.patches) == 4
    assert axes.get_xlabel() == ""


def test_a_bucket_that_the_period_cuts_is_hatched() -> None:
    """A clipped month is hatched as one that is not over, and named below."""
    axes = monthly(3, clipped=True).plot(axes_of())
    assert [bar.get_hatch() for bar in axes.patches[:3]] == ["//", None, "//"]
    assert axes.get_xlabel() == "hatched: cut by the period"
    hatches = [patch.get_hatch() for patch in axes.get_legend().get_patches()]
    assert hatches == [None, None]


@pytest.mark.parametrize(
    ("entries", "width", "drawn", "note"),
    [
        (daily(120), 6, 240, "grey"),
        (daily(130), 6, 2, ""),
        (daily(130), 12, 260, "grey"),
        (daily(548), 6, 2, ""),
        (hourly(8760), 6, 2, "the mean of each day"),
        (hourly(8760), 2, 2, "the mean of each week"),
        (daily(1000), 6, 2, "the mean of each week"),
    ],
    ids=[
        "bars",
        "steps",
        "a wide figure",
        *["months", "a year of hours"],
        "narrow",
        "years",
    ],
)
def test_what_is_drawn_depends_on_the_room(
    entries: Entries[Any], width: float, drawn: int, note: str
) -> None:
    """There are bars where they are wide enough, else steps, else steps of means; so a
    year of hours is two shapes of a few hundred steps.
    """
    axes = entries.plot(axes_of(width))
    assert len(axes.patches) == drawn
    assert axes.get_xlabel().replace("\n", " ").startswith(note)
    assert bool(axes.get_xlabel()) == bool(note)
    if drawn == 2:
        points = axes.bbox.width * 72 / axes.figure.dpi
        assert all(len(one.get_data().values) <= points / 0.5 for one in axes.patches)


# --- weekends, titles, limits -----------------------------------------------------


def test_weekends_are_told_apart() -> None:
    """Each Saturday and Sunday has a grey background, by the day and by the hour."""
    saturday = MONDAY + dt.timedelta(5)
    weekend = [(saturday, 1), (saturday + dt.timedelta(1), 1)]
    axes = daily(11).plot(axes_of())
    (spans,) = axes.collections
    assert days_of(spans) == weekend
    assert axes.get_xlabel() == "grey: Saturday and Sunday"
    (spans,) = hourly(24 * 8).plot(axes_of()).collections
    assert days_of(spans) == weekend
    for entries in (daily(5), weekly(9), monthly(9), daily(1, first=saturday)):
        assert not entries.plot(axes_of()).collections


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
    with pytest.raises(ResponseError, match="401 digits"):
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
    (left, right), top = axes.get_xlim(), axes.get_ylim()[1]
    small = [HistogramEntry(MONDAY + dt.timedelta(9), 1, 1)]
    entries_of(small, HistogramEntry).plot(axes)
    assert axes.get_xlim() == (left, right + 7)
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
    title = "shop.example: page views\n2026-06-01 to 2026-06-03, Europe/Amsterdam"
    assert axes.get_title("left") == title
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["2026-05-23 to 2026-05-27", "2026-06-01 to 2026-06-03"]
    axes = comparison.plot(count="visitors", ax=axes_of())
    assert [*axes.lines[1].get_ydata()] == now.column("visitors")


def test_a_day_that_the_response_lacks_moves_no_other() -> None:
    """The periods are aligned by their first days, not by their first entries."""
    first = MONDAY - dt.timedelta(7)
    before = stats_of(daily(6, first=first + dt.timedelta(1)), first_day=first)
    axes = stats_of(daily(7)).compare_to(before).plot(ax=axes_of())
    before_xs, now_xs = xs_of(axes)
    assert before_xs == now_xs[1:]


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


def test_a_comparison_of_nothing_names_what_to_add(client: Client) -> None:
    """What can't be compared is an error that names the step, or the right name."""
    events = client.stats.compare(StatsQuery("shop.example").all_events().last(days=2))
    with pytest.raises(FieldNotRequestedError, match="'histogram'"):
        events.plot()
    comparison = stats_of(daily(3)).compare_to(stats_of(daily(3)))
    wrong: Any = "visitrs"
    with pytest.raises(FieldNotRequestedError, match="did you mean 'visitors'"):
        comparison.plot(count=wrong)
    with pytest.raises(FieldNotRequestedError, match="'pages' is no list"):
        comparison.plot("pages")
    assert plt.get_fignums() == []


# --- can it be read? --------------------------------------------------------------

# Of Machado, Oliveira and Fernandes (2009), for the whole deficiency; linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def seen(color: str, vision: str) -> Any:
    """A colour as it is seen, in linear RGB."""
    rgb = np.array(mpl.colors.to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.clip(VISION[vision] @ linear, 0, 1)


def contrast(one: Any, other: Any) -> float:
    """The contrast of two colours, as WCAG 2 defines it: 1 to 21."""
    low, high = sorted((float(LUMINANCE @ one), float(LUMINANCE @ other)))
    return (high + 0.05) / (low + 0.05)


def lab(linear: Any) -> Any:
    """CIELAB, in which equal distances look about equal."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize(
    ("palette", "backgrounds"),
    [(ON_LIGHT, ["white", "#ECECEC"]), (ON_DARK, ["black", "#131313"])],
    ids=["light", "dark"],
)
def test_everybody_tells_the_colours_apart(
    palette: Palette, backgrounds: list[str], vision: str
) -> None:
    """Both colours differ from each other and from the background, also that of a
    weekend, by a contrast of 3 and by 20 in CIELAB, for the colour-blind too.
    """
    for background in backgrounds:
        colors = [seen(c, vision) for c in (palette.strong, palette.soft, background)]
        for one, other in combinations(colors, 2):
            assert contrast(one, other) >= 3
            assert np.linalg.norm(lab(one) - lab(other)) >= 20


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


# From three ticks to eight.
@pytest.mark.parametrize("width", [2, 4, 4.5, 5, 6, 9])
def test_ticks_of_every_length_come_without_a_warning(width: float) -> None:
    """A figure with many websites has room for three ticks, for which 18 months had no
    interval: 60 warnings above one plot.
    """
    lengths = (*range(20, 130, 6), *range(130, 1500, 45))
    days = [Point(when, 1, 1) for when in DAYS]
    every = [Series(days[:length], DAY, "day") for length in lengths]
    every += [series_of(hourly(hours)) for hours in range(20, 24 * 12, 9)]
    axes = Figure((width, 2)).subplots()
    for series in every:
        _set_time_ticks(axes, series)
        axes.set_xlim(series.points[0].when, series.points[-1].when)
        assert 1 <= len(axes.get_xticks()) <= 12, len(series.points)


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


@pytest.mark.parametrize("name", ["thirty days", "a long name", "unequal periods"])
def test_texts_have_room_in_narrow_axes(name: str) -> None:
    """Titles and notes have more lines where there is less room."""
    axes = READ[name].plot(ax=axes_of(3.5))
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
