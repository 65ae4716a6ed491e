"""Each statement of the service's document is held by the client and the emulator."""

from __future__ import annotations

from promises import kept, missing


def test_every_statement_is_held_by_both_sides() -> None:
    """No statement of the document is without a test of the client, or the emulator."""
    assert len(kept()) > 80
    assert missing() == set()
