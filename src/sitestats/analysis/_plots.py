"""Plot histograms, lists and comparisons with matplotlib.

What is drawn depends on the room for it, in points of the axes' present size: a bar for
each entry of a histogram, or steps without gaps, or steps of means; as many entries of
a list, ticks and characters as do not overlap.
"""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, Final

import attrs

from sitestats._common.errors import load_extra
from sitestats._common.fields import TotalName
from sitestats._common.text import cut, plain
from sitestats._results.comparison import Change, Changes, Comparison
from sitestats._results.entries import Entries, columns_of_entries
from sitestats._results.outcome_comparison import Comparisons
from sitestats._results.stats import Stats

from ._frames import check_range
from ._labels import NO_ENTRIES, about, heading, left_out, title, unknown
from ._series import DAY, Point, Series, series_of

_MOST_BARS: Final = 20
_LONGEST_NAME: Final = 40
_NARROWEST_BAR: Final = 2.75
"""Points of the axis for one entry of a histogram, from which it has a bar."""
_NARROWEST_STEP: Final = 0.5
"""Points of the axis for one step; narrower ones become means of a longer unit."""
_ROW: Final = 1.25
"""Heights of a letter between two lines of text that do not touch."""
_CHARACTER: Final = 0.57
"""The width of a character of most fonts, in heights."""
_LEGEND: Final = 48
"""Points above the highest count for a legend of two lines."""
_MOST_LINES: Final = 2
"""The most lines of each part of a title."""
OFFSET: Final = 75
"""Points below the right end of the axis, for the year and the month of its ticks."""
_MOST_MARKERS: Final = 40
_HATCH: Final = "//"
_NOT_WHOLE: Final = {"alpha": 0.35, "hatch": _HATCH}
_NOT_WHOLE_SPAN: Final = {
    "facecolor": "none",
    "edgecolor": "gray",
    "alpha": 0.4,
    "hatch": _HATCH,
    "linewidth": 0,
    "zorder": 0,
}
_WEEKEND: Final = {"color": "gray", "alpha": 0.15, "linewidth": 0, "zorder": 0}
_SATURDAY: Final = 5


@attrs.frozen
class Palette:
    """Two blues that differ in lightness, so that everybody tells them apart, in print
    too: each from the other and from the background by a contrast of 3 to 1.
    """

    strong: str
    """Visitors, and what is now."""
    soft: str
    """Page views, and what was before."""


ON_LIGHT: Final = Palette(strong="#062B57", soft="#3282B8")
ON_DARK: Final = Palette(strong="#BFE0F7", soft="#2F77AE")


def plot(result: object, ax: Any = None, **choices: Any) -> Any:
    """Draw *result* into *ax*, or into new axes, and return the axes.

    New ones are pyplot's, so that a notebook and ``pyplot.show`` show them. If *ax*
    is given, pyplot is not imported.
    """
    if ax is not None:
        draw(result, ax, **choices)
        return ax
    pyplot = load_extra("matplotlib.pyplot", extra="plot")
    figure, ax = pyplot.subplots(layout="constrained")
    try:
        draw(result, ax, **choices)
    except BaseException:
        pyplot.close(figure)
        raise
    return ax


@singledispatch
def draw(result: object, ax: Any, **choices: Any) -> None:
    """Draw *result* into *ax*.

    Args:
        result: A value of one of the registered types.
        ax: The axes.
        choices: What to draw of it, if there is a choice.
    """
    message = f"no plot of {type(result).__name__} in {ax} with {choices}"
    raise TypeError(message)


# --- results ----------------------------------------------------------------------


@draw.register(Stats)
def _of_stats(stats: Stats, ax: Any, field: str) -> None:
    draw(getattr(stats, field), ax)
    name = "" if field == "histogram" else f": {heading(field)}"
    set_title(ax, title(stats) + name, about(stats))


