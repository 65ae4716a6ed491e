"""Mutants of the modules: how they are made, and the list of those that survive."""

from __future__ import annotations

import pytest

from mutants.generate import mutants_of
from mutants.modules import MODULES, SAMPLE, listed, modules, sample, source_of
from reliability_tables import read_rows

SOURCE = b'''\
"""A text that is left alone."""

from typing import TYPE_CHECKING

LIMITS: dict[str, int] = {"low": 1, "high": 10}
"""Left alone, too."""

if TYPE_CHECKING:
    from collections.abc import Iterable


class Within:
    @property
    def text(self) -> str:
        assert self.low <= self.high
        return f"from {self.low} to {self.high}"


def check(value: int, low: int = 1) -> list[str]:
    found: list[str] = []
    if value < low and value is not None:
        found.append("the value is too low")
    return sorted(found, key=len)
'''
CHANGES = {
    ": without the entry 'low'",
    ": without the entry 'high'",
    ": \"low\" -> 'loww'",
    ": \"high\" -> 'highh'",
    *(": 1 -> 2", ": 1 -> (0)", ": 10 -> 11", ": 10 -> (9)"),
    "Within.text: @property -> nothing",
    'Within.text: f"from {self.low} to {self.high}" -> None',
    "Within.text: f\"from {self.low} to {self.high}\" -> ''",
    "Within.text: self.low out of the text",
    "Within.text: self.high out of the text",
    "check: 1 -> 2",
    "check: 1 -> (0)",
    "check: value < low and value is not None -> (value < low or value is not None)",
    "check: value < low and value is not None -> (value is not None)",
    "check: value < low and value is not None -> (value < low)",
    "check: value < low -> (value <= low)",
    "check: value < low -> (value >= low)",
    "check: value is not None -> (value is None)",
    'check: found.append("the value is too low") -> pass',
    "check: \"the value is too low\" -> ''",
    "check: sorted(found, key=len) -> None",
    "check: sorted -> list",
    "check: sorted: without key=",
}


def test_a_mutant_for_each_change() -> None:
    """Every kind of mistake is made once, and what no run can show is left alone."""
    mutants = mutants_of("example.py", SOURCE)
    assert {one.key for one in mutants} == CHANGES
    assert len(mutants) == len(CHANGES)
    for one in mutants:
        compile(one.apply(SOURCE), one.key, "exec")
        assert one.line in one.lines


@pytest.mark.parametrize("module", modules(MODULES))
def test_the_sample_can_be_tried(module: str) -> None:
    """Each mutant of the sample can be compiled, and has a name of its own."""
    source = source_of(module)
    mutants = sample(module, SAMPLE)
    assert len({one.key for one in mutants}) == len(mutants)
    for one in mutants:
        compile(one.apply(source), one.key, "exec")


def test_what_survives_is_a_mutant() -> None:
    """The list of what survives has no mutant of code that is gone, and reasons."""
    for entry in listed():
        keys = {one.key for one in sample(entry.module, None)}
        assert set(entry.mutants) <= keys
        assert entry.because.endswith(".")


def test_the_page_has_each_module_with_its_score() -> None:
    """Each module is on the page; together at least 95 of 100 mutants are killed."""
    rows = [row for row in read_rows("modules") if len(row) == 7]
    assert [row[0] for row in rows] == [
        *(f"`{module}`" for module in modules(MODULES)),
        "**together**",
    ]
    scores = [float(row[-1].removesuffix("%")) for row in rows]
    assert scores[-1] >= 95
    # One survivor of few mutants is a large share.
    assert min(scores) >= 90
