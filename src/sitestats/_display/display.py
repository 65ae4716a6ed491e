"""Display a result in a notebook, a terminal or a repr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import attrs

from sitestats._base.text import cut, plain
from sitestats._display.describe import Chart, Heading, Part, Shown, describe, grid_of
from sitestats._display.labels import IN_ASCII, MOST_ROWS
from sitestats._public import Public
from sitestats._results.bases import Displayed, HasLists

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_WIDEST: Final = 56
"""Characters of a cell of a repr; a longer one is cut."""


@attrs.frozen
class Display(Public):
    """A result for a notebook or a terminal, with up to *rows* rows.

    Without it, a result shows ten rows of each table.

    Args:
        result: Statistics, a list, outcomes, a comparison, websites, a plan or report.
        rows: The most rows of a table.
        code: Whether to show the code of each query below.

    >>> from rich.console import Console
    >>> from sitestats.analysis import Display
    >>> query = StatsQuery("semicomplete.com").fields("countries").on("yesterday")
    >>> stats = client.stats.get(query)
    >>> Console(width=60).print(Display(stats.countries, rows=2))
    countries  page views  visitors
    ───────────────────────────────
    US                103        72
    DE                 35        21
      … 41 more
    """

    result: Displayed
    rows: int = MOST_ROWS
    code: bool = attrs.field(default=False, kw_only=True)

    def _parts(self) -> Iterator[Part]:
        yield from describe(self.result, self.rows)
        if self.code and isinstance(self.result, HasLists):
            code = self.result._code()  # noqa: SLF001 - of all results, for this folder
            yield grid_of(code, self.rows)

    def to_html(self) -> str:
        """The result as HTML for a mail or a page: see ``Stats.to_html``."""
        from sitestats._display.html import to_html

        return to_html(self._parts())

    def to_markdown(self) -> str:
        """The result as a text in Markdown: see ``Stats.to_markdown``."""
        from sitestats._display.markdown import to_markdown

        return to_markdown(self._parts())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        from sitestats._display.console import encoded, to_console

        drawn = to_console(self._parts(), options)
        return encoded(drawn, console, options)


def to_text(result: Displayed) -> str:
    """The tables of *result* for a repr."""
    return "\n".join(line for part in describe(result) for line in _lines(part))


def _lines(part: Part) -> Iterator[str]:
    if isinstance(part, Heading):
        yield "  ".join(filter(None, [part.text, part.about]))
        return
    grid = part.grid if isinstance(part, Chart) else part
    columns = map(_cells, grid.columns)
    rows = ("  ".join(row).rstrip() for row in zip(*columns, strict=True))
    yield from filter(None, [grid.title, *rows, grid.note])


def _cells(shown: Shown) -> list[str]:
    texts = (plain(" ".join(text.split())) for text in shown.texts)
    cells = [plain(shown.heading), *(cut(text, _WIDEST) for text in texts)]
    if shown.column.is_number:
        # A file or a pipe of Windows lacks the signs of other displays.
        cells = [cell.translate(IN_ASCII) for cell in cells]
    width = max(map(len, cells))
    side = ">" if shown.column.is_number else "<"
    return [f"{cell:{side}{width}}" for cell in cells]
