"""Store the page views and events of an emulator in DuckDB."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from sitestats._common.thread_locks import ForkSafeLock

from ._columns import (
    ALLOWED,
    COLUMNS,
    REFERRER,
    MetadataKey,
    checks,
    instant,
    metadata_keys,
)
from ._hosts import valid_host_name
from ._periods import EARLIEST, LATEST
from ._staging import stage

if TYPE_CHECKING:
    import duckdb

_Metadata: TypeAlias = dict[MetadataKey, str]

_TABLE: Final = """
(
    ts TIMESTAMP, hostname VARCHAR, datapoint VARCHAR, path VARCHAR,
    is_unique BOOLEAN, referrer VARCHAR, utm_source VARCHAR, utm_medium VARCHAR,
    utm_campaign VARCHAR, utm_content VARCHAR, utm_term VARCHAR,
    duration DOUBLE, device_type VARCHAR, country VARCHAR,
    browser_name VARCHAR, os_name VARCHAR,
    browser_version VARCHAR, os_version VARCHAR
)
"""


class Share(NamedTuple):
    """Which rows a website has on a day, as copies of rows that stand for many."""

    hostname: str
    start: int
    """The first moment of the day, in microseconds since 1970."""
    length: int
    """The length of the day in seconds. A copy has the time of its row, as a part of
    the day."""
    place: int
    """Where the rows begin that it may have."""
    rows: int
    """How many these are."""
    first: int
    """Which of these is the first; after the last one comes the one at *place*."""
    copies: int
    """How many it has."""


class Rows:
    """The rows of one emulator, in an in-memory database of its own."""

    def __init__(self) -> None:
        self._place, name = attach()
        weakref.finalize(self, detach, self._place, name).atexit = False
        self.table: str = f"{name}.rows"
        """The table's full name."""
        self.cursor().execute(f"CREATE TABLE {self.table} {_TABLE}")
        self._lock = ForkSafeLock()
        self.metadata: Mapping[MetadataKey, str] = {}
        """The columns of the metadata keys. They are numbered, since names of
        DuckDB ignore case and keys do not."""
        self.span: tuple[datetime, datetime] = (LATEST, EARLIEST)
        """The times of the first and the last row."""
        self.changes: int = 0
        """How often the rows were changed."""

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A cursor for one request; a shared one would mix up the threads' results."""
        return _instances[self._place].cursor()

    def load(
        self,
        rows: str | Path | Iterable[Mapping[str, object]],
        *,
        now: datetime,
        hostname: str | None = None,
    ) -> list[str]:
        """Insert all of *rows*, or none; returns their host names."""
        hosts: set[str] = set()

        def change(cursor: duckdb.DuckDBPyConnection, metadata: _Metadata) -> None:
            for names in stage(cursor, rows):
                load = _Load(cursor, self.table, names)
                load.check()
                load.add_columns(metadata)
                found = load.hosts(hostname)
                load.insert(metadata, found, now)
                hosts.update(found.values())

        self._lock.run(self._change, change)
        return sorted(hosts)

    def recent(self, now: datetime) -> dict[str, tuple[int, int]]:
        """Page views and events of 30 days, for each website that has rows."""
        if self.span[0] > self.span[1]:
            # Without rows. Tests of adding websites request many lists.
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
        """Copy the rows of *source* whose path starts with *prefix* to *target*."""
        self._lock.run(
            self._change,
            lambda cursor, _: cursor.execute(
                f"INSERT INTO {self.table} "
                f"SELECT * REPLACE (? AS hostname) FROM {self.table} "
                "WHERE hostname = ? AND starts_with(path, ?)",
                [target, source, prefix],
            ),
        )

    def spread(self, shares: Sequence[Share]) -> None:
        """Replace the rows by copies, as *shares* say."""
        columns = [json.dumps(cells) for cells in zip(*shares, strict=True)]
        types = ["VARCHAR", *["BIGINT"] * (len(columns) - 1)]
        selected = ", ".join(
            f"unnest(from_json(?, '[\"{kind}\"]')) AS {name}"
            for name, kind in zip(Share._fields, types, strict=True)
        )
        numbers = "row_number() OVER (ORDER BY rowid) - 1"

        def change(cursor: duckdb.DuckDBPyConnection, _: _Metadata) -> None:
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE shares AS SELECT {selected}", columns
            )
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE visits AS "
                f"SELECT *, {numbers} AS number FROM {self.table}"
            )
            cursor.execute(f"DELETE FROM {self.table}")
            cursor.execute(
                f"""
                INSERT INTO {self.table}
                SELECT visits.* EXCLUDE (number) REPLACE (
                    make_timestamp(start + epoch_us(ts) % 86400000000
                        * length // 86400) AS ts,
                    copies.hostname AS hostname)
                FROM (SELECT *, place + (first + unnest(range(copies))) % rows
                      AS number FROM shares) AS copies
                JOIN visits USING (number)
                """
            )

        self._lock.run(self._change, change)

    def take(self, source: Rows, *, days: int) -> None:
        """Replace the rows by those of *source*, moved by whole days."""
        dates = [
            column for key, column in source.metadata.items() if key.type == "date"
        ]
        moved = ", ".join(
            f"{column} + to_days({days}) AS {column}" for column in ["ts", *dates]
        )

        def change(cursor: duckdb.DuckDBPyConnection, metadata: _Metadata) -> None:
            metadata.update(source.metadata)
            cursor.execute(
                f"CREATE OR REPLACE TABLE {self.table} AS "
                f"SELECT * REPLACE ({moved}) FROM {source.table}"
            )

        self._lock.run(self._change, change)

    def _change(
        self, change: Callable[[duckdb.DuckDBPyConnection, _Metadata], object]
    ) -> None:
        """Call *change* in a transaction, with a cursor and a copy of the metadata.

        The caller has the lock.
        """
        metadata = dict(self.metadata)
        cursor = self.cursor()
        cursor.execute("BEGIN")
        try:
            change(cursor, metadata)
            span = cursor.execute(
                f"SELECT min(ts), max(ts) FROM {self.table}"
            ).fetchone()
            # Before the commit, as a span that is too wide does no harm.
            if span and span[0] is not None:
                self.span = span
            cursor.execute("COMMIT")
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        finally:
            cursor.close()
        # After the commit, as requests would read columns that do not exist yet.
        self.metadata = metadata
        self.changes += 1


