"""Compare collected outcomes of many websites with those of another period."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, get_args

import attrs

from sitestats._common.errors import FieldNotRequestedError, warn
from sitestats._common.fields import ListName, TotalName
from sitestats._common.text import shown
from sitestats._query.builder import requested
from sitestats._query.units import ending

from .comparison import Change, Changes, Comparison, columns_of_changed_totals
from .display import draw
from .entries import check_list
from .many_results import ManyResults
from .outcome_frames import failed_warning, outcome_error, period_of
from .outcomes import Failed, Outcome, Succeeded
from .tables import Column, count_rows, named, shared, stacked

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .stats import Stats


@attrs.frozen
class Pair:
    """What is compared: the outcome of a query and that of the one before."""

    now: Outcome | None
    """None where the later outcomes have no such query."""
    before: Outcome | None
    """None where the earlier outcomes have no such query."""

    @property
    def either(self) -> Outcome:
        """The outcome of now, or that of before where there is none."""
        either = self.now or self.before
        assert either is not None
        return either

    @property
    def hostname(self) -> str:
        """The website."""
        return self.either.query.hostname

    @property
    def days(self) -> str:
        """The days of the later period; a month by its name."""
        _, first, last = period_of(self.either)
        if first is None or last is None or first == last:
            return str(first or "")
        if first.day == 1 and last == ending(first, "month"):
            return f"{first:%Y-%m}"
        return f"{first} to {last}"

    @property
    def comparison(self) -> Comparison | None:
        """The comparison, None where one of the two has no statistics."""
        now, before = self.stats
        return None if now is None or before is None else Comparison(now, before)

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, of both periods."""
        sides = (self.now, self.before)
        return tuple(side for side in sides if isinstance(side, Failed))

    def total(self, name: TotalName) -> Change:
        """One total in both periods, None where it is not known."""
        now, before = self.stats
        return Change(getattr(now, name, None), getattr(before, name, None))

    @property
    def stats(self) -> tuple[Stats | None, Stats | None]:
        """The statistics of both, None where there are none."""
        now, before = self.now, self.before
        return (
            None if now is None else now.stats,
            None if before is None else before.stats,
        )


