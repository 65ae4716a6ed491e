"""Compare two periods: the change of each total, of each entry of a list, of each day.

``Comparison`` is of one query, ``Comparisons`` is of many.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Never,
    Self,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
)

import attrs
from msgspec.structs import replace

from sitestats._base.errors import FieldNotRequestedError, warn
from sitestats._base.fields import (
    COUNTS,
    TABLES,
    TOTALS,
    CountName,
    FieldsT_contra,
    TableName,
    TotalName,
    entry_counts,
)
from sitestats._base.text import counted, cut
from sitestats._base.zones import common_zone
from sitestats._public import Public
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._results import late
from sitestats._results.bases import Displayed, HasLists, Items, Table, draw
from sitestats._results.entries import Entries, HistogramEntry, check_list, check_name
from sitestats._results.outcomes import (
    ManyResults,
    Outcome,
    Succeeded,
    days_of,
    has_list,
    no_entries,
    total_of,
)
from sitestats._results.stats import Stats
from sitestats._results.tables import (
    Column,
    column_of,
    days_text,
    for_json,
    label_of,
    of_rows,
    to_dicts,
)
from sitestats._wire.messages import JsonValue

ComparedT = TypeVar("ComparedT", bound="Iterable[Comparison]")

SIDES: Final = {
    "": "now",
    "_before": "before",
    "_change": "absolute",
    "_percent": "percent",
}
"""What a frame has of each count: the column's ending, and the value."""

Direction: TypeAlias = Literal["up", "down", "same", "new", "gone", "unknown"]
"""How an entry changed; ``"unknown"`` if one of its counts is not known."""


# --- one number, one entry, one list ----------------------------------------------


@attrs.frozen
class Change(Public):
    """One number now and before.

    >>> change = Change(150, 120)
    >>> change.absolute, change.percent
    (30, 25.0)
    """

    now: float | None
    """The number in the requested period, or None if it is not known."""
    before: float | None
    """The number in the other period, or None if it is not known."""

    @property
    def absolute(self) -> float | None:
        """The difference, or None if one of the two is not known."""
        if self.now is None or self.before is None:
            return None
        return self.now - self.before

    @property
    def percent(self) -> float | None:
        """The difference in percent of ``before``, or None if that is 0 or one of the
        two is not known.
        """
        if self.absolute is None or not self.before:
            return None
        return 100 * self.absolute / self.before

    def __str__(self) -> str:
        grown = "" if self.percent is None else f" ({self.percent:+.1f} %)"
        return f"{self.before} → {self.now}{grown}"


@attrs.frozen
class EntryChange(Public):
    """One entry of a list in both periods."""

    value: Any
    """What is counted, such as a path, a country's code or an event; the day or hour
    of a histogram."""
    counts: Mapping[str, Change]
    """The change of each count, by name."""
    direction: Direction
    """How the first count changed."""
    before: Any = None
    """The other period's day or hour, of a histogram."""
    partial: bool = False
    """Whether its counts will still grow."""

    @property
    def pageviews(self) -> Change:
        """Page views."""
        return self.counts["pageviews"]

    @property
    def visitors(self) -> Change:
        """Visitors."""
        return self.counts["visitors"]

    @property
    def total(self) -> Change:
        """How often an event happened."""
        return self.counts["total"]


