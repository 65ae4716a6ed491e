"""Plot histograms and lists with matplotlib."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any, Final

from sitestats._common.text import encodable
from sitestats._results.comparisons import ManyChanges
from sitestats._results.entries import Entries, columns_of_entries

from ._frames import check_range, load
from ._labels import heading, left_out, marks, unknown

_MOST_BARS: Final = 20
_LONGEST_NAME: Final = 40
_PARTIAL: Final = {"alpha": 0.35, "hatch": "//"}
_OPEN: Final = {"color": "gray", "alpha": 0.15, "linewidth": 0, "zorder": 0}


def plot(entries: Entries[Any] | ManyChanges, ax: Any = None) -> Any:
    """Draw *entries* into *ax*, or into new axes, and return the axes."""
    if isinstance(entries, Entries):
        check_range(columns_of_entries(entries))
    if ax is None:
        pyplot = load("matplotlib.pyplot", extra="plot")
        _, ax = pyplot.subplots()
    if isinstance(entries, ManyChanges):
        return _changes(entries, ax)
    if "date" in entries.columns:
        return _histogram(entries, ax)
    return _list(entries, ax)


def _histogram(histogram: Entries[Any], ax: Any) -> Any:
    dates = load("matplotlib.dates", extra="plot")
    # An entry without a day has no place on the axis.
    entries = [entry for entry in histogram if entry.get("date") is not None]
    whens = [_begin(entry) for entry in entries]
    visitors = [entry.get("visitors") or 0 for entry in entries]
    counts = [entry.get("pageviews") or 0 for entry in entries]
    step = _step(whens)
    views = ax.bar(
        whens, counts, step * 0.8, label="page views", color="C0", alpha=0.45
    )
    people = ax.bar(whens, visitors, step * 0.8, label="visitors", color="C0")
    for when, view, person, entry in zip(whens, views, people, entries, strict=True):
        if _mark(entry):
            view.set(**_PARTIAL)
            person.set(**_PARTIAL)
            # Also visible where the count is still 0.
            ax.axvspan(when - step / 2, when + step / 2, **_OPEN)
    notes = dict.fromkeys(_mark(entry) for entry in entries)
    found = " or ".join(note for note in notes if note)
    if found:
        ax.set_xlabel(f"shaded and hatched: {found}")
    ax.legend()
    locator = dates.AutoDateLocator(maxticks=8)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    return ax


def _mark(entry: Any) -> str:
    return marks(partial=bool(entry.get("partial")), clipped=bool(entry.get("clipped")))


def _begin(entry: Any) -> dt.datetime:
    # In local time without a zone, since matplotlib would convert it to UTC.
    start: dt.datetime | None = entry.get("start")
    if start is not None:
        return start.replace(tzinfo=None)
    return dt.datetime.combine(entry.get("date"), dt.time())


def _step(whens: list[dt.datetime]) -> dt.timedelta:
    # The time between two bars; a repeated hour has the same start as the first.
    gaps = [later - earlier for earlier, later in pairwise(whens) if later > earlier]
    return min(gaps, default=dt.timedelta(days=1))


def _list(entries: Entries[Any], ax: Any) -> Any:
    label, count = entries.columns[:2]
    shown = list(entries)[:_MOST_BARS]
    # Escaped, since matplotlib reads text between dollar signs as mathematics.
    values = [entry.get(label) or unknown(entries.name) for entry in shown]
    names = [encodable(_cut(value)).replace("$", r"\$") for value in values]
    places = range(len(shown))
    ax.barh(places, [entry.get(count) or 0 for entry in shown])
    ax.set_yticks(places, labels=names)
    ax.invert_yaxis()
    note = left_out(len(entries), len(shown), truncated=entries.truncated)
    ax.set_xlabel("\n".join(filter(None, [heading(count), note])))
    ax.set_title(heading(entries.name))
    return ax


def _changes(many: ManyChanges, ax: Any) -> Any:
    shown = many.changes[:_MOST_BARS]
    places = range(len(shown))
    for change, shift, colour, label in (
        ("now", -0.2, {"color": "C0"}, "now"),
        ("before", 0.2, {"color": "C0", "alpha": 0.45}, "before"),
    ):
        counts = [getattr(both, change) or 0 for _, both in shown]
        heights = [place + shift for place in places]
        ax.barh(heights, counts, 0.4, label=label, **colour)
    ax.set_yticks(places, labels=[_cut(hostname) for hostname, _ in shown])
    ax.invert_yaxis()
    note = left_out(
        len(many.changes), len(shown), truncated=False, partial=many.partial
    )
    ax.set_xlabel("\n".join(filter(None, [heading(many.name), note])))
    ax.legend()
    return ax


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