class _Load:
    """Checks one batch of staged rows, and inserts it."""

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, table: str, names: Sequence[str]
    ) -> None:
        self._cursor = cursor
        self._table = table
        self._keys = metadata_keys(names)
        self._texts = {
            name: f"nullif(c{number}, '')" for number, name in enumerate(names)
        }

    def check(self) -> None:
        """Raise a ValueError for the first value that is invalid in its column."""
        for name, rule in checks(self._texts, self._keys).items():
            text = self._texts[name]
            wrong = self._cursor.execute(
                f"SELECT number, {text} FROM staged WHERE {text} IS NOT NULL "
                f"AND NOT {rule} ORDER BY number LIMIT 1"
            ).fetchone()
            if wrong is not None:
                allowed = (
                    f": it is one of {', '.join(ALLOWED[name])}"
                    if name in ALLOWED
                    else ""
                )
                raise ValueError(
                    f"row {wrong[0]}: {name} can't be {wrong[1]!r}{allowed}"
                )

    def hosts(self, default: str | None) -> dict[str, str]:
        """The host names in the rows, as they are written, each with its valid form."""
        column = self._texts.get("hostname", "NULL")
        hosts: dict[str, str] = {}
        for (written,) in self._cursor.execute(
            f"SELECT DISTINCT {column} FROM staged"
        ).fetchall():
            name = default if written is None else written
            if name is None:
                raise ValueError(
                    "a row has no hostname: add the column, or pass hostname="
                )
            hosts[written or ""] = valid_host_name(name)
        return hosts

    def add_columns(self, metadata: dict[MetadataKey, str]) -> None:
        """Add a column for each new metadata key."""
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
        """Insert the staged rows, except those of robots."""
        source = ", ".join(
            f"{self._texts.get(name, 'NULL::VARCHAR')} AS {name}" for name in COLUMNS
        )
        extra = "".join(
            f", {key.stored(self._texts[name])} AS {metadata[key]}"
            for name, key in self._keys.items()
        )
        metadata_columns = "".join(f", {metadata[key]}" for key in self._keys.values())
        self._cursor.execute(
            f"""
            INSERT INTO {self._table} BY NAME
            SELECT
                coalesce({instant("added_iso")}, $now) AS ts,
                $hosts[list_position($written, coalesce(hostname, ''))] AS hostname,
                lower(coalesce(datapoint, 'pageview')) AS datapoint,
                path, is_unique::BOOLEAN AS is_unique, {REFERRER} AS referrer,
                utm_source, utm_medium, utm_campaign, utm_content, utm_term,
                duration_seconds::DOUBLE AS duration, device_type,
                country_code AS country, browser_name, os_name,
                browser_version, os_version {metadata_columns}
            FROM (SELECT {source}{extra} FROM staged)
            WHERE is_robot IS NULL OR lower(is_robot) = 'false'
            """,
            {
                "now": now.astimezone(UTC).replace(tzinfo=None),
                "written": list(hosts),
                "hosts": list(hosts.values()),
            },
        )


