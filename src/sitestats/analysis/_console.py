"""Results in a terminal, as rich draws them: totals, a chart, and tables.

rich asks a result to draw itself, so this is imported only where rich is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitestats._wording import plain

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
    from sitestats._stats import Stats

    from ._columns import Sheet
    from ._comparison import Change, Changes, Comparison

_EMPTY: Final = f"  {NO_ENTRIES}"
_MOST_BARS: Final = 40
_BAR: Final = 36
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS: Final = " .:-=+*#@"


def show_stats(console: Console, stats: Stats, *, top: int) -> None:
    """Print totals, a chart of the histogram, and a table for each list.

    Args:
        console: Where to.
        stats: What to print.
        top: The most lines of a table.
    """
    for part in of_stats(stats, console.options, top=top):
        console.print(part)


def of_stats(
    stats: Stats, options: ConsoleOptions, *, top: int = MOST_ROWS
) -> Iterator[RenderableType]:
    """Totals, a chart of the histogram, and a table for each list."""
    yield _heading(stats)
    totals = [name for name in TOTALS if name in stats]
    if totals:
        yield ""
        yield _totals(stats, totals)
    for name in stats.requested:
        if name in stats and name not in TOTALS:
            yield ""
            yield from of_entries(getattr(stats, name), options, top=top)


def of_entries(
    entries: Entries[Any], options: ConsoleOptions, *, top: int = MOST_ROWS
) -> Iterator[RenderableType]:
    """The chart of a histogram, or the table of another list."""
    if "date" in entries.columns:
        yield from _chart(entries, options)
    else:
        yield from _list(entries, top)


def _heading(stats: Stats) -> Text:
    line = Text(plain(title(stats)), style="bold")
    when = about(stats)
    if when:
        line.append(f"  {plain(when)}", style="dim")
    return line


def _totals(stats: Stats, names: Sequence[str]) -> Text:
    line = Text()
    for name in names:
        if line:
            line.append("   ")
        line.append(text(getattr(stats, name)).plain, style="bold")
        line.append(f" {heading(name)}")
    return line


# --- the chart --------------------------------------------------------------------


def _chart(
    histogram: Entries[Any], options: ConsoleOptions
) -> Iterator[RenderableType]:
    yield Text("page views", style="bold")
    counts = [entry.get("pageviews") or 0 for entry in histogram]
    if not counts:
        yield Text(_EMPTY, style="dim")
    elif len(counts) > _MOST_BARS:
        yield from _sparkline(histogram, counts, options)
    else:
        yield from _bars(histogram, counts, options)


def _bars(
    histogram: Entries[Any], counts: Sequence[int], options: ConsoleOptions
) -> Iterator[Text]:
    highest = max(*counts, 1)
    width = max(len(f"{count:,}") for count in counts)
    for entry, count in zip(histogram, counts, strict=True):
        # A count above zero is always seen.
        filled = -(-count * _BAR // highest)
        line = Text(f"  {_when(entry)}  {count:>{width},}  ")
        line.append(("#" if options.ascii_only else "█") * filled, style="cyan")
        line.rstrip()
        if entry.get("partial"):
            line.append(f"  {NOT_OVER}", style="dim")
        yield line


def _sparkline(
    histogram: Entries[Any], counts: Sequence[int], options: ConsoleOptions
) -> Iterator[Text]:
    blocks = _ASCII_BLOCKS if options.ascii_only else _BLOCKS
    highest = max(*counts, 1)
    widest = max(len(_when(entry)) for entry in histogram)
    room = max(10, options.max_width - widest - 4)
    for start in range(0, len(counts), room):
        line = Text(f"  {_when(histogram[start]):{widest}}  ")
        line.append(
            "".join(
                blocks[-(-count * (len(blocks) - 1) // highest)]
                for count in counts[start : start + room]
            ),
            style="cyan",
        )
        yield line
    yield Text(f"  the highest is {highest:,}", style="dim")
    partial = sum(bool(entry.get("partial")) for entry in histogram)
    if partial:
        last = "the last one is" if partial == 1 else f"the last {partial} are"
        yield Text(f"  {last} {NOT_OVER}", style="dim")


def _when(entry: Any) -> str:
    day = f"{entry.date:%a %Y-%m-%d}"
    hour = entry.get("hour")
    return day if hour is None else f"{day} {hour:02}:00"


# --- the lists --------------------------------------------------------------------


def _list(entries: Entries[Any], top: int) -> Iterator[RenderableType]:
    first, *numbers = entries.columns
    table = make_table(
        {heading(entries.name): False} | {heading(name): True for name in numbers}
    )
    for entry in entries[:top]:
        table.add_row(
            _label(entry.get(first), entries.name),
            *(text(entry.get(name)) for name in numbers),
        )
    note = left_out(len(entries), table.row_count, truncated=entries.truncated)
    yield from _noted(table, note)


def _label(value: str | None, field: str) -> Text:
    return Text(label(None, field), style="dim") if not value else text(value)


def of_sheet(sheet: Sheet, *, top: int = MOST_ROWS) -> Iterator[RenderableType]:
    """A table of mixed values; long ones are shortened with a count."""
    yield Text(plain(sheet.title), style="bold")
    table = make_table({})
    table.show_header = any(sheet.headings)
    for column, name in enumerate(sheet.headings):
        _add_column(table, name, is_number=sheet.is_number(column))
    for row in sheet.rows[:top]:
        table.add_row(*map(text, row))
    more = left_out(len(sheet.rows), table.row_count, truncated=False)
    yield table if sheet.rows else Text("  none", style="dim")
    for note in filter(None, [more, plain(sheet.note)]):
        yield Text(f"  {note}", style="dim")


def _noted(table: Table, note: str) -> Iterator[RenderableType]:
    if table.row_count == 0:
        yield Text(str(table.columns[0].header), style="bold")
        yield Text(_EMPTY, style="dim")
    else:
        yield table
    if note:
        yield Text(f"  {note}", style="dim")


def make_table(columns: Mapping[str, bool], title: str | None = None) -> Table:
    """An empty table; *columns* tells which hold numbers."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name, is_number in columns.items():
        _add_column(table, name, is_number=is_number)
    return table


