"""``Store``: stored responses in a SQLite file, shared by threads and processes."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from sitestats._base.errors import ConfigurationError, warn
from sitestats._base.forks import HeldAcrossForks
from sitestats._configuration.settings import positive_count
from sitestats._public import Public
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import HasHostname
from sitestats._wire.values import Value

from .keys import MAX_AGE

if TYPE_CHECKING:
    import sqlite3
else:
    # Some builds of Python leave it out. Then only a store can't be made.
    with suppress(ImportError):
        import sqlite3

_BUSY_SECONDS: Final = 0.25
"""How long to wait while another process writes."""
_DAY: Final = 86_400
_PRUNE_EVERY: Final = 256
_APPLICATION: Final = 0x53745374
"""``PRAGMA application_id``, which marks the file as a store."""
# One transaction does it all: a killed process leaves an empty file or a store.
_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    size INTEGER NOT NULL,
    used INTEGER NOT NULL  -- the day of the last use, counted from 1970
);
CREATE INDEX IF NOT EXISTS by_use ON entries (used, key, size);
PRAGMA application_id = {_APPLICATION};
COMMIT;
"""
_PRUNE: Final = """
DELETE FROM entries WHERE used < ? OR key IN (
    SELECT key
    FROM (SELECT key, sum(size) OVER (ORDER BY used DESC, key) AS total FROM entries)
    WHERE total > ?
)
"""


_INHERITED: Final[list[sqlite3.Connection]] = []
"""Connections of a parent, which this process neither uses nor closes."""


@attrs.frozen
class StoreStats(Value):
    """The size and the use of a store: ``Store.stats()``."""

    responses: int
    """How many responses are stored."""
    bytes: int
    """The size of all entries, compressed."""
    hits: int
    """How many responses this process took from the store."""