@draw.register(Entries)
def _of_entries(entries: Entries[Any], ax: Any) -> None:
    check_range(columns_of_entries(entries))
    if "date" in entries.columns:
        draw_histogram(ax, series_of(entries))
    else:
        _list(entries, ax)


@draw.register(Comparison)
def _of_comparison(comparison: Comparison, ax: Any, field: str, count: str) -> None:
    now, before = comparison.now, comparison.before
    if field == "histogram":
        for stats in (now, before):
            check_range(columns_of_entries(stats.histogram))
        _lines(comparison, count, ax)
        set_title(ax, f"{title(now)}: {heading(count)}", about(now))
        return
    if field:
        _changes(comparison[field], ax, count)  # type: ignore[index]  # a list's name
    else:
        changes = [(heading(n), one) for n, one in comparison.totals.items()]
        _pairs(ax, changes, partial=comparison.partial)
    against = about(before)
    text = f"{about(now)}, against {against}" if against else about(now)
    set_title(ax, title(now) + (field and f": {heading(field)}"), text)


@draw.register(Changes)
def _changes(changes: Changes, ax: Any, count: str = "pageviews") -> None:
    pairs = [
        (item.value or unknown(changes.name), getattr(item, count)) for item in changes
    ]
    _pairs(ax, pairs, name=count, truncated=changes.truncated, partial=changes.partial)
    set_title(ax, heading(changes.name))


@draw.register(Comparisons)
def _of_comparisons(comparisons: Comparisons, ax: Any, total: TotalName) -> None:
    changes = comparisons.largest(total)
    _pairs(ax, changes, name=total, partial=comparisons.partial)
    # Without the zone, which differs by website.
    periods = {
        ", against ".join(about(stats).partition(",")[0] for stats in (c.now, c.before))
        for c in comparisons
    }
    if len(periods) == 1:
        set_title(ax, *periods)


# --- over time --------------------------------------------------------------------


def draw_histogram(ax: Any, series: Series, *, has_legend: bool = True) -> None:
    """Draw page views, and the visitors among them in front."""
    dates = load_extra("matplotlib.dates", extra="plot")
    room = _width(ax)
    palette = palette_of(ax)
    has_data = ax.has_data()
    series = series.coarser(int(room / _NARROWEST_STEP))
    counts = (
        ("pageviews", "page views", palette.soft),
        ("visitors", "visitors", palette.strong),
    )
    if len(series.points) * _NARROWEST_BAR <= room:
        whens = [point.when for point in series.points]
        for count, label, color in counts:
            heights = [getattr(point, count) for point in series.points]
            bars = ax.bar(whens, heights, series.step * 0.8, label=label, color=color)
            for bar, point in zip(bars, series.points, strict=True):
                if point.mark:
                    bar.set(**_NOT_WHOLE)
    else:
        values, edges = _steps(series)
        for count, label, color in counts:
            heights = [getattr(point, count, float("nan")) for point in values]
            ax.stairs(
                heights, dates.date2num(edges), fill=True, label=label, color=color
            )
        ax.xaxis_date()
    _finish(ax, [series], has_data=has_data, has_legend=has_legend)


def _steps(series: Series) -> tuple[list[Point | None], list[dt.datetime]]:
    """The points, None for a gap, and the edges between them."""
    values: list[Point | None] = []
    edges: list[dt.datetime] = []
    half = series.step / 2
    for run in series.runs():
        if edges:
            values.append(None)
        edges.append(run[0].when - half)
        for one, following in zip(run, [*run[1:], None], strict=True):
            values.append(one)
            end = one.when + half
            if following is not None:
                end = one.when + (following.when - one.when) / 2
            edges.append(end)
    return values, edges


