"""Compare the service with the emulator, by requests that read.

>>> from sitestats.conformance import compare_service
>>> comparison = compare_service(client, "semicomplete.com", pause=0)
>>> comparison.different
()
"""

from __future__ import annotations

from ._compare import CaseDifference, ComparedCase, ServiceComparison, compare_service

__all__ = ["CaseDifference", "ComparedCase", "ServiceComparison", "compare_service"]
