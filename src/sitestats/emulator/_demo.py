"""The demo's data: real traffic of four days of 2015, moved to end yesterday."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import Final

from ._periods import DAY
from ._rows import Rows, prepared

HOSTNAME: Final = "semicomplete.com"
PARTS: Final = {
    "blog.semicomplete.com": "/blog",
    "projects.semicomplete.com": "/projects",
}
"""Websites that are parts of the same traffic, and the start of their paths."""


def load(rows: Rows, now: datetime) -> None:
    """Load the demo's traffic into *rows*."""
    rows.take(prepared(_read), last=now.astimezone(UTC).date() - DAY)


def _read(rows: Rows) -> None:
    with as_file(files("sitestats.emulator") / "data" / "semicomplete.csv.gz") as path:
        rows.load(path, undated=datetime.now(UTC))
    for hostname, prefix in PARTS.items():
        rows.copy(source=HOSTNAME, target=hostname, prefix=prefix)