def _lines(comparison: Comparison, count: str, ax: Any) -> None:
    palette = palette_of(ax)
    has_data = ax.has_data()
    now, before = (
        series_of(stats.histogram) for stats in (comparison.now, comparison.before)
    )
    if now.is_by_number:
        before = before.in_place_of(now)
    elif now.points and before.points:
        begins = [
            one.points[0].when
            if stats.first_day is None
            else dt.datetime.combine(stats.first_day, dt.time())
            for one, stats in ((now, comparison.now), (before, comparison.before))
        ]
        before = before.shifted(begins[0] - begins[1])
    most = int(_width(ax) / _NARROWEST_STEP)
    now, before = now.begun().coarser(most), before.begun().coarser(most)
    styles = (
        (before, comparison.before, "before", palette.soft, (0, (4, 1.5))),
        (now, comparison.now, "now", palette.strong, "solid"),
    )
    for series, stats, name, color, style in styles:
        label = about(stats).partition(",")[0] or name
        marker = "o" if len(series.points) <= _MOST_MARKERS else ""
        for run in series.runs():
            ax.plot(
                [point.when for point in run],
                [getattr(point, count) for point in run],
                color=color,
                linestyle=style,
                linewidth=1.5,
                marker=marker,
                markersize=3,
                label=label,
            )
            label = "_nolegend_"
    _finish(ax, [now, before] if now.points else [before, now], has_data=has_data)


def _finish(
    ax: Any, drawn: Sequence[Series], *, has_data: bool, has_legend: bool = True
) -> None:
    """Set limits, ticks, labels and notes of axes with these series."""
    _mark_days(ax, drawn)
    first = drawn[0]
    points = [point for series in drawn for point in series.points]
    if points:
        half = first.step / 2
        dates = load_extra("matplotlib.dates", extra="plot")
        ends = dates.date2num(
            [min(p.when for p in points) - half, max(p.when for p in points) + half]
        )
        if has_data:
            ends = [min(ends[0], ax.get_xlim()[0]), max(ends[1], ax.get_xlim()[1])]
        ax.set_xlim(*ends)
    highest = max([1, *(max(p.pageviews, p.visitors) for p in points)])
    room = _LEGEND / _legend_columns(ax) / _height(ax) if has_legend else 0.05
    top = highest / (1 - min(room, 0.5))
    ax.set_ylim(0, max(top, ax.get_ylim()[1]) if has_data else top)
    _set_time_ticks(ax, max(drawn, key=lambda one: len(one.points)))
    _set_count_ticks(ax.yaxis, int(_height(ax) / 25), highest)
    if first.unit:
        ax.set_ylabel(f"per {first.unit}")
    if not points:
        ax.text(0.5, 0.5, NO_ENTRIES, ha="center", transform=ax.transAxes)
    elif has_legend:
        set_legend(ax, ax)


def set_legend(target: Any, ax: Any, loc: str = "upper left") -> None:
    """Put the legend of *ax* into *target*, which is the axes or the figure."""
    patches = load_extra("matplotlib.patches", extra="plot")
    found: dict[str, Any] = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        found[label] = handle
        if hasattr(handle, "patches"):
            # A legend shows the first bar, which may be one that is not whole.
            color = handle.patches[0].get_facecolor()[:3]
            found[label] = patches.Patch(color=color)
    looks = {"fontsize": "small", "framealpha": 0.8, "edgecolor": "none"}
    columns = _legend_columns(ax) if target is ax else len(found)
    legend = target.legend([*found.values()], [*found], loc=loc, ncols=columns, **looks)
    # What stands inside of the axes makes them no smaller.
    legend.set_in_layout(target is not ax)


def _legend_columns(ax: Any) -> int:
    """Two where there is room for two labels in a line, with their colours."""
    labels = dict.fromkeys(ax.get_legend_handles_labels()[1])
    room = sum(5 * len(label) + 40 for label in labels)
    return 2 if room <= _width(ax) else 1


