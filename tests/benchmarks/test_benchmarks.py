"""The benchmarks run, and the pages on benchmarks have what they measure."""

from __future__ import annotations

import gc
import importlib.util
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import measuring
import report
from measuring import Goal, Row, Scale, Table

pytestmark = [pytest.mark.long, pytest.mark.once]

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"
PAGES = ("benchmarks.md", "evidence/benchmarks.md")
OPTIONAL = ("aiohttp", "pydantic", "requests")


def first_cells(folder: Path) -> set[str]:
    """The titles of all tables and the first cells of their rows, without numbers."""
    goals, tables = ((folder / page).read_text("utf-8") for page in PAGES)
    text = tables + goals.partition("<!-- goals -->")[2]
    found = re.findall(r"^(?:## |\| )([^|\n]+?) *(?:\||$)", text, re.MULTILINE)
    return {re.sub(r"\d[\d,.]*", "N", name) for name in found} - {"", "Figure"}


@pytest.fixture
def short_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the pages that a short run of everything writes."""
    (tmp_path / "evidence").mkdir()
    shutil.copy(DOCS / PAGES[0], tmp_path)
    monkeypatch.setattr(sys, "argv", ["", "--short", "--write", str(tmp_path)])
    # Objects of the other tests would be scanned by each of many collections.
    gc.freeze()
    try:
        runpy.run_path(str(HERE), run_name="__main__")
    finally:
        gc.unfreeze()
    return tmp_path


def test_the_pages_have_what_a_run_measures(short_run: Path) -> None:
    """The pages have exactly the figures that the benchmarks measure."""
    # A short run measures too little to check the goals.
    assert "reached |" not in (short_run / PAGES[0]).read_text("utf-8")
    measured = first_cells(short_run)
    assert len(measured) > 60
    documented = first_cells(DOCS)
    assert measured - documented == set()
    missing = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]
    assert not {
        name
        for name in documented - measured
        if not any(part in name for part in missing)
    }


def test_a_goal_is_checked_as_it_is_printed() -> None:
    """A ratio that is printed like the limit reaches the goal; the next does not."""
    assert Goal("a", 0.704, 0.7).is_reached
    assert not Goal("a", 0.706, 0.7).is_reached


def test_the_page_says_what_is_missed_and_why() -> None:
    """The page lists each goal, and explains those that are not reached."""
    goals = [
        Goal("the first", 0.5, 0.7, "This is not shown."),
        Goal("the second", 1.5, 1.3, "The machine is small."),
    ]
    table = Table("Times", "About them.", [Row("one", 1.0, "2 ms")], goals)
    page = report.goals([table]) + report.all_tables([table], 0.0)
    assert "| the first | 0.50 | 0.7 | reached |" in page
    assert "| the second | 1.50 | 1.3 | **not reached** |" in page
    assert "*Not reached: the second.* The machine is small." in page
    assert "not shown" not in page
    assert "| one | 1.00 | 2 ms |" in page


def test_variants_take_turns() -> None:
    """Each variant runs once to warm up, and then in turn."""
    order: list[str] = []
    variants = [lambda: order.append("a"), lambda: order.append("b")]
    bests = measuring.in_turn(variants, rounds=2, calls=2)
    assert "".join(order) == "ab" + "aabb" * 2
    assert len(bests) == 2


def test_memory_is_counted() -> None:
    """The memory of a result is counted, but not what a call needed in between."""
    assert 1_000_000 <= measuring.held_by(lambda: bytes(1_000_000)) < 1_100_000
    assert measuring.held_by(lambda: len(bytes(1_000_000))) < 100_000


def test_a_short_run_is_short() -> None:
    """A short run has one round and the smaller size."""
    assert (Scale().rounds(5), Scale().size(1000, 10)) == (5, 1000)
    assert (Scale(short=True).rounds(5), Scale(short=True).size(1000, 10)) == (1, 10)