class Comparisons(ManyResults[Comparison, ListName]):
    """Many websites compared, one by one: ``outcomes.compare_to(before)``.

    It is a sequence of a ``Comparison`` for each query that succeeded in both
    periods, in the order of the queries. Frames have a row for the others too. It
    shows itself as a table of the first total that was requested.

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

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._pairs = tuple(pairs)
        found = (pair.comparison for pair in self._pairs)
        self._items = tuple(one for one in found if one is not None)

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, of both periods."""
        return tuple(side for pair in self._pairs for side in pair.failed)

    @property
    def unmatched(self) -> tuple[Succeeded, ...]:
        """The outcomes with statistics whose website has none in the other period."""
        return tuple(
            side
            for pair in self._pairs
            if pair.comparison is None
            for side in (pair.now, pair.before)
            if isinstance(side, Succeeded)
        )

    @property
    def partial(self) -> bool:
        """Whether one of the periods was not over when the service responded."""
        return any(comparison.partial for comparison in self)

    @property
    def totals(self) -> tuple[TotalName, ...]:
        """The totals that some result has, in the document's order."""
        results = [
            side.stats
            for pair in self._pairs
            for side in (pair.now, pair.before)
            if isinstance(side, Succeeded)
        ]
        names: tuple[TotalName, ...] = get_args(TotalName)
        return tuple(n for n in names if any(n in stats for stats in results))

    # --- frames and plots ---------------------------------------------------------

    def largest(self, total: TotalName) -> Sequence[tuple[str, Change]]:
        """The changes of one total, the largest first, as the table and the plot show
        them: each with its host name, and its days where several have the same one.

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
        if total not in self.totals:
            raise FieldNotRequestedError(
                f"no result has {shown(total)}: add it to the queries by .fields(…)",
                name=total,
            )
        times = Counter(pair.hostname for pair in self._pairs)
        labelled = [
            (
                f"{pair.hostname}, {pair.days}"
                if times[pair.hostname] > 1
                else pair.hostname,
                pair.total(total),
            )
            for pair in self._pairs
        ]
        return sorted(labelled, key=lambda one: -abs(one[1].absolute or 0))

    def to_pandas(self, field: ListName | None = None) -> pd.DataFrame:
        """The changes as one pandas data frame (the extra ``pandas``).

        First are the website's ``hostname``, the ``timezone``, the ``first_day`` and
        the ``last_day`` of the period, and ``first_day_before`` and
        ``last_day_before`` of the other one. Without a *field* there is a row for
        each query: each total, as ``visitors``, ``visitors_before``,
        ``visitors_change`` and ``visitors_percent``, ``partial``, ``error`` and the
        index of the ``query``. With a list's name there are the columns and rows that
        the changes of each website have by themselves.

        A query that failed, or that one period lacks, has nothing on that side of its
        row. In a frame of a list it can have no rows, so there is a
        ``SiteStatsWarning``; see ``failed`` and ``unmatched``.

        Args:
            field: A list, such as ``"pages"``.

        Raises:
            MissingExtraError: pandas is not installed.
            FieldNotRequestedError: There is no such list, or a query did not
                request it.
        """
        return super().to_pandas(field)

    def plot(self, total: TotalName | None = None, ax: Axes | None = None) -> Axes:
        """Draw a total of each website in both periods (the extra ``plot``).

        Args:
            total: Which one; the first that was requested when None.
            ax: The axes to draw into; new ones when None.

        Returns:
            The axes, with two bars for each of the 20 websites with the largest
            changes, or for as many as there is room for. The title has both periods, if
            they are those of all.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: No result has the total.

        >>> query = StatsQuery("semicomplete.com").fields("visitors")
        >>> now = client.stats.get_many([query.on("yesterday")]).collect()
        >>> before = client.stats.get_many([query.on("today-2d")]).collect()
        >>> len(now.compare_to(before).plot().patches)
        2
        """
        if total is None:
            total = self.totals[0] if self.totals else "pageviews"
        _ = self.largest(total)
        return draw(self, ax, total=total)

    def _tables(self) -> Iterator[tuple[str, Sequence[Column]]]:
        yield "totals", self._table()
        for name in get_args(ListName):
            having = [
                pair
                for pair in self._pairs
                if all(side is not None and name in side for side in pair.stats)
            ]
            if having:
                yield name, Comparisons(having)._table(name)  # noqa: SLF001 - its own

    # --- a sequence ---------------------------------------------------------------

    def _part(self, part: slice) -> Self:
        whole = [pair for pair in self._pairs if pair.comparison is not None]
        return type(self)(whole[part])

    @staticmethod
    def _hostname(item: Comparison) -> str:
        return item.now.query.hostname

    def _table(self, field: str | None = None) -> list[Column]:
        if field is None:
            rows = [_totals(pair, self.totals) for pair in self._pairs]
            columns = stacked([_totals(None, self.totals), *rows])
        else:
            check_list(field, get_args(ListName))
            rows = [_changes(pair, field) for pair in self._pairs]
            columns = stacked([_changes(None, field), *rows])
        counts = [*map(count_rows, rows)]
        about = [_about(pair) for pair in self._pairs]

        def of_pairs(*names: str) -> list[Column]:
            return shared({n: [one[n] for one in about] for n in names}, counts)

        first = of_pairs("hostname", "timezone", *_DAYS)
        last = of_pairs("query") if field else of_pairs("error", "query")
        return [*first, *columns, *last]

    def _warn(self) -> None:
        if self.failed:
            warn(failed_warning(self.failed, 2 * len(self._pairs)))
        if self.unmatched:
            names = ", ".join(one.query.hostname for one in self.unmatched[:3])
            warn(
                f"{len(self.unmatched)} of the outcomes have none in the other period "
                f"to compare with, and no rows here; .unmatched has them: {names}"
            )


def pairs_of(now: Iterable[Outcome], before: Iterable[Outcome]) -> list[Pair]:
    """Each outcome with the one before of the same website, page and filters: the
    n-th of those with the n-th. What is only before comes last.
    """
    earlier: defaultdict[Hashable, deque[Outcome]] = defaultdict(deque)
    for outcome in before:
        earlier[subject(outcome)].append(outcome)
    pairs: list[Pair] = []
    for outcome in now:
        same = earlier[subject(outcome)]
        pairs.append(Pair(outcome, same.popleft() if same else None))
    return [*pairs, *(Pair(None, one) for rest in earlier.values() for one in rest)]


def subject(outcome: Outcome) -> tuple[Any, ...]:
    """The website, the page, and the pairs of the filters of an outcome's query."""
    wanted = requested(outcome.query)
    filters = (pair for pair in wanted.params.items() if pair[0] not in _NO_FILTERS)
    return wanted.hostname, wanted.path, *filters


_NO_FILTERS: Final = frozenset(
    (
        *("version", "start", "end", "limit", "timezone", "info"),
        *("events", "interval", "fields"),
    )
)


# --- rows -------------------------------------------------------------------------


_DAYS: Final = ("first_day", "last_day", "first_day_before", "last_day_before")


def _about(pair: Pair) -> dict[str, Any]:
    zone: str | None = None
    days: list[dt.date | None] = []
    for side in (pair.now, pair.before):
        its_zone, *its_days = (None, None, None) if side is None else period_of(side)
        zone = zone or its_zone
        days += its_days
    errors = filter(None, map(outcome_error, (pair.now, pair.before)))
    return {
        "hostname": pair.hostname,
        "timezone": zone,
        **dict(zip(_DAYS, days, strict=True)),
        "error": "; ".join(errors) or None,
        "query": pair.either.index,
    }


def _totals(pair: Pair | None, totals: Sequence[TotalName]) -> Sequence[Column]:
    """The row of a pair; none for None."""
    if pair is None:
        return [*columns_of_changed_totals(totals), named("partial", [])]
    comparison = pair.comparison
    partial = None if comparison is None else comparison.partial
    changes: dict[TotalName, Change] = {name: pair.total(name) for name in totals}
    return [*columns_of_changed_totals(changes), named("partial", [partial])]


def _changes(pair: Pair | None, field: Any) -> Sequence[Column]:
    """The rows of a pair; none for None."""
    comparison = None if pair is None else pair.comparison
    changes = Changes(field, ()) if comparison is None else comparison[field]
    return changes._table()  # noqa: SLF001 - of the same layer
