"""Describe results: headings and tables, which HTML, terminals and reprs render.

``describe`` has one function for each type of result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any, Final, TypeAlias

import attrs

from sitestats._base.fields import TOTALS
from sitestats._base.text import counted
from sitestats._comparison.changes import DAYS, SIDES, Changes
from sitestats._comparison.comparison import Comparison
from sitestats._comparison.comparisons import Comparisons
from sitestats._display.labels import (
    AGAIN,
    CUT,
    MOST_ROWS,
    NOT_OVER,
    OF_FILTERED,
    against,
    any_of,
    cell,
    heading,
    joined,
    marks,
    period,
)
from sitestats._results.bases import Displayed, HasLists, Table
from sitestats._results.entries import Entries, HistogramEntry
from sitestats._results.outcomes import CollectedOutcomes
from sitestats._results.stats import Stats
from sitestats._results.tables import (
    column_of,
    compared_days,
    days_text,
    label_of,
    of_rows,
    only,
)

_MOST_BARS: Final = 1000
"""The most bars of a chart: more would be narrower than a point of the screen."""
_OPEN: Final = f"the period is {NOT_OVER}"


@attrs.frozen
class Heading:
    """The website, the period and the totals of the tables below."""

    text: str
    about: str = ""
    numbers: Sequence[tuple[str, object]] = ()


Part: TypeAlias = Heading | Table


@singledispatch
def describe(result: Displayed, top: int = MOST_ROWS) -> Iterator[Part]:
    """The parts of *result*, from top to bottom, with *top* rows of each table."""
    yield from describe(result._displayed(), top)  # noqa: SLF001 - see _of_entries


@describe.register
def _of_table(table: Table, top: int = MOST_ROWS) -> Iterator[Part]:
    days = {name: table.same.get(name) for name in DAYS}
    note = joined(table.note, compared_days(**days))
    yield attrs.evolve(table, note=note).head(top)


@describe.register
def _of_stats(stats: Stats, top: int = MOST_ROWS) -> Iterator[Part]:
    names = [name for name in stats.requested if name in stats]
    totals = [(heading(n), getattr(stats, n)) for n in names if n in TOTALS]
    yield Heading(label_of(stats.query), period(stats), totals)
    for name in names:
        if name not in TOTALS:
            # The heading names the filters.
            yield _table_of(getattr(stats, name), "", top)


@describe.register(Entries)
def _of_entries(entries: Entries[Any], top: int = MOST_ROWS) -> Iterator[Part]:
    yield _table_of(entries, only(entries.filters), top)


def _table_of(entries: Entries[Any], about: str, top: int) -> Table:
    """The table of a list, or the chart of a histogram, with what it is *about*."""
    # The underscore is for users, not for this folder.
    columns = [
        column._replace(heading=OF_FILTERED)
        if column.name == "share" and entries.filters
        else column
        for column in entries._table()  # noqa: SLF001
        if column.name != "share" or any(column.cells)
    ]
    if entries.name == "histogram":
        return Chart(entries.name, columns, about, [*_bars(entries[-_MOST_BARS:])])
    note = joined(CUT if entries.truncated else "", about)
    return Table(entries.name, columns, note).head(top)


@describe.register
def _of_comparison(comparison: Comparison, top: int = MOST_ROWS) -> Iterator[Part]:
    differs = f"compared: {comparison.differs}" if comparison.differs else ""
    periods = filter(None, [period(comparison.now), against(comparison)])
    yield Heading(label_of(comparison.now.query), joined(", ".join(periods), differs))
    rows = [
        (heading(name), change.now, change.before, change.absolute, change.percent)
        for name, change in comparison.totals.items()
    ]
    if rows:
        yield Table("totals", of_rows(("", "now", "before", "change", "percent"), rows))
    for name, changes in comparison.lists.items():
        # There is room for a histogram where nothing else was requested.
        if name != "histogram" or not (rows or len(comparison.lists) > 1):
            # The heading names days, filters and the difference for all of them.
            without: dict[str, Any] = {"differs": "", "filters": ""}
            without |= dict.fromkeys(DAYS)
            yield from describe(attrs.evolve(changes, **without), top)


@describe.register
def _of_changes(changes: Changes, top: int = MOST_ROWS) -> Iterator[Part]:
    # There is no room for the visitors, nor for an hour beside its moment.
    hidden = {"partial"}
    if changes.key == "start":
        hidden |= {"date", "hour", "date_before", "hour_before"}
    columns = [
        column
        for column in changes._cells()  # noqa: SLF001
        if column.name not in hidden and not column.name.startswith("visitors")
    ]
    days = compared_days(**{name: getattr(changes, name) for name in DAYS})
    notes = CUT if changes.truncated else "", _OPEN if changes.partial else ""
    about = changes.differs or only(changes.filters)
    note = joined(days, about, *notes)
    yield Table(changes.name, columns, note).head(top)


@describe.register
def _of_outcomes(outcomes: CollectedOutcomes, top: int = MOST_ROWS) -> Iterator[Part]:
    failed = len(outcomes.failed)
    stored = sum(outcome.stats.from_store for outcome in outcomes.succeeded)
    by_name = {column.name: column for column in outcomes._table()}  # noqa: SLF001
    names = ("first_day", "last_day", *TOTALS, *(("error",) if failed else ()))
    title = f"{len(outcomes):,} quer{'y' if len(outcomes) == 1 else 'ies'}"
    periods = {*zip(*(by_name[name].cells for name in names[:2]), strict=True)}
    # The only period is in the title, so that a narrow terminal has room for errors.
    if len(known := periods - {(None, None)}) == 1:
        title, names = f"{title}, {days_text(*known.pop())}", names[2:]
    columns = [
        column_of("", [label_of(outcome.query) for outcome in outcomes]),
        *(by_name[name] for name in names if name in by_name),
    ]
    note = joined(
        f"{failed:,} failed" if failed else "",
        f"{stored:,} from the store" if stored else "",
        _lists_of(outcomes),
    )
    yield Table(title, columns, note).head(top)


@describe.register
def _of_comparisons(comparisons: Comparisons, top: int = MOST_ROWS) -> Iterator[Part]:
    # Without totals, a website has no row.
    totals = comparisons.totals[:1]
    rows = [row for total in totals for row in comparisons._largest(total)]  # noqa: SLF001
    columns = [column_of("", [row.label for row in rows])]
    title = counted(len(comparisons), "comparison")
    days, before = [row.days for row in rows], [row.days_before for row in rows]
    # The only two periods are in the title.
    if len(periods := {*zip(days, before, strict=True)}) == 1:
        (both,) = periods
        title = ", ".join(filter(None, [title, " against ".join(filter(None, both))]))
    else:
        # A label has the days where another row is about the same.
        if not all(row.label.endswith(row.days) for row in rows):
            columns.append(column_of("period", days))
        columns.append(column_of("against", before))
    for total in totals:
        for ending, side in SIDES.items():
            cells = [getattr(row.change, side) for row in rows]
            columns.append(column_of(f"{total}{ending}", cells))
    failed = len(comparisons.failed)
    notes = _OPEN if comparisons.partial else "", f"{failed:,} failed" if failed else ""
    note = joined(comparisons.differs, *notes, _lists_of(comparisons))
    yield Table(title, columns, note).head(top)


def _lists_of(results: HasLists[Any]) -> str:
    """Which lists the results have besides what is shown: ``"lists: pages"``."""
    names = [name for name, _ in results._lists()]  # noqa: SLF001 - as above
    return f"lists: {', '.join(names)}" if names else ""


# --- charts -----------------------------------------------------------------------


@attrs.frozen
class Bar:
    """One bar of a chart: the page views of one entry of a histogram."""

    count: int
    mark: str
    """Why it does not count a whole hour, day, week…; empty if it does."""
    label: str
    """Its time: ``"Thu 2026-01-01 05:00"``."""
    tick: str
    """Its time, below an axis: ``"01 Jan"``."""
    year: str
    tip: str
    """Its time and numbers, as the text of a tooltip."""


@attrs.frozen(repr=False)
class Chart(Table):
    """A histogram, which is drawn; its changes are a table."""

    bars: Sequence[Bar] = ()
    """The last bars, as many as fit into a chart."""


def _bars(entries: Entries[HistogramEntry]) -> Iterator[Bar]:
    look = "%a %Y-%m-%d", "%d %b"
    # Entries do not name their interval: these are months, or years.
    if len(entries) > 1 and all(entry.date.day == 1 for entry in entries):
        is_year = all(entry.date.month == 1 for entry in entries)
        look = ("%Y", "year") if is_year else ("%b %Y", "%b")
    return (_bar(entry, *look) for entry in entries)


def _bar(entry: HistogramEntry, label: str, tick: str) -> Bar:
    label, tick = f"{entry.date:{label}}", f"{entry.date:{tick}}"
    if entry.hour is not None:
        again = AGAIN if entry.start and entry.start.fold else ""
        hour = f"{entry.hour:02}:00{again}"
        label, tick = f"{label} {hour}", f"{tick} {hour}"
    numbers = f"{cell(entry.pageviews)} page views, {cell(entry.visitors)} visitors"
    mark = marks(partial=entry.partial, clipped=entry.clipped)
    tip = ", ".join(filter(None, [f"{label}: {numbers}", mark]))
    return Bar(entry.pageviews, mark, label, tick, f"{entry.date:%Y}", tip)


def chart_note(chart: Chart, which: str) -> str:
    """The note below a chart: why some bars are not whole, and what is left out."""
    shown, rows = len(chart.bars), len(chart.body[0].cells)
    why = any_of(bar.mark for bar in chart.bars if bar.mark)
    last = f"the last {shown:,} of {rows:,}" if shown < rows else ""
    return joined(why and f"{which} {why}", last, chart.note)
