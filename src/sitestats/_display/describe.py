"""Describe results: headings, tables and charts, as texts.

``describe`` has one function for each type of result. HTML, Markdown, terminals and
reprs show what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any, Final, NamedTuple, TypeAlias, cast

import attrs

from sitestats._base.errors import UsageError
from sitestats._base.fields import TOTALS
from sitestats._base.text import counted, shown
from sitestats._comparison.changes import DAYS, OF_HOURS, Change, Changes
from sitestats._comparison.comparison import Comparison
from sitestats._comparison.comparisons import Comparisons
from sitestats._display.labels import (
    AGAIN,
    COUNT_OF_BARS,
    CUT,
    MOST_ROWS,
    NO_ENTRIES,
    NOT_OVER,
    OF_FILTERED,
    against,
    any_of,
    cell,
    heading,
    joined,
    marks,
    period,
    text_in,
)
from sitestats._results.bases import Displayed, HasLists, Table
from sitestats._results.entries import Entries, HistogramEntry
from sitestats._results.outcomes import CollectedOutcomes
from sitestats._results.stats import Stats
from sitestats._results.tables import (
    Column,
    column_of,
    compared_days,
    count_rows,
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
    numbers: Sequence[tuple[str, str]] = ()
    """The name of each total, and its number."""


class Shown(NamedTuple):
    """A column as it is shown."""

    heading: str
    texts: Sequence[str]
    column: Column
    highest: int = 0
    """The number whose bar fills the cell; 0 for columns without bars."""


def as_shown(column: Column, field: str = "") -> Shown:
    """A column of the entries of *field* as it is shown."""
    texts = [text_in(column, value, field) for value in column.cells]
    return Shown(column.heading or heading(column.name), texts, column)


@attrs.frozen
class Grid:
    """A table as it is shown."""

    title: str
    """Stands above; empty for a list, whose first heading it is."""
    columns: Sequence[Shown]
    """None where there are no rows: the note says so then."""
    note: str = ""

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """The texts of each row."""
        return zip(*(column.texts for column in self.columns), strict=True)


def grid_of(table: Table, top: int) -> Grid:
    """The first *top* rows of a table, as they are shown."""
    table = table.head(top)
    title = heading(table.title)
    is_list = table.body[0].name in {"value", "name"}
    if not count_rows(table.body):
        nothing = NO_ENTRIES if is_list else "none"
        return Grid(title, (), joined(nothing, table.note))
    columns = [as_shown(column, table.title) for column in table.body]
    if is_list:
        names, counts, *others = columns
        highest = max(value or 0 for value in counts.column.cells)
        columns = [
            names._replace(heading=title),
            counts._replace(highest=highest),
            *others,
        ]
        title = ""
    return Grid(title, columns, table.note)


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
    is_hour: bool
    tip: str
    """Its time and numbers, as the text of a tooltip."""


@attrs.frozen
class Chart:
    """A histogram with one entry or more."""

    bars: Sequence[Bar]
    """The last bars, as many as fit."""
    entries: int
    about: str
    grid: Grid
    """What a repr shows."""

    @property
    def highest(self) -> int:
        """The number of page views whose bar is the longest; never 0."""
        return max([1, *(bar.count for bar in self.bars)])

    def last(self, most: int) -> Chart:
        """The chart with the last bars alone."""
        return attrs.evolve(self, bars=self.bars[-most:])

    def note(self, which: str) -> str:
        """The note below: why some bars are not whole, and what is left out."""
        drawn = len(self.bars)
        why = any_of(bar.mark for bar in self.bars if bar.mark)
        last = f"the last {drawn:,} of {self.entries:,}" if drawn < self.entries else ""
        return joined(why and f"{which} {why}", last, self.about)


Part: TypeAlias = Heading | Grid | Chart


@singledispatch
def describe(result: Displayed, top: int = MOST_ROWS) -> Iterator[Part]:
    """The parts of *result*, from top to bottom, with *top* rows of each table.

    Raises:
        UsageError: It is not a result, or *top* is not a number of rows.
    """
    if not isinstance(cast("object", result), Displayed):
        raise UsageError(
            f"{shown(result)} is not a result: give that of client.stats.get"
        )
    yield from describe(result._displayed(), top)  # noqa: SLF001 - see _of_entries


@describe.register
def _of_table(table: Table, top: int = MOST_ROWS) -> Iterator[Part]:
    days = {name: table.same.get(name) for name in DAYS}
    note = joined(table.note, compared_days(**days))
    yield grid_of(attrs.evolve(table, note=note), top)


@describe.register
def _of_stats(stats: Stats, top: int = MOST_ROWS) -> Iterator[Part]:
    names = [name for name in stats.requested if name in stats]
    totals = [(heading(n), cell(getattr(stats, n))) for n in names if n in TOTALS]
    yield Heading(label_of(stats.query), period(stats), totals)
    for name in names:
        if name not in TOTALS:
            # The heading names the filters.
            yield _table_of(getattr(stats, name), "", top)


@describe.register(Entries)
def _of_entries(entries: Entries[Any], top: int = MOST_ROWS) -> Iterator[Part]:
    yield _table_of(entries, only(entries.filters), top)


def _table_of(entries: Entries[Any], about: str, top: int) -> Grid | Chart:
    """The table of a list, or the chart of a histogram, with what it is *about*."""
    # The underscore is for users, not for this folder.
    columns = [
        attrs.evolve(column, heading=OF_FILTERED)
        if column.name == "share" and entries.filters
        else column
        for column in entries._table()  # noqa: SLF001
        if column.name != "share" or any(column.cells)
    ]
    note = joined(CUT if entries.truncated else "", about)
    if entries.name != "histogram":
        return grid_of(Table(entries.name, columns, note), top)
    if not entries:
        return Grid(COUNT_OF_BARS, (), joined(NO_ENTRIES, about))
    grid = grid_of(Table(entries.name, columns, about), MOST_ROWS)
    return Chart([*_bars(entries[-_MOST_BARS:])], len(entries), about, grid)


@describe.register
def _of_comparison(comparison: Comparison, top: int = MOST_ROWS) -> Iterator[Part]:
    differs = f"compared: {comparison.differs}" if comparison.differs else ""
    periods = filter(None, [period(comparison.now), against(comparison)])
    yield Heading(label_of(comparison.now.query), joined(", ".join(periods), differs))
    rows = [
        (heading(name), *_sides(change)) for name, change in comparison.totals.items()
    ]
    if rows:
        columns = of_rows(("", *_SIDES), rows)
        yield grid_of(Table("totals", columns), top)
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
        hidden.update(OF_HOURS)
    columns = [
        column
        for column in changes._cells()  # noqa: SLF001
        if column.name not in hidden and not column.name.startswith("visitors")
    ]
    days = compared_days(**{name: getattr(changes, name) for name in DAYS})
    notes = CUT if changes.truncated else "", _OPEN if changes.partial else ""
    about = changes.differs or only(changes.filters)
    note = joined(days, about, *notes)
    yield grid_of(Table(changes.name, columns, note), top)


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
    yield grid_of(Table(title, columns, note), top)


@describe.register
def _of_comparisons(comparisons: Comparisons, top: int = MOST_ROWS) -> Iterator[Part]:
    # The only two periods stand above, others beside the numbers.
    periods = {(row.days, row.days_before) for row in comparisons._rows()}  # noqa: SLF001 - as above
    both = periods.pop() if len(periods) == 1 else ()
    failed = len(comparisons.failed)
    about = joined(
        " against ".join(filter(None, both)),
        comparisons.differs,
        _OPEN if comparisons.partial else "",
        f"{failed:,} failed" if failed else "",
        _lists_of(comparisons),
    )
    yield Heading(counted(len(comparisons), "comparison"), about)
    for total in comparisons.totals:
        rows = comparisons._rows(total)  # noqa: SLF001
        changes = [(row.label, *_sides(row.pair.total(total))) for row in rows]
        columns = of_rows(("name", *_SIDES), changes)
        # A label has the days where another row is about the same.
        if periods and not all(row.label.endswith(row.days) for row in rows):
            columns.append(column_of("period", [row.days for row in rows]))
        if periods:
            columns.append(column_of("against", [row.days_before for row in rows]))
        yield grid_of(Table(total, columns), top)


_SIDES: Final = ("now", "before", "change", "percent")


def _sides(change: Change) -> tuple[float | None, ...]:
    return change.now, change.before, change.absolute, change.percent


def _lists_of(results: HasLists[Any]) -> str:
    """Which lists the results have besides what is shown: ``"lists: pages"``."""
    names = [name for name, _ in results._lists()]  # noqa: SLF001 - as above
    return f"lists: {', '.join(names)}" if names else ""


# --- charts -----------------------------------------------------------------------


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
    return Bar(
        entry.pageviews,
        mark,
        label,
        tick,
        year=f"{entry.date:%Y}",
        is_hour=entry.hour is not None,
        tip=tip,
    )
