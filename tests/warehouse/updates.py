"""Updates of a warehouse in tests: in memory, and in the folder of a pipeline."""

from __future__ import annotations

import datetime as dt
import json
import multiprocessing
import os
import pkgutil
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import dlt
import duckdb
import pyarrow as pa
import pytest
from dlt.extract.exceptions import ResourceExtractionError

from sitestats import Client
from sitestats.warehouse import Coverage, Update, sitestats_source, update
from warehouse.inside import COLUMNS

if TYPE_CHECKING:
    from sitestats.emulator import Emulator

T = TypeVar("T")

NOW = dt.datetime(2026, 3, 5, 20, tzinfo=dt.UTC)
"""The fourth of March is the last day that is over; in Tokyo it is the fifth."""
FIRST = dt.date(2026, 3, 1)
LISTS = ("pages", "events", "months")
"""Each list takes time, and all are alike."""
_TICKS = count()

ROOT = Path(__file__).parents[2]
PAGE = "".join(
    (ROOT / "docs" / name / "warehouse.md").read_text("utf-8")
    for name in ("", "reference")
)
"""The page of the documentation, and the one of the reference."""
(DELETION,) = re.findall(r"^DELETE .+$", PAGE, re.MULTILINE)
"""What deletes old days."""
QUERIES = (ROOT / "examples" / "warehouse.sql").read_text("utf-8").split(";")[:-1]
"""The questions."""
VIEWS = (ROOT / "examples" / "parquet.sql").read_text("utf-8").split(";")[:-1]
"""The views of Parquet files."""
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


def elsewhere(function: Callable[..., T], *arguments: Any) -> T:
    """The result of *function*, while an update is under way: dlt runs one at a time in
    a thread.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function, *arguments).result()


# Importing dlt takes seconds: a process does it once, and forks for each update.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["warehouse.updates", "dlt.destinations.impl.duckdb.duck", "pandas"]
)


_STORAGES, _CLIENTS = "dlt.common.storages", "dlt.destinations.job_client_impl"
STEPS = {
    "announced": (f"{_STORAGES}.load_package.PackageStorage.save_schema", 0),
    "extracted": ("dlt.Pipeline.normalize", 0),
    # The first time is within the extraction.
    "normalized": (f"{_STORAGES}.load_package.PackageStorage.delete_package", 1),
    "within the load": (f"{_CLIENTS}.SqlLoadJob.run", 0),
    "before the state": (f"{_CLIENTS}.SqlJobClientBase.complete_load", 0),
    "loaded": ("dlt.destinations.sql_client.SqlClientBase.drop_dataset", 0),
}
"""By their names, the moments of an update: before which of dlt's steps each is, after
it was done so often.
"""


def update_once(
    folder: Path,
    account: dict[str, Any],
    now: dt.datetime,
    stop: tuple[str, int] | None = None,
) -> None:
    """Update the warehouse in *folder*, in several loads, in a process of its own, that
    gets the signal of *stop* at the moment of that name.
    """
    if stop is not None:
        (name, done), calls = STEPS[stop[0]], count()
        step = pkgutil.resolve_name(name)

        def stopping(*args: Any, **options: Any) -> Any:
            if next(calls) == done:
                os.kill(os.getpid(), stop[1])
            return step(*args, **options)

        pytest.MonkeyPatch().setattr(name, stopping)
    options: dict[str, Any] = {"first_day": FIRST, "lists": LISTS, "max_seconds": 0.1}
    with Client(**account, proxy=None) as client:
        source = sitestats_source(client=client, now=ticking(now), **options)
        update(pipeline(folder), source)


@attrs.define
class Dataset:
    """The tables that the rows of a source make, as a destination would merge them."""

    state: dict[str, Any] = attrs.Factory(dict)
    tables: dict[str, dict[tuple[Any, ...], list[Row]]] = attrs.Factory(
        lambda: {name: {} for name in COLUMNS}
    )
    schemas: dict[str, Any] = attrs.Factory(dict)
    """Those of Arrow, of each table."""

    def update(
        self, emulator: Emulator, *, killed: bool = False, **options: Any
    ) -> dict[str, Coverage]:
        """How far each website is after one load; the time is that of *emulator*.

        One that is *killed* leaves its rows, and forgets what it knows of them.
        """
        emulator.forget_requests()
        client = emulator.client(retries=0)
        source = sitestats_source(**{"first_day": FIRST, "client": client, **options})
        state = json.loads(json.dumps(self.state))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("dlt.current.resource_state", lambda: state)
            patch.setattr("dlt.mark.with_hints", _named)
            try:
                for name in ("websites", "days"):
                    for rows in source.resources[name]:
                        self._merge(rows)
            except ResourceExtractionError as error:
                raise error.__cause__ or error from None
        if not killed:
            self.state = json.loads(json.dumps(state))
        coverage = state["coverage"]
        return {name: Coverage.from_state(coverage[name]) for name in coverage}

    def _merge(self, rows: Any) -> None:
        table = rows.schema.metadata[b"table"].decode()
        self.schemas[table] = rows.schema
        found: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in rows.to_pylist():
            found[row.get("hostname"), row.get("first_day")].append(row)
        for key, new in found.items():
            self.tables[table][key] = [row for row in new if row.get("rank") != 0]

    def save(self, folder: Path) -> None:
        """Write the tables into the DuckDB file that an update would make there."""
        folder.mkdir(exist_ok=True)
        with duckdb.connect(str(folder / "sitestats.duckdb")) as connection:
            connection.execute("CREATE SCHEMA web")
            for table, schema in self.schemas.items():
                rows = [row for rows in self.tables[table].values() for row in rows]
                arrow = pa.Table.from_pylist(rows, schema)
                connection.register("arrow", arrow)
                connection.execute(f"CREATE TABLE web.{table} AS FROM arrow")

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """These columns of all rows of *table*, sorted."""
        rows = [row for rows in self.tables[table].values() for row in rows]
        return sorted(tuple(row[name] for name in columns) for row in rows)

    def sums(self, table: str, column: str = "pageviews") -> Counter[Any]:
        """The sum of *column* for each host name and day that has one above 0."""
        found: Counter[Any] = Counter()
        for key, rows in self.tables[table].items():
            found[key] += sum(row[column] for row in rows)
        return +found


def _named(rows: Any, hints: Any, **_options: Any) -> Any:
    return rows.replace_schema_metadata({"table": hints["table_name"]})


Row = dict[str, Any]
Tables = dict[str, list[tuple[Any, ...]]]


def tables_of(connection: Any, schema: str = "web") -> Tables:
    """The rows of each table, sorted, without the moments of reading."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    names = connection.execute(
        # Tables of dlt begin with an underscore.
        "SELECT table_name, column_name FROM information_schema.columns "
        f"WHERE table_schema = '{schema}' AND NOT starts_with(table_name, '_dlt') "
        # Each update has another row there.
        "AND table_name <> 'runs' "
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