class Store(Public, HeldAcrossForks):
    """Responses about past days, in a SQLite file: ``Client(store=…)``.

    Threads, processes and clients may share one file. Only its owner can read it, since
    statistics are private. It holds no API key. If the file can't be used, you get a
    ``SiteStatsWarning``, and requests are sent. A file of another program is not
    changed; an empty file becomes a store.

    Args:
        path: The file; it is made if it does not exist. It should be on a local disk,
            not on a network drive.
        max_age: A response that is older is requested again; None for no limit. The
            default is 30 days.
        max_bytes: If the entries are larger, the least recently used are deleted.
        partition: A name of your choice, such as ``"team-a"``. A response is used only
            by clients with the same name. A client with your own ``http_client`` or
            ``ssl.SSLContext`` needs one, since the store can't see their credentials.

    Raises:
        ConfigurationError: A value is wrong, or this Python has no ``sqlite3``.

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
        max_bytes: int = 256 * 1024 * 1024,
        partition: str = "",
    ) -> None:
        if "sqlite3" not in globals():
            raise ConfigurationError(
                "A store needs the module sqlite3, which this Python lacks: use a "
                "Python that has it, or give the client a KeyValueStore of your own."
            )
        self._connection: sqlite3.Connection | None = None
        self._writes = self._hits = 0
        self.path: Path = Path(path)
        if not self.path.name:
            raise ConfigurationError("A store is a file, such as 'stats.sqlite'.")
        if max_age is not None and max_age <= timedelta(0):
            raise ConfigurationError("max_age is above 0, or None for no limit.")
        self.max_age: timedelta | None = max_age
        self.max_bytes: int = positive_count("max_bytes", max_bytes)
        self.partition: str = partition
        super().__init__()

    def get(self, key: str, /) -> bytes | None:
        """The value of *key*, or None (as a ``KeyValueStore``)."""
        rows = self._run("SELECT value FROM entries WHERE key = ?", key)
        return rows[0][0] if rows else None

    def set(self, key: str, value: bytes, /) -> None:
        """Store *value* under *key* (as a ``KeyValueStore``)."""
        entry = key, value, len(value), _today()
        self._run("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", *entry)
        if self._writes % _PRUNE_EVERY == 0:
            oldest = 0 if self.max_age is None else _today() - self.max_age.days - 1
            self._run(_PRUNE, oldest, self.max_bytes)
        self._writes += 1

    def used(self, key: str) -> None:
        """Record that the value of *key* was used for a call."""
        self._hits += 1
        today = _today()
        # The use is recorded once a day, so that most hits do not write.
        if self._run("SELECT 1 FROM entries WHERE key = ? AND used < ?", key, today):
            self._run("UPDATE entries SET used = ? WHERE key = ?", today, key)

    def clear(self, hostname: str | HasHostname | None = None) -> int:
        """Delete all responses, or the responses of one website, and return how many.

        If the store has no response of that website, you get a ``SiteStatsWarning``.

        Raises:
            InvalidInputError: *hostname* is not a valid host name.
            ConfigurationError: The file can't be written, or is not a store; or another
                program reads it, so what was deleted is still in it.
        """
        name = "" if hostname is None else f"{StatsQuery(hostname).hostname}:"
        delete = "DELETE FROM entries WHERE substr(key, 1, ?) = ? RETURNING key"
        deleted = self._insist(delete, len(name), name)
        count = sum(":response:" in key for (key,) in deleted)
        # This removes the deleted responses from the file and from its log.
        self._insist("VACUUM")
        [(is_in_use, *_)] = self._insist("PRAGMA wal_checkpoint(TRUNCATE)")
        if is_in_use:
            raise ConfigurationError(
                f"{count} responses were deleted, but are still in the file "
                f"{self.path} while another program reads it. End that program, and "
                "clear again."
            )
        if name and not count:
            warn(f"the store {self.path} has no response about {name[:-1]}")
        return count

    def stats(self) -> StoreStats:
        """How many responses are stored, their size, and the hits of this process.

        Raises:
            ConfigurationError: The file can't be read, or is not a store.
        """
        statement = "SELECT sum(key LIKE '%:response:%'), sum(size) FROM entries"
        [(count, size)] = self._insist(statement)
        return StoreStats(count or 0, size or 0, self._hits)

    def close(self) -> None:
        """Close the file in this process; a later use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def _run(self, statement: str, *values: object) -> list[Any]:
        """All rows of *statement*.

        Raises:
            ValueError: The file belongs to another program.
            OSError: It can't be made.
            sqlite3.Error: It can't be opened, is damaged, or is in use for too long.
        """
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            return self._connection.execute(statement, values).fetchall()

    def _before_fork(self) -> None:
        # SQLite must not be in use, and counts the locks of a file for each process: a
        # child with an open connection of its parent would believe that it has locks.
        with suppress(sqlite3.Error):
            self.close()

    def _after_fork_in_child(self) -> None:
        if self._connection is not None:
            # The fork did not wait for it, or it was made in C. To close it here would
            # release locks of the parent's.
            _INHERITED.append(self._connection)
            self._connection = None

    def _insist(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._run(statement, *values)
        except (sqlite3.Error, ValueError, OSError) as error:
            raise ConfigurationError(
                f"The store {self.path} can't be used: {error}"
            ) from error

    def _open(self) -> sqlite3.Connection:
        # The file is made here, as SQLite would make it readable for all.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(
            self.path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _set_up(connection: sqlite3.Connection) -> None:
    [(version,)] = connection.execute("PRAGMA schema_version")
    [(application,)] = connection.execute("PRAGMA application_id")
    if (version, application) == (0, 0):
        connection.executescript(_SCHEMA)
        # Another process that opens it at this moment does the same.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
    elif application != _APPLICATION:
        raise ValueError("it belongs to another program: name another file")
    connection.execute("PRAGMA synchronous = NORMAL")


def _today() -> int:
    return int(time.time() // _DAY)
