"""Render results as Markdown, for a README, an issue or a chat.

Visitors control paths, referrers and UTM values: in a document they must be no link, no
mention, no formula and no HTML. What Markdown would read is escaped, and what it can't
escape is shown as code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sitestats._base.text import encodable, plain
from sitestats._display.describe import Chart, Grid, Heading, Part
from sitestats._display.labels import COUNT_OF_BARS, cell

_MOST_BARS: Final = 31
"""The most lines of a chart: the days of a month."""
_BAR: Final = 20
"""The letters of the longest bar."""
_READ: Final = re.compile(
    r"[\\`*\[\]<>#|~&!$^={}]"
    # Within a word, or before a blank, these two are only themselves.
    r"|(?<![^\W_])_|_(?![^\W_])|(?<!\d):(?=\S)|:(?=[^\s\d])"
    r"|(?<=www)\.",
    re.IGNORECASE,
)
"""What Markdown, GitHub's formulas, its emoji or its links would read in a text."""
_CODE: Final = "@"
"""What GitHub reads in an escaped text, too: a mention, or an address."""


def to_markdown(parts: Iterable[Part]) -> str:
    """The *parts* of a result as a text in Markdown, with tables as GitHub has them."""
    blocks = (block for part in parts for block in _part(part))
    return encodable("\n\n".join(filter(None, blocks))) + "\n"


def _part(part: Part) -> Iterator[str]:
    """The blocks of a part, which have an empty line between them."""
    match part:
        case Heading():
            yield f"**{text(part.text)}**"
            yield text(part.about)
            if part.numbers:
                names, numbers = zip(*part.numbers, strict=True)
                yield _table([*map(text, names)], [numbers], [">" for _ in names])
        case Grid():
            if part.title:
                yield f"**{text(part.title)}**"
            if part.columns:
                yield _table(
                    [text(column.heading) for column in part.columns],
                    [[*map(text, row)] for row in part.rows],
                    [">" if shown.column.is_number else "<" for shown in part.columns],
                )
            yield text(part.note)
        case Chart():
            chart = part.last(_MOST_BARS)
            rows = [
                (bar.label, cell(bar.count), _bar(bar.count, chart.highest))
                for bar in chart.bars
            ]
            yield _table(["", COUNT_OF_BARS, ""], rows, "<><")
            yield text(chart.note("not whole:"))


def _bar(count: int, highest: int) -> str:
    """A bar, whose length is rounded up, so that a count above zero is visible."""
    return "█" * -(-count * _BAR // highest)


def _table(
    names: Sequence[str], rows: Sequence[Sequence[str]], sides: Sequence[str]
) -> str:
    """A table, whose columns are to the left (``<``) or to the right (``>``)."""
    marks = ["---:" if side == ">" else ":---" for side in sides]
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
