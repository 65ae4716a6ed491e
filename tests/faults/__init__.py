"""Fault injection: a TCP and TLS server on loopback, and the table of its cases.

Each case has an address of its own. You can run the server by hand::

    python -m faults --list
    python -m faults --case "resets within the headers"
"""

from __future__ import annotations

from .cases import CASES
from .certificates import authority
from .script import CASE_OPTIONS, Case
from .server import FaultServer, ServedCase

__all__ = ["CASES", "CASE_OPTIONS", "Case", "FaultServer", "ServedCase", "authority"]
