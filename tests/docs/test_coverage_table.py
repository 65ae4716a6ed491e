"""The table of docs/coverage.md names tests that exist, and covers the document."""

from __future__ import annotations

from typing import Final

import pytest

from coverage_table import ROWS, defined, names
from sitestats._query.rules import RULES

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


def test_every_row_points_to_tests_that_are_there() -> None:
    """The table names no test that was renamed or removed."""
    assert sum(len(row.tests) for row in ROWS) > 250
    wrong = {name for row in ROWS for name in row.tests if len(defined()[name]) != 1}
    assert wrong == set()


@pytest.mark.parametrize("section", DOCUMENT)
def test_every_statement_has_a_row(section: str) -> None:
    """No section has fewer rows than the document has statements."""
    texts = {row.text for row in ROWS if row.section == section}
    assert len(texts) >= DOCUMENT[section]


def test_every_row_has_both_sides() -> None:
    """Client and emulator each have a test, or a reason why there is none."""
    excuses = 0
    for row in ROWS:
        for cell in row.cells:
            excused = cell.startswith(NOTHING) and len(cell) > len(NOTHING)
            assert names(cell) or excused, row
            excuses += excused
        assert not any("emulator" in name for name in names(row.client)), row
        assert all(name.startswith("emulator/") for name in names(row.emulator)), row
    assert excuses <= EXCUSED


def test_every_rule_has_a_row_in_its_section() -> None:
    """The table has the rules that the client checks, and no others."""
    named = {(rule, row.section) for row in ROWS for rule in row.rules}
    assert named == {(rule.name, rule.section) for rule in RULES.values()}
    for row in ROWS:
        if row.rules:
            assert names(row.client), row
