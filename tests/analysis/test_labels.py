"""Texts of tables and charts: titles, columns, and values that are missing."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import pytest
from rich.console import Console

from plotted import axes_of, daily, stats_of
from sitestats import Entries, ListEntry, Stats, StatsQuery


def test_a_title_has_the_website_and_the_period() -> None:
    """The title names the website, the page, the days, the zone, and the list."""
    axes = stats_of(daily(3)).plot(ax=axes_of())
    title = "shop.example\n2026-06-01 to 2026-06-03, Europe/Amsterdam"
    assert axes.get_title(loc="left") == title
    query = StatsQuery("shop.example").fields("pages", "countries").path("/$a$")
    pages = {"pages": [("/$a$", 1, 1)], "countries": [("NL", 1, 1)]}
    stats = Stats.of(query, **pages)
    title = stats.plot(ax=axes_of()).get_title("left")
    assert title.splitlines()[0] == r"shop.example/\$a\$: pages"
    assert "countries" in stats.plot("countries", axes_of()).get_title("left")
    long = stats_of(daily(3), f"{'a' * 60}.{'b' * 60}.{'c' * 60}.example")
    assert len(long.plot(ax=axes_of()).get_title("left").splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "words"), [("referrers", "(none)"), ("countries", "(unknown)")]
)
@pytest.mark.parametrize("value", [None, ""])
def test_an_entry_without_a_value_has_a_label(
    value: str | None, name: str, words: str
) -> None:
    """An entry without a value has the same label wherever it is displayed."""
    entries = Entries([ListEntry(value, 1, 1)], name=name, entry_type=ListEntry)
    console = Console(file=io.StringIO(), width=80, _environ={})
    with console.capture() as capture:
        console.print(entries)
    (tick,) = entries.plot().get_yticklabels()
    plt.close("all")
    for shown in (entries._repr_html_(), capture.get(), tick.get_text()):
        assert words in shown
