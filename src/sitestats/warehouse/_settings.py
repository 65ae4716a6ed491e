"""Settings of dlt whose defaults are others here: its telemetry is off."""

from __future__ import annotations

import os

import dlt
from dlt.common.runtime.telemetry import stop_telemetry


def set_default(name: str, value: str) -> None:
    """Set what dlt's configuration does not name, also after dlt has read it."""
    if name in dlt.config:
        return
    os.environ[name.upper().replace(".", "__")] = value
    # dlt begins when it is first asked for a setting. Nothing is sent by that.
    stop_telemetry()
    dlt.current.run_context().initialize_runtime()
