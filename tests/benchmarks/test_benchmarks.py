"""The benchmarks run, and their page has the figures that they measure."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "contributing.md"


def test_the_page_has_the_figures_of_a_run() -> None:
    """A short run measures what the page lists, and nothing else."""
    pytest.importorskip("aiohttp")
    benchmarks = runpy.run_path(str(HERE / "__main__.py"))
    text = benchmarks["table"](benchmarks["figures"](short=True))
    first_cells = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)
    written = PAGE.read_text("utf-8").split(benchmarks["MARK"])[1]
    assert first_cells.findall(text) == first_cells.findall(written)
