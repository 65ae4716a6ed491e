"""Render results in a terminal with rich: totals, a chart, and tables.

Only rich calls the method that imports this, so rich is installed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from typing import Final

from rich import box
from rich import table as rich_tables
from rich.console import ConsoleOptions, RenderableType
from rich.text import Text

from sitestats._base.text import plain
from sitestats._display.describe import Chart, Heading, Part, chart_note
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
from sitestats._results.tables import Column, Kind, count_rows, kind_of

_MOST_BARS: Final = 40
_BAR: Final = 36
_NARROW: Final = 12
"""How narrow a column of texts may become."""
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS: Final = " .:-=+*#@"


def to_console(
    parts: Iterable[Part], options: ConsoleOptions
) -> Iterator[RenderableType]:
    """The *parts* of a result for rich, with an empty line between them."""
    for index, part in enumerate(parts):
        if index:
            yield ""
        yield from _part(part, options)


def _part(part: Part, options: ConsoleOptions) -> Iterator[RenderableType]:
    if isinstance(part, Chart):
        yield from _chart(part, options)
    elif isinstance(part, Table):
        yield from _table(part, options.max_width)
    else:
        yield from _heading(part)


def _heading(part: Heading) -> Iterator[RenderableType]:
    yield Text.assemble((plain(part.text), "bold"), (f"  {plain(part.about)}", "dim"))
    if part.numbers:
        yield ""
        yield Text("   ").join(
            Text.assemble((cell(value), "bold"), f" {name}")
            for name, value in part.numbers
        )


def _note(note: str) -> Iterator[Text]:
    if note:
        yield Text(f"  {plain(note)}", style="dim")


def _chart(chart: Chart, options: ConsoleOptions) -> Iterator[Text]:
    """A bar on a line for each of a few entries, or a letter for each of many."""
    bars = chart.bars
    yield Text("page views", style="bold")
    if not bars:
        yield from _note(joined(NO_ENTRIES, chart.note))
        return
    highest = max([1, *(bar.count for bar in bars)])
    blocks = _ASCII_BLOCKS if options.ascii_only else _BLOCKS
    label = max(len(bar.label) for bar in bars)
    if len(bars) > _MOST_BARS:
        room = max(10, min(options.max_width, 200) - label - 4)
        for start in range(0, len(bars), room):
            # The height is rounded up, so that a count above zero is visible.
            steps = (-(-bar.count * 8 // highest) for bar in bars[start : start + room])
            drawn = "".join(blocks[step] for step in steps)
            line = f"  {bars[start].label:{label}}  "
            yield Text.assemble(line, (drawn.rstrip(), "cyan"))
        yield from _note(f"the highest is {highest:,}")
        yield from _note(chart_note(chart, "the ends are"))
        return
    width = max(len(f"{bar.count:,}") for bar in bars)
    for bar in bars:
        filled = ("#" if options.ascii_only else "█") * -(-bar.count * _BAR // highest)
        line = f"  {bar.label:{label}}  {bar.count:>{width},}  "
        whole = Text.assemble(line, (filled, "cyan"), (f"  {bar.mark}", "dim"))
        whole.rstrip()
        yield whole
    yield from _note(chart.note)


def _table(table: Table, width: int) -> Iterator[RenderableType]:
    is_list = table.body[0].name in {"value", "name"}
    name = heading(table.title)
    has_rows = count_rows(table.body) > 0
    if not is_list or not has_rows:
        yield Text(plain(name), style="bold")
    if has_rows:
        headings = [heading_of(column) for column in table.body]
        shown = [name, *headings[1:]] if is_list else headings
        yield from make_table(table, shown, width)
    else:
        yield from _note(NO_ENTRIES if is_list else "none")
    yield from _note(table.note)


def make_table(
    table: Table, headings: Sequence[str], width: int
) -> Iterator[RenderableType]:
    """The table of rich, without the columns on the right that have no room in *width*:
    a number is never cut.
    """
    texts = [
        [Text(plain(name)), *(_text(column, v, table.title) for v in column.cells)]
        for column, name in zip(table.body, headings, strict=True)
    ]
    least = [*map(partial(_least_width, width), table.body, texts)]
    # Two blanks are between columns.
    ends = accumulate(least, lambda end, more: end + 2 + more)
    fitting = max(1, sum(end <= width for end in ends))
    drawn = rich_tables.Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_header=any(headings),
    )
    for column, (name, *cells), narrow in islice(
        zip(table.body, texts, least, strict=True), fitting
    ):
        drawn.add_column(
            name,
            justify="right" if column.is_number else "left",
            overflow="fold",
            no_wrap=narrow == max(map(_width, [name, *cells])),
            min_width=narrow,
        )
    for row in zip(*(cells for _, *cells in texts[:fitting]), strict=True):
        drawn.add_row(*row)
    yield drawn
    left_out = (column.name for column in table.body[fitting:])
    if fitting < len(headings):
        yield from _note(f"no room for {', '.join(left_out)}")


def _least_width(width: int, column: Column, texts: Sequence[Text]) -> int:
    """What a column needs: a text shrinks, and the others stay whole."""
    widest = max(map(_width, texts))
    # A host name has no blanks: only a long one breaks.
    is_whole = column.name == "hostname" and widest <= width // 2
    return widest if is_whole or column.kind is not Kind.TEXT else min(widest, _NARROW)


def _width(text: Text) -> int:
    return text.cell_len


def _text(column: Column, value: object, field: str) -> Text:
    if value is None and column.name not in {"value", "name"}:
        return Text("-", style="dim")
    style = "dim" if value is None or value == "" else ""
    if is_change(column) and isinstance(value, int | float) and value:
        style = "green" if value > 0 else "red"
    return Text(plain(text_in(column, value, field)), style)


def table_of_rows(
    rows: Sequence[Mapping[str, object]], headings: Mapping[str, str], width: int
) -> Iterator[RenderableType]:
    """A table of *rows*, such as ``to_dicts`` gives, as ``make_table`` draws it.

    Args:
        rows: Values by their names.
        headings: The columns' headings, by name; the name is shown if one is empty.
        width: How wide the terminal is.
    """
    columns = [
        Column(name, _kind(name, cells), cells)
        for name in headings
        for cells in [[row[name] for row in rows]]
    ]
    names = [text or heading(name) for name, text in headings.items()]
    return make_table(Table("", columns), names, width)


def _kind(name: str, cells: Sequence[object]) -> Kind:
    kinds = {*map(type, cells)} - {type(None)}
    return Kind.NUMBER if kinds and kinds <= {int, float} else kind_of(name)
