"""Render results as HTML for notebooks: tables with small bars, and a chart.

Visitors control paths, referrers and UTM values, so every text is escaped, and is
only put where HTML has text. Text has the colour of the page; signed numbers are
mixed with it.
"""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from sitestats._common.text import encodable

from ._description import (
    Chart,
    Part,
    Signed,
    Table,
    Title,
    Totals,
    Unknown,
    describe,
)
from ._labels import MOST_ROWS, NO_ENTRIES, cell

_SHORT: Final = 24
"""The most characters of a text that stays on one line, as days and zones do."""


@cache
def _style() -> str:
    return files("sitestats.analysis").joinpath("style.css").read_text("utf-8")


def to_html(result: object, *, top: int = MOST_ROWS) -> str:
    """*result* as a fragment of HTML, with its style and *top* rows of each table."""
    parts = encodable("".join(map(_part, describe(result, top))))
    return f"<style>\n{_style()}</style><div class='sitestats'>{parts}</div>"


def _part(part: Part) -> str:
    match part:
        case Title():
            return f"<h4>{escape(part.text)}</h4>{_note(part.about)}"
        case Totals():
            numbers = [
                f"<div><b>{escape(cell(value))}</b>{escape(name)}</div>"
                for name, value in part.numbers
            ]
            return f"<div class='totals'>{''.join(numbers)}</div>"
        case Chart():
            return _chart(part)
        case Table():
            return _table(part)


def _note(text: str) -> str:
    return f"<div class='note'>{escape(text)}</div>" if text else ""


def _table(table: Table) -> str:
    kinds = [
        _kind_of(table, column) if table.is_sheet else ""
        for column in range(len(table.headings))
    ]
    head = "".join(
        f"<th{_class(kind)}>{escape(text)}</th>"
        for kind, text in zip(kinds, table.headings, strict=True)
    )
    highest = 0
    if table.has_bars:
        highest = max((_number(row[1]) for row in table.rows), default=0)
    body = ""
    for row in table.rows:
        cells = [
            _bar(value, highest)
            if table.has_bars and column == 1
            else _cell(value, kinds[column])
            for column, value in enumerate(row)
        ]
        body += f"<tr>{''.join(cells)}</tr>"
    empty = "" if table.rows else table.empty
    note = "; ".join(filter(None, [empty, *table.notes]))
    if note:
        columns = len(table.headings)
        body += f"<tr><td class='note' colspan='{columns}'>{escape(note)}</td></tr>"
    return (
        f"<table class='{'sheet' if table.is_sheet else 'list'}'>"
        f"<caption>{escape(table.title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _kind_of(table: Table, column: int) -> str:
    if column in table.numbers:
        return ""
    texts = (cell(row[column]) for row in table.rows)
    return "long" if max(map(len, texts), default=0) > _SHORT else "text"


def _cell(value: object, kind: str) -> str:
    match value:
        case Unknown():
            value = value.text
        case Signed():
            kind = "up" if value.value > 0 else "down" if value.value < 0 else ""
            value = value.text
        case _:
            pass
    return f"<td{_class(kind)}>{escape(cell(value))}</td>"


def _class(name: str) -> str:
    return f" class='{name}'" if name else ""


def _bar(value: object, highest: int) -> str:
    width = 100 * _number(value) / highest if highest else 0
    return (
        f"<td class='bar' style='background-size:{width:.1f}% 70%'>"
        f"{escape(cell(value))}</td>"
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


# --- the chart --------------------------------------------------------------------

_WIDTH: Final = 720
_HEIGHT: Final = 130
_FOOT: Final = 18
_TOP: Final = 14
_MOST_TICKS: Final = 8


def _chart(chart: Chart) -> str:
    if not chart.bars:
        return _note(NO_ENTRIES)
    step = _WIDTH / len(chart.bars)
    every = -(-len(chart.bars) // _MOST_TICKS)
    base, highest = _TOP + _HEIGHT, chart.highest
    marks = f"shaded and dashed: {chart.marks}" if chart.marks else ""
    drawn: list[str] = []
    for index, bar in enumerate(chart.bars):
        height = _HEIGHT * bar.count / highest
        left, top = index * step, base - height
        if bar.mark:
            # Also visible where the count is still 0.
            drawn.append(
                f"<rect class='open' x='{left:.1f}' y='{_TOP}' width='{step:.1f}' "
                f"height='{_HEIGHT}'/>"
            )
        drawn.append(
            f"<rect class='{'part' if bar.mark else 'bar'}' "
            f"x='{left + step * 0.1:.1f}' y='{top:.1f}' "
            f"width='{step * 0.8:.1f}' height='{height:.1f}' rx='1.5'>"
            f"<title>{escape(bar.tip)}</title></rect>"
        )
        if index % every == 0:
            drawn.append(
                f"<text x='{left:.1f}' y='{base + _FOOT - 3}'>{escape(bar.tick)}</text>"
            )
    return (
        f"<h4>page views</h4><svg viewBox='0 0 {_WIDTH} {base + _FOOT}' role='img' "
        f"aria-label='page views over time'>"
        f"<line x1='0' y1='{base}' x2='{_WIDTH}' y2='{base}'/>"
        f"<text x='0' y='{_TOP - 4}'>{escape(cell(highest))}</text>"
        f"{''.join(drawn)}</svg>" + _note("; ".join(filter(None, [marks, chart.note])))
    )