@attrs.frozen(repr=False)
class Changes(Items[EntryChange, Never]):
    """A list in both periods: the entries of now, then those that were only before.

    It acts as a sequence. An index is a position or an entry's value, and a slice
    returns ``Changes`` again. An entry that one of the lists lacks has 0 there, or None
    if the limit cut that list or if entries of it can't be read. An entry that a list
    has twice, with other counts, has None there. In a histogram, the first hour, day or
    week of one period is compared with the first one of the other, and so on.
    """

    name: str = attrs.field(kw_only=True)
    """The field, such as ``"pages"``."""
    truncated: bool = False
    """Whether the limit cut a list, so that entries may be missing."""
    partial: bool = False
    """Whether one of the periods was not over yet, so that its counts will grow."""
    key: str = "value"
    """The column of what is counted."""
    zone: str = "UTC"
    """The zone of a histogram's hours."""
    differs: str = ""
    """What differs besides the days: see ``Comparison.differs``."""

    def of(self, *directions: Direction) -> Changes:
        """The changes whose direction is one of *directions*.

        Raises:
            FieldNotRequestedError: There is no such direction.

        >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
        >>> gone = client.stats.compare(query)["pages"].of("gone")
        """
        for name in directions:
            check_name(name, get_args(Direction), "a direction")
        return attrs.evolve(
            self, items=[item for item in self if item.direction in directions]
        )

    def plot(
        self, count: CountName | None = None, *, ax: late.Axes | None = None
    ) -> late.Axes:
        """Draw each entry's count in both periods (the extra ``plot``).

        Args:
            count: The count; None for page views, or for the totals of events.
            ax: The axes to draw into; None makes new ones of pyplot.

        Returns:
            The axes, with two bars for each of the first 20 entries.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: The entries don't have this count.

        >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
        >>> axes = client.stats.compare(query)["pages"].of("up").plot("visitors")
        """
        names = entry_counts(self.name)
        name = count or names[0]
        check_name(name, names, "a count of an entry")
        return draw(self, ax, count=name)

    def _table(self, _field: None = None) -> Sequence[Column]:
        keys = {self.key: [item.value for item in self]}
        if self.name == "histogram":
            keys[f"{self.key}_before"] = [item.before for item in self]
        names = entry_counts(self.name)
        counts = {name: [item.counts[name] for item in self] for name in names}
        return [
            *(column_of(name, cells, self.zone) for name, cells in keys.items()),
            *_changed(counts),
            column_of("direction", [item.direction for item in self]),
            column_of("partial", [item.partial for item in self]),
        ]

    def _names(self) -> Sequence[object]:
        return [for_json(item.value) for item in self]


def changes_of(
    now: Entries[Any],
    before: Entries[Any],
    *,
    partial: bool = False,
    begins: tuple[dt.date | None, dt.date | None] = (None, None),
    interval: str | None = None,
) -> Changes:
    """The change of each entry of two lists of one field.

    Args:
        now: The list.
        before: The earlier one.
        partial: Whether one of the periods is not over.
        begins: The first days of both periods; None where they are not known.
        interval: The interval of a histogram.
    """
    is_histogram, names = now.name == "histogram", entry_counts(now.name)
    columns = now.entry_type.columns
    key = "start" if "start" in columns else columns[0]
    new = _by_place(now, key, begins[0], interval)
    old = _by_place(before, key, begins[1], interval)
    # The counts of other days, of entries below a cut, and of those that can't be read
    # are not known.
    unlisted = [
        None if is_histogram or entries.truncated or entries.incomplete else 0
        for entries in (now, before)
    ]
    changes = list[EntryChange]()
    for place in dict.fromkeys([*new, *old]):
        entry, earlier = new.get(place), old.get(place)
        counts = {
            n: Change(getattr(entry, n, unlisted[0]), getattr(earlier, n, unlisted[1]))
            for n in names
        }
        changes.append(
            EntryChange(
                value=getattr(entry, key, None if is_histogram else place),
                counts=counts,
                direction=_direction(counts[names[0]], entry, earlier),
                before=getattr(earlier, key, None) if is_histogram else None,
                partial=any(e.partial for e in (entry, earlier) if e)
                if is_histogram
                else partial,
            )
        )
    return Changes(
        changes,
        name=now.name,
        truncated=now.truncated or before.truncated,
        partial=partial,
        key=key,
        zone=common_zone([now.timezone]),
    )


