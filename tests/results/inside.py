"""What the tests of results know of the inside."""

from __future__ import annotations

from sitestats._results.tables import column_of, stacked

__all__ = ["column_of", "stacked"]
