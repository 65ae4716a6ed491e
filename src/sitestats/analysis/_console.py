"""Render results in a terminal with rich: totals, a chart, and tables.

Only rich calls a result's method that imports this, so rich is installed then.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from rich import box
from rich import table as rich_tables
from rich.console import ConsoleOptions, RenderableType
from rich.text import Text

from sitestats._common.text import plain
from sitestats._results.tables import are_numbers

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
from ._labels import MOST_ROWS, NO_ENTRIES, cell, heading, percent

_MOST_BARS: Final = 40
_BAR: Final = 36
_WIDEST_CHART: Final = 200
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS: Final = " .:-=+*#@"
_SHORT: Final = {"in percent": "%"}
"""Shorter headings for a terminal."""


def to_console(
    result: object, options: ConsoleOptions, *, top: int = MOST_ROWS
) -> Iterator[RenderableType]:
    """The parts of *result* for rich, with an empty line between them."""
    for index, part in enumerate(describe(result, top)):
        if index:
            yield ""
        yield from _part(part, options)


def _part(part: Part, options: ConsoleOptions) -> Iterator[RenderableType]:
    match part:
        case Title():
            line = Text(plain(part.text), style="bold")
            if part.about:
                line.append(f"  {plain(part.about)}", style="dim")
            yield line
        case Totals():
            yield Text("   ").join(
                Text.assemble((text(value).plain, "bold"), f" {name}")
                for name, value in part.numbers
            )
        case Chart():
            yield from _chart(part, options)
        case Table():
            yield from _table(part)


# --- the chart --------------------------------------------------------------------


def _chart(chart: Chart, options: ConsoleOptions) -> Iterator[Text]:
    yield Text("page views", style="bold")
    if not chart.bars:
        yield _note(NO_ENTRIES)
    elif len(chart.bars) > _MOST_BARS:
        yield from _sparkline(chart, options)
    else:
        yield from _bars(chart, options)


def _bars(chart: Chart, options: ConsoleOptions) -> Iterator[Text]:
    highest = chart.highest
    width = max(len(f"{bar.count:,}") for bar in chart.bars)
    for bar in chart.bars:
        # Rounded up, so that a count above zero is visible.
        filled = -(-bar.count * _BAR // highest)
        line = Text(f"  {bar.label}  {bar.count:>{width},}  ")
        line.append(("#" if options.ascii_only else "█") * filled, style="cyan")
        line.rstrip()
        if bar.mark:
            line.append(f"  {bar.mark}", style="dim")
        yield line


def _sparkline(chart: Chart, options: ConsoleOptions) -> Iterator[Text]:
    blocks = _ASCII_BLOCKS if options.ascii_only else _BLOCKS
    highest = chart.highest
    widest = max(len(bar.label) for bar in chart.bars)
    room = max(10, min(options.max_width, _WIDEST_CHART) - widest - 4)
    for start in range(0, len(chart.bars), room):
        line = Text(f"  {chart.bars[start].label:{widest}}  ")
        line.append(
            "".join(
                blocks[-(-bar.count * (len(blocks) - 1) // highest)]
                for bar in chart.bars[start : start + room]
            ),
            style="cyan",
        )
        yield line
    yield _note(f"the highest is {highest:,}")
    yield from map(_note, filter(None, [chart.note, *_edges(chart)]))


def _edges(chart: Chart) -> Iterator[str]:
    """Notes about bars that are not whole, which are the first or the last ones."""
    marks = [bar.mark for bar in chart.bars]
    if marks[0] and not all(marks):
        yield f"the first one is {marks[0]}"
    for mark, bars in groupby(reversed(marks)):
        count = len([*bars])
        if not mark:
            return
        yield f"the last {'one is' if count == 1 else f'{count} are'} {mark}"


# --- tables -----------------------------------------------------------------------


def _table(table: Table) -> Iterator[RenderableType]:
    first, *others = table.headings
    if table.is_sheet or not table.rows:
        yield Text(plain(table.title), style="bold")
    if table.rows:
        names = [first if table.is_sheet else table.title, *others]
        drawn = make_table([_SHORT.get(name, name) for name in names], table.numbers)
        drawn.show_header = any(names)
        for row in table.rows:
            drawn.add_row(*map(text, row))
        yield drawn
    else:
        yield _note(table.empty)
    yield from map(_note, filter(None, table.notes))


def _note(note: str) -> Text:
    return Text(f"  {plain(note)}", style="dim")


def make_table(
    headings: Iterable[str], numbers: Container[int] = ()
) -> rich_tables.Table:
    """An empty table; *numbers* are the columns that hold numbers."""
    table = rich_tables.Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for column, name in enumerate(headings):
        is_number = column in numbers
        table.add_column(
            name,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_number,
        )
    return table


def table_of_rows(
    rows: Sequence[Mapping[str, object]], headings: Mapping[str, str]
) -> rich_tables.Table:
    """A table of *rows*, such as ``to_dicts`` gives.

    Args:
        rows: Values by their names. One whose name ends in ``_percent`` is one.
        headings: Those of the columns, by the names; an empty one is the name's own.
    """
    values = [[row[name] for row in rows] for name in headings]
    numbers = {n for n, column in enumerate(values) if are_numbers(column)}
    table = make_table([title or heading(n) for n, title in headings.items()], numbers)
    for row in rows:
        table.add_row(*(_named_cell(name, row[name]) for name in headings))
    return table


def _named_cell(name: str, value: Any) -> Text:
    return text(percent(value) if name.endswith("_percent") else value)


def text(value: object) -> Text:
    """The text of a cell: thousands are separated, and None is a dash."""
    match value:
        case None:
            return Text("-", style="dim")
        case Unknown():
            return Text(value.text, style="dim")
        case Signed():
            style = "green" if value.value > 0 else "red" if value.value < 0 else ""
            return Text(value.text, style)
        case _:
            return Text(plain(cell(value)))
