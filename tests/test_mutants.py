"""Mutants: each row of docs/coverage.md has one a side, and each applies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coverage_table import ROWS
from mutants.rows import SIDES, cases, cell, node_id

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("side", SIDES)
def test_every_row_has_a_mutant(side: str) -> None:
    """Each test that a row names has a mutant that it must fail on."""
    held = {
        (case.row, test)
        for case in cases()
        if case.side == side
        for test in case.mutant.tests
    }
    named = {(row.name, node_id(test)) for row in ROWS for test in cell(row, side)}
    assert len(named) > 150
    assert held == named


def test_every_mutant_applies() -> None:
    """The code has the text that a mutant replaces, and is Python afterwards."""
    for mutant in {case.mutant.edits: case.mutant for case in cases()}.values():
        assert mutant.sources()


def test_every_mutant_is_on_its_side() -> None:
    """The client's mutants break the client, and the emulator's the emulator."""
    for case in cases():
        for edit in case.mutant.edits:
            assert edit.file.startswith("emulator/") == (case.side == "emulator"), case


def test_no_two_mutants_of_a_row_are_the_same() -> None:
    """No row is counted twice for one change."""
    found = [(case.row, case.side, case.mutant.edits) for case in cases()]
    assert len(found) == len(set(found))


def in_tests(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder of the tests."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=TESTS,
        check=False,
        capture_output=True,
        text=True,
    )


@NEEDS_FORK
def test_a_sample_is_killed() -> None:
    """Each mutant of a small sample makes a test fail that its row names."""
    run = in_tests("-m", "mutants", "--part", "50/110")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("killed: ") >= 4


VERDICTS = """
import json
from mutants.machine import Edit, Mutant, run

def mutant(old, new, test="test_every_form_gives_seconds", times=1):
    edits = (Edit("_common/wire.py", old, new, times),)
    return Mutant("", edits, (f"tests/test_wire.py::{test}",))

results = run([
    mutant("max(0.0, seconds)", "seconds + 1"),
    mutant("max(0.0, seconds)", "seconds if seconds > 0 else 0.0"),
    mutant("import math", "import math, nowhere"),
    mutant("import math", "import math,"),
    mutant("import math", "import cmath", times=2),
    mutant("import math", "import math, re", test="test_of_no_such_name"),
])
print(json.dumps([(result.verdict, result.reason) for result in results]))
"""


@NEEDS_FORK
def test_the_machine_tells_what_became_of_a_mutant() -> None:
    """Only a failing test kills: no mistake of a mutant counts as a kill."""
    before = (TESTS.parent / "src/sitestats/_common/wire.py").read_text("utf-8")
    run = in_tests("-c", VERDICTS)
    assert run.returncode == 0, run.stderr
    verdicts = [verdict for verdict, _ in json.loads(run.stdout)]
    reasons = [reason for _, reason in json.loads(run.stdout)]
    assert verdicts == [
        *("killed", "survived", "uncollected", "invalid", "invalid", "invalid")
    ]
    for words, reason in zip(
        ["test_wire.py::", "", "nowhere", "syntax", "1 times", "without a mutant"],
        reasons,
        strict=True,
    ):
        assert words in reason
    assert (TESTS.parent / "src/sitestats/_common/wire.py").read_text("utf-8") == before