def _add_column(table: Table, name: str, *, is_number: bool) -> None:
    table.add_column(
        name,
        justify="right" if is_number else "left",
        overflow="fold",
        no_wrap=is_number,
    )


def text(value: object) -> Text:
    """*value* for a cell: numbers in groups of three, nothing as a dash."""
    if value is None:
        return Text("-", style="dim")
    if isinstance(value, (bool, int, float)):
        return Text(cell(value))
    return Text(plain(str(value)))


# --- comparisons ------------------------------------------------------------------


def of_comparison(
    comparison: Comparison, *, top: int = MOST_ROWS
) -> Iterator[RenderableType]:
    """Both periods, the totals of each, and what became of the lists."""
    yield _heading(comparison.now)
    before = about(comparison.before)
    if before:
        yield Text(f"against {plain(before)}", style="dim")
    totals = comparison.totals
    if totals:
        yield ""
        table = make_table(
            {"totals": False, "now": True, "before": True, "change": True, "%": True}
        )
        for name, change in totals.items():
            table.add_row(heading(name), *_change(change))
        yield table
    for changes in comparison.lists.values():
        yield ""
        yield Group(*of_changes(changes, top=top))


def of_changes(changes: Changes, *, top: int = MOST_ROWS) -> Iterator[RenderableType]:
    """A table of the entries in both periods."""
    names = ("page views", "before", "change", "%")
    table = make_table(
        {heading(changes.name): False, **dict.fromkeys(names, True), "": False}
    )
    for item in _first(changes, top):
        table.add_row(
            _label(item.value, changes.name), *_change(item.pageviews), item.direction
        )
    note = left_out(
        len(changes),
        table.row_count,
        truncated=changes.truncated,
        partial=changes.partial,
    )
    yield from _noted(table, note)


def _first(items: Iterable[Any], count: int) -> Iterable[Any]:
    return list(items)[:count]


def _change(change: Change) -> Iterator[Text]:
    yield text(change.now)
    yield text(change.before)
    grown = change.absolute or 0
    style = "green" if grown > 0 else "red" if grown < 0 else ""
    yield Text(signed(change.absolute), style)
    yield Text(percent(change.percent), style)
