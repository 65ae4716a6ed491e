"""Reprs that are tables of plain text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from sitestats import Client, Failed, NotFoundError, Outcomes, StatsQuery
from sitestats.emulator import Emulator

HOST, BLOG, PROJECTS = (
    "semicomplete.com",
    "blog.semicomplete.com",
    "projects.semicomplete.com",
)
QUERY = StatsQuery(HOST).fields("pageviews", "visitors", "pages").last(days=4).limit(3)
NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    """The demo's traffic at a fixed time."""
    return Emulator.demo(now=NOW)


@pytest.fixture(scope="module")
def client(emulator: Emulator) -> Iterator[Client]:
    """A client of that emulator."""
    with emulator.client() as client:
        yield client


def test_the_repr_is_a_table_of_one_line_a_query(client: Client) -> None:
    """Columns are aligned, numbers to the right, and texts are on one line."""
    queries = [QUERY.website(BLOG).fields("visitors"), QUERY.fields("visitors")]
    outcomes = client.stats.get_many(queries).collect()
    assert repr(outcomes).splitlines() == [
        "2 queries",
        "                       first day   last day    visitors",
        "blog.semicomplete.com  2026-03-01  2026-03-04       298",
        "semicomplete.com       2026-03-01  2026-03-04       953",
    ]
    odd = Failed(QUERY, 0, NotFoundError("one\ntwo \x1b[31m" + "x" * 200, status=404))
    lines = repr(Outcomes([odd])).splitlines()
    assert len(lines) == 4
    assert "one two \\x1b[31mxxx" in lines[2]
    assert len(lines[2]) < 120
