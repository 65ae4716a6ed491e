"""What the page on the warehouse shows: its SQL, on tables and on Parquet files."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import dlt
import duckdb
import pytest

from sitestats.emulator import Emulator
from sitestats.warehouse._tables import COLUMNS
from updates import (
    LISTS,
    NOW,
    PAGE,
    QUERIES,
    VIEWS,
    Dataset,
    query,
    run,
    tables,
)

pytestmark = [pytest.mark.long, pytest.mark.once]


Row = dict[str, Any]
CUT = {("a.example", dt.date(2026, 2, day)) for day in (1, 2)}
"""Where a list is made to look cut."""


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    """The folder of a warehouse of two websites, and what happened there, in parts of
    three months: page views, some without a country, and signups.
    """
    chance = random.Random(28)
    days = [dt.date(2026, 1, 20) + dt.timedelta(days=n) for n in range(44)]
    rows = [
        {
            "hostname": chance.choice(["a.example", "a.example", "b.example"]),
            "path": chance.choice(["/", "/", "/prices", "/about"]),
            "country_code": chance.choice(["NL", "NL", "DE", None]),
            "is_unique": chance.random() < 0.5,
            "datapoint": chance.choice(["pageview"] * 9 + ["signup"]),
            "added_iso": f"{chance.choice(days)}T12:00:00Z",
        }
        for _ in range(3_000)
    ]
    emulator, dataset = Emulator(now=NOW), Dataset()
    emulator.load(rows)
    folder = tmp_path_factory.mktemp("traffic")
    dataset.update(emulator, first_day=days[0])
    dataset.save(folder)
    with duckdb.connect(folder / "sitestats.duckdb") as connection:
        connection.executemany(
            "UPDATE web.pages SET truncated = true "
            "WHERE hostname = ? AND first_day = ?",
            sorted(CUT),
        )
    return folder, rows


def counts(
    rows: list[Row], key: Callable[[Row, dt.date], Hashable], kind: str = "pageview"
) -> Counter[Any]:
    """How many page views, or events of another kind, have each key."""
    return Counter(
        key(row, dt.date.fromisoformat(row["added_iso"][:10]))
        for row in rows
        if row["datapoint"] == kind
    )


def growth(rows: list[Row]) -> list[tuple[Any, ...]]:
    """The growth of the page views of a day."""
    months = counts(rows, lambda row, day: (row["hostname"], day.replace(day=1)))
    length = {dt.date(2026, 1, 1): 12, dt.date(2026, 2, 1): 28, dt.date(2026, 3, 1): 4}
    found: list[tuple[Any, ...]] = []
    for (host, month), views in sorted(months.items()):
        last = (month - dt.timedelta(days=1)).replace(day=1)
        before = months[host, last] / length[last] if last in length else 0
        percent = 100 * views / length[month] / before - 100 if before else None
        found.append((host, month, views, percent))
    return found


def pages(rows: list[Row]) -> list[tuple[Any, ...]]:
    """The pages with the most page views."""
    of_days = counts(rows, lambda row, day: (row["hostname"], row["path"], day))
    visitors = counts(
        [row for row in rows if row["is_unique"]],
        lambda row, day: (row["hostname"], row["path"], day),
    )
    views = counts(rows, lambda row, _: (row["hostname"], row["path"]))
    return [
        (
            *page,
            total,
            max(visitors[key] for key in of_days if key[:2] == page),
            sum(key[:2] == page for key in of_days),
            sum(host == page[0] for host, _ in CUT),
        )
        for page, total in views.most_common()
    ]


def countries(rows: list[Row]) -> list[tuple[Any, ...]]:
    """The share of each country that is known."""
    found = counts(rows, lambda row, day: (day.replace(day=1), row["country_code"]))
    months = counts(rows, lambda _, day: day.replace(day=1))
    return sorted(
        (
            (month, country, views, 100 * views / months[month])
            for (month, country), views in found.items()
            if country is not None
        ),
        key=lambda row: (row[0], -row[2]),
    )


def signups(rows: list[Row]) -> list[tuple[Any, ...]]:
    """Signups for each thousand page views."""

    def week(_row: Row, day: dt.date) -> dt.date:
        return day - dt.timedelta(days=day.weekday())

    views, found = counts(rows, week), counts(rows, week, "signup")
    return [(monday, 1000 * found[monday] / views[monday]) for monday in sorted(views)]


def behind(_rows: list[Row]) -> list[tuple[Any, ...]]:
    """The websites that lack days: none."""
    return []


COMPUTED = dict(zip(QUERIES, (growth, pages, countries, signups, behind), strict=True))


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_of_the_page_is_right(
    traffic: tuple[Path, list[Row]], sql: str
) -> None:
    """A query of the page finds what a direct computation over all visits finds."""
    folder, rows = traffic
    found, expected = query(folder, sql), COMPUTED[sql](rows)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for value, wanted in zip(one, other, strict=True):
            is_share = isinstance(wanted, float)
            day = value.date() if isinstance(value, dt.datetime) else value
            assert day == (pytest.approx(wanted, abs=0.051) if is_share else wanted)


def test_the_page_has_each_column() -> None:
    """The page names each table and each column that is made."""
    for table, columns in COLUMNS.items():
        assert f"`{table}`" in PAGE
        assert {name for name, _ in columns if f"`{name}`" not in PAGE} == set()


def test_parquet_files_have_what_the_tables_have(tmp_path: Path) -> None:
    """By the views of the page, Parquet files have the rows of a database, also when a
    day was read again, and a page and an event have vanished from it.
    """
    files, dataset = tmp_path / "files", Dataset()
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
        dataset.update(emulator, lists=LISTS)
        run(tmp_path / "parquet", emulator, parquet)
    assert len(dataset.rows("pages", "value")) == 1
    dataset.save(tmp_path)
    expected = tables(tmp_path)
    with duckdb.connect() as connection:
        connection.execute(VIEWS.replace("/srv/parquet", str(files)))
        for table in ("days", "pages", "months", "coverage"):
            moments = {"read_at", "checked_at"}
            columns = sorted({name for name, _ in COLUMNS[table]} - moments)
            found = connection.execute(f"SELECT {', '.join(columns)} FROM {table}")
            assert sorted(found.fetchall(), key=repr) == expected[table], table
