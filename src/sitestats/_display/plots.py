"""Plot histograms, lists, comparisons and many websites with matplotlib."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, singledispatch
from itertools import pairwise
from math import ceil, sqrt
from statistics import median_low
from textwrap import fill
from typing import Any, Final, NamedTuple, cast

from sitestats._base.errors import UsageError, load_extra
from sitestats._base.text import cut, plain
from sitestats._comparison.changes import DAYS, Change, Changes
from sitestats._comparison.comparison import Comparison
from sitestats._comparison.comparisons import Comparisons
from sitestats._display.labels import (
    CUT,
    NO_ENTRIES,
    NOT_OVER,
    against,
    any_of,
    days,
    heading,
    joined,
    marks,
    period,
    unknown,
)
from sitestats._query.builder import parameters_of
from sitestats._results.entries import Entries
from sitestats._results.outcomes import CollectedOutcomes, Succeeded, has_list
from sitestats._results.stats import Stats
from sitestats._results.tables import compared_days, label_of, only

_MOST_ROWS: Final = 20
_ROW: Final = 12
"""The least height of a row, in points."""
_AROUND: Final = 105
"""The height of titles, numbers and notes above and below rows, in points."""
_TICK: Final = 34
"""The room of a date below an axis, in points."""
_MOST_BARS: Final = 60
"""The most entries of a histogram with a bar each; more are steps without gaps."""
_LONGEST_NAME: Final = 40
_NARROW: Final = 105
"""The width of axes whose name has one line, in points."""
_LONGEST_TITLE: Final = 90
_LETTER: Final = 5.7
"""The mean width of a letter of a title, in points."""
_SMALL: Final = 4.2
"""The mean width of a letter of small text, in points."""

_DAY: Final = dt.timedelta(days=1)


class _Colours(NamedTuple):
    """The colours of a plot, which differ in lightness."""

    strong: str
    """Of visitors, and of the present period."""
    soft: str
    """Of page views, and of the earlier period."""
    weekend: float
    """How much of the grey of weekends is seen."""
    not_whole: float
    """How much of the hatching of what is not whole is seen."""


_ON_LIGHT: Final = _Colours("#0B5394", "#6FB1E0", weekend=0.15, not_whole=0.4)
_ON_DARK: Final = _Colours("#9CD2F7", "#2F6DA6", weekend=0.3, not_whole=0.7)
_HALF: Final = 1.5
"""Half of the sum of a colour's three parts."""

_WEEKEND: Final = {"facecolor": "gray", "linewidth": 0, "zorder": 0}
# The axis shows hours, days or months, and the year once.
_DATES: Final = {
    "formats": ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"],
    "zero_formats": ["", "%Y", "%d %b", "%d %b", "%d %b", "%d %b"],
    "offset_formats": ["", "%Y", "%Y", "%Y", "%Y", "%Y"],
}
_LOOK: Final = {"fontsize": "small", "frameon": False}
_NOT_WHOLE: Final = {
    "facecolor": "none",
    "edgecolor": "gray",
    "hatch": "//",
    "linewidth": 0,
    "zorder": 0,
}


def plot(result: object, ax: Any = None, **choices: Any) -> Any:
    """Draw *result* into *ax*, or into new axes, and return the axes; an array of
    axes for outcomes.

    New ones are pyplot's, so that a notebook and ``pyplot.show`` show them. If *ax*
    is given, pyplot is not imported.
    """
    if isinstance(result, CollectedOutcomes):
        return _plot_each(cast("Any", result), ax, **choices)
    if ax is None:
        pyplot = load_extra("matplotlib.pyplot", extra="plot")
        _, ax = pyplot.subplots(layout="constrained")
    elif not hasattr(ax, "barh"):
        what = type(ax).__name__
        raise UsageError(
            f"ax= is one of matplotlib's axes, such as figure.gca(): {what}"
        )
    draw(result, ax, **choices)
    return ax


@singledispatch
def draw(result: object, ax: Any, **choices: Any) -> None:
    """Draw *result* into *ax*; *choices* name the part to draw."""
    raise TypeError(f"no plot of {type(result).__name__} in {ax} with {choices}")


@draw.register
def _of_stats(stats: Stats, ax: Any, field: str) -> None:
    draw(getattr(stats, field), ax)
    name = "" if field == "histogram" else f": {heading(field)}"
    _set_title(ax, label_of(stats.query) + name, period(stats))


