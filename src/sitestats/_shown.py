"""What shows itself as one table, in a notebook and in a terminal.

The work is done in ``analysis``, which is imported when a value is shown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from .analysis._sheet import Sheet


class Shown(ABC):
    """A value with a few lines to show. Its repr stays as it is."""

    __slots__ = ()

    @abstractmethod
    def _sheet(self) -> Sheet:
        """The table to show."""

    def _repr_html_(self) -> str:
        from .analysis._html import of_sheet

        return of_sheet(self._sheet())

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        from .analysis._console import of_sheet

        return of_sheet(self._sheet())
