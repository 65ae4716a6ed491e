"""Render results as HTML for notebooks: tables with small bars, and a chart.

Visitors control paths, referrers and UTM values, so every text is escaped, and is
only put where HTML has text. Text has the colour of the page; signed numbers are
mixed with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from sitestats._base.text import encodable
from sitestats._display.describe import Chart, Part, chart_note
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
_WIDTH: Final = 720
_HEIGHT: Final = 130
_FOOT: Final = 18
_TOP: Final = 14
_TICK: Final = 104


@cache
def _style() -> str:
    # Not at import: a table of text needs none.
    return files("sitestats._display").joinpath("style.css").read_text("utf-8")


def to_html(parts: Iterable[Part]) -> str:
    """The *parts* of a result as a fragment of HTML, with its style."""
    drawn = encodable("".join(map(_part, parts)))
    return f"<style>\n{_style()}</style><div class='sitestats'>{drawn}</div>"


def _part(part: Part) -> str:
    if isinstance(part, Table):
        return _chart(part) if isinstance(part, Chart) else _table(part)
    numbers = "".join(
        f"<div><b>{escape(cell(value))}</b>{escape(name)}</div>"
        for name, value in part.numbers
    )
    totals = f"<div class='totals'>{numbers}</div>" if numbers else ""
    return f"<h4>{escape(part.text)}</h4>{_note(part.about)}{totals}"


def _note(text: str) -> str:
    return f"<div class='note'>{escape(text)}</div>" if text else ""


def _table(table: Table) -> str:
    is_list = table.body[0].name in {"value", "name"}
    drawn = [
        _column(column, table.title, has_bars=is_list and place == 1)
        for place, column in enumerate(table.body)
    ]
    head = "".join(
        f"<th{kind}>{escape(heading_of(column))}</th>"
        for column, (kind, _) in zip(table.body, drawn, strict=True)
    )
    rows = zip(*(cells for _, cells in drawn), strict=True)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    empty = ""
    if not body:
        empty = NO_ENTRIES if is_list else "none"
    if note := joined(empty, table.note):
        width = len(table.body)
        body += f"<tr><td class='note' colspan='{width}'>{escape(note)}</td></tr>"
    return (
        f"<table class='{'list' if is_list else 'sheet'}'>"
        f"<caption>{escape(heading(table.title))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _column(column: Column, field: str, *, has_bars: bool) -> tuple[str, list[str]]:
    """The class of a column, and its cells."""
    texts = [text_in(column, value, field) for value in column.cells]
    kind = ""
    if not column.is_number:
        is_long = any(len(text) > _LONG for text in texts)
        kind = f" class='{'long' if is_long else 'text'}'"
    highest = max((value or 0 for value in column.cells), default=0) if has_bars else 0
    cells = [
        f"<td{_look(column, value, highest) or kind}>{escape(text)}</td>"
        for value, text in zip(column.cells, texts, strict=True)
    ]
    return kind, cells


def _look(column: Column, value: Any, highest: int) -> str:
    if highest:
        share = 100 * (value or 0) / highest
        return f" class='bar' style='background-size:{share:.1f}% 70%'"
    if is_change(column) and value:
        return " class='up'" if value > 0 else " class='down'"
    return ""


def _chart(chart: Chart) -> str:
    bars = chart.bars
    if not bars:
        return _note(joined(NO_ENTRIES, chart.note))
    step, base = _WIDTH / len(bars), _TOP + _HEIGHT
    # A chart has six ticks at most.
    every = -(-len(bars) // 6)
    highest = max([1, *(bar.count for bar in bars)])
    drawn, year = "", ""
    for index, bar in enumerate(bars):
        height, left = _HEIGHT * bar.count / highest, index * step
        drawn += (
            f"<rect class='{'part' if bar.mark else 'bar'}' "
            f"x='{left + step * 0.1:.1f}' y='{base - height:.1f}' "
            f"width='{step * 0.8:.1f}' height='{height:.1f}' rx='1.5'>"
            f"<title>{escape(bar.tip)}</title></rect>"
        )
        # A label that the edge would cut is left out, and the year is shown once.
        if index % every == 0 and left <= _WIDTH - _TICK:
            at = f"x='{left:.1f}' y='{base + _FOOT - 3}'"
            label = bar.tick if bar.year == year else f"{bar.tick} {bar.year}"
            drawn, year = f"{drawn}<text {at}>{escape(label)}</text>", bar.year
    return (
        f"<h4>page views</h4><svg viewBox='0 0 {_WIDTH} {base + _FOOT}' role='img' "
        f"aria-label='page views over time'>"
        f"<line x1='0' y1='{base}' x2='{_WIDTH}' y2='{base}'/>"
        f"<text x='0' y='{_TOP - 4}'>{escape(cell(highest))}</text>"
        f"{drawn}</svg>" + _note(chart_note(chart, "dashed:"))
    )
