"""Texts of tables and charts: values that are missing, and numbers of any size."""

from __future__ import annotations

import attrs
import matplotlib as mpl
import pytest

from displayed import terminal
from plotted import axes_of, daily, stats_of
from sitestats import Entries, ListEntry

mpl.use("agg")


@pytest.mark.parametrize(
    ("name", "words"), [("referrers", "(none)"), ("countries", "(unknown)")]
)
@pytest.mark.parametrize("value", [None, ""])
def test_an_entry_without_a_value_has_a_label(
    value: str | None, name: str, words: str
) -> None:
    """An entry without a value has the same label wherever it is displayed."""
    entries = Entries([ListEntry(value, 1, 1)], name=name, entry_type=ListEntry)
    (tick,) = entries.plot(axes_of()).get_yticklabels()
    for shown in (entries._repr_html_(), terminal(entries), tick.get_text()):
        assert words in shown


def test_a_number_of_any_size_is_shown() -> None:
    """A count beyond 64 bits breaks no display and no comparison."""
    stats = stats_of(daily(2))
    absurd = attrs.evolve(stats, values={"pageviews": 10**30})
    change = absurd.compare_to(stats).totals["pageviews"]
    assert change.absolute == 10**30 - stats.pageviews
    for result in (absurd, absurd.compare_to(stats)):
        assert "000,000" in result._repr_html_()
