"""A server on loopback that breaks every rule, and the table of what it breaks.

It needs nothing but the standard library. Each case has an address of its own::

    python -m faults --list
    python -m faults --case "resets within the headers"
"""

from __future__ import annotations

from .cases import CASES
from .certificates import authority
from .script import SWIFT, Case
from .server import FaultServer, Place

__all__ = ["CASES", "SWIFT", "Case", "FaultServer", "Place", "authority"]
