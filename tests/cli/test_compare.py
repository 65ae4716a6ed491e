"""``sitestats compare``: of one website, and of many."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import rows_of

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"
BLOG = "blog.semicomplete.com"


def test_one_website_compared(emulator: Emulator, run: Run) -> None:
    """A table for people has totals and lists of both periods."""
    done = run("compare", HOST, "--last", 2)
    assert (done.code, done.err) == (0, "")
    for words in ("against", "totals", "visitors", "+125", "countries"):
        assert words in done.out
    wrong = run("compare", "nobody.example", "--last", 2)
    assert (wrong.code, wrong.out) == (3, "")


@pytest.mark.parametrize("hosts", [[HOST], [HOST, BLOG], ["--all"]])
def test_websites_compared(emulator: Emulator, run: Run, hosts: list[str]) -> None:
    """CSV and JSON lines have a row for each website, with the same names."""
    options = ("--last", 2, "-f", "visitors", "--format", "csv", "--raw")
    done = run("compare", *hosts, *options)
    row = rows_of(done.out)[0]
    assert row["hostname"] == HOST
    assert row["first_day_before"] < row["last_day_before"] < row["first_day"]
    assert int(row["visitors"]) - int(row["visitors_before"]) == 125
    assert row["visitors_change"] == "125"
    lines = run("compare", *hosts, "--last", 2, "-f", "visitors", "--format", "jsonl")
    objects = [json.loads(line) for line in lines.out.splitlines()]
    assert len(objects) == len(rows_of(done.out))
    for name, value in row.items():
        shown = "false" if objects[0][name] is False else str(objects[0][name])
        assert shown == value


def test_a_table_of_websites_compared(emulator: Emulator, run: Run) -> None:
    """A table has a line for each website below the days."""
    for fields in ("visitors,pageviews", "pages"):
        done = run("compare", HOST, BLOG, "--last", 2, "-f", fields, "--top", 3)
        assert " to " in done.out.splitlines()[0]
        assert ", against " in done.out.splitlines()[0]
        assert "%" in done.out.splitlines()[1]
        assert len(done.out.splitlines()) == (5 if "," in fields else 9)


@pytest.mark.parametrize(
    ("period", "against", "start"),
    [
        (["--last", "7"], "previous_period", "today-14d"),
        (["--during", "2026-03"], "previous_month", "2026-02-01"),
        (["--during", "2026-W10"], "previous_week", "2026-02-23"),
        (["--during", "2026-03"], "previous_year", "2025-03-01"),
        (["--during", "2026-03"], "2024-Q1", "2024-01-01"),
        (["--last", "7"], "2024-01-03..2024-01-09", "2024-01-03"),
    ],
)
def test_what_is_compared_with(
    emulator: Emulator, run: Run, period: list[str], against: str, start: str
) -> None:
    """--against takes the library's names, a period by its name, and two days."""
    options = ("-f", "visitors", "--against", against, "--format", "csv")
    assert run("compare", HOST, BLOG, *period, *options).code == 0
    found = [request.params["start"] for request in emulator.requests]
    assert found.count(start) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--against", "previos_month"], "did you mean 'previous_month'?"),
        (["--against", "2024-01-09..2024-01-03"], "--against"),
        (["--against", "previous_month"], "use --during 2026-03"),
    ],
)
def test_what_can_t_be_compared(
    emulator: Emulator, run: Run, options: list[str], words: str
) -> None:
    """A period that there is not is one line, and nothing is sent."""
    done = run("compare", HOST, "--last", 3, *options)
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert words in line
    assert emulator.requests == ()


def test_a_comparison_that_failed(emulator: Emulator, run: Run) -> None:
    """A website of which one side failed is no row, and counts once."""
    done = run("compare", "nobody.example", HOST, "--last", 2, "--format", "csv")
    assert done.code == 3
    assert [row["hostname"] for row in rows_of(done.out)] == [HOST]
    assert done.err.splitlines()[-1] == "sitestats: 1 of 2 failed"
