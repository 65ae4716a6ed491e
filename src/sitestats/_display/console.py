"""Render results in a terminal with rich: totals, a chart, and tables.

Only rich calls the method that imports this, so rich is installed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from typing import Final

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from sitestats._base.text import plain
from sitestats._display.describe import Chart, Grid, Heading, Part, Shown, as_shown
from sitestats._display.labels import COUNT_OF_BARS, IN_ASCII, heading, is_change
from sitestats._results.tables import Column, Kind, kind_of

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
        match part:
            case Heading():
                yield from _heading(part)
            case Grid():
                yield from _grid(part, options.max_width)
            case Chart():
                yield from _chart(part, options)


def encoded(
    drawn: Iterable[RenderableType], console: Console, options: ConsoleOptions
) -> Iterator[RenderableType | Segment]:
    """What is *drawn*, with escapes for what the terminal's encoding lacks."""
    if options.encoding.startswith("utf"):
        yield from drawn
        return
    for part in drawn:
        for segment in console.render(part, options):
            text = segment.text.translate(IN_ASCII)
            known = text.encode(options.encoding, "backslashreplace")
            yield segment._replace(text=known.decode(options.encoding))


def _heading(part: Heading) -> Iterator[RenderableType]:
    yield Text.assemble((plain(part.text), "bold"), (f"  {plain(part.about)}", "dim"))
    if part.numbers:
        yield ""
        yield Text("   ").join(
            Text.assemble((number, "bold"), f" {name}") for name, number in part.numbers
        )


def _grid(grid: Grid, width: int) -> Iterator[RenderableType]:
    if grid.title:
        yield Text(plain(grid.title), style="bold")
    if grid.columns:
        yield from _table(grid.columns, width)
    yield from _note(grid.note)


def _note(note: str) -> Iterator[Text]:
    if note:
        yield Text(f"  {plain(note)}", style="dim")


def _chart(chart: Chart, options: ConsoleOptions) -> Iterator[Text]:
    """A bar on a line for each of a few entries, or a letter for each of many."""
    bars, highest = chart.bars, chart.highest
    yield Text(COUNT_OF_BARS, style="bold")
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
        yield from _note(chart.note("the ends are"))
        return
    width = max(len(f"{bar.count:,}") for bar in bars)
    for bar in bars:
        filled = ("#" if options.ascii_only else "█") * -(-bar.count * _BAR // highest)
        line = f"  {bar.label:{label}}  {bar.count:>{width},}  "
        whole = Text.assemble(line, (filled, "cyan"), (f"  {bar.mark}", "dim"))
        whole.rstrip()
        yield whole
    yield from _note(chart.about)


def _table(columns: Sequence[Shown], width: int) -> Iterator[RenderableType]:
    """The table of rich, without the columns on the right that have no room in *width*:
    a number is never cut.
    """
    texts = [[Text(plain(column.heading)), *_cells(column)] for column in columns]
    least = [*map(partial(_least_width, width), columns, texts)]
    # Two blanks are between columns.
    ends = accumulate(narrow + 2 for narrow in least)
    fitting = max(1, sum(end - 2 <= width for end in ends))
    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_header=any(column.heading for column in columns),
    )
    for shown, (name, *cells), narrow in islice(
        zip(columns, texts, least, strict=True), fitting
    ):
        drawn.add_column(
            name,
            justify="right" if shown.column.is_number else "left",
            overflow="fold",
            no_wrap=narrow == max(map(_width, [name, *cells])),
            min_width=narrow,
        )
    for row in zip(*(cells for _, *cells in texts[:fitting]), strict=True):
        drawn.add_row(*row)
    yield drawn
    left_out = (shown.column.name for shown in columns[fitting:])
    if fitting < len(columns):
        yield from _note(f"no room for {', '.join(left_out)}")


def _least_width(width: int, shown: Shown, texts: Sequence[Text]) -> int:
    """What a column needs: a text shrinks, and the others stay whole."""
    widest = max(map(_width, texts))
    # A host name has no blanks: only a long one breaks.
    is_whole = shown.column.name == "hostname" and widest <= width // 2
    is_text = shown.column.kind is Kind.TEXT
    return widest if is_whole or not is_text else min(widest, _NARROW)


def _width(text: Text) -> int:
    return text.cell_len


def _cells(shown: Shown) -> Iterator[Text]:
    for text, value in zip(shown.texts, shown.column.cells, strict=True):
        style = "dim" if value is None or value == "" else ""
        if is_change(shown.column) and value:
            style = "green" if value > 0 else "red"
        yield Text(plain(text), style)


def table_of_rows(
    rows: Sequence[Mapping[str, object]], headings: Mapping[str, str], width: int
) -> Iterator[RenderableType]:
    """A table of *rows*, such as ``to_dicts`` gives, as displays draw it.

    Args:
        rows: Values by their names.
        headings: The columns' headings, by name; the name is shown if one is empty.
        width: How wide the terminal is.
    """
    columns = [
        Column(name, _kind(name, cells), cells, heading=text or heading(name))
        for name, text in headings.items()
        for cells in [[row[name] for row in rows]]
    ]
    return _table([*map(as_shown, columns)], width)


def _kind(name: str, cells: Sequence[object]) -> Kind:
    kinds = {*map(type, cells)} - {type(None)}
    return Kind.NUMBER if kinds and kinds <= {int, float} else kind_of(name)
