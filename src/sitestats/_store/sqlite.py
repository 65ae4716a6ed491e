"""``Store``: stored responses in a SQLite file, shared by threads and processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Self, cast

import attrs

from sitestats._common.errors import ConfigurationError
from sitestats._common.settings import positive_count
from sitestats._common.text import shown

from .stored_responses import MAX_AGE

_LOCK: Final = threading.RLock()
"""Held while SQLite is at work, and during a fork: a process that was forked while a
thread was in SQLite would wait for its locks for ever."""
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=_LOCK.acquire,
        after_in_parent=_LOCK.release,
        after_in_child=_LOCK.release,
    )

_APPLICATION: Final = 0x53745374
"""``PRAGMA application_id``: the file is one of ours."""
_VERSION: Final = 1
_PATIENCE: Final = 0.05
"""Seconds to wait while another process writes."""
_MOST_WAITS: Final = 3
"""After so many such waits in a row the file counts as locked."""
_MIB: Final = 1024 * 1024
_DAY: Final = 86_400
_FOREVER: Final = 1 << 31
_COUNT_EVERY: Final = 256
_PRUNE_STEP: Final = 50
"""Entries that one call deletes at most, so that none takes long."""

_SCHEMA: Final = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    size INTEGER NOT NULL,
    used INTEGER NOT NULL  -- the day of the last use, counted from 1970
);
CREATE INDEX IF NOT EXISTS by_use ON entries (used, key, size);
PRAGMA application_id = {};
PRAGMA user_version = {};
COMMIT;
"""

_SET: Final = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)"
_ADD: Final = "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)"


@attrs.frozen
class StoreStats:
    """What a store holds, and of how much use it was: ``Store.stats``."""

    responses: int
    """How many responses are stored."""
    bytes: int
    """The size of all entries, compressed."""
    hits: int
    """How many calls of this process got their response from it."""