@draw.register(Entries)
def _of_entries(entries: Entries[Any], ax: Any) -> None:
    if entries.name == "histogram":
        _set_note(ax, _histogram(ax, [*entries]))
        _set_title(ax, only(entries.filters))
        _set_legend(ax)
        return
    label, count = entries.columns()[:2]
    names = [name or unknown(entries.name) for name in entries.column(label)]
    counts = {"": entries.column(count)}
    _bars(ax, names, counts, heading(count), CUT if entries.truncated else "")
    _set_title(ax, heading(entries.name), only(entries.filters))


@draw.register
def _of_comparison(comparison: Comparison, ax: Any, field: str, count: str) -> None:
    name = heading(count if field == "histogram" else field)
    if field == "histogram":
        _lines(ax, comparison, count)
    elif field:
        changes = comparison[field]  # type: ignore[index]  # a list's name
        draw(changes, ax, count=count)
    else:
        totals = [(heading(n), change) for n, change in comparison.totals.items()]
        _pairs(ax, totals, "", NOT_OVER if comparison.partial else "")
    first = ": ".join(filter(None, [label_of(comparison.now.query), name]))
    _set_title(
        ax, first, period(comparison.now), against(comparison), comparison.differs
    )


@draw.register
def _of_changes(changes: Changes, ax: Any, count: str) -> None:
    pairs = [
        (str(item.value or unknown(changes.name)), item.counts[count])
        for item in changes
    ]
    notes = (CUT if changes.truncated else "", NOT_OVER if changes.partial else "")
    _pairs(ax, pairs, heading(count), *notes)
    both = compared_days(**{name: getattr(changes, name) for name in DAYS})
    about = changes.differs or only(changes.filters)
    _set_title(ax, heading(changes.name), both, about)


@draw.register
def _of_comparisons(comparisons: Comparisons, ax: Any, total: Any) -> None:
    note = NOT_OVER if comparisons.partial else ""
    _pairs(ax, comparisons.largest(total), heading(total), note)
    # The title leaves out the zone, which differs by website.
    periods = {(days(one.now), f"against {days(one.before)}") for one in comparisons}
    lines = periods.pop() if len(periods) == 1 else ()
    _set_title(ax, *lines, comparisons.differs)


# --- over time --------------------------------------------------------------------


def _histogram(ax: Any, entries: Sequence[Any]) -> str:
    """Draw page views, and the visitors among them in front; return the note."""
    whens = [*map(_when_of, entries)]
    gaps = [later - when for when, later in pairwise(whens) if later > when]
    step = median_low(gaps) if gaps else _DAY
    has_bars = len(entries) <= _MOST_BARS
    colours = _colours_of(ax)
    for count, color in (("pageviews", colours.soft), ("visitors", colours.strong)):
        counts = [getattr(entry, count) for entry in entries]
        if has_bars:
            ax.bar(whens, counts, step * 0.8, label=heading(count), color=color)
        else:
            xs, ys = zip(*_steps(whens, counts, step), strict=True)
            look = {"step": "post", "linewidth": 0, "color": color}
            ax.fill_between(xs, ys, label=heading(count), **look)
    # Bars stand around the moment at which an entry begins, steps after it.
    shift = step / 2 if has_bars else 0 * step
    reasons: list[str] = []
    for entry, when in zip(entries, whens, strict=True):
        if mark := marks(partial=entry.partial, clipped=entry.clipped):
            # The mark is visible even where the count is still 0.
            look = _NOT_WHOLE | {"alpha": colours.not_whole}
            ax.axvspan(_moved(when, -shift), _moved(when, step - shift), **look)
            reasons.append(mark)
    weekends = [when.isoweekday() in {6, 7} for when in whens for _ in range(2)]
    # Weekends are grey only if the days can be told apart.
    has_days = step <= _DAY and any(weekends)
    is_grey = has_days and 2 * _DAY < whens[-1] - whens[0] < 70 * _DAY
    if is_grey:
        ends = [_moved(when, by) for when in whens for by in (-shift, step - shift)]
        look = _WEEKEND | {
            "alpha": colours.weekend,
            "transform": ax.get_xaxis_transform(),
            "where": weekends,
        }
        ax.fill_between(ends, 0, 1, **look)
    _set_time_axis(ax, whens)
    return joined(
        "grey: Saturday and Sunday" if is_grey else "",
        f"hatched: {any_of(reasons)}" if reasons else "",
    )