def _by_place(
    entries: Entries[Any], key: str, begin: dt.date | None, interval: str | None
) -> dict[Any, Any]:
    """The entries by the key that matches the entries of two periods."""
    by_place = dict[Any, Any]()
    for entry in entries:
        place = getattr(entry, key)
        if entries.name == "histogram":
            place = _distance(entry, begin or entries[0].date, interval)
        # If two entries of one value differ, nothing tells which one is right.
        if by_place.setdefault(place, entry) != entry:
            unknown = dict.fromkeys(entry_counts(entries.name))
            by_place[place] = replace(entry, **unknown)
    return by_place


def _distance(
    entry: HistogramEntry, begin: dt.date, interval: str | None
) -> tuple[int, ...]:
    """How far an entry of a histogram is from the first one of its period."""
    day = entry.date
    match interval:
        case "year":
            return (day.year - begin.year,)
        case "month":
            return (12 * (day.year - begin.year) + day.month - begin.month,)
        case "week":
            # The first day of the calendar is a Monday.
            return ((day.toordinal() - 1) // 7 - (begin.toordinal() - 1) // 7,)
        case _:
            fold = entry.start.fold if entry.start else 0
            return (day - begin).days, entry.hour or 0, fold


def _direction(change: Change, now: object, before: object) -> Direction:
    if change.absolute is None:
        return "unknown"
    if now is None or before is None:
        return "gone" if now is None else "new"
    return "up" if change.absolute > 0 else "down" if change.absolute else "same"


def _changed(values: Mapping[str, Sequence[Change]]) -> list[Column]:
    """Four columns for each count: now, before, and the change of both kinds."""
    return [
        column_of(name + end, [getattr(o, side) for o in changes], can_be_missing=True)
        for name, changes in values.items()
        for end, side in SIDES.items()
    ]


# --- one query --------------------------------------------------------------------

_ROWS: Final = ("field", "value", "now", "before", "change", "percent", "direction")


@attrs.frozen(repr=False)
class Comparison(HasLists[TableName], Displayed, Generic[FieldsT_contra]):
    """Two periods of one query compared: totals, and every list.

    >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages").last(days=2)
    >>> comparison = client.stats.compare(query)
    >>> comparison.totals["visitors"].absolute
    125
    >>> comparison["pages"][0].direction
    'up'
    """

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
        return {
            name: Change(total_of(self.now, name), total_of(self.before, name))
            for name in TOTALS
            if name in self.now.requested and name in self.before.requested
        }

    @property
    def lists(self) -> Mapping[TableName, Changes]:
        """The changes of every list that both results have, by name, with the
        histogram and events.
        """
        return {name: self[name] for name in TABLES if name in self}

    def __contains__(self, name: object) -> bool:
        return name in TABLES and name in self.now and name in self.before

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name in TABLES if name in self]

    def __getitem__(self, name: TableName) -> Changes:
        """The changes of one list.

        Raises:
            FieldNotRequestedError: The query did not request it, or it is not a list.
        """
        check_list(name)
        now, before = self.now, self.before
        changes = changes_of(
            getattr(now, name),
            getattr(before, name),
            partial=self.partial,
            begins=(now.first_day, before.first_day),
            interval=parameters_of(now.query).interval,
        )
        return attrs.evolve(changes, differs=self.differs)

    @property
    def differs(self) -> str:
        """What differs besides the days: the website, page, filters, or the number of
        days; empty without a difference. Every form of a comparison shows it.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> other = query.between("today-3d", "today-2d")
        >>> client.stats.compare(query, against=other).differs
        '1 day against 2 days'
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
                *(name, item.value, change.now, change.before),
                *(change.absolute, change.percent, item.direction),
            )
            for name, changes in self.lists.items()
            if name != "histogram"
            for item in changes
            if (change := next(iter(item.counts.values()))).absolute
        )
        largest = sorted(known, key=lambda row: -abs(row[4] or 0))
        return Table("largest changes", of_rows(_ROWS, largest[:rows]))

    def to_dict(self) -> dict[str, JsonValue]:
        """The comparison as plain values, ready for JSON: the website, both periods,
        the totals and the rows of each list, by the names that frames have.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> values = client.stats.compare(query).to_dict()
        >>> values["visitors"], values["visitors_before"], values["visitors_change"]
        (244, 295, -51)
        """
        (totals,) = to_dicts(self._table())
        values: dict[str, JsonValue] = {**totals, "path": self.now.path}
        values |= {name: [*changes.to_dicts()] for name, changes in self.lists.items()}
        return values

    def plot(
        self,
        field: TableName | None = None,
        count: CountName = "pageviews",
        *,
        ax: late.Axes | None = None,
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
            count: The count to draw.
            ax: The axes to draw into; None makes new ones of pyplot.

        Returns:
            The axes, with the website and both periods as the title.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: The query did not request the field, it is not a
                list, the count does not exist, or the results have nothing to compare.

        >>> query = StatsQuery("semicomplete.com").fields("histogram", "pages")
        >>> comparison = client.stats.compare(query.last(days=2))
        >>> len(comparison.plot().lines)
        2
        >>> comparison.plot("pages").get_title(loc="left").splitlines()[0]
        'semicomplete.com: pages'
        """
        check_name(count, COUNTS, "a count of an entry")
        field = field or next(iter(self.lists), None)
        if field is not None:
            _ = self[field]
        elif not self.totals:
            raise FieldNotRequestedError(
                "there is nothing to compare: add 'histogram' to the query's fields",
                name="histogram",
            )
        return draw(self, ax, field=field or "", count=count)

    def _table(self, field: str | None = None) -> Sequence[Column]:
        if field is not None:
            return self[cast("TableName", field)]._table()  # noqa: SLF001 - of this module
        sides = (Succeeded(stats.query, 0, stats) for stats in (self.now, self.before))
        # The row of a single query leaves out the error and the index.
        return Comparisons.of([ComparedPair(*sides)])._table()[:-2]  # noqa: SLF001

    def _lists(self) -> Iterator[tuple[str, Comparison]]:
        return ((name, self) for name in self.lists)

    def _queries(self) -> Sequence[StatsQuery]:
        return [self.query, self.before.query]

    def __repr__(self) -> str:
        parts = [repr(label_of(self.query))]
        parts += [f"{name}={change}" for name, change in self.totals.items()]
        parts += ["partial=True"] if self.partial else []
        parts += [f"differs={self.differs!r}"] if self.differs else []
        return f"Comparison({', '.join(parts)})"