def _mark_days(ax: Any, drawn: Sequence[Series]) -> None:
    """Mark what is not whole, and weekends, and say so below the axis."""
    notes: list[str] = []
    if drawn[0].mean_of:
        notes.append(f"the mean of each {drawn[0].mean_of}")
    if _mark_weekends(ax, drawn[0]):
        notes.append("grey: Saturday and Sunday")
    found = ", ".join(p.mark for one in drawn for p in one.points if p.mark)
    if found:
        marks = dict.fromkeys(found.split(", "))
        notes.append(f"hatched: {' or '.join(marks)}")
    for series in drawn:
        half = series.step / 2
        marked = attrs.evolve(series, points=[p for p in series.points if p.mark])
        for run in marked.runs():
            # Also visible where the count is still 0.
            ax.axvspan(run[0].when - half, run[-1].when + half, **_NOT_WHOLE_SPAN)
    set_note(ax, "; ".join(notes), besides=OFFSET)


def _mark_weekends(ax: Any, series: Series) -> bool:
    """Mark Saturdays and Sundays, if days are told apart; return whether some are."""
    points = series.points
    if (
        not points
        or series.unit not in {"hour", "day"}
        or series.mean_of not in {"", "day"}
    ):
        return False
    span = points[-1].when - points[0].when + series.step
    if _width(ax) * (DAY / span) < _NARROWEST_BAR:
        return False
    dates = load_extra("matplotlib.dates", extra="plot")
    # Bars stand around the time at which they begin, and means in the middle of a day.
    shift = 0 if series.mean_of else series.step / DAY / 2
    days = sorted({p.when.date() for p in points if p.when.weekday() >= _SATURDAY})
    spans = [(dates.date2num(day) - shift, 1) for day in days]
    if spans:
        across = ax.get_xaxis_transform()
        ax.broken_barh(spans, (0, 1), transform=across, **_WEEKEND)
    return bool(spans)


