"""A key-value store in memory, and one that fails."""

from __future__ import annotations


class InMemory:
    """A key-value store in a dictionary."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = value
