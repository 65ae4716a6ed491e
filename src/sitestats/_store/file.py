"""The SQLite file of a store: only ours are opened, and no use takes long."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar, cast
from weakref import WeakSet

from sitestats._common.errors import warn
from sitestats._common.thread_locks import LibraryLock

T = TypeVar("T")

LONGEST_USE: Final = 1.0
"""Seconds that one use of the file takes at most, and the wait for other threads."""
_PATIENCE: Final = 0.05
"""Seconds to wait while another process writes."""
_MOST_WAITS: Final = 3
"""After so many such waits in a row the file counts as locked."""
_STEPS: Final = 10_000
"""Instructions of SQLite between two looks at the clock, some 0.1 ms."""
_MOST_PAGES: Final = 2_000
"""Pages of 4 KiB that are given back at once, so that it does not take long."""

_MAGIC: Final = b"SQLite format 3\0"
_APPLICATION: Final = 0x53745374
"""``PRAGMA application_id``: the file is one of ours."""
_APPLICATION_PLACE: Final = slice(68, 72)
_VERSION: Final = 1
_TABLE: Final = """entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    size INTEGER NOT NULL,
    used INTEGER NOT NULL  -- the day of the last use, counted from 1970
)"""
_INDEX: Final = "by_use ON entries (used, key, size)"
# The application's number is in the file before the first entry, and in one change with
# all else, so that a look at the first bytes tells whose the file is: also where the
# process that made it was killed.
_SCHEMA: Final = f"""
BEGIN;
PRAGMA auto_vacuum = INCREMENTAL;
CREATE TABLE IF NOT EXISTS {_TABLE};
CREATE INDEX IF NOT EXISTS {_INDEX};
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""


class StoreFile:
    """The file as one process has it open."""

    connection: sqlite3.Connection
    _until: ClassVar[float] = 0.0
    """When the thread that uses SQLite must have ended, by the monotonic clock."""

    def __init__(self) -> None:
        self.is_open = False
        self.writes = 0
        self.excess = 0
        """Bytes to delete yet, since the entries are too many."""
        self.has_old = False
        """Whether there are entries that are too old."""
        self._waits = 0
        self._identity = (0, 0)

    def rows(self, statement: str, *values: object) -> list[Any]:
        """All rows that *statement* finds."""
        return self.connection.execute(statement, values).fetchall()

    def write(self, statement: str, *values: object, patient: bool = True) -> None:
        """Change something. When *patient*, what another process makes wait for long is
        left out.
        """
        try:
            self.connection.execute(statement, values)
        except sqlite3.OperationalError as error:
            self._waits += 1
            if not (is_busy(error) and patient) or self._waits >= _MOST_WAITS:
                raise
        else:
            self._waits = 0
            self.writes += 1

    def delete(self, keys: list[str], *, patient: bool) -> None:
        """Delete the entries of *keys*, and give their space back."""
        marks = ",".join("?" * len(keys))
        statement = f"DELETE FROM entries WHERE key IN ({marks})"  # noqa: S608 - marks
        self.write(statement, *keys, patient=patient)
        # By executescript: execute() would free a single page.
        self.connection.executescript(f"PRAGMA incremental_vacuum({_MOST_PAGES})")

    def use(self, path: Path, action: Callable[[StoreFile], T]) -> T:
        """What *action* returns; the file at *path* is opened first if it is not yet.

        Raises:
            ValueError: It is no store, or one of a later version.
            sqlite3.Error: It can't be opened, is damaged, or takes too long.
            OSError: It can't be opened, or other threads use SQLite for too long.
        """

        def run() -> T:
            StoreFile._until = time.monotonic() + LONGEST_USE
            if not self.is_open:
                self._open(path)
            return action(self)

        return _SQLITE.run(run)

    def close(self) -> None:
        """Close the file, unless other threads use SQLite for too long."""

        def run() -> None:
            if self.is_open:
                self.is_open = False
                _open_files.discard(self)
                self.connection.close()

        with suppress(OSError):
            _SQLITE.run(run)

    def _open(self, path: Path) -> None:
        # Made here, as SQLite would make it readable for all. It gives the files
        # beside it the same mode.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        self._check(path)
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
        self.connection.set_progress_handler(self._is_late, _STEPS)
        try:
            self._set_up()
        except BaseException:
            self.connection.close()
            raise
        self.is_open = True
        _open_files.add(self)

    def _check(self, path: Path) -> None:
        """Refuse what is not ours before SQLite has it.

        SQLite changes the files of other programs when it opens them: it plays their
        journals back.
        """
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file: name one of its own")
        self._identity = status.st_dev, status.st_ino
        # Whoever closes a file loses all locks that the process has on it, those of
        # SQLite too. What is open was looked at before.
        if not any(file._identity == self._identity for file in _open_files):  # noqa: SLF001 - one of this class
            with path.open("rb", buffering=0) as file:
                head = file.read(100)
            if head and not (
                head.startswith(_MAGIC)
                and head[_APPLICATION_PLACE] == _APPLICATION.to_bytes(4)
            ):
                raise ValueError("it is another kind of file: name one of its own")
        # Who owns it can mend that others read it.
        is_own = hasattr(os, "geteuid") and status.st_uid == os.geteuid()
        if os.name == "posix" and status.st_mode & (0o066 if is_own else 0o022):
            warn(
                f"the store {path} has the mode {stat.S_IMODE(status.st_mode):04o}, so "
                "that other users can read or change the statistics in it: give it "
                "0600, by chmod 600"
            )

    def _set_up(self) -> None:
        if not self._pragma("schema_version"):
            self.connection.executescript(_SCHEMA)
            self.connection.execute("PRAGMA journal_mode = WAL")
        if self._pragma("application_id") != _APPLICATION:
            raise ValueError("it is another kind of file: name one of its own")
        version = self._pragma("user_version")
        if version != _VERSION:
            raise ValueError(
                f"it is of version {version}, and this package reads {_VERSION}: name "
                "another file, or upgrade"
            )
        parts = self.rows("SELECT sql FROM sqlite_schema WHERE sql <> ''")
        if {sql for (sql,) in parts} != {
            f"CREATE TABLE {_TABLE}",
            f"CREATE INDEX {_INDEX}",
        }:
            raise ValueError("its tables are not those of a store: name another file")
        self.connection.execute("PRAGMA synchronous = NORMAL")

    @staticmethod
    def _is_late() -> bool:
        return time.monotonic() > StoreFile._until

    def _pragma(self, name: str) -> int:
        [(number,)] = self.rows(f"PRAGMA {name}")
        return cast("int", number)


_SQLITE: Final = LibraryLock("SQLite", seconds=LONGEST_USE)
_open_files: Final[WeakSet[StoreFile]] = WeakSet()


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection made SQLite wait for too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