class Store:
    """Responses about days that are over, in a SQLite file: ``Client(store=…)``.

    Threads, processes and clients may use one file at once. It holds statistics, which
    are private, and no API key; only its owner can read it. Whatever is wrong with the
    file is a ``SiteStatsWarning``, and requests are sent instead.

    Args:
        path: The file; it is made when it is not there. Have it on a disk of this
            machine, not on one of the network.
        max_age: A response that is older is requested again; None for no limit.
        max_bytes: When the entries are larger, those unused for longest are deleted.

    Raises:
        ConfigurationError: A value is wrong.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("2015-05-18")
        >>> with (
        ...     TemporaryDirectory() as folder,
        ...     Store(f"{folder}/stats.sqlite") as store,
        ...     emulator.client(store=store) as storing,
        ... ):
        ...     first, second = storing.stats.get(query), storing.stats.get(query)
        ...     print(first.from_store, second.from_store, store.stats().hits)
        False True 1
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_age: timedelta | None = MAX_AGE,
        max_bytes: int = 256 * _MIB,
    ) -> None:
        # Before anything can fail: __del__ needs it. One for each process, since a
        # connection does not survive a fork.
        self._files: dict[int, _File] = {}
        self.path: Path = _checked_path(path)
        self.max_age: timedelta | None = _checked_age(max_age)
        self.max_bytes: int = positive_count("max_bytes", max_bytes)
        self._hits = 0

    def get(self, key: str, /) -> bytes | None:
        """The value of *key*, or None (as a ``KeyValueStore``)."""
        with self._opened() as file:
            row = file.one("SELECT value FROM entries WHERE key = ?", key)
        return None if row is None else row[0]

    def set(self, key: str, value: bytes, /) -> None:
        """Store *value* as that of *key* (as a ``KeyValueStore``)."""
        is_response = ":response:" in key
        used = _today() if is_response else _FOREVER
        with self._opened() as file:
            # The salt is set once: of two processes the second one reads the first's.
            statement = _ADD if key.startswith(":") else _SET
            file.write(statement, key, value, len(value), used, patient=is_response)
            self._prune(file)

    def used(self, key: str) -> None:
        """Record that the value of *key* was used for a call."""
        self._hits += 1
        today = _today()
        with self._opened() as file:
            # Once a day, so that a hit is no write.
            if file.one("SELECT 1 FROM entries WHERE key = ? AND used < ?", key, today):
                file.write("UPDATE entries SET used = ? WHERE key = ?", today, key)

    def clear(self, hostname: str | None = None) -> int:
        """Delete all responses, or those of one website, and return how many.

        Raises:
            ConfigurationError: The file can't be written, or is no store.
        """
        # No entry of the store itself: those have no host name.
        pattern = f"{'?*' if hostname is None else hostname}:*"
        try:
            with self._opened() as file:
                count = file.one(
                    "SELECT sum(used < ?) FROM entries WHERE key GLOB ?",
                    _FOREVER,
                    pattern,
                )
                # What is deleted can't be read in the file either.
                file.connection.execute("PRAGMA secure_delete = ON")
                file.connection.execute(
                    "DELETE FROM entries WHERE key GLOB ?", (pattern,)
                )
                file.connection.executescript("PRAGMA incremental_vacuum")
                file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except (sqlite3.Error, ValueError, OSError) as error:
            problem = f"the store {self.path} can't be cleared: {error}"
        else:
            return (count[0] or 0) if count else 0
        raise ConfigurationError(problem)

    def stats(self) -> StoreStats:
        """How many responses are stored, their size, and the hits of this process.

        Raises:
            ConfigurationError: The file can't be read, or is no store.
        """
        try:
            with self._opened() as file:
                row = file.one("SELECT sum(used < ?), sum(size) FROM entries", _FOREVER)
        except (sqlite3.Error, ValueError, OSError) as error:
            problem = f"the store {self.path} can't be read: {error}"
        else:
            responses, size = row or (0, 0)
            return StoreStats(responses or 0, size or 0, self._hits)
        raise ConfigurationError(problem)

    def close(self) -> None:
        """Close the file in this process; a later use opens it again."""
        file = self._files.pop(os.getpid(), None)
        if file is not None:
            with _LOCK:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (str(self.path), self.max_age, self.max_bytes)

    @contextmanager
    def _opened(self) -> Generator[_File]:
        file = self._files.setdefault(os.getpid(), _File())
        with _LOCK:
            if not file.is_open:
                file.open(self.path)
            yield file

    def _prune(self, file: _File) -> None:
        """Delete some entries where they are too many or too old."""
        age = self.max_age
        oldest = 0 if age is None else _today() - age.days - 1
        if file.writes % _COUNT_EVERY == 0:
            total, first = file.one("SELECT sum(size), min(used) FROM entries") or (
                0,
                0,
            )
            # To nine tenths, so that it is not done again at once.
            is_full = total > self.max_bytes
            file.excess = total - self.max_bytes * 9 // 10 if is_full else 0
            file.has_old = first < oldest
        if not (file.excess or file.has_old):
            return
        rows = file.connection.execute(
            "SELECT key, size FROM entries WHERE used < ? ORDER BY used, key LIMIT ?",
            (_FOREVER if file.excess else oldest, _PRUNE_STEP),
        ).fetchall()
        file.excess = max(0, file.excess - sum(size for _, size in rows))
        file.has_old = file.has_old and len(rows) == _PRUNE_STEP
        keys = [key for key, _ in rows]
        marks = ",".join("?" * len(keys))
        statement = f"DELETE FROM entries WHERE key IN ({marks})"  # noqa: S608 - marks
        file.write(statement, *keys)
        # By executescript: execute() would free a single page.
        file.connection.executescript(f"PRAGMA incremental_vacuum({4 * _PRUNE_STEP})")


class _File:
    """The file as one process has it open."""

    connection: sqlite3.Connection

    def __init__(self) -> None:
        self.is_open = False
        self.writes = 0
        self.excess = 0
        """Bytes to delete yet, since the entries are too many."""
        self.has_old = False
        """Whether there are entries that are too old."""
        self._waits = 0

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """The first row."""
        row: tuple[Any, ...] | None = self.connection.execute(
            statement, values
        ).fetchone()
        return row

    def write(self, statement: str, *values: object, patient: bool = True) -> None:
        """Change something. When *patient*, what another process makes wait for long is
        left out.
        """
        try:
            self.connection.execute(statement, values)
        except sqlite3.OperationalError as error:
            self._waits += 1
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not (busy and patient) or self._waits >= _MOST_WAITS:
                raise
        else:
            self._waits = 0
            self.writes += 1

    def open(self, path: Path) -> None:
        """Open the file, and make it when it is not there.

        Raises:
            ValueError: It is no store, or one of a later version.
            sqlite3.Error: It can't be opened, or is damaged.
        """
        # Made here, as SQLite would make it readable for all. It gives the files
        # beside it the same mode.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        can_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        # Where the folder can't be written, SQLite can't put what it needs beside it.
        is_whole = not path.with_name(f"{path.name}-wal").exists()
        mode = "rw" if can_write else "ro&immutable=1" if is_whole else "ro"
        self.connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._set_up()
        except BaseException:
            self.connection.close()
            raise
        self.is_open = True

    def _set_up(self) -> None:
        if not self._pragma("schema_version"):
            self.connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.executescript(_SCHEMA.format(_APPLICATION, _VERSION))
        if self._pragma("application_id") != _APPLICATION:
            raise ValueError("it is another kind of file: name one of its own")
        version = self._pragma("user_version")
        if version != _VERSION:
            raise ValueError(
                f"it is of version {version}, and this package reads {_VERSION}: name "
                "another file, or upgrade"
            )
        self.connection.execute("PRAGMA synchronous = NORMAL")

    def _pragma(self, name: str) -> int:
        row = self.one(f"PRAGMA {name}")
        return cast("int", row[0]) if row else 0

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.connection.close()


def _again(path: str, max_age: timedelta | None, max_bytes: int) -> Store:
    return Store(path, max_age=max_age, max_bytes=max_bytes)


def _today() -> int:
    return int(time.time() // _DAY)


def _checked_path(path: object) -> Path:
    if isinstance(path, os.PathLike):
        return Path(cast("os.PathLike[str]", path))
    if isinstance(path, str) and path:
        return Path(path)
    raise ConfigurationError(
        f"a store is the path of a file such as 'stats.sqlite'; got {shown(path)}"
    )


def _checked_age(age: object) -> timedelta | None:
    if age is None or (isinstance(age, timedelta) and age > timedelta(0)):
        return age
    raise ConfigurationError(
        f"max_age is a timedelta above 0, or None for no limit; got {shown(age)}"
    )
