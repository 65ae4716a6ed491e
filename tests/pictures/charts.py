"""Bar charts of the tables that the benchmarks wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .plots import Plot

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE: Final = Path(__file__).parents[2] / "docs" / "evidence" / "benchmarks.md"


def rows_of(title: str) -> list[tuple[str, float]]:
    """The rows of the table below the heading *title*, with their ratios."""
    _, found, rest = PAGE.read_text("utf-8").partition(f"\n## {title}\n")
    assert found, title
    table = rest.partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \| ([\d.]+) \|", table, re.MULTILINE)
    return [(what, float(ratio)) for what, ratio in rows]


def bar_chart(titles: Sequence[str], leave_out: str) -> Plot:
    """The ratios of tables as bars, without rows that match *leave_out*."""
    rows = [
        row
        for title in titles
        for row in rows_of(title)
        if not re.search(leave_out, row[0])
    ]

    def draw() -> None:
        import matplotlib.pyplot as plt

        names, ratios = zip(*rows[::-1], strict=True)
        _, axes = plt.subplots()
        ours = ["C0" if "sitestats" in name else "0.6" for name in names]
        bars = axes.barh(names, ratios, color=ours)
        axes.bar_label(bars, fmt="%.2f", padding=3)
        axes.axvline(1, color="0.5", linewidth=0.8, linestyle=":")
        axes.margins(x=0.1)
        axes.spines[["top", "right"]].set_visible(False)

    return Plot(draw)
