"""Tables of the warehouse: what they hold, and of which types."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # it comes with dlt, without types

from sitestats import StatsQuery
from sitestats.emulator import Emulator
from warehouse.inside import COLUMNS
from warehouse.updates import FIRST, NOW, Dataset

DAY = dt.timedelta(days=1)


def test_the_tables_have_what_the_service_has(emulator: Emulator) -> None:
    """Each total, page and event is there, as a query of its own has it."""
    dataset = Dataset()
    coverage = dataset.update(emulator, lists=["pages", "events"])
    client = emulator.client()
    fields = ("pageviews", "visitors", "seconds_on_page", "pages")
    expected: dict[str, list[Any]] = {"days": [], "pages": [], "events": []}
    for site in client.websites.list():
        last = coverage[site.hostname].through
        assert last == FIRST + (3 + (site.timezone == "Asia/Tokyo")) * DAY
        query = StatsQuery(site).fields(*fields).all_events().limit(1000)
        for stats in map(client.stats.get, query.between(FIRST, last).each("day")):
            key = (site.hostname, stats.first_day, site.timezone)
            totals = (stats.pageviews, stats.visitors, stats.seconds_on_page)
            expected["days"].append((*key, *totals))
            expected["pages"] += [
                (*key, rank, page.value, page.pageviews, page.visitors, False)
                for rank, page in enumerate(stats.pages, 1)
            ]
            expected["events"] += [
                (*key, rank, event.name, event.total, False)
                for rank, event in enumerate(stats.events, 1)
            ]
    for table, rows in expected.items():
        names = [name for name in COLUMNS[table] if name not in {"as_read", "read_at"}]
        if table == "pages":
            names.remove("seconds_on_page")
        assert dataset.rows(table, *names) == sorted(rows), table
    assert dataset.rows("websites", "hostname", "timezone") == sorted(
        (site.hostname, site.timezone) for site in client.websites.list()
    )


def test_what_has_vanished_goes() -> None:
    """A day that is read again has no page and no event of its first reading, and texts
    that PostgreSQL or UTF-8 refuse are replaced.
    """
    dataset = Dataset()
    before = [{"path": "/a"}, {"path": "/b\0c"}, {"datapoint": "signup"}]
    for rows in (before, [{"path": "/a"}]):
        emulator = Emulator(now=NOW)
        moment = {"added_iso": "2026-03-04T10:00:00.000Z"}
        emulator.load([{**moment, **row} for row in rows], hostname="example.com")
        dataset.update(emulator, lists=["pages", "events"])
        found = dataset.rows("pages", "rank", "value")
        if rows is before:
            assert found == [(1, "/a"), (2, "/b\ufffdc")]
            assert dataset.rows("events", "name", "total") == [("signup", 1)]
    assert found == [(1, "/a")]
    assert dataset.rows("events", "name") == []
    assert dataset.sums("days") == {("example.com", dt.date(2026, 3, 4)): 1}


def test_the_sources_of_dbt_are_the_tables() -> None:
    """The file for dbt has each table, and no column that is not there."""
    text = (Path(__file__).parents[2] / "examples/dbt_sources.yml").read_text("utf-8")
    (source,) = yaml.safe_load(text)["sources"]
    tables = {table["name"]: table for table in source["tables"]}
    assert [*tables] == [*COLUMNS]
    assert tables["days"]["config"]["loaded_at_field"] == "read_at"
    for name, table in tables.items():
        named = {column["name"] for column in table.get("columns", ())}
        assert named <= {*COLUMNS[name]}
