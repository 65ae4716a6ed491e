"""Results as HTML for notebooks: tables with small bars, and a chart.

Visitors control paths, referrers and UTM values, so every text goes through
``escape`` on its way into a tag, and no value into a place that is not text.
Colours are taken from the page: text in its own colour, bars in a mix with it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from html import escape
from typing import TYPE_CHECKING, Any, Final

from sitestats._wording import encodable

from ._columns import TOTALS
from ._words import (
    MOST_ROWS,
    NO_ENTRIES,
    NOT_OVER,
    about,
    cell,
    heading,
    label,
    left_out,
    percent,
    signed,
    title,
)

if TYPE_CHECKING:
    from sitestats._entries import Entries
    from sitestats._histogram import HistogramEntry
    from sitestats._stats import Stats

    from ._columns import Sheet
    from ._comparison import Changes, Comparison

_STYLE: Final = """
.sitestats{font:13px/1.45 system-ui,sans-serif;max-width:46rem;color:inherit}
.sitestats table{font:inherit;color:inherit;border-collapse:collapse;
margin:.3em 0 1em;width:100%;table-layout:auto}
.sitestats caption,.sitestats h4{text-align:left;font-weight:600;margin:.4em 0;
font-size:1em}
.sitestats th{font-weight:500;opacity:.65;text-align:right;padding:.1em .6em;
white-space:nowrap}
.sitestats td{text-align:right;padding:.15em .6em;background:none;
font-variant-numeric:tabular-nums;white-space:nowrap}
.sitestats th:first-child,.sitestats td:first-child{text-align:left;
white-space:normal;overflow-wrap:anywhere;padding-left:.4em;width:99%;
min-width:10em}
.sitestats td.bar{min-width:7em;
background:linear-gradient(#3b82f64d,#3b82f64d) no-repeat 0 50%}
.sitestats table.sheet{width:auto}.sitestats .sheet td{vertical-align:top}
.sitestats .sheet .text.text{text-align:left;white-space:normal}
.sitestats .sheet td:first-child,.sitestats .sheet th:first-child{width:auto}
.sitestats .note{opacity:.65;text-align:left}
.sitestats div.note{margin:.2em 0 1em}.sitestats h4+div.note{margin:0}
.sitestats .totals{display:flex;gap:2em;margin:.3em 0 .8em;flex-wrap:wrap}
.sitestats .totals b{display:block;font-size:1.7em;font-weight:600;line-height:1.2}
.sitestats .up{color:#16a34a;color:color-mix(in srgb,#16a34a 75%,currentColor)}
.sitestats .down{color:#dc2626;color:color-mix(in srgb,#dc2626 75%,currentColor)}
.sitestats svg{display:block;width:100%;height:auto;margin:.2em 0;overflow:visible}
.sitestats svg text{fill:currentColor;opacity:.65;font-size:11px}
.sitestats svg .bar{fill:#3b82f6}
.sitestats svg .part{fill:#3b82f6;fill-opacity:.3;stroke:#3b82f6;stroke-dasharray:3 2}
.sitestats svg .open{fill:currentColor;fill-opacity:.07}
.sitestats svg line{stroke:currentColor;stroke-opacity:.25}
"""


def page(*parts: str) -> str:
    """The parts as one piece of a page, with the style that they need."""
    shown = encodable("".join(parts))
    return f"<style>{_STYLE}</style><div class='sitestats'>{shown}</div>"


def of_stats(stats: Stats) -> str:
    """Totals, the chart, and a table for each list."""
    return page(_title(stats), _totals(stats), *_fields(stats))


def of_entries(entries: Entries[Any]) -> str:
    """The chart of a histogram, or the table of another list."""
    return page(_entries(entries))


def _fields(stats: Stats) -> Iterable[str]:
    for name in stats.requested:
        if name in stats and hasattr(getattr(stats, name), "columns"):
            yield _entries(getattr(stats, name))


def _entries(entries: Entries[Any]) -> str:
    return _chart(entries) if "date" in entries.columns else _list(entries)


def _title(stats: Stats) -> str:
    when = about(stats)
    note = f"<div class='note'>{escape(when)}</div>" if when else ""
    return f"<h4>{escape(title(stats))}</h4>{note}"


def _totals(stats: Stats) -> str:
    totals = [
        f"<div><b>{escape(cell(getattr(stats, name)))}</b>{escape(heading(name))}</div>"
        for name in TOTALS
        if name in stats
    ]
    return f"<div class='totals'>{''.join(totals)}</div>" if totals else ""


def _list(entries: Entries[Any]) -> str:
    first, *numbers = entries.columns
    shown = list(entries)[:MOST_ROWS]
    highest = max((entry.get(numbers[0]) or 0 for entry in shown), default=0)
    rows = [
        [
            _td(label(entry.get(first), entries.name)),
            _bar(entry.get(numbers[0]), highest),
            *(_td(cell(entry.get(name))) for name in numbers[1:]),
        ]
        for entry in shown
    ]
    note = left_out(len(entries), len(shown), truncated=entries.truncated)
    return table(heading(entries.name), ["", *map(heading, numbers)], rows, note)


def table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str,
    *,
    empty: str = NO_ENTRIES,
    left: AbstractSet[int] = frozenset(),
) -> str:
    """A table of cells that are HTML already, with a note below them."""
    head = "".join(
        f"<th class='text'>{escape(text)}</th>"
        if index in left
        else f"<th>{escape(text)}</th>"
        for index, text in enumerate(headings)
    )
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    if not rows:
        note = "; ".join(filter(None, [empty, note]))
    if note:
        body += (
            f"<tr><td class='note' colspan='{len(headings)}'>{escape(note)}</td></tr>"
        )
    return (
        f"<table class='{'sheet' if left else 'list'}'>"
        f"<caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _td(text: str, kind: str = "") -> str:
    opening = f"<td class='{kind}'>" if kind else "<td>"
    return f"{opening}{escape(text)}</td>"


def _bar(count: int | None, highest: int) -> str:
    width = 100 * (count or 0) / highest if highest else 0
    return (
        f"<td class='bar' style='background-size:{width:.1f}% 70%'>"
        f"{escape(cell(count))}</td>"
    )


# --- the chart --------------------------------------------------------------------

_WIDTH: Final = 720
_HEIGHT: Final = 130
_FOOT: Final = 18
_TOP: Final = 14
_MOST_LABELS: Final = 8


def _chart(histogram: Entries[HistogramEntry]) -> str:
    counts = [entry.get("pageviews") or 0 for entry in histogram]
    if not counts:
        return f"<div class='note'>{NO_ENTRIES}</div>"
    highest = max(counts) or 1
    step = _WIDTH / len(counts)
    every = -(-len(counts) // _MOST_LABELS)
    drawn: list[str] = []
    for index, (entry, count) in enumerate(zip(histogram, counts, strict=True)):
        height = _HEIGHT * count / highest
        left, top = index * step, _TOP + _HEIGHT - height
        partial = bool(entry.get("partial"))
        if partial:
            # Also where there is nothing yet that could be drawn dashed.
            drawn.append(
                f"<rect class='open' x='{left:.1f}' y='{_TOP}' width='{step:.1f}' "
                f"height='{_HEIGHT}'/>"
            )
        drawn.append(
            f"<rect class='{'part' if partial else 'bar'}' x='{left + step * 0.1:.1f}' "
            f"y='{top:.1f}' width='{step * 0.8:.1f}' height='{height:.1f}' rx='1.5'>"
            f"<title>{escape(_tip(entry, partial=partial))}</title></rect>"
        )
        if index % every == 0:
            label = escape(_short(entry))
            drawn.append(
                f"<text x='{left:.1f}' y='{_TOP + _HEIGHT + _FOOT - 3}'>{label}</text>"
            )
    base = _TOP + _HEIGHT
    note = ""
    if any(entry.get("partial") for entry in histogram):
        note = f"<div class='note'>shaded and dashed: {NOT_OVER}</div>"
    return (
        f"<h4>page views</h4><svg viewBox='0 0 {_WIDTH} {base + _FOOT}' role='img' "
        f"aria-label='page views over time'>"
        f"<line x1='0' y1='{base}' x2='{_WIDTH}' y2='{base}'/>"
        f"<text x='0' y='{_TOP - 4}'>{escape(cell(highest))}</text>"
        f"{''.join(drawn)}</svg>{note}"
    )


def _tip(entry: HistogramEntry, *, partial: bool) -> str:
    when = entry.get("start") or entry.get("date")
    views, visitors = cell(entry.get("pageviews")), cell(entry.get("visitors"))
    tip = f"{cell(when)}: {views} page views, {visitors} visitors"
    return f"{tip}, {NOT_OVER}" if partial else tip


def _short(entry: HistogramEntry) -> str:
    start: dt.datetime | None = entry.get("start")
    if start is not None:
        return f"{start:%d %b %H:%M}"
    date: dt.date = entry.get("date")
    return f"{date:%d %b %Y}" if date.day == 1 else f"{date:%d %b}"


# --- comparisons ------------------------------------------------------------------


def of_comparison(comparison: Comparison) -> str:
    """Both periods, the totals of each, and what became of the lists."""
    rows = [
        [
            _td(heading(name)),
            _td(cell(change.now)),
            _td(cell(change.before)),
            _td(signed(change.absolute), _kind(change.absolute)),
            _td(percent(change.percent), _kind(change.absolute)),
        ]
        for name, change in comparison.totals.items()
    ]
    headings = ["", "now", "before", "change", "in percent"]
    before = about(comparison.before)
    note = f"against {before}" if before else ""
    return page(
        _title(comparison.now),
        table("totals", headings, rows, note) if rows else "",
        *(_changes(changes) for changes in comparison.lists.values()),
    )


def of_sheet(sheet: Sheet) -> str:
    """A table of mixed values; long ones are shortened with a count."""
    shown = sheet.rows[:MOST_ROWS]
    texts = {
        column for column in range(len(sheet.headings)) if not sheet.is_number(column)
    }
    rows = [
        [
            _td(cell(value), "text" if column in texts else "")
            for column, value in enumerate(row)
        ]
        for row in shown
    ]
    more = left_out(len(sheet.rows), len(shown), truncated=False)
    note = "; ".join(filter(None, [more, sheet.note]))
    return page(
        table(sheet.title, sheet.headings, rows, note, empty="none", left=texts)
    )


def of_changes(changes: Changes) -> str:
    """A table of the entries in both periods."""
    return page(_changes(changes))


def _changes(changes: Changes) -> str:
    shown = list(changes)[:MOST_ROWS]
    rows = [
        [
            _td(label(item.value, changes.name)),
            _td(cell(item.pageviews.now)),
            _td(cell(item.pageviews.before)),
            _td(signed(item.pageviews.absolute), _kind(item.pageviews.absolute)),
            _td(percent(item.pageviews.percent), _kind(item.pageviews.absolute)),
            _td(item.direction),
        ]
        for item in shown
    ]
    headings = ["", "page views", "before", "change", "in percent", ""]
    note = left_out(
        len(changes), len(shown), truncated=changes.truncated, partial=changes.partial
    )
    return table(heading(changes.name), headings, rows, note)


def _kind(change: float | None) -> str:
    if not change:
        return ""
    return "up" if change > 0 else "down"