def _length(stats: Stats) -> str:
    if stats.first_day is None or stats.last_day is None:
        return "days that are not known"
    return counted((stats.last_day - stats.first_day).days + 1, "day")


# --- many queries -----------------------------------------------------------------


@attrs.frozen
class ComparedPair(Public):
    """Two outcomes to compare: of a query, and of the same for the period before."""

    now: Outcome | None
    """The later outcome, or None if there is no such query."""
    before: Outcome | None
    """The earlier outcome, or None if there is no such query."""

    @property
    def sides(self) -> tuple[Outcome, ...]:
        """The one or two outcomes."""
        return tuple(side for side in (self.now, self.before) if side is not None)

    @property
    def comparison(self) -> Comparison | None:
        """The comparison; None where one of the two has no statistics."""
        results = [side.stats for side in self.sides if side.stats is not None]
        return Comparison(*results) if len(results) == 2 else None  # noqa: PLR2004

    def total(self, name: str) -> Change:
        """One total in both periods, None where it is not known."""
        now, before = (one.stats if one else None for one in (self.now, self.before))
        return Change(total_of(now, name), total_of(before, name))

    def cells(self, field: str | None, totals: Sequence[str]) -> Sequence[Column]:
        """The cells of a frame: the change of each of *totals*, or of a list."""
        whole = self.comparison
        if field is None:
            return [
                *_changed({name: [self.total(name)] for name in totals}),
                column_of("partial", [whole and whole.partial]),
                column_of("differs", [whole and whole.differs]),
            ]
        if whole is not None and all(has_list(side, field) for side in self.sides):
            return whole._table(field)  # noqa: SLF001 - of this module
        nothing = no_entries(field, self.now or self.before)
        return changes_of(nothing, nothing)._table()  # noqa: SLF001 - of this module


