"""A plain HTTP client of the emulator.

It is tested through httpx alone, so that a mistake which it shares with the
clients can't hide.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import httpx

from sitestats.emulator import Emulator

NOW = datetime(2026, 3, 15, 12, 30, tzinfo=UTC)

GetStats = Callable[..., httpx.Response]


def bare_client(emulator: Emulator, *, key: str | None = "own") -> httpx.Client:
    """An httpx client of *emulator*, with its key, another key, or none."""
    headers = {"User-Id": emulator.user_id}
    if key is not None:
        headers["Api-Key"] = emulator.api_key if key == "own" else key
    return httpx.Client(
        base_url="http://emulator.test",
        transport=emulator.transport(),
        headers=headers,
    )
