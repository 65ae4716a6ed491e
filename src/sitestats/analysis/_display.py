"""Display a result with more or fewer rows than it shows by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ._labels import MOST_ROWS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from sitestats._results.display import Displayed


@attrs.frozen
class Display:
    """A result in a notebook or a terminal with as many *rows* as you want.

    A result shows ten rows of each table by itself.

    Args:
        result: Statistics, a list, outcomes, a comparison, websites, a plan or report.
        rows: The most rows of a table.

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

    def _repr_html_(self) -> str:
        from ._html import to_html

        return to_html(_displayed(self.result), top=self.rows)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        from ._console import to_console

        return to_console(_displayed(self.result), options, top=self.rows)


def _displayed(result: Displayed) -> object:
    return result._displayed()  # noqa: SLF001 - of all results, for this folder
