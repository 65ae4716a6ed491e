"""Render results: data frames, HTML, terminal tables, plots; compare periods.

A result imports what it needs from here when one of its methods is called, so the
package costs nothing until then.
"""

from __future__ import annotations

from sitestats._results.comparison import (
    Change,
    Changes,
    Comparison,
    Comparisons,
    EntryChange,
)
from sitestats._results.display import Table

from ._display import Display

__all__ = [
    "Change",
    "Changes",
    "Comparison",
    "Comparisons",
    "Display",
    "EntryChange",
    "Table",
]
