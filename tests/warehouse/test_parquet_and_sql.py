"""What the page on the warehouse shows: its SQL, on tables and on Parquet files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import dlt
import duckdb
import pytest

from sitestats.emulator import Emulator
from sitestats.warehouse._tables import ALL_LISTS, COLUMNS
from updates import NOW, PAGE, QUERIES, VIEWS, query, run, tables

pytestmark = [pytest.mark.long, pytest.mark.once]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a database with all tables, of two days of two websites."""
    folder = tmp_path_factory.mktemp("sql")
    emulator = Emulator.made_up(2, days=2, now=NOW)
    run(folder, emulator, first_day=dt.date(2026, 3, 3), lists=ALL_LISTS)
    return folder


def test_the_page_has_queries() -> None:
    """No query is lost to a change of how they are written."""
    assert len(QUERIES) >= 5


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_of_the_page(folder: Path, sql: str) -> None:
    """A query of the page runs, and finds something where there is something."""
    rows = query(folder, sql)
    assert rows or "coverage" in sql


def test_the_page_has_each_column(folder: Path) -> None:
    """The page names each table and each column that is made, with its type."""
    for table, columns in COLUMNS.items():
        assert f"`{table}`" in PAGE
        made = {name for name, *_ in query(folder, f"DESCRIBE {table}")}
        assert made == {name for name, _ in columns}
        assert {name for name in made if f"`{name}`" not in PAGE} == set()


def test_parquet_files_have_what_the_tables_have(tmp_path: Path) -> None:
    """By the views of the page, Parquet files have the rows of a database, also when a
    day was read again, and a page and an event have vanished from it.
    """
    files = tmp_path / "files"
    parquet = dlt.destinations.filesystem(f"file://{files}")
    moment = "2026-03-04T10:00:00.000Z"
    for rows in (
        [{"path": "/a"}, {"path": "/b"}, {"datapoint": "signup"}],
        [{"path": "/a"}],
    ):
        emulator = Emulator(now=NOW)
        emulator.load(
            [{**row, "added_iso": moment} for row in rows], hostname="example.com"
        )
        run(tmp_path / "duckdb", emulator, first_day=dt.date(2026, 3, 2))
        run(tmp_path / "parquet", emulator, parquet, first_day=dt.date(2026, 3, 2))
    with duckdb.connect() as connection:
        connection.execute(VIEWS.replace("/srv/parquet", str(files)))
        expected = tables(tmp_path / "duckdb")
        for table in ("days", "pages", "coverage"):
            columns = sorted(
                {name for name, _ in COLUMNS[table]} - {"read_at", "checked_at"}
            )
            found = connection.execute(f"SELECT {', '.join(columns)} FROM {table}")
            assert sorted(found.fetchall(), key=repr) == expected[table], table
    assert len(expected["pages"]) == 1
