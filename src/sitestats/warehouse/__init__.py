"""A warehouse of each website's days: a source for dlt, and the loop around it.

It needs the extra ``warehouse``. dlt's telemetry is off, unless you turned it on.
"""

from __future__ import annotations

from sitestats._base.errors import MissingExtraError

try:
    from ._errors import DestinationError
    from ._errors import readable_errors as readable_errors
    from ._pipelines import make_pipeline
    from ._report import Update
    from ._source import Estimate, sitestats_source
    from ._source import set_default as set_default
    from ._update import (
        Status,
        Verified,
        forget,
        read_coverage,
        read_status,
        update,
        verify,
    )
    from ._verify import Difference, Verification
except ModuleNotFoundError as _error:
    # What is blocked, not missing, is named by the module below it.
    _library = (_error.name or "").partition(".")[0]
    if _library not in {"dlt", "pyarrow"}:
        raise
    raise MissingExtraError(_library, extra="warehouse") from None

from ._days import Coverage, last_day

__all__ = [
    "Coverage",
    "DestinationError",
    "Difference",
    "Estimate",
    "Status",
    "Update",
    "Verification",
    "Verified",
    "forget",
    "last_day",
    "make_pipeline",
    "read_coverage",
    "read_status",
    "sitestats_source",
    "update",
    "verify",
]
