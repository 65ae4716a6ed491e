"""What PyInstaller asks, so that a frozen program has the package's data files."""

from __future__ import annotations

from pathlib import Path


def hook_folders() -> list[str]:
    """The folder of ``hook-sitestats.py``."""
    return [str(Path(__file__).parent)]
