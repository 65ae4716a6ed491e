"""Display a result, with more or fewer rows than by itself, or with its code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from sitestats._results.display import HasFrames

from ._describe import Part, describe
from ._html import to_html
from ._labels import MOST_ROWS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from sitestats._results.display import Displayed


@attrs.frozen
class Display:
    """A result for a notebook or a terminal, with up to *rows* rows.

    A result shows ten rows of each table by itself.

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
        if self.code and isinstance(self.result, HasFrames):
            yield self.result._code()  # noqa: SLF001 - of all results, for this folder

    def _repr_html_(self) -> str:
        return to_html(self._parts())

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        from ._console import to_console

        return to_console(self._parts(), options)
