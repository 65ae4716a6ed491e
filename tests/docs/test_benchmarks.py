"""The benchmarks run, and their page has the figures that they measure."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_the_figures_of_a_run() -> None:
    """A short run measures what the page lists, and nothing else."""
    pytest.importorskip("aiohttp")
    benchmarks = runpy.run_path(str(DOCS / "_tools" / "benchmarks" / "__main__.py"))
    text = benchmarks["table"](benchmarks["figures"](short=True))
    first_cells = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)
    written = (DOCS / "contributing.md").read_text("utf-8").split(benchmarks["MARK"])[1]
    assert first_cells.findall(text) == first_cells.findall(written)
