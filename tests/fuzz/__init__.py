"""Throws bytes at whatever reads answers, and keeps what broke it.

Whatever an answer holds becomes a model or one of our errors, and nothing else.
A million inputs, guided by the lines of the package that they reach::

    python -m fuzz --inputs 1000000
"""

from __future__ import annotations

from .inputs import FOUND, SEEDS, Input
from .targets import BrokenError, check

__all__ = ["FOUND", "SEEDS", "BrokenError", "Input", "check"]
