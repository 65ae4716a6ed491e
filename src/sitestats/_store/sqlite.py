"""``Store``: stored responses in a SQLite file, shared by threads and processes."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Self, TypeVar, cast

import attrs

from sitestats._common.errors import ConfigurationError, warn
from sitestats._common.settings import positive_count
from sitestats._common.text import shown
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import HasHostname

from .file import StoreFile, is_busy
from .rules import MAX_AGE

T = TypeVar("T")

_MIB: Final = 1024 * 1024
_DAY: Final = 86_400
_FOREVER: Final = 1 << 31
_COUNT_EVERY: Final = 256
_PRUNE_STEP: Final = 50
"""Entries that one step deletes at most, so that none takes long."""
_CLEAR_PATIENCE: Final = 5.0
"""Seconds that ``clear`` waits for other connections."""
_CLEAR_PAUSE: Final = 0.02

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
    are private, and no API key; only its owner can read it. Its keys are digests with
    a random salt. Responses are compressed, and one that is damaged, as its digest
    shows, is not used. Whatever is wrong with the
    file is a ``SiteStatsWarning``, and requests are sent instead. A file that is no
    store is left as it is; one that is empty becomes a store.

    Args:
        path: The file; it is made when it is not there. Have it on a disk of this
            machine, not on one of the network.
        max_age: A response that is older is requested again; None for no limit.
        max_bytes: When the entries are larger, those unused for longest are deleted.
        partition: A name of your choice, such as ``"team-a"``. Responses are used
            under the name alone that they were stored under. A client whose way to
            the service can't be seen here needs one: with an ``http_client``, a
            ``transport`` or an ``ssl.SSLContext`` of yours.

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
        partition: str = "",
    ) -> None:
        # Before anything can fail: __del__ needs it. One for each process, since a
        # connection does not survive a fork.
        self._files: dict[int, StoreFile] = {}
        self.path: Path = _checked_path(path)
        self.max_age: timedelta | None = _checked_age(max_age)
        self.max_bytes: int = positive_count("max_bytes", max_bytes)
        self.partition: str = _checked_partition(partition)
        self._hits = 0

    def get(self, key: str, /) -> bytes | None:
        """The value of *key*, or None (as a ``KeyValueStore``)."""
        rows = self._use(
            lambda file: file.rows("SELECT value FROM entries WHERE key = ?", key)
        )
        return rows[0][0] if rows else None

    def set(self, key: str, value: bytes, /) -> None:
        """Store *value* as that of *key* (as a ``KeyValueStore``)."""
        is_response = ":response:" in key
        used = _today() if is_response else _FOREVER
        # The salt is set once: of two processes the second one reads the first's.
        statement = _ADD if key.startswith(":") else _SET

        def write(file: StoreFile) -> None:
            file.write(statement, key, value, len(value), used, patient=is_response)
            self._prune(file)

        self._use(write)

    def used(self, key: str) -> None:
        """Record that the value of *key* was used for a call."""
        self._hits += 1
        today = _today()

        def write(file: StoreFile) -> None:
            # Once a day, so that a hit is no write.
            found = "SELECT 1 FROM entries WHERE key = ? AND used < ?"
            if file.rows(found, key, today):
                file.write("UPDATE entries SET used = ? WHERE key = ?", today, key)

        self._use(write)

    def clear(self, hostname: str | HasHostname | None = None) -> int:
        """Delete all responses, or those of one website, and return how many.

        Where there are none of that website, a ``SiteStatsWarning`` says so. While
        another connection uses the file, this waits for five seconds.

        Raises:
            QueryError: *hostname* is no host name.
            ConfigurationError: The file can't be written, or is no store; or what was
                deleted can still be read in it, as another connection uses it.
        """
        name = None if hostname is None else StatsQuery(hostname).hostname
        deleted, until = 0, time.monotonic() + _CLEAR_PATIENCE
        try:
            while used := self._insist(lambda file: _delete_some(file, name), until):
                deleted += sum(day < _FOREVER for day in used)
                until = time.monotonic() + _CLEAR_PATIENCE
            while self._insist(_is_log_in_use, until):
                if time.monotonic() > until:
                    raise TimeoutError(
                        f"{deleted} responses were deleted, but can still be read in "
                        f"the file or in {self.path}-wal, as another connection uses "
                        "them: end that one, and clear again"
                    )
                time.sleep(_CLEAR_PAUSE)
        except (sqlite3.Error, ValueError, OSError) as error:
            problem = f"the store {self.path} can't be cleared: {error}"
        else:
            if not deleted and name is not None:
                warn(f"the store {self.path} has no response about {name}")
            return deleted
        raise ConfigurationError(problem)

    def stats(self) -> StoreStats:
        """How many responses are stored, their size, and the hits of this process.

        Raises:
            ConfigurationError: The file can't be read, or is no store.
        """
        statement = "SELECT sum(used < ?), sum(size) FROM entries"
        try:
            [(count, size)] = self._use(lambda file: file.rows(statement, _FOREVER))
        except (sqlite3.Error, ValueError, OSError) as error:
            problem = f"the store {self.path} can't be read: {error}"
        else:
            return StoreStats(count or 0, size or 0, self._hits)
        raise ConfigurationError(problem)

    def close(self) -> None:
        """Close the file in this process; a later use opens it again."""
        file = self._files.pop(os.getpid(), None)
        if file is not None:
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self.close()

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the interpreter's end the names of modules are gone, but no default is.
        if not _is_finalizing():
            self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = str(self.path), self.max_age, self.max_bytes, self.partition
        return _again, values

    def _use(self, action: Callable[[StoreFile], T]) -> T:
        file = self._files.setdefault(os.getpid(), StoreFile())
        return file.use(self.path, action)

    def _insist(self, action: Callable[[StoreFile], T], until: float) -> T:
        """What *action* returns, once other connections let it."""
        while True:
            try:
                return self._use(action)
            except sqlite3.Error as error:
                if not is_busy(error) or time.monotonic() > until:
                    raise
            time.sleep(_CLEAR_PAUSE)

    def _prune(self, file: StoreFile) -> None:
        """Delete some entries where they are too many or too old."""
        age = self.max_age
        oldest = 0 if age is None else _today() - age.days - 1
        if file.writes % _COUNT_EVERY == 0:
            [(total, first)] = file.rows("SELECT sum(size), min(used) FROM entries")
            # To nine tenths, so that it is not done again at once. There is no entry
            # yet where the first one was left out.
            is_full = (total or 0) > self.max_bytes
            file.excess = total - self.max_bytes * 9 // 10 if is_full else 0
            file.has_old = (first or oldest) < oldest
        if not (file.excess or file.has_old):
            return
        rows = file.rows(
            "SELECT key, size FROM entries WHERE used < ? ORDER BY used, key LIMIT ?",
            _FOREVER if file.excess else oldest,
            _PRUNE_STEP,
        )
        file.excess = max(0, file.excess - sum(size for _, size in rows))
        file.has_old = file.has_old and len(rows) == _PRUNE_STEP
        file.delete([key for key, _ in rows], patient=True)


def _again(
    path: str, max_age: timedelta | None, max_bytes: int, partition: str
) -> Store:
    return Store(path, max_age=max_age, max_bytes=max_bytes, partition=partition)


def _delete_some(file: StoreFile, hostname: str | None) -> list[int]:
    """Delete some entries of a website, or of all; the days when they were used."""
    # What the store itself needs has no host name. No host name has a colon or what is
    # behind it in ASCII, a semicolon.
    low, high = (":", ";") if hostname is None else (f"{hostname}:", f"{hostname};")
    which = "key < ? OR key >= ?" if hostname is None else "key >= ? AND key < ?"
    statement = f"SELECT key, used FROM entries WHERE {which} LIMIT ?"  # noqa: S608 - as above
    rows = file.rows(statement, low, high, _PRUNE_STEP)
    # What is deleted can't be read in the file either.
    file.connection.execute("PRAGMA secure_delete = ON")
    file.delete([key for key, _ in rows], patient=False)
    return [used for _, used in rows]


def _is_log_in_use(file: StoreFile) -> bool:
    """Whether another connection keeps what was deleted in the file or its log."""
    [(is_in_use, *_)] = file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    return bool(is_in_use)


def _checked_partition(name: object) -> str:
    if isinstance(name, str):
        return name
    raise ConfigurationError(f"partition is a name of your choice; got {shown(name)}")


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