@attrs.frozen(repr=False)
class Comparisons(ManyResults[Comparison, TableName]):
    """Many queries compared, one by one: ``client.stats.compare(queries)``, or
    ``outcomes.compare_to(before)``.

    It has a ``Comparison`` for each query that succeeded in both periods, in the order
    of the queries. An index is a position or a host name. A notebook shows a table of
    the first requested total.

    A frame begins with the ``hostname``, the ``page`` and the ``filters`` if some query
    has them, the ``timezone``, ``first_day`` and ``last_day`` of the period, and
    ``first_day_before`` and ``last_day_before`` of the other one. Without a list's name
    each query has a row: each total, as ``visitors``, ``visitors_before``,
    ``visitors_change`` and ``visitors_percent``, ``partial``, ``differs``, ``error``
    and the index of the ``query``. With a list's name it has the rows of each
    ``Changes``.

    A query that failed, or that one period lacks, has nulls on that side of its row. In
    a frame of a list it has no rows, and you get a ``SiteStatsWarning``; see ``failed``
    and ``unmatched``.

    >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages").limit(5)
    >>> now = client.stats.get_many([query.on("yesterday")]).collect()
    >>> before = client.stats.get_many([query.on("today-2d")]).collect()
    >>> comparisons = now.compare_to(before)
    >>> comparisons[0].totals["visitors"].absolute
    -51
    >>> growth = comparisons.to_pandas("pages")
    >>> len(growth.nlargest(3, "pageviews_change"))
    3
    """

    _pairs: tuple[ComparedPair, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[ComparedPair]) -> Self:
        """The comparison of each pair that has results on both sides."""
        pairs = tuple(pairs)
        return cls([whole for pair in pairs if (whole := pair.comparison)], pairs)

    @property
    def unmatched(self) -> tuple[Succeeded, ...]:
        """The outcomes with statistics, where the other period has no statistics."""
        alone = (pair for pair in self._pairs if pair.comparison is None)
        return tuple(o for pair in alone for o in pair.sides if o.stats is not None)

    @property
    def partial(self) -> bool:
        """Whether one of the periods was not over when the service responded."""
        return any(comparison.partial for comparison in self)

    @property
    def differs(self) -> str:
        """What differs besides the days, as of a ``Comparison``, each difference once.

        >>> march = StatsQuery("semicomplete.com").fields("visitors").during("2026-03")
        >>> client.stats.compare([march], against="previous-month").differs
        '31 days against 28 days'
        """
        return cut("; ".join(filter(None, dict.fromkeys(one.differs for one in self))))

    @property
    def totals(self) -> tuple[TotalName, ...]:
        """The totals that some result has, in the document's order."""
        results = [outcome.stats or () for outcome in self._outcomes()]
        return tuple(name for name in TOTALS if any(name in stats for stats in results))

    def largest(self, total: TotalName) -> Sequence[tuple[str, Change]]:
        """The changes of one total, the largest first, as the table and the plot show
        them: each with its website, page and filters, and with its days where others
        have the same ones.

        Raises:
            FieldNotRequestedError: No result has the total.

        >>> query = StatsQuery("semicomplete.com").fields("visitors")
        >>> now, before = (
        ...     client.stats.get_many(query.between(*days).each("day")).collect()
        ...     for days in (("today-4d", "yesterday"), ("today-8d", "today-5d"))
        ... )
        >>> name, change = now.compare_to(before).largest("visitors")[0]
        >>> name.partition(",")[0], change
        ('semicomplete.com', Change(now=295, before=0))
        """
        check_name(total, self.totals, "a total of the results")
        labels = labels_of([pair.sides[0] for pair in self._pairs])
        changes = [pair.total(total) for pair in self._pairs]
        return sorted(
            zip(labels, changes, strict=True),
            key=lambda row: (row[1].absolute is None, -abs(row[1].absolute or 0)),
        )

    def plot(
        self, total: TotalName | None = None, *, ax: late.Axes | None = None
    ) -> late.Axes:
        """Draw a total of each website in both periods (the extra ``plot``).

        Args:
            total: Which one; the first that was requested when None.
            ax: The axes to draw into; new ones when None.

        Returns:
            The axes, with two bars for each of the 20 websites with the largest
            changes. The title has both periods, if all share them.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: No result has the total.

        >>> query = StatsQuery("semicomplete.com").fields("visitors")
        >>> now = client.stats.get_many([query.on("yesterday")]).collect()
        >>> before = client.stats.get_many([query.on("today-2d")]).collect()
        >>> len(now.compare_to(before).plot().patches)
        2
        """
        total = total or (self.totals[0] if self.totals else "pageviews")
        _ = self.largest(total)
        return draw(self, ax, total=total)

    def _lists(self) -> Iterator[tuple[str, Comparisons]]:
        for name in TABLES:
            if having := [p for p in self._pairs if name in (p.comparison or ())]:
                yield name, Comparisons.of(having)

    def _part(self, part: slice) -> Self:
        whole = [pair for pair in self._pairs if pair.comparison is not None]
        return self.of(whole[part])

    def _sides(self) -> Sequence[tuple[Outcome | None, Outcome | None]]:
        return [(pair.now, pair.before) for pair in self._pairs] or [(None, None)]

    def _cells(self, field: str | None) -> Iterator[Sequence[Column]]:
        totals = self.totals
        return (ComparedPair(*sides).cells(field, totals) for sides in self._sides())


