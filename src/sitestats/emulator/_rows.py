"""The page views and events of one emulator, kept in DuckDB."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ._columns import COLUMNS, REFERRER, MetadataKey, checks, instant, metadata_keys
from ._hosts import host_name
from ._periods import EARLIEST, LATEST
from ._staging import stage

if TYPE_CHECKING:
    import duckdb


_TABLE: Final = """
(
    ts TIMESTAMP, hostname VARCHAR, datapoint VARCHAR, path VARCHAR,
    is_unique BOOLEAN, referrer VARCHAR, utm_source VARCHAR, utm_medium VARCHAR,
    utm_campaign VARCHAR, utm_content VARCHAR, utm_term VARCHAR,
    duration DOUBLE, device_type VARCHAR, country VARCHAR,
    browser_name VARCHAR, os_name VARCHAR
)
"""


class Rows:
    """The rows of one emulator: its own database, in memory."""

    def __init__(self) -> None:
        self._database, name = attach()
        weakref.finalize(self, detach, self._database, name).atexit = False
        self.table: str = f"{name}.rows"
        """The table's full name."""
        self.cursor().execute(f"CREATE TABLE {self.table} {_TABLE}")
        self._lock = threading.Lock()
        self.metadata: Mapping[MetadataKey, str] = {}
        """The metadata keys with their columns, which are numbered: the
        database's names ignore case, and keys do not."""
        self.span: tuple[datetime, datetime] = (LATEST, EARLIEST)
        """The times of the first and the last row."""

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection for one request: a shared one mixes up threads' answers."""
        return self._database.cursor()

    def load(
        self,
        rows: str | Path | Iterable[Mapping[str, object]],
        *,
        now: datetime,
        hostname: str | None = None,
    ) -> list[str]:
        """Take all of *rows*, or none; gives their host names back."""
        hosts: set[str] = set()
        with self._change() as (cursor, metadata):
            for names in stage(cursor, rows):
                load = _Load(cursor, self.table, names)
                load.check()
                load.add_columns(metadata)
                found = load.hosts(hostname)
                load.insert(metadata, found, now)
                hosts |= set(found.values())
        return sorted(hosts)

    def recent(self, now: datetime) -> dict[str, tuple[int, int]]:
        """Page views and events of 30 days, of each website that has rows."""
        if self.span[0] > self.span[1]:
            # Without rows: tests of adding websites ask for many lists.
            return {}
        until = now.astimezone(UTC).replace(tzinfo=None)
        cursor = self.cursor()
        try:
            found = cursor.execute(
                "SELECT hostname, count(*) FILTER (recent AND datapoint = 'pageview'), "
                "count(*) FILTER (recent AND datapoint <> 'pageview') "
                f"FROM (SELECT *, ts > ? AND ts <= ? AS recent FROM {self.table}) "
                "GROUP BY hostname",
                [until - timedelta(days=30), until],
            ).fetchall()
        finally:
            cursor.close()
        return {hostname: (views, events) for hostname, views, events in found}

    def copy(self, *, source: str, target: str, prefix: str) -> None:
        """Copy what *source* has below a path to the website *target*."""
        with self._change() as (cursor, _):
            cursor.execute(
                f"INSERT INTO {self.table} "
                f"SELECT * REPLACE (? AS hostname) FROM {self.table} "
                "WHERE hostname = ? AND starts_with(path, ?)",
                [target, source, prefix],
            )

    def shift(self, *, days: int) -> None:
        """Move every row, and every date of its metadata, by whole days."""
        dates = [column for key, column in self.metadata.items() if key.type == "date"]
        changes = ", ".join(
            f"{column} = {column} + to_days({days})" for column in ["ts", *dates]
        )
        with self._change() as (cursor, _):
            cursor.execute(f"UPDATE {self.table} SET {changes}")

    @contextmanager
    def _change(
        self,
    ) -> Generator[tuple[duckdb.DuckDBPyConnection, dict[MetadataKey, str]]]:
        """One writer at a time; what it does is seen as a whole, or not at all.

        Gives a connection, and the metadata keys to add to.
        """
        with self._lock:
            metadata = dict(self.metadata)
            cursor = self.cursor()
            cursor.execute("BEGIN")
            try:
                yield cursor, metadata
                span = cursor.execute(
                    f"SELECT min(ts), max(ts) FROM {self.table}"
                ).fetchone()
                # Before the rows are there, as too wide a span does no harm.
                if span and span[0] is not None:
                    self.span = span
                cursor.execute("COMMIT")
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()
            # Not before, as requests would ask for columns that are not there yet.
            self.metadata = metadata


