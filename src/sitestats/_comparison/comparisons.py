"""``Comparisons``: many queries compared, one by one."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Never, Self

import attrs

from sitestats._base.errors import UnexpectedError
from sitestats._base.fields import TABLES, TOTALS, TableName, TotalName
from sitestats._base.text import cut
from sitestats._query.builder import StatsQuery
from sitestats._results import late
from sitestats._results.bases import as_tuple, draw
from sitestats._results.entries import check_name
from sitestats._results.outcomes import (
    ManyResults,
    Outcome,
    Succeeded,
    days_of,
    has_list,
    no_entries,
)
from sitestats._results.stats import Stats
from sitestats._results.tables import Column, days_text, label_of
from sitestats._wire.values import Value

from .changes import Change, changes_of
from .comparison import Comparison, cells_of_totals, total_change, warned


@attrs.frozen
class ComparedPair(Value):
    """Two outcomes to compare: of a query, and of the same for the period before."""

    _worked_out: ClassVar[tuple[str, ...]] = ("totals",)

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

    @property
    def totals(self) -> Mapping[TotalName, Change]:
        """The totals that one of the two has, by name."""
        now, before = (one.stats if one else None for one in (self.now, self.before))
        known = [stats for stats in (now, before) if stats is not None]
        return {
            name: total_change(now, before, name)
            for name in TOTALS
            if any(name in stats for stats in known)
        }

    def total(self, name: TotalName) -> Change:
        """One total in both periods, None where it is not known."""
        return self.totals.get(name, Change(None, None))

    def cells(
        self, field: TableName | None, totals: Sequence[TotalName]
    ) -> Sequence[Column]:
        """The cells of a frame: the change of each of *totals*, or of a list."""
        whole = self.comparison
        if field is None:
            return cells_of_totals({name: self.total(name) for name in totals}, whole)
        if whole is not None and all(has_list(side, field) for side in self.sides):
            return whole[field]._cells()  # noqa: SLF001 - of this folder
        nothing = no_entries(field, self.now or self.before)
        return changes_of(nothing, nothing)._cells()  # noqa: SLF001 - of this folder


class ComparedRow(NamedTuple):
    """What a pair of outcomes is about."""

    label: str
    days: str
    """The days of the period; empty where they are not known."""
    days_before: str
    """The days of the other period."""
    pair: ComparedPair


def _by_size(change: Change) -> tuple[bool, float]:
    """The largest change comes first, and what is not known last."""
    return change.absolute is None, -abs(change.absolute or 0)


def _compared(comparisons: Comparisons) -> tuple[Comparison, ...]:
    """The comparison of each pair that has results on both sides."""
    pairs = comparisons._pairs  # noqa: SLF001 - of this module
    return tuple(whole for pair in pairs if (whole := pair.comparison))


@attrs.frozen(repr=False)
class Comparisons(ManyResults[Comparison, TableName]):
    """Many queries compared, one by one: ``client.stats.compare(queries)``, or
    ``outcomes.compare_to(before)``.

    It has a ``Comparison`` for each query that succeeded in both periods, in the order
    of the queries. An index is a position or a host name. A notebook shows the
    totals, the largest change of the first one first.

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

    _worked_out: ClassVar[tuple[str, ...]] = ("differs",)

    _pairs: tuple[ComparedPair, ...] = attrs.field(default=(), converter=as_tuple)
    _items: tuple[Comparison, ...] = attrs.field(  # pyright: ignore[reportIncompatibleVariableOverride] - no argument
        default=attrs.Factory(_compared, takes_self=True), init=False
    )

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
        return [(row.label, row.pair.total(total)) for row in self._rows(total)]

    def _rows(self, total: TotalName | None = None) -> Sequence[ComparedRow]:
        """A row for each pair; of a *total*, the largest change comes first."""
        labels = labels_of([pair.sides[0] for pair in self._pairs])
        rows = [
            ComparedRow(
                label,
                days_text(*days_of(pair.now)[1:]),
                days_text(*days_of(pair.before)[1:]),
                pair,
            )
            for label, pair in zip(labels, self._pairs, strict=True)
        ]
        if total is None:
            return rows
        return sorted(rows, key=lambda row: _by_size(row.pair.total(total)))

    def plot(
        self,
        total: TotalName | None = None,
        *,
        ax: late.Axes | None = None,
        **_others: Never,
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
        return draw(self, ax, _others, total=total)

    def _lists(self) -> Iterator[tuple[str, Comparisons]]:
        for name in TABLES:
            if having := [p for p in self._pairs if name in (p.comparison or ())]:
                yield name, Comparisons(having)

    def _part(self, part: slice) -> Self:
        whole = [pair for pair in self._pairs if pair.comparison is not None]
        return type(self)(whole[part])

    def _sides(self) -> Sequence[tuple[Outcome | None, Outcome | None]]:
        return [(pair.now, pair.before) for pair in self._pairs] or [(None, None)]

    def _cells(self, field: Any) -> Iterator[Sequence[Column]]:
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


def _result(outcome: Outcome) -> Stats:
    """The result of *outcome*, or the error that ``get`` raises: the error of a hook,
    or the warning, itself.
    """
    error = outcome.error
    if isinstance(error, UnexpectedError) and isinstance(error.__cause__, Exception):
        raise error.__cause__
    return outcome.result()


def compare_pairs(
    outcomes: Iterable[Outcome], query: StatsQuery | Iterable[StatsQuery]
) -> Comparison[Any] | Comparisons:
    """Compare *outcomes* that come in pairs: of a query, and of the one against it.

    Raises:
        Exception: What ``get`` raises, where one of the two outcomes of a single
            *query* failed.
    """
    both = iter(outcomes)
    # Both have the index of the query, among those to compare.
    pairs = [
        ComparedPair(*(attrs.evolve(outcome, index=index) for outcome in pair))
        for index, pair in enumerate(zip(both, both, strict=True))
    ]
    if isinstance(query, StatsQuery):
        now, before = map(_result, pairs[0].sides)
        return now.compare_to(before)
    return warned(Comparisons(pairs))


def labels_of(outcomes: Sequence[Outcome]) -> list[str]:
    """What each outcome is about, with its days where others are about the same."""
    labels = [label_of(outcome.query) for outcome in outcomes]
    texts = [days_text(*days_of(outcome)[1:]) for outcome in outcomes]
    often = Counter(labels)
    return [
        f"{label}, {text}" if text and often[label] > 1 else label
        for label, text in zip(labels, texts, strict=True)
    ]
