"""Other defaults for settings of dlt: its telemetry is off."""

from __future__ import annotations

import os

import dlt
from dlt.common.runtime.telemetry import stop_telemetry


def set_default(name: str, value: str) -> None:
    """Set what dlt's configuration does not name, also after dlt has read it."""
    if name in dlt.config:
        return
    os.environ[name.upper().replace(".", "__")] = value
    # dlt starts when it is first asked for a setting. That sends nothing.
    stop_telemetry()
    dlt.current.run_context().initialize_runtime()
