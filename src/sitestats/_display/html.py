"""Render results as complete HTML: tables with small bars, and a chart.

Notebooks that are not trusted, mails and many pages take ``<style>``, ``<script>`` and
``<svg>`` away, and may keep their text. So every style is an attribute, a chart is a
table, and what is left without any style can still be read.

Visitors control paths, referrers and UTM values, so every text is escaped, and is
only put where HTML has text. Text has the colour of the page; signed numbers are
mixed with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import ceil
from typing import Final

from sitestats._base.text import encodable
from sitestats._display.describe import Bar, Chart, Grid, Heading, Part, Shown
from sitestats._display.labels import COUNT_OF_BARS, cell, is_change

_LONG: Final = 24
"""The most characters of a text that stays on one line, as days and zones do."""
_HEIGHT: Final = 130
"""The height of a chart, in pixels."""
_MOST_TICKS: Final = 6
_HALF_A_DAY: Final = 12
_MOST_LABELLED: Final = 7
"""The most bars that have a label each."""
_LEAST_TICK: Final = 0.14
"""The part of a chart's width that the label of a tick needs."""
_MOST_COUNTS: Final = 14
"""The most bars that have their number above them."""
_MOST_GAPS: Final = 200
"""The most bars with a gap between them: more are too narrow."""

_WHOLE: Final = (
    "font:13px/1.45 system-ui,sans-serif;max-width:46rem;font-variant-numeric:"
    # Without it, browsers print no bars.
    "tabular-nums;-webkit-print-color-adjust:exact;print-color-adjust:exact"
)
_TOGETHER: Final = "break-inside:avoid;margin:.3em 0 1em"
_TITLE: Final = "font-size:1em;font-weight:600;text-align:left;margin:.4em 0"
_QUIET: Final = "opacity:.65;text-align:left"
_TOTAL: Final = "display:inline-block;margin:.3em 2em .8em 0"
_TOTAL_NUMBER: Final = "display:block;font-size:1.7em;font-weight:600;line-height:1.2"
_TABLE: Final = "font:inherit;border-collapse:collapse;width:auto;margin:0"
_CELL: Final = "padding:.15em .8em .15em 0;vertical-align:top"
_TITLE_HEAD: Final = "font-weight:600;text-align:left"
_HEAD: Final = f"font-weight:500;{_QUIET}"
_RIGHT: Final = "text-align:right;white-space:nowrap"
_RIGHT_HEAD: Final = f"font-weight:500;opacity:.65;{_RIGHT}"
_TEXT: Final = "text-align:left;white-space:nowrap"
_LONG_TEXT: Final = "text-align:left;overflow-wrap:anywhere;min-width:10em"
_BAR_BEHIND: Final = (
    ";min-width:5em;"
    "background:linear-gradient(#3b82f64d,#3b82f64d) no-repeat 0 50%/{share:.1f}% 70%"
)
# Where colours can't be mixed, the first one is left.
_UP: Final = ";color:#16a34a;color:color-mix(in srgb,#16a34a 75%,currentColor)"
_DOWN: Final = ";color:#dc2626;color:color-mix(in srgb,#dc2626 75%,currentColor)"
_CHART: Final = (
    "font:inherit;border-collapse:collapse;table-layout:fixed;width:100%;margin:.2em 0"
)
_COLUMN: Final = "vertical-align:bottom;padding:0"
_COLUMN_WITH_COUNT: Final = (
    "vertical-align:bottom;padding:0 1px;text-align:center;font-size:11px"
)
_BAR: Final = "background:#3b82f6"
_PART: Final = (
    "box-sizing:border-box;background:#3b82f64d;border:1px dashed #3b82f6;"
    "border-bottom:0"
)
_TICK: Final = (
    "border-top:1px solid #8884;padding:0;opacity:.65;font-size:11px;text-align:left;"
    "vertical-align:top"
)


def to_html(parts: Iterable[Part]) -> str:
    """The *parts* of a result as a fragment of HTML."""
    drawn = encodable("\n".join(map(_part, parts)))
    return f"<div class='sitestats' style='{_WHOLE}'>{drawn}</div>"


def _part(part: Part) -> str:
    if isinstance(part, Heading):
        return _heading(part)
    drawn = _chart(part) if isinstance(part, Chart) else _grid(part)
    return f"<div style='{_TOGETHER}'>{drawn}</div>"


