"""Reprs that are tables of plain text."""

from __future__ import annotations

import datetime as dt

from sitestats import Failed, NotFoundError, Outcomes, StatsQuery
from sitestats.emulator import Emulator

BLOG = "blog.semicomplete.com"
QUERY = StatsQuery("semicomplete.com").fields("visitors").last(days=4)


def test_the_repr_is_a_table_of_one_line_a_query() -> None:
    """Columns are aligned, numbers to the right, and texts are on one line."""
    now = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
    with Emulator.demo(now=now).client() as client:
        outcomes = client.stats.get_many([QUERY.website(BLOG), QUERY]).collect()
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
