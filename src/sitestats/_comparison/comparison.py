"""``Comparison``: two periods of one query, their totals and every list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, Never, TypeVar, cast

import attrs

from sitestats._base.errors import (
    FieldNotRequestedError,
    is_attribute,
    item_of,
    warn,
)
from sitestats._base.fields import (
    TABLES,
    TOTALS,
    CountName,
    FieldsT_contra,
    TableName,
    TotalName,
    entry_counts,
)
from sitestats._base.text import counted, shown
from sitestats._public import explained
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._results import late
from sitestats._results.bases import (
    Displayed,
    HasLists,
    Table,
    check_most,
    draw,
)
from sitestats._results.entries import check_list, check_name
from sitestats._results.outcomes import Succeeded, table_of, total_of
from sitestats._results.stats import Stats
from sitestats._results.tables import (
    Column,
    column_of,
    compared_days,
    label_of,
    of_rows,
    only,
    to_dicts,
)
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import Value

from .changes import DAYS, Change, Changes, Compared, changed_columns, changes_of

ComparedT = TypeVar("ComparedT", bound="Iterable[Comparison]")

_MONTHS: Final = 31 / 28
"""The ratio of the lengths of two months, which are compared all the same."""
_ROWS: Final = ("field", "value", "now", "before", "change", "percent", "direction")


@explained("plot")
@attrs.frozen(repr=False)
class Comparison(HasLists[TableName], Displayed, Value, Generic[FieldsT_contra]):
    """Two periods of one query compared: totals, and every list.

    >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages").last(days=2)
    >>> comparison = client.stats.compare(query)
    >>> comparison.totals["visitors"].absolute
    125
    >>> comparison["pages"][0].direction
    'up'
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("partial", "differs", "totals", "lists")

    now: Stats[FieldsT_contra]
    """The result of the requested period."""
    before: Stats[FieldsT_contra]
    """The result of the other period."""

    @property
    def query(self) -> StatsQuery:
        """The query of the requested period."""
        return self.now.query

    @property
    def partial(self) -> bool:
        """Whether one of the periods was not over when the service responded, so that
        the changes are not final.
        """
        return self.now.partial or self.before.partial

    @property
    def totals(self) -> Mapping[TotalName, Change]:
        """The totals that both queries requested, by name."""
        return Compared(
            (name, total_change(self.now, self.before, name))
            for name in TOTALS
            if name in self.now.requested and name in self.before.requested
        )

    @property
    def lists(self) -> Mapping[TableName, Changes]:
        """The changes of every list that both results have, by name, with the
        histogram and events.
        """
        return Compared((name, self[name]) for name in TABLES if name in self)

    def __contains__(self, name: object) -> bool:
        return name in TABLES and name in self.now and name in self.before

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name in TABLES if name in self]

    def __getitem__(self, name: TableName) -> Changes:
        """The changes of one list.

        Raises:
            FieldNotRequestedError: The query did not request it, or it is not a list.
        """
        if is_attribute(self, name):
            # Django asks for an item before the attribute, and so does dict.
            return cast("Changes", item_of(self, name))
        check_list(name)
        now, before = self.now, self.before
        changes = changes_of(
            item_of(now, name),
            item_of(before, name),
            partial=self.partial,
            begins=(now.first_day, before.first_day),
            interval=parameters_of(now.query).interval,
        )
        return attrs.evolve(changes, differs=self.differs, **self._days)

    @property
    def _days(self) -> Mapping[str, Any]:
        """The days of both periods, by the names of their columns."""
        now, before = self.now, self.before
        values = now.first_day, now.last_day, before.first_day, before.last_day
        return dict(zip(DAYS, values, strict=True))

    @property
    def differs(self) -> str:
        """What differs besides the days: the website, page, filters, or the number of
        days; empty without a difference. Every form of a comparison shows it.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> other = query.website("blog.semicomplete.com").on("today-2d")
        >>> client.stats.compare(query, against=other).differs
        'semicomplete.com against blog.semicomplete.com'
        """
        sides = ((label_of(o.query), _length(o)) for o in (self.now, self.before))
        differing = (pair for pair in zip(*sides, strict=True) if len({*pair}) > 1)
        return "; ".join(" against ".join(pair) for pair in differing)

    def largest(self, rows: int = 10) -> Table:
        """The largest changes of all lists, in one table that displays itself.

        They are of page views, or of how often an event happened, and known in both
        periods.

        >>> query = StatsQuery("semicomplete.com").fields("pages", "countries")
        >>> found = client.stats.compare(query.last(days=2)).largest(2)
        >>> [(row["field"], row["value"], row["change"]) for row in found.to_dicts()]
        [('countries', 'DE', 30), ('countries', 'TR', 24)]
        """
        known = (
            (
                name,
                item.value,
                change.now,
                change.before,
                change.absolute,
                change.percent,
                item.direction,
            )
            for name, changes in self.lists.items()
            if name != "histogram"
            for item in changes
            if (change := next(iter(item.counts.values()))).absolute
        )
        largest = sorted(known, key=lambda row: -abs(row[4] or 0))
        note = self.differs or only(parameters_of(self.query).filters)
        check_most(rows, "rows")
        columns = of_rows(_ROWS, largest[:rows])
        return Table("largest changes", columns, note, same=self._days)

    def rows(self) -> dict[str, JsonValue]:
        """The row of the totals, and the rows of each list by its name, ready for JSON:
        the values of the frames in one object.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> values = client.stats.compare(query).rows()
        >>> values["visitors"], values["visitors_before"], values["visitors_change"]
        (244, 295, -51)
        """
        (totals,) = to_dicts(self._table())
        rows: dict[str, JsonValue] = {**totals, "path": self.now.path}
        for name, changes in self.lists.items():
            rows[name] = [*changes.to_dicts()]
        return rows

    def plot(
        self,
        field: TableName | None = None,
        count: CountName | None = None,
        *,
        ax: late.Axes | None = None,
        **_others: Never,
    ) -> late.Axes:
        """Draw both periods (the extra ``plot``).

        A histogram has a line for each period, on the dates of the later one, or of the
        earlier one if it is longer: days and hours are matched from the first day on,
        months and years by their number. The line of the earlier period is dashed.
        A list, or totals where nothing else was requested, have two bars for each of
        the first 20 entries.

        Args:
            field: The list to draw; None for the histogram, else the first list, else
                the totals.
            count: The count of a list's entries; None for page views, or for the
                totals of events.
            ax: The axes to draw into; None makes new ones of pyplot.

        Returns:
            The axes, with the website and both periods as the title.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: The query did not request the field, it is not a
                list, the results have nothing to compare, or the entries don't have
                this count. Totals take no count: all of them are drawn.

        >>> query = StatsQuery("semicomplete.com").fields("histogram", "pages")
        >>> comparison = client.stats.compare(query.last(days=2))
        >>> len(comparison.plot().lines)
        2
        >>> comparison.plot("pages").get_title(loc="left").splitlines()[0]
        'semicomplete.com: pages'
        """
        field = field or next(iter(self.lists), None)
        if field is not None:
            _ = self[field]
            names = entry_counts(field)
            name = names[0] if count is None else count
            check_name(name, names, "a count of an entry")
            return draw(self, ax, _others, field=field, count=name)
        if not self.totals:
            raise FieldNotRequestedError(
                "there is nothing to compare: add 'histogram' to the query's fields",
                name="histogram",
            )
        if count is not None:
            raise FieldNotRequestedError(
                f"count={shown(count)} has no effect on totals, which are all drawn: "
                "leave it out, or add a list to the query's fields",
                name=str(count),
            )
        return draw(self, ax, _others, field="", count="")

    def _table(self, field: str | None = None) -> Sequence[Column]:
        if field is not None:
            return self[cast("TableName", field)]._table()  # noqa: SLF001 - of this module
        sides = [Succeeded(stats.query, 0, stats) for stats in (self.now, self.before)]
        names = [name for name in TOTALS if name in self.now or name in self.before]
        totals: dict[str, Change] = {
            name: total_change(self.now, self.before, name) for name in names
        }
        columns = table_of([(sides, cells_of_totals(totals, self))])
        # A single query has no index, and no error.
        return [one for one in columns if one.name not in {"query", "error"}]

    def _lists(self) -> Iterator[tuple[str, Comparison]]:
        return ((name, self) for name in self.lists)

    def _queries(self) -> Sequence[StatsQuery]:
        return [self.query, self.before.query]

    def __repr__(self) -> str:
        parts = [repr(label_of(self.query))]
        parts += filter(None, [compared_days(**self._days)])
        parts += [f"{name}={change}" for name, change in self.totals.items()]
        for name, changes in self.lists.items():
            parts.append(f"{name}=<{counted(len(changes), 'change')}>")
        parts += ["partial=True"] if self.partial else []
        parts += [f"differs={self.differs!r}"] if self.differs else []
        return f"Comparison({', '.join(parts)})"