# --- the database -----------------------------------------------------------------


_numbers = itertools.count()
# Only this list has the connections: a thread that still runs when the process ends
# keeps what it refers to, and DuckDB would print that it leaked.
_instances: list[duckdb.DuckDBPyConnection] = []
_prepared: dict[Callable[[Rows], None], Rows] = {}
_first_own = 0
"""The place of the first instance that is not a parent process's."""
_RUNNING: Final[set[object]] = set()
_LONGEST_END: Final = 2.0
_ending = threading.Event()


def prepared(fill: Callable[[Rows], None]) -> Rows:
    """Rows that *fill* has filled, once for all emulators of the process."""
    if fill not in _prepared:
        rows = Rows()
        fill(rows)
        _prepared[fill] = rows
    return _prepared[fill]


def attach() -> tuple[int, str]:
    """Attach a new in-memory database; its instance's place, and its name."""
    import duckdb

    place = _first_own
    if len(_instances) == place:
        # Of two threads at once either may be first: another instance stays unused.
        _instances.append(duckdb.connect(":memory:"))
    name = f"emulator{next(_numbers)}"
    _instances[place].cursor().execute(f"ATTACH ':memory:' AS {name}")
    return place, name


def detach(place: int, name: str) -> None:
    """Drop a database with all of its rows."""
    if _first_own <= place < len(_instances):
        _instances[place].cursor().execute(f"DETACH {name}")


@contextmanager
def running() -> Generator[None]:
    """A block, of a request, that the end of the process waits for."""
    block = object()
    _RUNNING.add(block)
    try:
        if _ending.is_set() and threading.current_thread().daemon:
            # Python stops it soon, wherever it is: not while it holds a cursor.
            _RUNNING.discard(block)
            threading.Event().wait()
        yield
    finally:
        _RUNNING.discard(block)


@atexit.register
def _end() -> None:
    _ending.set()
    until = time.monotonic() + _LONGEST_END
    while _RUNNING and time.monotonic() < until:
        time.sleep(0.001)
    _prepared.clear()
    _instances.clear()


def _forked() -> None:
    # The instance's threads exist only in the parent: a child needs an instance of
    # its own, and must never close this one, which would wait for them.
    global _first_own  # noqa: PLW0603 - it belongs to the process
    import ctypes

    for instance in _instances[_first_own:]:
        # DuckDB prints at the end of the child that it leaked; it would hang otherwise.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(instance))
    _first_own = len(_instances)
    _prepared.clear()
    _RUNNING.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)