def _heading(part: Heading) -> str:
    # The blanks are for readers that leave every style out.
    numbers = "\n".join(
        f"<div style='{_TOTAL}'><b style='{_TOTAL_NUMBER}'>{escape(number)}</b> "
        f"{escape(name)}</div>"
        for name, number in part.numbers
    )
    totals = f"<div>{numbers}</div>" if numbers else ""
    return _lines(_title(part.text), _note(part.about), totals)


def _lines(*pieces: str) -> str:
    """The pieces, on lines of their own for readers that leave every tag out."""
    return "\n".join(filter(None, pieces))


def _title(text: str) -> str:
    return f"<h4 style='{_TITLE}'>{escape(text)}</h4>" if text else ""


def _note(text: str) -> str:
    return f"<div style='{_QUIET}'>{escape(text)}</div>" if text else ""


def _grid(grid: Grid) -> str:
    table = ""
    if grid.columns:
        columns = [*map(_column, grid.columns)]
        if not grid.title:
            # The title of a list is the heading of its names.
            columns[0][0] = _cell("th", _TITLE_HEAD, grid.columns[0].heading)
        # The blanks are for readers that leave every tag out.
        head, *rows = (" ".join(row) for row in zip(*columns, strict=True))
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        table = (
            f"<table style='{_TABLE}'><thead><tr>{head}</tr></thead>\n"
            f"<tbody>{body}</tbody></table>"
        )
    return _lines(_title(grid.title), table, _note(grid.note))


def _column(shown: Shown) -> list[str]:
    """The heading of a column, and its cells."""
    head, style = _HEAD, _TEXT
    if shown.column.is_number:
        head, style = _RIGHT_HEAD, _RIGHT
    elif any(len(text) > _LONG for text in shown.texts):
        style = _LONG_TEXT
    cells = [_cell("th", head, shown.heading)]
    for text, value in zip(shown.texts, shown.column.cells, strict=True):
        look = ""
        if shown.highest:
            look = _BAR_BEHIND.format(share=100 * (value or 0) / shown.highest)
        elif is_change(shown.column) and value:
            look = _UP if value > 0 else _DOWN
        cells.append(_cell("td", style + look, text))
    return cells


def _cell(tag: str, style: str, text: str) -> str:
    return f"<{tag} style='{_CELL};{style}'>{escape(text)}</{tag}>"


def _chart(chart: Chart) -> str:
    bars, highest = chart.bars, chart.highest
    has_counts = len(bars) <= _MOST_COUNTS
    style = _COLUMN_WITH_COUNT if has_counts else _COLUMN
    if not has_counts and len(bars) <= _MOST_GAPS:
        style = f"{_COLUMN} 1px"
    columns = " ".join(
        f"<td title='{escape(bar.tip)}' style='{style}'>"
        f"{escape(cell(bar.count)) if has_counts else ''}"
        f"<div style='height:{_HEIGHT * bar.count / highest:.0f}px;"
        f"{_PART if bar.mark else _BAR}'></div></td>"
        for bar in bars
    )
    most = "" if has_counts else _note(f"at most {cell(highest)}")
    ticks = " ".join(_ticks(bars))
    table = f"<table style='{_CHART}'><tr>{columns}</tr>\n<tr>{ticks}</tr></table>"
    return _lines(_title(COUNT_OF_BARS), most, table, _note(chart.note("dashed:")))


def _ticks(bars: Sequence[Bar]) -> Iterator[str]:
    """The labels below a chart, each below the first of so many bars."""
    every = 1 if len(bars) <= _MOST_LABELLED else ceil(len(bars) / _MOST_TICKS)
    if bars[0].is_hour and every > _HALF_A_DAY:
        every = 24 * round(every / 24)
    year = ""
    for index in range(0, len(bars), every):
        bar, width = bars[index], min(every, len(bars) - index)
        label = bar.tick if bar.year == year else f"{bar.tick} {bar.year}"
        year = bar.year
        # A label that the edge would cut is left out.
        if index and (len(bars) - index) / len(bars) < _LEAST_TICK:
            label = ""
        yield f"<td colspan='{width}' style='{_TICK}'>{escape(label)}</td>"
