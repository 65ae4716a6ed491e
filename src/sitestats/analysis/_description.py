"""Describe results as plain values: titles, totals, charts and tables.

``describe`` has one function for each type of result. ``_html`` and ``_console``
render what it yields.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import singledispatch
from typing import Any, Final, TypeAlias

import attrs

from sitestats._common.fields import TOTALS
from sitestats._results.collected_outcomes import CollectedOutcomes
from sitestats._results.comparison import Change, Changes, Comparison
from sitestats._results.entries import Entries
from sitestats._results.outcome_comparison import Comparisons
from sitestats._results.outcome_frames import outcome_error, period_of
from sitestats._results.stats import Stats
from sitestats._results.tables import Sheet

from ._labels import (
    MOST_BARS,
    MOST_ROWS,
    NO_ENTRIES,
    about,
    cell,
    heading,
    left_out,
    marks,
    percent,
    signed,
    title,
    unknown,
)


@attrs.frozen
class Title:
    """A heading: the website, and the period of the numbers below it."""

    text: str
    about: str


@attrs.frozen
class Totals:
    """Single numbers, each with its heading."""

    numbers: Sequence[tuple[str, object]]


@attrs.frozen
class Bar:
    """One bar of a chart: the page views of one entry of the histogram."""

    count: int
    mark: str
    """Why its count is not that of a whole hour, day, week…; empty if it is."""
    label: str
    """Its time, as the label of a row: ``"Thu 2026-01-01 05:00"``."""
    tick: str
    """Its time, as a short label below an axis: ``"01 Jan 05:00"``."""
    tip: str
    """Its time and numbers, as the text of a tooltip."""


@attrs.frozen
class Chart:
    """Page views over time."""

    bars: Sequence[Bar]
    note: str = ""
    """How many entries are left out; empty if none is."""

    @property
    def highest(self) -> int:
        """The largest count, but at least 1, so that it can be a divisor."""
        return max([1, *(bar.count for bar in self.bars)])

    @property
    def marks(self) -> str:
        """Every mark that a bar has, for the note below; empty if there is none."""
        return " or ".join(dict.fromkeys(bar.mark for bar in self.bars if bar.mark))


@attrs.frozen
class Unknown:
    """The cell of an entry without a value."""

    text: str


@attrs.frozen
class Signed:
    """The cell of a difference: green above zero, red below."""

    text: str
    value: float
    """The difference itself; the text may be in percent."""


@attrs.frozen
class Table:
    """Rows of plain values, ``Unknown`` and ``Signed``, below a title."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    numbers: AbstractSet[int]
    """The columns that hold numbers."""
    notes: Sequence[str] = ()
    """Texts below the last row."""
    empty: str = NO_ENTRIES
    """The text in place of rows, if there are none."""
    has_bars: bool = False
    """Whether the second column's numbers can be drawn as bars."""
    is_sheet: bool = False
    """Whether the first column has values like the others, and no row labels."""


Part: TypeAlias = Title | Totals | Chart | Table


@singledispatch
def describe(result: object, top: int = MOST_ROWS) -> Iterator[Part]:
    """The parts of *result*, from top to bottom.

    Args:
        result: A value of one of the registered types.
        top: The most rows of a table.
    """
    message = f"no description of {type(result).__name__} in {top} rows"
    raise TypeError(message)


@describe.register(Stats)
def _of_stats(stats: Stats, top: int = MOST_ROWS) -> Iterator[Part]:
    yield Title(title(stats), about(stats))
    names = [name for name in stats.requested if name in stats]
    totals = [(heading(n), getattr(stats, n)) for n in TOTALS if n in stats]
    if totals:
        yield Totals(totals)
    for name in names:
        if name not in TOTALS:
            yield from describe(getattr(stats, name), top)


@describe.register(Entries)
def _of_entries(entries: Entries[Any], top: int = MOST_ROWS) -> Iterator[Part]:
    if "date" in entries.columns:
        note = ""
        if len(entries) > MOST_BARS:
            note = f"the last {MOST_BARS:,} of {len(entries):,}"
        yield Chart([_bar(entry) for entry in entries[-MOST_BARS:]], note)
        return
    first, *numbers = entries.columns
    rows = [
        (_label(entry.get(first), entries.name), *(entry.get(name) for name in numbers))
        for entry in entries[:top]
    ]
    note = left_out(len(entries), len(rows), truncated=entries.truncated)
    yield Table(
        heading(entries.name),
        ("", *map(heading, numbers)),
        rows,
        numbers=set(range(1, len(entries.columns))),
        notes=(note,),
        has_bars=True,
    )


def _label(value: str | None, field: str) -> str | Unknown:
    return value or Unknown(unknown(field))