def _when_of(entry: Any) -> dt.datetime:
    """When an entry begins, without a zone: matplotlib would convert it to UTC."""
    return _plain(
        entry.start or dt.datetime.combine(entry.date, dt.time(entry.hour or 0))
    )


def _plain(value: Any) -> dt.datetime:
    if isinstance(value, dt.datetime):
        # The hour that is repeated would hide the first one.
        return value.replace(tzinfo=None, fold=0) + value.fold * dt.timedelta(
            minutes=30
        )
    return dt.datetime.combine(value, dt.time())


def _steps(
    whens: Sequence[dt.datetime], counts: Sequence[int], step: dt.timedelta
) -> Iterator[tuple[dt.datetime, int]]:
    """Where each step begins, and its height: 0 where entries are missing."""
    for when, following, count in zip(whens, [*whens[1:], None], counts, strict=True):
        yield when, count
        # The lengths of months differ by a tenth.
        if following is None or following - when > 1.5 * step:
            yield _moved(when, step), 0


def _moved(when: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """A moment before or after *when*, within Python's calendar."""
    earliest, latest = _plain(dt.date.min) - when, _plain(dt.date.max) - when
    return when + min(max(by, earliest), latest)


def _lines(ax: Any, comparison: Comparison, count: str) -> None:
    """Both periods on the dates of the longer one, or of the later one."""
    items = [*comparison["histogram"]]
    dates = [(item.value, item.before) for item in items]
    # The dates of the later one would lead into the future, where it is shorter.
    if is_longer := len(comparison.before.histogram) > len(comparison.now.histogram):
        dates = [(before, now) for now, before in dates]
    shifts = [_plain(day) - _plain(other) for day, other in dates if day and other]
    whens = [_plain(day) if day else _plain(other) + shifts[0] for day, other in dates]
    # A period that has not begun would look like a fall.
    begun = (_when_of(entry) for entry in comparison.now.histogram if entry.partial)
    end = min(begun, default=_plain(dt.date.max))
    colours = _colours_of(ax)
    for side, stats, color, style in (
        ("before", comparison.before, colours.soft, (0, (4, 1.5))),
        ("now", comparison.now, colours.strong, "solid"),
    ):
        points = sorted(
            (when, value)
            for when, item in zip(whens, items, strict=True)
            if (value := getattr(item.counts[count], side)) is not None
            and (side == "before" or _plain(item.value) <= end)
        )
        if points:
            ax.plot(
                *zip(*points, strict=True),
                color=color,
                linestyle=style,
                linewidth=1.5,
                marker=".",
                markersize=4,
                label=days(stats) or side,
            )
    _set_time_axis(ax, sorted(whens))
    _set_legend(ax)
    of_which = "dates of the earlier period" if is_longer else ""
    _set_note(ax, joined(of_which, NOT_OVER if comparison.partial else ""))


def _set_time_axis(ax: Any, whens: Sequence[dt.datetime]) -> None:
    """Set the ticks and the limits of an axis of times."""
    dates = load_extra("matplotlib.dates", extra="plot")
    if not whens:
        ax.set_xticks([])
        ax.text(0.5, 0.5, NO_ENTRIES, ha="center", transform=ax.transAxes)
        return
    most = max(1, int(_width(ax) / _TICK))
    # So many of a unit fit also where a month is two ticks, or a day is.
    least = max(1, (most - 1) // 2)
    locator = dates.AutoDateLocator(minticks=least, maxticks=max(3, most))
    ax.xaxis.set_major_locator(locator)
    days = [when for when in whens if not when.hour]
    if len(whens) <= most:
        # Ticks stand at the entries and not between them, such as at noon.
        ax.set_xticks(whens)
    elif least <= len(days) and days[-1] - days[0] <= 31 * least * _DAY:
        # The locator counts anew from each first of a month, next to its 31st.
        ax.set_xticks(days[:: ceil(len(days) / most)])
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, **_DATES))
    ax.tick_params(labelsize="small")
    ax.margins(x=0.01)
    left, right = dates.date2num([dt.date.min, dt.date.max])
    if ax.get_xlim()[0] < left or ax.get_xlim()[1] > right:
        # matplotlib fails where its margins are outside the calendar.
        ax.set_xlim(max(ax.get_xlim()[0], left), min(ax.get_xlim()[1], right))
    _set_counts(ax, "y", max(1, min(6, int(_height(ax) / 30))))
    sharing = ax.get_shared_y_axes().get_siblings(ax)
    ax.set_ylim(0, 1.05 * max(1, *(axes.dataLim.y1 for axes in sharing)))