def total_change(now: Stats | None, before: Stats | None, name: str) -> Change:
    """The change of a total. It is None on a side where it is not known."""
    return Change(total_of(now, name), total_of(before, name))


def cells_of_totals(
    totals: Mapping[str, Change], comparison: Comparison | None
) -> Sequence[Column]:
    """What the row of a compared query has in a frame of totals."""
    return [
        *changed_columns({name: [change] for name, change in totals.items()}),
        column_of("partial", [comparison and comparison.partial]),
        column_of("differs", [comparison and comparison.differs]),
    ]


def _days(stats: Stats) -> int:
    """How many days a result is about; 0 where it is not known."""
    if stats.first_day is None or stats.last_day is None:
        return 0
    return (stats.last_day - stats.first_day).days + 1


def _length(stats: Stats) -> str:
    days = _days(stats)
    return counted(days, "day") if days else "days that are not known"


def warned(comparisons: ComparedT) -> ComparedT:
    """The comparisons, with a warning if periods share days, and one if their lengths
    differ by more than those of months.
    """
    if (most := max(map(_shared_days, comparisons), default=0)) > 0:
        warn(f"the two periods that are compared share {counted(most, 'day')}")
    for lengths in ({_days(one.now), _days(one.before)} for one in comparisons):
        few, many = min(lengths), max(lengths)
        if few and many > few * _MONTHS:
            warn(
                f"periods of {few} and {many} days are compared, so totals differ by "
                "that, too: compare periods of one length, as against='previous-year'"
            )
            break
    return comparisons


def _shared_days(comparison: Comparison) -> int:
    """How many days of one website, page and filters are in both periods."""
    sides = comparison.now, comparison.before
    first = max(stats.first_day or dt.date.max for stats in sides)
    last = min(stats.last_day or dt.date.min for stats in sides)
    is_same = len({label_of(stats.query) for stats in sides}) == 1
    return (last - first).days + 1 if is_same else 0
