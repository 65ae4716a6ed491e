"""Updates of a real PostgreSQL: ``nox -s warehouse``.

Its address is in the variable POSTGRES, such as ``postgresql://postgres:…@localhost/``;
the tests make databases there.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import dlt
import psycopg2
import pytest

from sitestats import BusyError
from sitestats.emulator import Emulator
from sitestats.warehouse import DestinationError
from warehouse.inside import without_adbc
from warehouse.updates import NOW, QUERIES, Tables, elsewhere, run, tables, tables_of

LISTS: Final = ("pages", "countries", "events", "months")
"""Those that the queries of the page need."""
NIGHT: Final = timedelta(days=1)


@pytest.fixture
def database() -> str:
    """The address of a new database."""
    name = f"test_{uuid.uuid4().hex}"
    with connected(f"{os.environ['POSTGRES']}postgres") as execute:
        execute(f"CREATE DATABASE {name}")
    return f"{os.environ['POSTGRES']}{name}"


@contextmanager
def connected(database: str) -> Iterator[Any]:
    """A function that executes a statement, and returns what has its rows."""
    connection = psycopg2.connect(database)
    connection.autocommit = True
    cursor = connection.cursor()

    def execute(sql: str) -> Any:
        cursor.execute(sql)
        return cursor

    try:
        yield execute
    finally:
        connection.close()


def tables_in(database: str) -> Tables:
    """The rows of each table, as ``tables`` has those of DuckDB."""
    with connected(database) as execute:
        return tables_of(SimpleNamespace(execute=execute))


@pytest.mark.parametrize("file_format", ["parquet", "insert_values"])
def test_it_has_what_duckdb_has(
    database: str, tmp_path: Path, file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows in PostgreSQL are those in DuckDB, also after a second night, with texts
    that PostgreSQL refuses, and with empty ones, whichever way they are loaded.
    """
    if file_format == "insert_values":
        without_adbc(monkeypatch)
    emulator = Emulator.made_up(2, days=6, now=NOW + NIGHT)
    paths = ["/a\0b", "/a\nb\\n\\", "/'\"", "/\t,;", "/é\U0001f600"]
    rows = [{"path": path, "added_iso": "2026-03-04T10:00:00.000Z"} for path in paths]
    rows += [{**row, "utm_source": ""} for row in rows]
    emulator.load(rows, hostname="texts.example")
    postgres = dlt.destinations.postgres(database)
    for now in (NOW, NOW + NIGHT):
        emulator.now = now
        run(tmp_path / "duckdb", emulator, lists=LISTS)
        run(tmp_path / "postgres", emulator, postgres, lists=LISTS)
    found = tables_in(database)
    assert found == tables(tmp_path / "duckdb")
    assert "/a\ufffdb" in str(found["pages"])
    assert len(found["days"]) > 10
    with connected(database) as execute:
        for sql in QUERIES:
            execute(sql)
        # By which a night's load finds the rows that it replaces.
        indexes = str(execute("SELECT indexdef FROM pg_indexes").fetchall())
        schemas = execute("SELECT nspname FROM pg_namespace").fetchall()
        about = execute("SELECT obj_description('web.days'::regclass)").fetchall()
        column = execute("SELECT col_description('web.days'::regclass, 1)").fetchall()
    assert "pages_pkey ON web.pages USING btree (hostname, first_day, rank)" in indexes
    assert "coverage_pkey ON web.coverage USING btree (hostname)" in indexes
    assert ("web_staging",) not in schemas
    assert about + column == [("The totals of each website and day",), ("The website",)]


def test_a_second_machine_is_refused(database: str, tmp_path: Path) -> None:
    """It names the connection of the first one; without that connection, the first one
    loads nothing more.
    """
    emulator = Emulator.made_up(1, days=3, now=NOW)
    postgres = dlt.destinations.postgres(database)
    refused: list[str] = []
    ended: list[Any] = []

    def interfere(_done: int, _total: int | None) -> None:
        with pytest.raises(BusyError) as raised:
            elsewhere(run, tmp_path / "second", emulator, postgres)
        refused.append(str(raised.value))

    def disconnect(_done: int, _total: int | None) -> None:
        if not ended:
            with connected(database) as execute:
                sql = (
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name LIKE 'sitestats, process %'"
                )
                ended.extend(execute(sql).fetchall())

    run(tmp_path / "first", emulator, postgres, lists=["pages"], progress=interfere)
    assert f"sitestats, process {os.getpid()} on " in refused[0]
    before = tables_in(database)
    lists = ["pages", "countries"]
    with pytest.raises(BusyError, match="the connection with the lock was lost"):
        run(tmp_path / "third", emulator, postgres, lists=lists, progress=disconnect)
    assert ended == [(True,)]
    assert tables_in(database) == before
    assert run(tmp_path / "second", emulator, postgres, lists=lists).failed == {}


def test_a_server_that_is_down_is_an_error_to_try_later(tmp_path: Path) -> None:
    """A wrong password is not."""
    emulator = Emulator.made_up(1, days=3, now=NOW)
    for address, retryable in (
        ("postgresql://u:p@127.0.0.1:1/web", True),
        ("postgresql://u:p@127.0.0.1:99999/web", False),
        (f"{os.environ['POSTGRES']}no_such_database", False),
    ):
        with pytest.raises(DestinationError) as raised:
            run(tmp_path, emulator, dlt.destinations.postgres(address))
        assert raised.value.retryable is retryable
        assert emulator.requests == ()
