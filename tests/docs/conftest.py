"""Fixtures of the pages that show commands."""

from __future__ import annotations

from commands import emulator, run, served

__all__ = ["emulator", "run", "served"]
