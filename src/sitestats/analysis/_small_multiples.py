"""Small multiples: the histogram of each website, side by side on one time axis."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Sequence
from math import ceil, sqrt
from typing import Any, Final

import attrs

from sitestats._common.errors import load_extra
from sitestats._query.builder import requested
from sitestats._results.collected_outcomes import CollectedOutcomes
from sitestats._results.entries import columns_of_entries
from sitestats._results.outcome_comparison import subject
from sitestats._results.outcomes import Succeeded

from ._frames import check_range
from ._labels import about, left_out, title
from ._plots import OFFSET, draw_histogram, set_legend, set_note, set_title
from ._series import Series, series_of

_MOST_COLUMNS: Final = 4
_CELL: Final = (2.6, 1.5)
"""Inches of one of many axes, with its title and labels."""
_MARGIN: Final = 1.0
"""Inches for the title and the note of all of them."""


@attrs.frozen
class _Cell:
    """What is drawn into the same axes: outcomes about days that follow each other."""

    about: Hashable
    outcomes: list[Succeeded]

    def takes(self, outcome: Succeeded, about: Hashable) -> bool:
        """Whether *outcome* is about the same, and about other days."""
        return about == self.about and not any(
            _overlap(outcome, other) for other in self.outcomes
        )

    @property
    def title(self) -> str:
        """The website, the page and the filters."""
        first = self.outcomes[0]
        _, _, *filters = subject(first)
        texts = [f"{name}={value}" for name, value in filters if name != "page"]
        return ", ".join([title(first.stats), *texts])

    @property
    def series(self) -> Series:
        """The histograms of all outcomes, one after the other."""
        in_order = sorted(
            self.outcomes, key=lambda outcome: outcome.stats.first_day or dt.date.min
        )
        return series_of(entry for one in in_order for entry in one.stats.histogram)


def plot_each(
    outcomes: CollectedOutcomes[object], ax: Any, *, most: int, sharey: bool
) -> Any:
    """Draw the histogram of each website; return the axes, as an array.

    Args:
        outcomes: What is drawn.
        ax: Axes, or an array or a sequence of them, which are as many as are drawn;
            when None those of a new figure of pyplot.
        most: The most websites in a new figure.
        sharey: Whether all have the same scale.
    """
    numpy = load_extra("numpy", extra="plot")
    cells = _cells(outcomes)
    if ax is not None:
        array = numpy.array(ax, dtype=object).ravel()[: max(1, len(cells))]
        if len(array):
            note = _draw(outcomes, cells, array, sharey=sharey)
            set_note(array[-1], note, besides=OFFSET)
            if cells:
                set_legend(array[0], array[0])
        return array
    pyplot = load_extra("matplotlib.pyplot", extra="plot")
    count = max(1, min(most, len(cells)))
    columns = min(_MOST_COLUMNS, ceil(sqrt(count)))
    rows = ceil(count / columns)
    width = max(_CELL[0] * columns, pyplot.rcParams["figure.figsize"][0])
    size = (width, _CELL[1] * rows + _MARGIN)
    figure = pyplot.figure(figsize=size, layout="constrained")
    grid = [figure.add_subplot(rows, columns, n + 1) for n in range(count)]
    note = _draw(outcomes, cells, grid, sharey=sharey)
    for number, one in enumerate(grid):
        if number % columns:
            one.set_ylabel("")
            one.tick_params(labelleft=not sharey)
        if number + columns < count:
            one.tick_params(labelbottom=False)
            one.xaxis.get_offset_text().set_visible(False)
    figure.suptitle(_period(cells), x=0.01, ha="left", fontsize="medium")
    figure.supxlabel(note, x=0.01, ha="left", fontsize="small")
    if cells:
        set_legend(figure, grid[0], loc="outside upper right")
    return numpy.array(grid, dtype=object)


def _cells(outcomes: CollectedOutcomes[object]) -> list[_Cell]:
    cells: list[_Cell] = []
    for outcome in outcomes.succeeded:
        check_range(columns_of_entries(outcome.stats.histogram))
        interval = requested(outcome.query).interval
        about = (subject(outcome), interval, outcome.stats.timezone)
        cell = next((one for one in cells if one.takes(outcome, about)), None)
        if cell is None:
            cells.append(_Cell(about, [outcome]))
        else:
            cell.outcomes.append(outcome)
    return cells


def _overlap(one: Succeeded, other: Succeeded) -> bool:
    days = (
        *(one.stats.first_day, one.stats.last_day),
        *(other.stats.first_day, other.stats.last_day),
    )
    first, last, other_first, other_last = days
    if first is None or last is None or other_first is None or other_last is None:
        return True
    return first <= other_last and other_first <= last


def _draw(
    outcomes: CollectedOutcomes[object],
    cells: Sequence[_Cell],
    grid: Sequence[Any],
    *,
    sharey: bool,
) -> str:
    """Draw each cell into its axes; return the note for all of them."""
    all_series = [cell.series for cell in cells] or [series_of([])]
    for ax, series in zip(grid, all_series, strict=False):
        draw_histogram(ax, series, has_legend=False)
    for ax, cell in zip(grid, cells, strict=False):
        set_title(ax, cell.title)
    lines = (ax.get_xlabel().replace("\n", " ") for ax in grid)
    notes = [note for line in lines for note in line.split("; ")]
    starts, ends = zip(*(ax.get_xlim() for ax in grid), strict=True)
    top = max(ax.get_ylim()[1] for ax in grid)
    for ax in grid:
        ax.set_xlabel("")
        ax.set_xlim(min(starts), max(ends))
        if sharey:
            ax.set_ylim(0, top)
    failed = len(outcomes.failed)
    notes += [
        left_out(len(cells), len(grid), truncated=False),
        f"{failed:,} failed" if failed else "",
    ]
    return "; ".join(filter(None, dict.fromkeys(notes)))


def _period(cells: Sequence[_Cell]) -> str:
    every = [outcome.stats for cell in cells for outcome in cell.outcomes]
    texts = {about(stats) for stats in every}
    if len(texts) == 1:
        return texts.pop()
    firsts = [stats.first_day for stats in every if stats.first_day is not None]
    lasts = [stats.last_day for stats in every if stats.last_day is not None]
    return f"{min(firsts)} to {max(lasts)}" if firsts and lasts else ""