def _bar(entry: Any) -> Bar:
    date: dt.date | None = entry.get("date")
    start: dt.datetime | None = entry.get("start")
    hour: int | None = entry.get("hour")
    count, visitors = entry.get("pageviews"), entry.get("visitors")
    mark = marks(partial=bool(entry.get("partial")), clipped=bool(entry.get("clipped")))
    if date is None:
        label = tick = unknown("histogram")
    else:
        label = cell(date)
        tick = f"{date:%d %b %Y}" if date.day == 1 else f"{date:%d %b}"
    when = cell(start or date or label)
    tip = f"{when}: {cell(count)} page views, {cell(visitors)} visitors"
    return Bar(
        count or 0,
        mark,
        label=label if hour is None else f"{label} {hour:02}:00",
        tick=tick if start is None else f"{start:%d %b %H:%M}",
        tip=f"{tip}, {mark}" if mark else tip,
    )


@describe.register(Sheet)
def _of_sheet(sheet: Sheet, top: int = MOST_ROWS) -> Iterator[Part]:
    rows = sheet.rows[:top]
    total = len(sheet.rows) if sheet.total is None else sheet.total
    yield Table(
        sheet.title,
        sheet.headings,
        rows,
        numbers={n for n in range(len(sheet.headings)) if sheet.is_number(n)},
        notes=(left_out(total, len(rows), truncated=False), sheet.note),
        empty="none",
        is_sheet=True,
    )


# --- many outcomes ----------------------------------------------------------------


@describe.register(CollectedOutcomes)
def _of_outcomes(
    outcomes: CollectedOutcomes[object], top: int = MOST_ROWS
) -> Iterator[Part]:
    results = [succeeded.stats for succeeded in outcomes.succeeded]
    totals = [name for name in TOTALS if any(name in stats for stats in results)]
    failed, relative = len(outcomes.failed), len(outcomes.never_stored)
    stored = sum(stats.from_store for stats in results)
    headings = ["", "first day", "last day", *map(heading, totals)]
    rows = [
        (
            outcome.query.hostname,
            *(day and day.isoformat() for day in period_of(outcome)[1:]),
            *(getattr(outcome.stats, name, None) for name in totals),
            *([outcome_error(outcome)] if failed else ()),
        )
        for outcome in outcomes[:top]
    ]
    yield Table(
        "1 query" if len(outcomes) == 1 else f"{len(outcomes):,} queries",
        [*headings, "error"] if failed else headings,
        rows,
        numbers={3 + place for place in range(len(totals))},
        notes=(
            left_out(len(outcomes), len(rows), truncated=False),
            f"{failed:,} failed" if failed else "",
            f"{stored:,} from the store" if stored else "",
            f"{relative:,} never stored, since words name their days: use .pinned()"
            if relative
            else "",
        ),
        empty="none",
        is_sheet=True,
    )


# --- comparisons ------------------------------------------------------------------

_CHANGE: Final = ("before", "change", "in percent")


@describe.register(Comparison)
def _of_comparison(comparison: Comparison, top: int = MOST_ROWS) -> Iterator[Part]:
    now, before = comparison.now, about(comparison.before)
    rows = [
        (heading(name), *_change(change)) for name, change in comparison.totals.items()
    ]
    against = f"against {before}" if before else ""
    period = about(now) if rows else ", ".join(filter(None, [about(now), against]))
    yield Title(title(now), period)
    if rows:
        headings = ("", "now", *_CHANGE)
        yield Table("totals", headings, rows, numbers={1, 2, 3, 4}, notes=(against,))
    for changes in comparison.lists.values():
        yield from describe(changes, top)


@describe.register(Changes)
def _of_changes(changes: Changes, top: int = MOST_ROWS) -> Iterator[Part]:
    rows = [
        (_label(item.value, changes.name), *_change(item.pageviews), item.direction)
        for item in list(changes)[:top]
    ]
    note = left_out(
        len(changes), len(rows), truncated=changes.truncated, partial=changes.partial
    )
    yield Table(
        heading(changes.name),
        ("", "page views", *_CHANGE, ""),
        rows,
        numbers={1, 2, 3, 4},
        notes=(note,),
    )


def _change(change: Change) -> tuple[object, ...]:
    absolute = change.absolute or 0
    return (
        change.now,
        change.before,
        Signed(signed(change.absolute), absolute),
        Signed(percent(change.percent), absolute),
    )


@describe.register(Comparisons)
def _of_comparisons(comparisons: Comparisons, top: int = MOST_ROWS) -> Iterator[Part]:
    # Without a total there is nothing to show of a website in one row.
    names = comparisons.totals[:1]
    changes = [one for name in names for one in comparisons.largest(name)]
    failed = len(comparisons.failed)
    rows = [(hostname, *_change(change)) for hostname, change in changes[:top]]
    notes = (
        left_out(len(changes), len(rows), truncated=False, partial=comparisons.partial),
        f"{failed:,} failed" if failed else "",
    )
    headings = [title for name in names for title in (heading(name), *_CHANGE)]
    yield Table(
        "1 comparison"
        if len(comparisons) == 1
        else f"{len(comparisons):,} comparisons",
        ("", *headings),
        rows,
        numbers={1 + place for place in range(len(headings))},
        notes=notes,
        empty="" if len(comparisons) else "none",
        is_sheet=True,
    )