def _set_legend(ax: Any) -> None:
    """Set the legend of an axis of times, with room for it above what is drawn."""
    # Each label has one entry, even if two results were drawn.
    labels = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    is_wide = _width(ax) > _SMALL * sum(len(label) + 9 for label in labels)
    lines = 1 if is_wide else len(labels)
    ax.set_ylim(0, (1 + 40 * lines / _height(ax)) * ax.get_ylim()[1])
    look = {"loc": "upper left", "ncols": 1 + is_wide, **_LOOK}
    ax.legend([*labels.values()], [*labels], **look)


# --- rows -------------------------------------------------------------------------


def _pairs(
    ax: Any, changes: Sequence[tuple[str, Change]], what: str, *notes: str
) -> None:
    """Draw two bars for each change."""
    counts = {
        side: [getattr(change, side) or 0 for _, change in changes]
        for side in ("now", "before")
    }
    _bars(ax, [name for name, _ in changes], counts, what, *notes)
    # The legend needs room above the first row.
    bottom, _ = ax.get_ylim()
    ax.set_ylim(bottom, -0.5 - 40 * (bottom + 0.5) / _height(ax))
    ax.legend(loc="upper right", ncols=2, **_LOOK)


def _bars(
    ax: Any,
    names: Sequence[str],
    counts: Mapping[str, Sequence[float]],
    what: str,
    *notes: str,
) -> None:
    """Draw the *counts* of each name, by what they are of, as bars in its row, with a
    note on the rows that have no room.
    """
    # Before the layout, the axes are three quarters of their place.
    room = int((_height(ax) / 0.77 - _AROUND) / _ROW)
    shown = names[: max(1, min(_MOST_ROWS, room))]
    width = 0.8 / len(counts)
    colours = _colours_of(ax)
    for number, (label, values) in enumerate(counts.items(), 1):
        shift = (number - (len(counts) + 1) / 2) * width
        places = [place + shift for place in range(len(shown))]
        color = colours.soft if number == len(counts) else colours.strong
        ax.barh(places, values[: len(shown)], width, label=label, color=color)
    longest = min(_LONGEST_NAME, int(0.4 * _width(ax) / _SMALL))
    labels = [cut(plain(name), longest) for name in shown]
    ax.set_yticks(range(len(shown)), labels, parse_math=False, fontsize="small")
    ax.set_ylim(len(shown) - 0.5, -0.5)
    _set_counts(ax, "x", 4)
    left_out = len(names) - len(shown)
    more = f"… {left_out:,} more" if left_out else ""
    _set_note(ax, "\n".join(filter(None, [what, joined(more, *notes)])))


# --- many -------------------------------------------------------------------------


def _plot_each(outcomes: CollectedOutcomes, ax: Any, *, most: int, sharey: bool) -> Any:
    """Draw the histogram of each website; return the axes, as an array."""
    numpy = load_extra("numpy", extra="plot")
    readable = [one for one in outcomes.succeeded if has_list(one, "histogram")]
    groups = _groups_of(readable) or [[]]
    drawn = [[entry for one in group for entry in one.histogram] for group in groups]
    if ax is not None:
        grid = numpy.array(ax, dtype=object).ravel()[: len(groups)]
    else:
        grid = _grid(max(1, min(most, len(groups))), sharey=sharey)
    notes: dict[str, None] = {}
    for place, group, entries in zip(grid, groups, drawn, strict=False):
        notes[_histogram(place, entries)] = None
        # Beside their numbers, narrow axes have room for a part of a long name.
        room = _LONGEST_NAME if (w := _width(place)) > _NARROW else int(w / 6.5)
        _set_title(place, *(cut(label_of(stats.query), room) for stats in group[:1]))
    more, failed = len(groups) - len(grid), len(outcomes.failed)
    unread = len(outcomes) - failed - len(readable)
    periods = {days(stats) for group in groups for stats in group}
    shared = periods.pop() if len(periods) == 1 else ""
    figure = grid[0].figure
    if ax is None:
        figure.suptitle(shared, x=0.01, ha="left", fontsize="medium")
    earlier = ""
    if ax is not None:
        # A user's own figure has a title of its own, and what another call wrote.
        earlier = joined(figure.get_supxlabel(), shared)
    note = joined(
        earlier,
        f"… {more:,} more" if more > 0 else "",
        f"{failed:,} failed" if failed else "",
        f"{unread:,} can't be read" if unread else "",
        *notes,
    )
    note = fill(note, int(_width(figure) / _LETTER))
    figure.supxlabel(note, x=0.01, ha="left", fontsize="small")
    if any(drawn):
        look = {"loc": "outside upper right", "ncols": 2, **_LOOK}
        figure.legend(*grid[0].get_legend_handles_labels(), **look)
    return grid.view(_axes_array())


