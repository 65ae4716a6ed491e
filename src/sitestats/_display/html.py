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
from typing import Any, Final

from sitestats._base.text import encodable
from sitestats._display.describe import Bar, Chart, Part, chart_note
from sitestats._display.labels import (
    NO_ENTRIES,
    cell,
    heading,
    heading_of,
    is_change,
    joined,
    text_in,
)
from sitestats._results.bases import Table
from sitestats._results.tables import Column

_LONG: Final = 24
"""The most characters of a text that stays on one line, as days and zones do."""
_HEIGHT: Final = 130
"""The height of a chart, in pixels."""
_MOST_TICKS: Final = 6
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
    "tabular-nums"
)
_TITLE: Final = "font-size:1em;font-weight:600;text-align:left;margin:.4em 0"
_QUIET: Final = "opacity:.65;text-align:left"
_TOTAL: Final = "display:inline-block;margin:.3em 2em .8em 0"
_TOTAL_NUMBER: Final = "display:block;font-size:1.7em;font-weight:600;line-height:1.2"
_TABLE: Final = "font:inherit;border-collapse:collapse;margin:.3em 0 1em;width:auto"
_HEAD: Final = "font-weight:500;opacity:.65;padding:.1em .6em;white-space:nowrap"
_CELL: Final = "padding:.15em .6em;vertical-align:top"
_RIGHT: Final = "text-align:right"
_TEXT: Final = "text-align:left;white-space:nowrap"
_LONG_TEXT: Final = "text-align:left;overflow-wrap:anywhere"
_FIRST: Final = f"{_LONG_TEXT};min-width:10em"
_BAR_BEHIND: Final = (
    "text-align:right;min-width:7em;"
    "background:linear-gradient(#3b82f64d,#3b82f64d) no-repeat 0 50%/{share:.1f}% 70%"
)
# Where colours can't be mixed, the first one is left.
_UP: Final = "color:#16a34a;color:color-mix(in srgb,#16a34a 75%,currentColor)"
_DOWN: Final = "color:#dc2626;color:color-mix(in srgb,#dc2626 75%,currentColor)"
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
    "white-space:nowrap"
)


def to_html(parts: Iterable[Part]) -> str:
    """The *parts* of a result as a fragment of HTML."""
    drawn = encodable("\n".join(map(_part, parts)))
    return f"<div class='sitestats' style='{_WHOLE}'>{drawn}</div>"


def _part(part: Part) -> str:
    if isinstance(part, Table):
        return _chart(part) if isinstance(part, Chart) else _table(part)
    # The blank is for readers that leave every style out.
    numbers = "".join(
        f"<div style='{_TOTAL}'><b style='{_TOTAL_NUMBER}'>{escape(cell(value))}</b> "
        f"{escape(name)}</div>"
        for name, value in part.numbers
    )
    totals = f"<div>{numbers}</div>" if numbers else ""
    return f"{_title(part.text)}{_note(part.about)}{totals}"


def _title(text: str) -> str:
    return f"<h4 style='{_TITLE}'>{escape(text)}</h4>"


def _note(text: str) -> str:
    return f"<div style='{_QUIET}'>{escape(text)}</div>" if text else ""


def _table(table: Table) -> str:
    is_list = table.body[0].name in {"value", "name"}
    drawn = [
        _column(
            column,
            table.title,
            is_first=place == 0,
            has_bars=is_list and place == 1,
        )
        for place, column in enumerate(table.body)
    ]
    head = " ".join(
        f"<th style='{_HEAD};{_side(column, is_first=place == 0)}'>"
        f"{escape(heading_of(column))}</th>"
        for place, column in enumerate(table.body)
    )
    # The blanks are for readers that leave every tag out.
    body = "".join(f"<tr>{' '.join(row)}</tr>" for row in zip(*drawn, strict=True))
    empty = ""
    if not body:
        empty = NO_ENTRIES if is_list else "none"
    if note := joined(empty, table.note):
        width = len(table.body)
        style = f"{_CELL};{_QUIET}"
        body += f"<tr><td colspan='{width}' style='{style}'>{escape(note)}</td></tr>"
    return (
        f"<table style='{_TABLE}'>"
        f"<caption style='{_TITLE}'>{escape(heading(table.title))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _side(column: Column, *, is_first: bool) -> str:
    return "text-align:left" if is_first or not column.is_number else _RIGHT


def _column(column: Column, field: str, *, is_first: bool, has_bars: bool) -> list[str]:
    """The cells of a column."""
    texts = [text_in(column, value, field) for value in column.cells]
    style = _RIGHT
    if is_first:
        style = _FIRST
    elif not column.is_number:
        is_long = any(len(text) > _LONG for text in texts)
        style = _LONG_TEXT if is_long else _TEXT
    highest = max((value or 0 for value in column.cells), default=0) if has_bars else 0
    return [
        f"<td style='{_CELL};{_look(column, value, highest) or style}'>"
        f"{escape(text)}</td>"
        for value, text in zip(column.cells, texts, strict=True)
    ]


def _look(column: Column, value: Any, highest: int) -> str:
    """What a number has behind it, or which colour it has."""
    if highest:
        return _BAR_BEHIND.format(share=100 * (value or 0) / highest)
    if is_change(column) and value:
        return f"{_RIGHT};{_UP if value > 0 else _DOWN}"
    return ""


def _chart(chart: Chart) -> str:
    bars = chart.bars
    if not bars:
        return _note(joined(NO_ENTRIES, chart.note))
    highest = max([1, *(bar.count for bar in bars)])
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
    return (
        f"{_title('page views')}{most}<table style='{_CHART}'>"
        f"<tr>{columns}</tr><tr>{' '.join(_ticks(bars))}</tr></table>"
        + _note(chart_note(chart, "dashed:"))
    )


def _ticks(bars: Sequence[Bar]) -> Iterator[str]:
    """The labels below a chart, each below the first of so many bars."""
    every = 1 if len(bars) <= _MOST_LABELLED else -(-len(bars) // _MOST_TICKS)
    year = ""
    for index in range(0, len(bars), every):
        bar, width = bars[index], min(every, len(bars) - index)
        label = bar.tick if bar.year == year else f"{bar.tick} {bar.year}"
        year = bar.year
        # A label that the edge would cut is left out.
        if index and (len(bars) - index) / len(bars) < _LEAST_TICK:
            label = ""
        yield f"<td colspan='{width}' style='{_TICK}'>{escape(label)}</td>"
