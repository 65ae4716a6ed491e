"""Results as pictures of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ._frames import load
from ._words import heading, left_out

if TYPE_CHECKING:
    from sitestats._entries import Entries

_MOST_BARS: Final = 20
_PARTIAL: Final = {"alpha": 0.35, "hatch": "//"}


def plot(entries: Entries[Any], ax: Any = None) -> Any:
    """Draw *entries* into *ax*, or into new axes; the value is the axes."""
    if ax is None:
        pyplot = load("matplotlib.pyplot", extra="plot")
        _, ax = pyplot.subplots()
    if "date" in entries.columns:
        return _histogram(entries, ax)
    return _list(entries, ax)


def _histogram(histogram: Entries[Any], ax: Any) -> Any:
    whens = [entry.get("start") or entry.get("date") for entry in histogram]
    bottoms = [entry.get("visitors") or 0 for entry in histogram]
    counts = [entry.get("pageviews") or 0 for entry in histogram]
    width = _width(whens)
    views = ax.bar(whens, counts, width, label="page views", color="C0", alpha=0.45)
    people = ax.bar(whens, bottoms, width, label="visitors", color="C0")
    for bars in (views, people):
        for bar, entry in zip(bars, histogram, strict=True):
            if entry.get("partial"):
                bar.set(**_PARTIAL)
    if any(entry.get("partial") for entry in histogram):
        ax.set_xlabel("hatched: not over yet")
    ax.legend()
    ax.figure.autofmt_xdate()
    return ax


def _width(whens: list[Any]) -> Any:
    # In days, as matplotlib has them: most of the way to the next bar.
    if len(whens) < 2:  # noqa: PLR2004 - there is no next one
        return 0.8
    gap = min(later - earlier for earlier, later in zip(whens, whens[1:], strict=False))
    return gap * 0.8 if gap else 0.8


def _list(entries: Entries[Any], ax: Any) -> Any:
    label, count = entries.columns[:2]
    shown = list(entries)[:_MOST_BARS]
    # A mark for text of matplotlib's own is a plain character here.
    names = [str(entry.get(label) or "(none)").replace("$", r"\$") for entry in shown]
    places = range(len(shown))
    ax.barh(places, [entry.get(count) or 0 for entry in shown])
    ax.set_yticks(places, labels=names)
    ax.invert_yaxis()
    ax.set_xlabel(heading(count))
    note = left_out(len(entries), len(shown), truncated=entries.truncated)
    ax.set_title(heading(entries.name) + (f" ({note})" if note else ""))
    return ax