class _Load:
    """One batch of staged rows on its way to the others."""

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, table: str, names: Sequence[str]
    ) -> None:
        self._cursor = cursor
        self._table = table
        self._keys = metadata_keys(names)
        self._places = {
            name: f"nullif(c{place}, '')" for place, name in enumerate(names)
        }

    def check(self) -> None:
        """Find a value that can't stand where it does."""
        for name, rule in checks(self._places, self._keys).items():
            place = self._places[name]
            wrong = self._cursor.execute(
                f"SELECT number, {place} FROM staged WHERE {place} IS NOT NULL "
                f"AND NOT {rule} ORDER BY number LIMIT 1"
            ).fetchone()
            if wrong is not None:
                raise ValueError(f"row {wrong[0]}: {name} can't be {wrong[1]!r}")

    def hosts(self, default: str | None) -> dict[str, str]:
        """The spellings of host names in the rows, with the names they mean."""
        place = self._places.get("hostname", "NULL")
        hosts: dict[str, str] = {}
        for (spelling,) in self._cursor.execute(
            f"SELECT DISTINCT {place} FROM staged"
        ).fetchall():
            text = default if spelling is None else spelling
            if text is None:
                raise ValueError(
                    "a row has no hostname: add the column, or pass hostname="
                )
            name = host_name(text)
            if name is None:
                raise ValueError(f"{text!r} is no host name of a website")
            hosts[spelling or ""] = name
        return hosts

    def add_columns(self, metadata: dict[MetadataKey, str]) -> None:
        """Make a column for each metadata key that is new."""
        for key in self._keys.values():
            if key not in metadata:
                metadata[key] = column = f"m{len(metadata)}"
                self._cursor.execute(
                    f"ALTER TABLE {self._table} ADD COLUMN {column} {key.sql_type}"
                )

    def insert(
        self,
        metadata: Mapping[MetadataKey, str],
        hosts: Mapping[str, str],
        now: datetime,
    ) -> None:
        """Put them to the others, but for robots."""
        source = ", ".join(
            f"{self._places.get(name, 'NULL::VARCHAR')} AS {name}" for name in COLUMNS
        )
        extra = "".join(
            f", {key.stored(self._places[name])} AS {metadata[key]}"
            for name, key in self._keys.items()
        )
        kept = "".join(f", {metadata[key]}" for key in self._keys.values())
        self._cursor.execute(
            f"""
            INSERT INTO {self._table} BY NAME
            SELECT
                coalesce({instant("added_iso")}, $now) AS ts,
                $hosts[list_position($spellings, coalesce(hostname, ''))] AS hostname,
                lower(coalesce(datapoint, 'pageview')) AS datapoint,
                path, is_unique::BOOLEAN AS is_unique, {REFERRER} AS referrer,
                utm_source, utm_medium, utm_campaign, utm_content, utm_term,
                duration_seconds::DOUBLE AS duration, device_type,
                country_code AS country, browser_name, os_name {kept}
            FROM (SELECT {source}{extra} FROM staged)
            WHERE is_robot IS NULL OR lower(is_robot) = 'false'
            """,
            {
                "now": now.astimezone(UTC).replace(tzinfo=None),
                "spellings": list(hosts),
                "hosts": list(hosts.values()),
            },
        )


# --- the database -----------------------------------------------------------------


_guard = threading.Lock()
_numbers = itertools.count()
_instances: list[duckdb.DuckDBPyConnection] = []
_abandoned: list[duckdb.DuckDBPyConnection] = []


def attach() -> tuple[duckdb.DuckDBPyConnection, str]:
    """The instance, and the name of a new database in its memory."""
    import duckdb

    with _guard:
        if not _instances:
            _instances.append(duckdb.connect(":memory:"))
        instance = _instances[0]
        name = f"emulator{next(_numbers)}"
        instance.cursor().execute(f"ATTACH ':memory:' AS {name}")
    return instance, name


def detach(instance: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let a database go, with all of its rows."""
    if instance not in _abandoned:
        instance.cursor().execute(f"DETACH {name}")


def _forked() -> None:
    # The instance's threads stayed in the parent: a child needs another one, and
    # must not close this one, which would wait for them.
    global _guard  # noqa: PLW0603 - it may have been held while the process forked
    _guard = threading.Lock()
    _abandoned.extend(_instances)
    _instances.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)
