"""The page evidence/coverage.md names tests that exist, and covers the document."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

import attrs
import pytest

from sitestats._query.rules import RULES

pytestmark = pytest.mark.once


TESTS: Final = Path(__file__).parents[1]
PAGE: Final = TESTS.parent / "docs" / "evidence" / "coverage.md"
DOCUMENT: Final = {
    "1": 5,
    "2.1": 9,
    "2.2": 7,
    "2.3": 18,
    "3": 5,
    "4.1": 5,
    "4.2": 9,
    "4.3": 46,
    "5": 12,
    "6": 2,
    "7": 6,
    "8": 9,
    "9": 7,
}
"""How many rules, rows of tables and other statements each section has."""
NOTHING: Final = "nothing to show: "
"""What stands instead of a test, with a reason behind it."""
EXCUSED: Final = 16
"""How many cells may stand without a test."""


@attrs.frozen
class Row:
    """A statement of the document, with the tests of client and emulator."""

    section: str
    text: str
    rules: tuple[str, ...]
    client: str
    emulator: str


def names(cell: str) -> list[str]:
    """The texts between backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def read(page: str) -> list[Row]:
    """The rows of the tables below the sections' headings."""
    rows: list[Row] = []
    section = ""
    for line in page.splitlines():
        if heading := re.match(r"## (\S+) ", line):
            section = heading[1]
        elif line.startswith("| ") and not line.startswith(("| ---", "| The doc")):
            text, rules, client, emulator = line.strip("| ").split(" | ")
            rows.append(Row(section, text, tuple(names(rules)), client, emulator))
    return rows


ROWS: Final = read(PAGE.read_text("utf-8"))


def test_every_row_points_to_tests_that_are_there() -> None:
    """The table names no test that was renamed or removed, or that two files have."""
    named = [
        name
        for row in ROWS
        for cell in (row.client, row.emulator)
        for name in names(cell)
    ]
    assert len(named) > 250
    # pytest collects these: functions at the top level of a module.
    collected = Counter(
        f"{path.relative_to(TESTS).with_suffix('').as_posix()}::{node.name}"
        for path in TESTS.rglob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )
    assert {name for name in named if collected[name] != 1} == set()


@pytest.mark.parametrize("section", DOCUMENT)
def test_every_statement_has_a_row(section: str) -> None:
    """No section has fewer rows than the document has statements."""
    texts = {row.text for row in ROWS if row.section == section}
    assert len(texts) >= DOCUMENT[section]


def test_every_row_has_both_sides() -> None:
    """Client and emulator each have a test, or a reason why there is none."""
    excuses = 0
    for row in ROWS:
        for cell in (row.client, row.emulator):
            excused = cell.startswith(NOTHING) and len(cell) > len(NOTHING)
            assert names(cell) or excused, row
            excuses += excused
        assert not any("emulator" in name for name in names(row.client)), row
        theirs = ("emulator/", "query/test_differential")
        assert all(name.startswith(theirs) for name in names(row.emulator)), row
    assert excuses <= EXCUSED


def test_every_rule_has_a_row_in_its_section() -> None:
    """The table has the rules that the client checks, and no others."""
    named = {(rule, row.section) for row in ROWS for rule in row.rules}
    assert named == {(rule.name, rule.section) for rule in RULES.values()}
    for row in ROWS:
        if row.rules:
            assert names(row.client), row
