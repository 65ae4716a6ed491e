"""The SQL of the examples, on tables and on Parquet files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import dlt
import duckdb
import pytest

from sitestats.emulator import Emulator
from warehouse.inside import COLUMNS
from warehouse.updates import (
    LISTS,
    MOMENTS,
    NOW,
    PAGE,
    QUERIES,
    VIEWS,
    Dataset,
    query,
    run,
    tables,
)

pytestmark = pytest.mark.long

A, B = "a.example", "b.example"
JANUARY, FEBRUARY, MARCH = (dt.date(2026, month, 1) for month in (1, 2, 3))
VISITS = [
    *[(A, "2026-01-31", "/", "NL", "pageview")] * 2,
    *[(A, "2026-02-10", "/", "NL", "pageview")] * 20,
    *[(A, "2026-02-10", "/prices", "DE", "pageview")] * 8,
    *[(A, "2026-02-11", "/prices", None, "signup")] * 7,
    *[(A, "2026-03-02", "/prices", None, "pageview")] * 8,
    *[(B, "2026-02-10", "/", "NL", "pageview")] * 28,
]
"""On which website and day, of which page, from which country, and what they are."""
EXPECTED = [
    # In page views per day: January has one day here, March four.
    [
        *((A, JANUARY, 2, None), (A, FEBRUARY, 28, -50.0), (A, MARCH, 8, 100.0)),
        *((B, JANUARY, 0, None), (B, FEBRUARY, 28, None), (B, MARCH, 0, -100.0)),
    ],
    # With the days of which there was more.
    [(B, "/", 28, 0), (A, "/", 22, 1), (A, "/prices", 16, 1)],
    [(A, "NL", 20, 71.4), (A, "DE", 8, 28.6), (B, "NL", 28, 100.0)],
]
"""What the queries of the examples find."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a warehouse of the visits."""
    emulator, dataset = Emulator(now=NOW), Dataset()
    names = ("hostname", "added_iso", "path", "country_code", "datapoint", "is_unique")
    rows = [
        dict(zip(names, (*visit, visit not in VISITS[:n]), strict=True))
        for n, visit in enumerate(VISITS)
    ]
    emulator.load([{**row, "added_iso": f"{row['added_iso']}T12:00Z"} for row in rows])
    folder = tmp_path_factory.mktemp("sql")
    dataset.update(emulator, first_day=dt.date(2026, 1, 31))
    dataset.save(folder)
    with duckdb.connect(folder / "sitestats.duckdb") as connection:
        cut = f"WHERE hostname = '{A}' AND first_day = '2026-02-10'"
        connection.execute(f"UPDATE web.pages SET truncated = true {cut}")
    return folder


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_a_query_of_the_examples_is_right(folder: Path, number: int) -> None:
    """It finds what was computed by hand."""
    found = [
        tuple(one.date() if isinstance(one, dt.datetime) else one for one in row)
        for row in query(folder, QUERIES[number])
    ]
    assert found == EXPECTED[number]


def test_the_page_has_each_column() -> None:
    """The page names each table and each column that is made."""
    assert len(QUERIES) == len(EXPECTED)
    for table, columns in COLUMNS.items():
        assert f"`{table}`" in PAGE
        assert {name for name in columns if f"`{name}`" not in PAGE} == set()


def test_parquet_files_have_what_the_tables_have(tmp_path: Path) -> None:
    """By the views of the examples: the rows of a database, also when a day was
    read again, and a page and an event have vanished from it.
    """
    files, dataset = tmp_path / "files", Dataset()
    parquet = dlt.destinations.filesystem(f"file://{files}")
    moment = {"added_iso": "2026-03-04T10:00:00.000Z"}
    stays = [{"path": "/a"}, {"datapoint": "signup"}]
    for rows in ([*stays, {"path": "/b"}, {"datapoint": "login"}], stays):
        emulator = Emulator(now=NOW)
        emulator.load([{**row, **moment} for row in rows], hostname=A)
        dataset.update(emulator, lists=LISTS)
        run(tmp_path / "parquet", emulator, parquet)
    assert len(dataset.rows("pages", "value")) == 1
    dataset.save(tmp_path)
    expected = tables(tmp_path)
    with duckdb.connect() as connection:
        for table, view in zip(COLUMNS, VIEWS, strict=True):
            if table not in expected:
                continue
            connection.execute(view.replace("/srv/parquet", str(files)))
            columns = sorted({*COLUMNS[table]} - MOMENTS)
            found = connection.execute(f"SELECT {', '.join(columns)} FROM {table}")
            assert sorted(found.fetchall(), key=repr) == expected[table], table
