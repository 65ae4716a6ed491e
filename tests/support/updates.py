"""Updates of a warehouse in tests: pipelines in a folder, and the rows they made."""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dlt
import duckdb

from sitestats.warehouse import Update, sitestats_source, update

if TYPE_CHECKING:
    from sitestats.emulator import Emulator

NOW = dt.datetime(2026, 3, 5, 20, tzinfo=dt.UTC)
"""The fourth of March is the last day that is over; in Tokyo it is the fifth."""
FIRST = dt.date(2026, 3, 1)
LISTS = ("pages", "events")
"""Each list takes time, and all are alike."""
_TICKS = count()

_DOCS = Path(__file__).parents[2] / "docs"
PAGE = (_DOCS / "warehouse.md").read_text("utf-8")
"""The page of the documentation."""
_MODELS = (_DOCS / "warehouse-models.md").read_text("utf-8")
_SQL = re.findall(r"^```sql\n(.+?)^```", _MODELS, re.MULTILINE | re.DOTALL)
VIEWS = next(sql for sql in _SQL if sql.startswith("-- Parquet"))
"""The views of Parquet files."""
DELETION = next(sql for sql in _SQL if sql.startswith("DELETE"))
"""What deletes old days."""
QUERIES = [sql for sql in _SQL if sql not in {VIEWS, DELETION}]
"""The questions."""
MOMENTS = {"read_at", "checked_at", "listed_at"}


def pipeline(folder: Path, destination: Any = None) -> dlt.Pipeline:
    """The pipeline whose database, and whose own folder, are in *folder*."""
    database = dlt.destinations.duckdb(str(folder / "sitestats.duckdb"))
    return dlt.pipeline(
        "sitestats",
        destination=destination or database,
        dataset_name="web",
        pipelines_dir=str(folder / "pipelines"),
    )


def ticking(now: dt.datetime | None) -> Callable[[], dt.datetime]:
    """A clock that begins at *now*, and shows each moment once."""
    assert now is not None
    moments = (now + n * dt.timedelta(microseconds=1) for n in _TICKS)
    return lambda: next(moments)


def run(
    folder: Path, emulator: Emulator, destination: Any = None, **options: Any
) -> Update:
    """Update the warehouse in *folder*; the time is that of *emulator*."""
    given = {"first_day": FIRST, "lists": LISTS, "client": emulator.client(retries=0)}
    source = sitestats_source(**{**given, "now": ticking(emulator.now), **options})
    return update(pipeline(folder, destination), source)


Tables = dict[str, list[tuple[Any, ...]]]


def tables_of(connection: Any, schema: str = "web") -> Tables:
    """The rows of each table, sorted, without the moments of reading."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    names = connection.execute(
        # Tables of dlt begin with an underscore.
        "SELECT table_name, column_name FROM information_schema.columns "
        f"WHERE table_schema = '{schema}' AND NOT starts_with(table_name, '_dlt') "
        "ORDER BY table_name, column_name"
    ).fetchall()
    for table, column in names:
        if column not in MOMENTS:
            found[table].append(column)
    return {
        table: sorted(
            connection.execute(
                f"SELECT {', '.join(columns)} FROM {schema}.{table}"
            ).fetchall(),
            key=repr,
        )
        for table, columns in found.items()
    }


def tables(folder: Path) -> Tables:
    """The rows of each table of the DuckDB file in *folder*."""
    with duckdb.connect(str(folder / "sitestats.duckdb"), read_only=True) as connection:
        return tables_of(connection)


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of *sql*, with the tables of the DuckDB file in *folder*."""
    with duckdb.connect(str(folder / "sitestats.duckdb"), read_only=True) as connection:
        connection.execute("SET schema = 'web'")
        return connection.execute(sql).fetchall()