def _set_time_ticks(ax: Any, series: Series) -> None:
    dates = load_extra("matplotlib.dates", extra="plot")
    ticker = load_extra("matplotlib.ticker", extra="plot")
    if not series.points:
        ax.set_xticks([])
        return
    whens = [point.when for point in series.points]
    if len(series.points) == 1:
        (point,) = series.points
        text = f"{point.when:%d %b %Y}"
        if series.unit == "hour":
            text += f"{point.when:, %H:%M}"
        ax.xaxis.set_major_locator(ticker.FixedLocator([*dates.date2num([point.when])]))
        ax.xaxis.set_major_formatter(ticker.FixedFormatter([text]))
        return
    most = min(8, max(3, int(_width(ax) / 45)))
    if len(whens) <= most:
        locator = ticker.FixedLocator([*dates.date2num(whens)])
    else:
        locator = dates.AutoDateLocator(minticks=max(2, most // 2), maxticks=most)
        # Without these 18 months have no interval for three ticks, and a warning.
        for unit, interval in ((dates.MONTHLY, 12), (dates.HOURLY, 24)):
            locator.intervald[unit] = [*locator.intervald[unit], interval]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


# --- lists ------------------------------------------------------------------------


def _list(entries: Entries[Any], ax: Any) -> None:
    label, count = entries.columns[:2]
    shown = list(entries)[: _most_rows(ax)]
    counts = [entry.get(count) or 0 for entry in shown]
    ax.barh(range(len(shown)), counts, color=palette_of(ax).soft)
    names = [entry.get(label) or unknown(entries.name) for entry in shown]
    note = left_out(len(entries), len(shown), truncated=entries.truncated)
    _set_rows(ax, names, heading(count), note, counts)
    set_title(ax, heading(entries.name))


def _pairs(
    ax: Any,
    changes: Sequence[tuple[str, Change]],
    *,
    name: str = "",
    truncated: bool = False,
    partial: bool = False,
) -> None:
    """Draw two bars for each change."""
    shown = changes[: _most_rows(ax)]
    palette = palette_of(ax)
    every: list[float] = []
    for side, shift, color in (
        ("now", -0.2, palette.strong),
        ("before", 0.2, palette.soft),
    ):
        counts = [getattr(change, side) or 0 for _, change in shown]
        places = [place + shift for place in range(len(shown))]
        ax.barh(places, counts, 0.4, label=side, color=color)
        every += counts
    note = left_out(len(changes), len(shown), truncated=truncated, partial=partial)
    _set_rows(ax, [name for name, _ in shown], heading(name), note, every)
    ax.legend(fontsize="small")


def _set_rows(
    ax: Any, names: Sequence[str], what: str, note: str, counts: Sequence[float]
) -> None:
    longest = min(_LONGEST_NAME, max(12, int(_width(ax) / 9)))
    labels = [_as_text(cut(plain(name), longest)) for name in names]
    ax.set_yticks(range(len(names)), labels=labels)
    ax.invert_yaxis()
    highest = max([1, *counts])
    _set_count_ticks(
        ax.xaxis, int(_width(ax) / (7 * len(f"{highest:,.0f}") + 15)), highest
    )
    set_note(ax, "\n".join(filter(None, [what, note])))


def _most_rows(ax: Any) -> int:
    return max(1, min(_MOST_BARS, int(_height(ax) / (_ROW * _size(ax.yaxis)))))


# --- texts, and the room for them -------------------------------------------------


def set_title(ax: Any, *lines: str) -> None:
    """Set the title, in lines that are as wide as the axes."""
    text = ax.set_title("", loc="left", fontsize="medium")
    width = _characters(_width(ax), text)
    text.set_text(_wrapped(lines, width, max_lines=_MOST_LINES))


def set_note(ax: Any, note: str, *, besides: float = 0) -> None:
    """Set the note below the axes, to the left of *besides* points."""
    text = ax.set_xlabel("", loc="left", fontsize="small")
    text.set_text(_wrapped(note.splitlines(), _characters(_width(ax) - besides, text)))


def _characters(room: float, text: Any) -> int:
    """How many characters of *text* there is room for in a line."""
    return max(12, int(room / (_CHARACTER * text.get_fontsize())))


def _wrapped(lines: Sequence[str], width: int, max_lines: int | None = None) -> str:
    wrapped = (
        textwrap.wrap(plain(line), width, max_lines=max_lines, placeholder="…")
        for line in lines
    )
    return _as_text("\n".join(part for parts in wrapped for part in parts))


def _as_text(text: str) -> str:
    # Escaped, since matplotlib reads text between dollar signs as mathematics.
    return text.replace("$", r"\$")


def _set_count_ticks(axis: Any, most: int, highest: float) -> None:
    ticker = load_extra("matplotlib.ticker", extra="plot")
    bins = min(max(most, 1), 8)
    locator = ticker.MaxNLocator(
        bins, integer=isinstance(highest, int), steps=[1, 2, 2.5, 5, 10]
    )
    axis.set_major_locator(locator)
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.15g}"))


def _width(ax: Any) -> float:
    """The width of the axes in points, which are 1/72 of an inch."""
    return float(ax.bbox.width * 72 / ax.figure.dpi)


def _height(ax: Any) -> float:
    return float(ax.bbox.height * 72 / ax.figure.dpi)


def _size(axis: Any) -> float:
    """The size of an axis' labels, in points."""
    return float(axis.get_label().get_fontsize())


def palette_of(ax: Any) -> Palette:
    """The colours for the background of *ax*."""
    colors = load_extra("matplotlib.colors", extra="plot")
    for color in (ax.get_facecolor(), ax.figure.get_facecolor()):
        *rgb, opacity = colors.to_rgba(color)
        if opacity:
            return ON_DARK if _is_dark(*rgb) else ON_LIGHT
    # What is behind a transparent figure is the page, which its texts are for.
    *rgb, _ = colors.to_rgba(ax.title.get_color())
    return ON_LIGHT if _is_dark(*rgb) else ON_DARK


def _is_dark(red: float, green: float, blue: float) -> bool:
    return 0.3 * red + 0.6 * green + 0.1 * blue < 0.5  # noqa: PLR2004 - half
