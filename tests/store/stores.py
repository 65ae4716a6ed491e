"""A key-value store in memory, one that is stuck, and the entries of a file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any


class InMemory:
    """A key-value store in a dictionary."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = value


class Stuck:
    """One whose operations end when they are let go, or after a minute."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.begun = threading.Event()

    def get(self, key: str) -> bytes | None:
        self.begun.set()
        assert self.let_go.wait(60), key
        return None

    def set(self, key: str, value: bytes) -> None:
        self.get(key)


def execute(
    path: Path, statement: str, rows: Iterable[tuple[object, ...]] = ((),)
) -> list[Any]:
    """Run *statement* for each of the *rows* in the file of a store; what it gives."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return [found for row in rows for found in connection.execute(statement, row)]
