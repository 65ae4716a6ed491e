"""Updates of a real PostgreSQL: ``nox -s warehouse -- postgres``.

Its address is in the variable POSTGRES, such as ``postgresql://postgres:…@localhost/``;
the tests make databases there.
"""

from __future__ import annotations

import os
import random
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

from killed_updates import Kills
from sitestats.emulator import Emulator
from sitestats.warehouse import _update
from updates import NOW, QUERIES, Tables, run, tables, tables_of

KILLS: Final = 20
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
        monkeypatch.setattr(_update, "find_spec", lambda _: None)
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
        indexes = str(execute("SELECT indexname FROM pg_indexes").fetchall())
    assert all(f"{table}_of_a_day" in indexes for table in ("days", "pages", "months"))


def test_killed_updates_leave_no_trace(database: str, tmp_path: Path) -> None:
    """Killed at random moments, again and again, an update is finished by a later one:
    each row is there, and once.
    """
    luck = random.Random(0)
    emulator = Emulator.made_up(3, days=6, now=NOW + NIGHT)
    with emulator.serve() as service:
        kills = Kills(emulator, service)
        whole = tmp_path / "whole"
        counted = [kills.update(whole, night) for night in range(2)]
        killed = 0
        for night in range(2):
            for _ in range(KILLS):
                moment = luck.randint(1, counted[night])
                folder = tmp_path / str(luck.randrange(2))
                killed += not kills.update(folder, night, moment, database=database)
            assert kills.update(tmp_path / "0", night, database=database)
    assert killed > KILLS
    assert tables_in(database) == tables(whole)
