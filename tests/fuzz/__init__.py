"""Fuzzer for the readers of responses, guided by the lines that the inputs reach.

Every input must become a model or one of the package's errors. Inputs that break
something are stored as regression tests. Run it with::

    python -m fuzz --inputs 1000000
"""

from __future__ import annotations

from .inputs import FOUND, SEEDS, Input
from .targets import BrokenError, check

__all__ = ["FOUND", "SEEDS", "BrokenError", "Input", "check"]
