"""How results become data frames, HTML, terminal tables and plots; comparisons.

The results import what they need from here when one of their methods is called,
so the package costs nothing until then.
"""

from __future__ import annotations

from sitestats._results.comparison import Change, Changes, Comparison, EntryChange

__all__ = ["Change", "Changes", "Comparison", "EntryChange"]
