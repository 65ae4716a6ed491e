"""Render results: data frames, HTML, terminal tables, plots.

A result imports what it needs from here when one of its methods is called, so the
package costs nothing until then.
"""

from __future__ import annotations

from sitestats._display.display import Display
from sitestats._display.page import Page

__all__ = ["Display", "Page"]
