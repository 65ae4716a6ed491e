"""Frames, tables, pictures and comparisons of results.

The results import what they need from here when one of their methods is called,
so the package costs nothing until then.
"""

from __future__ import annotations

from ._comparison import Change, Changes, Comparison, EntryChange

__all__ = ["Change", "Changes", "Comparison", "EntryChange"]
