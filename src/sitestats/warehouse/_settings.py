"""Settings of dlt whose defaults are others here: its telemetry is off."""

from __future__ import annotations

import os

import dlt


def set_default(name: str, value: str) -> None:
    """Set what dlt's configuration does not name, before its first pipeline."""
    if name not in dlt.config:
        os.environ[name.upper().replace(".", "__")] = value
