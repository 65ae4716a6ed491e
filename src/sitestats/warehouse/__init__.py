"""A warehouse of each website's days: a source for dlt, and the loop around it.

It needs the extra ``warehouse``. dlt's telemetry is off, unless you turned it on.
"""

from __future__ import annotations

import os

from sitestats._common.errors import MissingExtraError

try:
    import dlt
    from dlt.common.runtime.telemetry import stop_telemetry

    from ._source import Estimate, sitestats_source
    from ._update import Update, forget, read_coverage, update
except ModuleNotFoundError as _error:
    if _error.name not in {"dlt", "pyarrow"}:
        raise
    raise MissingExtraError(_error.name, extra="warehouse") from None

from ._days import Coverage, last_day

__all__ = [
    "Coverage",
    "Estimate",
    "Update",
    "forget",
    "last_day",
    "read_coverage",
    "sitestats_source",
    "update",
]


def set_default(name: str, value: str) -> None:
    """Set what dlt's configuration does not name, also after dlt has read it."""
    if name in dlt.config:
        return
    os.environ[name.upper().replace(".", "__")] = value
    # dlt starts when it is first asked for a setting. That sends nothing.
    stop_telemetry()
    dlt.current.run_context().initialize_runtime()


set_default("runtime.dlthub_telemetry", "false")