def pairs_of(now: Iterable[Outcome], before: Iterable[Outcome]) -> list[ComparedPair]:
    """Each outcome with the one before of the same website, page and filters, the n-th
    with the n-th; last those that are only before.
    """
    earlier: defaultdict[str, deque[Outcome]] = defaultdict(deque)
    for outcome in before:
        earlier[label_of(outcome.query)].append(outcome)
    pairs: list[ComparedPair] = []
    for outcome in now:
        same = earlier[label_of(outcome.query)]
        pairs.append(ComparedPair(outcome, same.popleft() if same else None))
    return [
        *pairs,
        *(ComparedPair(None, outcome) for rest in earlier.values() for outcome in rest),
    ]


def compare_halves(
    outcomes: ManyResults[Outcome, Any], query: StatsQuery | Iterable[StatsQuery]
) -> Comparison[Any] | Comparisons:
    """Compare the first half of *outcomes* with the second half, one by one.

    Raises:
        SiteStatsError: One of the two outcomes of a single *query* failed.
    """
    if isinstance(query, StatsQuery):
        now, before = (outcome.result() for outcome in outcomes)
        return now.compare_to(before)
    half = len(outcomes) // 2
    return warned(Comparisons.of(map(ComparedPair, outcomes[:half], outcomes[half:])))


def warned(comparisons: ComparedT) -> ComparedT:
    """The comparisons, with one warning if periods share days."""
    if (most := max(map(_shared_days, comparisons), default=0)) > 0:
        warn(f"the two periods that are compared share {counted(most, 'day')}")
    return comparisons


def _shared_days(comparison: Comparison) -> int:
    """How many days of one website, page and filters are in both periods."""
    sides = comparison.now, comparison.before
    first = max(stats.first_day or dt.date.max for stats in sides)
    last = min(stats.last_day or dt.date.min for stats in sides)
    is_same = len({label_of(stats.query) for stats in sides}) == 1
    return (last - first).days + 1 if is_same else 0


def labels_of(outcomes: Sequence[Outcome]) -> list[str]:
    """What each outcome is about, with its days where others are about the same."""
    labels = [label_of(outcome.query) for outcome in outcomes]
    texts = [days_text(*days_of(outcome)[1:]) for outcome in outcomes]
    often = Counter(labels)
    return [
        f"{label}, {text}" if text and often[label] > 1 else label
        for label, text in zip(labels, texts, strict=True)
    ]
