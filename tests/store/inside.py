"""What the tests of stores know of the inside."""

from __future__ import annotations

import pytest

from sitestats._store import stored_responses
from sitestats._store.keys import StoreEntry, response_key, to_store
from sitestats._store.sqlite import _PRUNE_EVERY as PRUNE_EVERY

__all__ = ["PRUNE_EVERY", "StoreEntry", "response_key", "set_clock", "to_store"]


def set_clock(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have what is stored take *seconds* for the time since the machine began."""
    patch.setattr(stored_responses.time, "monotonic", lambda: seconds)
