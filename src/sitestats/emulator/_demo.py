"""The demo's data: real traffic of four days of 2015, moved to end yesterday."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from typing import Final

from ._periods import EPOCH
from ._rows import Rows, prepared

HOSTNAME: Final = "semicomplete.com"
PARTS: Final = {
    "blog.semicomplete.com": "/blog",
    "projects.semicomplete.com": "/projects",
}
"""Websites that are parts of the same traffic, and the start of their paths."""


def load(rows: Rows, now: datetime) -> None:
    """Load the demo's traffic into *rows*."""
    traffic = prepared(_read)
    yesterday = now.astimezone(UTC).date() - timedelta(days=1)
    rows.take(traffic, days=(yesterday - traffic.span[1].date()).days)


def _read(rows: Rows) -> None:
    with as_file(files("sitestats.emulator") / "data" / "semicomplete.csv.gz") as path:
        rows.load(path, now=EPOCH)
    for hostname, prefix in PARTS.items():
        rows.copy(source=HOSTNAME, target=hostname, prefix=prefix)
