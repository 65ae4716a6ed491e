"""The page views and events of an emulator, in DuckDB."""

from __future__ import annotations

import atexit
import itertools
import json
import threading
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ._loading import TABLE, MetadataKey, Source, load

if TYPE_CHECKING:
    import duckdb

_numbers = itertools.count()
_connecting = threading.Lock()


class Share(NamedTuple):
    """The rows of a website on a day, as copies of shared rows."""

    hostname: str
    start: int
    """The first moment of the day, in microseconds since 1970."""
    length: int
    """The length of the day in seconds. A copy has the time of its row, scaled to
    it."""
    place: int
    """The first row to choose from."""
    rows: int
    """The number of rows to choose from."""
    first: int
    """The first chosen row, counted from *place*. After the last row comes *place*."""
    copies: int
    """The number of copies."""


class Rows:
    """The rows of an emulator, in its own in-memory database."""

    def __init__(self) -> None:
        # Attaching a database is ten times as fast as another instance of DuckDB.
        name = f"emulator{next(_numbers)}"
        self.cursor().execute(f"ATTACH ':memory:' AS {name}")
        weakref.finalize(self, _detach, name).atexit = False
        self.table: str = f"{name}.rows"
        """The table's full name."""
        self.cursor().execute(f"CREATE TABLE {self.table} ({TABLE})")
        self._lock = threading.Lock()
        self.metadata: Mapping[MetadataKey, str] = {}
        """The columns of the metadata keys."""

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A cursor for one request; a shared one would mix up the threads' results."""
        with _connecting:
            return _instance().cursor()

    @contextmanager
    def _change(
        self,
    ) -> Generator[tuple[duckdb.DuckDBPyConnection, dict[MetadataKey, str]]]:
        """A transaction: a cursor, and the columns of metadata after it."""
        with self._lock, self.cursor() as cursor:
            metadata = dict(self.metadata)
            cursor.execute("BEGIN")
            try:
                yield cursor, metadata
                cursor.execute("COMMIT")
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            # After the commit, or requests would read columns that do not exist yet.
            self.metadata = metadata

    def load(
        self, rows: Source, *, undated: datetime, hostname: str | None = None
    ) -> list[str]:
        """Insert *rows* in one transaction; returns their host names."""
        with self._change() as (cursor, metadata):
            return load(
                cursor, self.table, rows, metadata, hostname=hostname, undated=undated
            )

    def recent(self, now: datetime) -> dict[str, tuple[int, int]]:
        """Page views and events of 30 days, for each website that has rows."""
        until = now.astimezone(UTC).replace(tzinfo=None)
        with self.cursor() as cursor:
            found = cursor.execute(
                "SELECT hostname, count(*) FILTER (recent AND datapoint = 'pageview'), "
                "count(*) FILTER (recent AND datapoint <> 'pageview') "
                f"FROM (SELECT *, ts > ? AND ts <= ? AS recent FROM {self.table}) "
                "GROUP BY hostname",
                [until - timedelta(days=30), until],
            ).fetchall()
        return {hostname: (views, events) for hostname, views, events in found}

    def copy(self, *, source: str, target: str, prefix: str) -> None:
        """Copy the rows of *source* whose path starts with *prefix* to *target*."""
        with self._change() as (cursor, _):
            cursor.execute(
                f"INSERT INTO {self.table} "
                f"SELECT * REPLACE (? AS hostname) FROM {self.table} "
                "WHERE hostname = ? AND starts_with(path, ?)",
                [target, source, prefix],
            )

    def take(self, source: Rows, *, last: date) -> None:
        """Replace the rows by those of *source*, moved to end on the day *last*."""
        with self._change() as (cursor, metadata):
            metadata.update(source.metadata)
            dates = [
                column for key, column in source.metadata.items() if key.type == "date"
            ]
            moved = ", ".join(
                f"{column} + (? - (SELECT max(ts)::DATE FROM {source.table})) "
                f"* INTERVAL 1 DAY AS {column}"
                for column in ["ts", *dates]
            )
            cursor.execute(
                f"CREATE OR REPLACE TABLE {self.table} AS "
                f"SELECT * REPLACE ({moved}) FROM {source.table}",
                [last] * (len(dates) + 1),
            )

    def spread(self, shares: Sequence[Share]) -> None:
        """Replace the rows by copies, as *shares* say."""
        columns = [json.dumps(cells) for cells in zip(*shares, strict=True)]
        types = ["VARCHAR", *["BIGINT"] * (len(columns) - 1)]
        selected = ", ".join(
            f"unnest(from_json(?, '[\"{kind}\"]')) AS {name}"
            for name, kind in zip(Share._fields, types, strict=True)
        )
        with self._change() as (cursor, _):
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE shares AS SELECT {selected}", columns
            )
            cursor.execute(
                "CREATE OR REPLACE TEMP TABLE visits AS SELECT *, "
                f"row_number() OVER (ORDER BY rowid) - 1 AS number FROM {self.table}"
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


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(":memory:")


def _detach(name: str) -> None:
    _instance().cursor().execute(f"DETACH {name}")


# A server that is never left keeps its emulator when the program ends, and DuckDB would
# print that its connection leaked.
atexit.register(_instance.cache_clear)
