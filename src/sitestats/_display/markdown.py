"""Render results as Markdown, for a README, an issue or a chat.

Visitors control paths, referrers and UTM values: in a document they must be no link, no
mention, no formula and no HTML. What Markdown would read is escaped, and what it can't
escape is shown as code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from sitestats._base.text import encodable, plain
from sitestats._display.describe import Chart, Heading, Part, chart_note
from sitestats._display.labels import (
    NO_ENTRIES,
    cell,
    heading,
    heading_of,
    joined,
    text_in,
)
from sitestats._results.bases import Table
from sitestats._results.tables import count_rows

_MOST_BARS: Final = 31
"""The most lines of a chart: the days of a month."""
_BAR: Final = 20
"""The letters of the longest bar."""
_READ: Final = re.compile(r"[\\`*_\[\]<>#|~&:!$^={}]|(?<=www)\.", re.IGNORECASE)
"""What Markdown, GitHub's formulas or its links would read in a text."""
_CODE: Final = "@"
"""What GitHub reads in an escaped text, too: a mention, or an address."""


def to_markdown(parts: Iterable[Part]) -> str:
    """The *parts* of a result as a text in Markdown, with tables as GitHub has them."""
    return encodable("\n\n".join("\n\n".join(_part(part)) for part in parts)) + "\n"


def _part(part: Part) -> Iterator[str]:
    """The blocks of a part, which have an empty line between them."""
    if isinstance(part, Chart):
        yield from _chart(part)
    elif isinstance(part, Table):
        yield from _table(part)
    else:
        yield from _heading(part)


def _heading(part: Heading) -> Iterator[str]:
    yield f"**{text(part.text)}**"
    if part.about:
        yield text(part.about)
    if part.numbers:
        names = [text(name) for name, _ in part.numbers]
        yield _lines(
            names, [[cell(value) for _, value in part.numbers]], [">" for _ in names]
        )


def _table(table: Table) -> Iterator[str]:
    is_list = table.body[0].name in {"value", "name"}
    title = heading(table.title)
    names = [text(heading_of(column)) for column in table.body]
    if is_list:
        names[0] = text(title)
    else:
        yield f"**{text(title)}**"
    columns = [
        [text(text_in(column, value, table.title)) for value in column.cells]
        for column in table.body
    ]
    if count_rows(table.body):
        sides = [">" if column.is_number else "<" for column in table.body]
        yield _lines(names, [*zip(*columns, strict=True)], sides)
    else:
        if is_list:
            yield f"**{text(title)}**"
        yield NO_ENTRIES if is_list else "none"
    if table.note:
        yield text(table.note)


def _chart(chart: Chart) -> Iterator[str]:
    chart = attrs.evolve(chart, bars=chart.bars[-_MOST_BARS:])
    bars = chart.bars
    if not bars:
        yield "**page views**"
        yield text(joined(NO_ENTRIES, chart.note))
        return
    highest = max([1, *(bar.count for bar in bars)])
    rows = [
        (text(bar.label), cell(bar.count), "█" * -(-bar.count * _BAR // highest))
        for bar in bars
    ]
    yield _lines(["", "page views", ""], rows, "<><")
    if note := chart_note(chart, "not whole:"):
        yield text(note)


def _lines(
    names: Sequence[str], rows: Sequence[Sequence[str]], sides: Sequence[str]
) -> str:
    """A table, whose columns are to the left (``<``) or to the right (``>``)."""
    marks = ["---:" if side == ">" else ":---" for side in sides[: len(names)]]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, marks, *rows))


def text(value: str) -> str:
    """A text on one line, which Markdown shows as it is."""
    line = plain(" ".join(value.split()))
    if _CODE not in line:
        return _READ.sub(r"\\\g<0>", line)
    # A fence is longer than any in the text; a table splits its cells before all else.
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line.replace('|', chr(92) + '|')} {fence}"