@cache
def _axes_array() -> type[Any]:
    """The class of axes side by side. Its module is imported with matplotlib."""
    import numpy as np

    class AxesArray(np.ndarray[Any, Any]):
        """Axes of one figure."""

        def _display_(self) -> Any:
            # marimo shows this; of an array it would show the text.
            return self.flat[0].figure

    return AxesArray


def _groups_of(outcomes: Sequence[Succeeded[Any]]) -> list[list[Stats]]:
    """The results that are drawn into the same axes: they differ in their days alone,
    and have no day in common.
    """
    by_subject: dict[object, list[Stats]] = {}
    for one in outcomes:
        key = label_of(one.query), parameters_of(one.query).interval, one.stats.timezone
        by_subject.setdefault(key, []).append(one.stats)
    groups: list[list[Stats]] = []
    for group in by_subject.values():
        group.sort(key=lambda stats: stats.first_day or dt.date.min)
        overlap = any(
            (stats.last_day or dt.date.max) >= (later.first_day or dt.date.min)
            for stats, later in pairwise(group)
        )
        groups += [[stats] for stats in group] if overlap else [group]
    return groups


def _grid(count: int, *, sharey: bool) -> Any:
    pyplot = load_extra("matplotlib.pyplot", extra="plot")
    columns = min(4, ceil(sqrt(count)))
    rows = ceil(count / columns)
    _, grid = pyplot.subplots(
        rows,
        columns,
        figsize=(max(6.4, 2.6 * columns), 1.6 * rows + 1),
        sharex=True,
        sharey=sharey,
        layout="constrained",
        squeeze=False,
    )
    for unused in grid.ravel()[count:]:
        unused.remove()
    return grid.ravel()[:count]


# --- texts and colours ------------------------------------------------------------


def _colours_of(ax: Any) -> _Colours:
    """The colours that can be seen where the axes have their text: a style of
    matplotlib may have a dark page, or none at all.
    """
    colors = load_extra("matplotlib.colors", extra="plot")
    text = colors.to_rgb(ax.xaxis.label.get_color())
    return _ON_DARK if sum(text) > _HALF else _ON_LIGHT


def _set_title(ax: Any, *lines: str) -> None:
    """Set the title, a line for each text, or more where there is less room.

    matplotlib's own ``wrap`` would read the text of a visitor as mathematics.
    """
    # The names of rows, which have their own room, are smaller than the title.
    names = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0)
    room = max(20, int((_width(ax) - _SMALL * names) / _LETTER))
    text = "\n".join(
        fill(cut(plain(line), _LONGEST_TITLE), room) for line in lines if line
    )
    ax.set_title(text, loc="left", fontsize="medium", parse_math=False)


def _width(ax: Any) -> float:
    """The width of axes, in points."""
    return float(72 * ax.bbox.width / ax.figure.dpi)


def _height(ax: Any) -> float:
    """The height of axes, in points."""
    return float(72 * ax.bbox.height / ax.figure.dpi)


def _set_note(ax: Any, note: str) -> None:
    ax.set_xlabel(note, loc="left", fontsize="small")


def _set_counts(ax: Any, name: str, most: int) -> None:
    ax.locator_params(name, nbins=most, integer=True)
    getattr(ax, f"{name}axis").set_major_formatter("{x:,.15g}")
