"""Tables of the warehouse: what they hold, and of which types."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # it comes with dlt, without types

from sitestats import StatsQuery
from sitestats.emulator import Emulator
from sitestats.warehouse import Update
from sitestats.warehouse._tables import COLUMNS, hints
from updates import FIRST, NOW, query, run

pytestmark = [pytest.mark.slow, pytest.mark.once]
DAY = dt.timedelta(days=1)


def test_the_tables_have_what_the_service_has(
    emulator: Emulator, loaded: tuple[Path, Update]
) -> None:
    """Each total, page and event of each day is there, as a query of its own has it."""
    folder, report = loaded
    assert report.requests == 13
    assert report.failed == {}
    client = emulator.client()
    fields = ("pageviews", "visitors", "seconds_on_page", "pages")
    expected: dict[str, list[Any]] = {"days": [], "pages": [], "events": []}
    for site in client.websites.list():
        for day in (FIRST + n * DAY for n in range(5)):
            on = StatsQuery(site).fields(*fields).all_events().limit(1000).on(day)
            stats = client.stats.get(on)
            if stats.partial:
                continue
            key = (site.hostname, day, site.timezone)
            totals = (stats.pageviews, stats.visitors, stats.seconds_on_page)
            expected["days"].append((*key, *totals, False, None))
            for rank, page in enumerate(stats.pages, 1):
                expected["pages"].append(
                    (
                        *(*key, rank, page.value, page.pageviews, page.visitors),
                        *(page.seconds_on_page, False, None),
                    )
                )
            for rank, event in enumerate(stats.events, 1):
                expected["events"].append(
                    (*key, rank, event.name, event.total, False, None)
                )
    for table, rows in expected.items():
        columns = query(folder, f"DESCRIBE {table}")
        names = ", ".join(name for name, *_ in columns if name != "read_at")
        found = query(folder, f"SELECT {names} FROM {table}")
        assert sorted(found, key=repr) == sorted(rows, key=repr), table
    coverage = "SELECT hostname, through, behind, error FROM coverage ORDER BY 1"
    assert query(folder, coverage) == [
        ("blog.example", dt.date(2026, 3, 4), 0, None),
        ("docs.example", dt.date(2026, 3, 5), 0, None),
        ("shop.example", dt.date(2026, 3, 4), 0, None),
    ]
    assert set(query(folder, "SELECT hostname, timezone FROM websites")) == {
        (site.hostname, site.timezone) for site in client.websites.list()
    }


def test_types_do_not_depend_on_values(loaded: tuple[Path, Update]) -> None:
    """A column has the type that the documentation names, also without a value."""
    folder, _ = loaded
    types = {
        (table, column): kind
        for table in ("days", "pages", "events", "coverage", "websites")
        for column, kind, *_ in query(folder, f"DESCRIBE {table}")
    }
    assert types["days", "first_day"] == "DATE"
    assert types["days", "seconds_on_page"] == "DOUBLE"
    assert types["pages", "rank"] == types["pages", "visitors"] == "BIGINT"
    assert types["pages", "truncated"] == "BOOLEAN"
    assert types["coverage", "error"] == "VARCHAR"
    assert types["coverage", "checked_at"] == "TIMESTAMP WITH TIME ZONE"
    assert types["websites", "own_hostname"] == "VARCHAR"
    divided = hints("pages")["columns"]
    assert divided["hostname"]["cluster"] is divided["first_day"]["partition"] is True


def changed(rows: list[dict[str, object]]) -> Emulator:
    """One website whose service has other *rows*, of the fourth of March."""
    emulator = Emulator(now=NOW)
    emulator.add_website("example.com")
    emulator.load(
        [{"added_iso": "2026-03-04T10:00:00.000Z", **row} for row in rows],
        hostname="example.com",
    )
    return emulator


def test_what_has_vanished_goes(tmp_path: Path) -> None:
    """A day that is read again has no page and no event of its first reading, and texts
    that PostgreSQL or UTF-8 refuse fail no load.
    """
    before = [{"path": "/a"}, {"path": "/b\0c"}, {"datapoint": "signup"}]
    run(tmp_path, changed(before), first_day=dt.date(2026, 3, 3))
    pages = "SELECT first_day, rank, value FROM pages ORDER BY rank"
    day = dt.date(2026, 3, 4)
    assert query(tmp_path, pages) == [(day, 1, "/a"), (day, 2, "/b\ufffdc")]
    assert query(tmp_path, "SELECT name, total FROM events") == [("signup", 1)]
    run(tmp_path, changed([{"path": "/a"}]), first_day=dt.date(2026, 3, 3))
    assert query(tmp_path, pages) == [(day, 1, "/a")]
    assert query(tmp_path, "SELECT * FROM events") == []
    days = query(tmp_path, "SELECT first_day, pageviews FROM days ORDER BY 1")
    assert days == [(dt.date(2026, 3, 3), 0), (day, 1)]


def test_the_sources_of_dbt_are_the_tables() -> None:
    """The file for dbt has each table, and no column that is not there."""
    text = (Path(__file__).parents[2] / "examples/dbt_sources.yml").read_text("utf-8")
    (source,) = yaml.safe_load(text)["sources"]
    tables = {table["name"]: table for table in source["tables"]}
    assert [*tables] == [*COLUMNS]
    assert tables["days"]["config"]["loaded_at_field"] == "read_at"
    for name, table in tables.items():
        named = {column["name"] for column in table.get("columns", ())}
        assert named <= {column for column, _ in COLUMNS[name]}
