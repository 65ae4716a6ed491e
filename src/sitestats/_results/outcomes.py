"""Outcomes of many queries: results or errors, with frames, plots and retries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Final, Generic, Never, NoReturn, Self, TypeAlias, cast

import attrs

from sitestats._base.errors import (
    InvalidInputError,
    Problem,
    SiteStatsError,
    UsageError,
    warn,
)
from sitestats._base.fields import TABLES, TOTALS, FieldsT_contra, TableName
from sitestats._base.text import shown
from sitestats._configuration.settings import NOT_GIVEN, NotGiven
from sitestats._public import explained
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._query.periods import as_date
from sitestats._wire.values import Value

from . import late
from .bases import (
    Displayed,
    FieldT,
    HasLists,
    Items,
    ItemT_co,
    Table,
    check_most,
    draw,
)
from .entries import Entries, check_list, entry_class
from .stats import Stats
from .tables import (
    Column,
    beside,
    column_of,
    filters_of,
    filters_that_differ,
    label_of,
    stacked,
    subject,
)

# --- one outcome ------------------------------------------------------------------


@attrs.frozen
class Succeeded(Displayed, Value, Generic[FieldsT_contra]):
    """A query that succeeded.

    After a test of ``outcome.error is None``, a type checker knows the type of
    ``outcome.stats``.

    Example:
        >>> query = StatsQuery("semicomplete.com").fields("pageviews").last(days=4)
        >>> with client.stats.get_many([query]) as stream:
        ...     for outcome in stream:
        ...         if outcome.error is None:
        ...             print(outcome.index, outcome.stats.pageviews)
        0 1586
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("error",)

    query: StatsQuery
    """What was requested."""
    index: int
    """The query's position among all queries, from 0."""
    stats: Stats[FieldsT_contra]
    """The result."""
    error: None = attrs.field(default=None, init=False, repr=False)
    """None, as the query succeeded."""

    def result(self) -> Stats[FieldsT_contra]:
        """Return the result."""
        return self.stats

    def _displayed(self) -> Stats:
        return self.stats


def _said(error: SiteStatsError) -> tuple[type[SiteStatsError], str]:
    """What makes errors equal: of a copy or a pickle, too."""
    return type(error), str(error)


@attrs.frozen
class Failed(Displayed, Value):
    """A query that failed, and why.

    It does not affect the other queries.

    Example:
        >>> query = StatsQuery("nobody.example.com").fields("pageviews")
        >>> with client.stats.get_many([query]) as stream:
        ...     for outcome in stream:
        ...         if outcome.error is not None:
        ...             print(type(outcome.error).__name__)
        NotFoundError
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("stats",)

    query: StatsQuery
    """What was requested."""
    index: int
    """The query's position among all queries, from 0."""
    error: SiteStatsError = attrs.field(eq=_said)
    """What ``client.stats.get`` would have raised. An exception from outside this
    package is the cause of an ``UnexpectedError``.
    """
    stats: None = attrs.field(default=None, init=False, repr=False)
    """None, as the query failed."""

    def result(self) -> NoReturn:
        """Raise the error."""
        raise self.error

    def _displayed(self) -> Table:
        return Table(label_of(self.query), [column_of("", [error_of(self)])])


Outcome: TypeAlias = Succeeded[FieldsT_contra] | Failed
"""The outcome of one query: ``Outcome[Literal["visitors"]]`` names its fields."""


def error_of(outcome: Outcome | None) -> str | None:
    """Why a query failed; None for one that succeeded."""
    error = outcome and outcome.error
    return f"{type(error).__name__}: {error}" if error else None


def days_of(outcome: Outcome | None) -> tuple[Any, Any, Any]:
    """The time zone, the first and the last day of *outcome*.

    Without a response they are the requested ones, and None for words, whose days
    depend on the website's zone.
    """
    if outcome is None:
        return None, None, None
    stats, sent = outcome.stats, parameters_of(outcome.query).params
    if stats is not None:
        zone = stats.timezone or sent.get("timezone")
        return zone, stats.first_day, stats.last_day
    return sent.get("timezone"), as_date(sent.get("start")), as_date(sent.get("end"))


def total_of(stats: Stats | None, name: str) -> float | None:
    """A total; None where it is not known."""
    return getattr(stats, name) if stats is not None and name in stats else None


def has_list(outcome: Outcome | None, field: str) -> bool:
    """Whether entries of a list can be read, if it was requested; False without a
    response.
    """
    stats = outcome.stats if outcome else None
    # A list has both entries and a problem if some entries can't be read.
    return stats is not None and (
        field in stats or field not in stats._unread  # noqa: SLF001 - of results
    )


def no_entries(field: TableName, outcome: Outcome | None) -> Entries[Any]:
    """A list without entries, as the response to the query of *outcome* would have."""
    sent = parameters_of(outcome.query) if outcome else None
    if sent is None:
        return Entries(name=field, entry_type=entry_class(field, (), None))
    kind = entry_class(field, sent.fields, sent.interval)
    return Entries(name=field, entry_type=kind)


# --- many -------------------------------------------------------------------------

_PLACES: Final = ("hostname", "page", "filters", "", "truncated", "error", "query")
"""The order of the columns; all others are between those."""

Sides: TypeAlias = Sequence[Outcome | None]
"""The outcome of a query, or its outcomes in two periods; None is a missing outcome."""


@attrs.frozen(repr=False)
class ManyResults(HasLists[FieldT], Items[ItemT_co, FieldT], Generic[ItemT_co, FieldT]):
    """The results of many queries, in their order."""

    @abstractmethod
    def _sides(self) -> Sequence[Sides]:
        """The outcomes of each query; without queries, a query without outcomes."""

    @abstractmethod
    def _cells(self, field: str | None) -> Iterator[Sequence[Column]]:
        """What each query has in a frame: its totals, or the entries of a list."""

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, in the order of the queries."""
        return tuple(side for side in self._outcomes() if isinstance(side, Failed))

    def _outcomes(self) -> Sequence[Outcome]:
        return [side for sides in self._sides() for side in sides if side is not None]

    def _queries(self) -> Sequence[StatsQuery]:
        return [outcome.query for outcome in self._outcomes()]

    def _table(self, field: str | None = None) -> Sequence[Column]:
        if field is not None:
            check_list(field)
        rows = zip(self._sides(), self._cells(field), strict=True)
        firsts = (_first(sides) for sides in self._sides())
        differing = filters_that_differ(one.query for one in firsts if one is not None)
        columns = table_of(rows, field, differing)
        if not self._outcomes():
            return [attrs.evolve(column, cells=()) for column in columns]
        return columns

    def _names(self) -> Sequence[str]:
        return [*map(attrgetter("query.hostname"), self)]

    def _warn(self, field: str) -> None:
        missing = [
            f"{outcome.query.hostname} ({why})"
            for sides in self._sides()
            for outcome in sides
            if outcome and (why := _why_missing(outcome, sides, field))
        ]
        if missing:
            more = f", {len(missing) - 3} more" if len(missing) > 3 else ""  # noqa: PLR2004
            warn(
                f"{len(missing)} of {len(self._queries())} queries are missing here: "
                f"{', '.join(missing[:3])}{more}"
            )


def _why_missing(outcome: Outcome, sides: Sides, field: str) -> str | None:
    """Why an outcome has no rows in the frame of a list; None where it has."""
    if outcome.error or has_list(outcome, field):
        is_alone = not all(side and side.stats for side in sides)
        return error_of(outcome) or ("in one period alone" if is_alone else None)
    return f"{field} can't be read"


def _first(sides: Sides) -> Outcome | None:
    return next((side for side in sides if side is not None), None)


def table_of(
    rows: Iterable[tuple[Sides, Sequence[Column]]],
    field: str | None = None,
    differing: Sequence[str] = (),
) -> list[Column]:
    """The columns of a frame: of each query its outcomes, and the cells beside them.

    Each of the *differing* filters has a column of its own, for pivot tables.
    """
    columns = stacked(
        _of_query(sides, cells, field, differing) for sides, cells in rows
    )
    columns.sort(key=lambda o: _PLACES.index(o.name if o.name in _PLACES else ""))
    return columns


def _of_query(
    sides: Sides,
    cells: Sequence[Column],
    field: str | None,
    differing: Sequence[str] = (),
) -> Sequence[Column]:
    """The *cells* with what their rows are about: the query, its days, its errors."""
    outcome = _first(sides)
    values: dict[str, Any] = subject(outcome.query) if outcome else {"hostname": None}
    for ending, side in zip(("", "_before"), sides, strict=False):
        zone, first, last = days_of(side)
        values["timezone"] = values.get("timezone") or zone
        values |= {f"first_day{ending}": first, f"last_day{ending}": last}
    filters = filters_of(outcome.query) if outcome else {}
    values |= {name: filters.get(name) for name in differing}
    if field is None:
        values["error"] = "; ".join(filter(None, map(error_of, sides))) or None
    values["query"] = outcome.index if outcome else None
    return beside(values, cells)


# --- collected outcomes -----------------------------------------------------------

Collect: TypeAlias = Callable[[Sequence[StatsQuery], float | NotGiven | None], Any]
"""Runs other queries, with the client and the options that the outcomes are of, until a
deadline: outcomes, or what is awaited for them."""


def _in_order(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    return tuple(sorted(outcomes, key=lambda outcome: outcome.index))


@explained("plot")
@attrs.frozen(repr=False)
class CollectedOutcomes(
    ManyResults[Outcome[FieldsT_contra], TableName], Generic[FieldsT_contra]
):
    """The outcomes of all queries, in the order of the queries."""

    _items: tuple[Outcome[FieldsT_contra], ...] = attrs.field(
        default=(), converter=_in_order
    )
    _collect: Collect | None = attrs.field(
        default=None, eq=False, metadata={"in_json": False}
    )

    @property
    def succeeded(self) -> tuple[Succeeded[FieldsT_contra], ...]:
        """The outcomes with statistics, in the order of the queries."""
        return tuple(item for item in self._items if isinstance(item, Succeeded))

    def compare_to(self, before: Outcomes | AsyncOutcomes) -> late.Comparisons:
        """Compare these outcomes with those *before*, website by website.

        Two queries about the same website, page and filters are compared. If there are
        several, the first is compared with the first, the second with the second.

        Returns:
            A table, frames and a plot of both periods and their changes.

        >>> query = StatsQuery("semicomplete.com").fields("visitors")
        >>> queries = [query, query.website("blog.semicomplete.com")]
        >>> now, before = (
        ...     client.stats.get_many([query.on(day) for query in queries]).collect()
        ...     for day in ("yesterday", "today-2d")
        ... )
        >>> growth = now.compare_to(before).to_pandas()
        >>> growth[["hostname", "visitors", "visitors_before", "visitors_change"]]
                        hostname  visitors  visitors_before  visitors_change
        0       semicomplete.com     244.0            295.0            -51.0
        1  blog.semicomplete.com      72.0            103.0            -31.0
        """
        from sitestats._comparison.comparison import warned
        from sitestats._comparison.comparisons import Comparisons, pairs_of

        if not isinstance(cast("Any", before), CollectedOutcomes):
            message = (
                f"before has outcomes, which get_many(…).collect() returns, and is not "
                f"{shown(before)}"
            )
            raise InvalidInputError([Problem(message, where="compare_to")])
        return warned(Comparisons(pairs_of(self, before)))

    def plot(
        self,
        *,
        ax: late.Axes | Sequence[late.Axes] | late.AxesArray | None = None,
        most: int = 24,
        sharey: bool = False,
        **_others: Never,
    ) -> late.AxesArray:
        """Draw the histogram of each website, side by side (the extra ``plot``).

        All have the same time axis. Outcomes about one website, page and filters are
        drawn into the same axes if their days follow each other. A note says how many
        are left out. A ``SiteStatsWarning`` names queries that failed, or whose
        histogram can't be read. See ``Entries.plot``.

        Args:
            ax: The axes to draw into, in the order of the queries; their figure has
                the note and the legend, for which ``layout="constrained"`` makes room.
                None makes a new figure of pyplot, with as many as are needed.
            most: How many axes a new figure has at most.
            sharey: Whether all have the same scale.

        Returns:
            The axes, as an array with one dimension: ``axes[0].figure`` is the figure.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: A query did not request the histogram.

        >>> query = StatsQuery("semicomplete.com").fields("histogram").last(days=4)
        >>> queries = query.each(websites=client.websites.list())
        >>> axes = client.stats.get_many(queries).collect().plot(sharey=True)
        >>> [one.get_title(loc="left") for one in axes][:2]
        ['semicomplete.com', 'blog.semicomplete.com']
        """
        check_most(most, "most")
        axes: Any = draw(self, ax, _others, most=most, sharey=sharey)
        self._warn("histogram")
        return cast("late.AxesArray", axes)

    def _sides(self) -> Sequence[Sides]:
        return [(outcome,) for outcome in self._items or (None,)]

    def _cells(self, field: str | None) -> Iterator[Sequence[Column]]:
        requested = {n for outcome in self for n in parameters_of(outcome.query).fields}
        totals = [name for name in TOTALS if name in requested]
        for (outcome,) in self._sides():
            stats = outcome.stats if outcome else None
            if field is None:
                columns = [
                    column_of(name, [total_of(stats, name)], can_be_missing=True)
                    for name in totals
                ]
                yield [*columns, column_of("partial", [stats and stats.partial])]
            else:
                entries = no_entries(cast("TableName", field), outcome)
                if has_list(outcome, field):
                    entries = getattr(stats, field)
                last = {} if field == "histogram" else {"truncated": entries.truncated}
                yield beside(last, entries._table())  # noqa: SLF001 - of all results

    def _lists(self) -> Iterator[tuple[str, Self]]:
        for name in TABLES:
            if having := [one for one in self.succeeded if name in one.stats]:
                yield name, type(self)(having)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # A pickle leaves out the client, which may hold a credential.
        return type(self), (self._items,)

    def _collect_failed(self, deadline: float | NotGiven | None) -> Any:
        """Run the queries that failed."""
        if self._collect is None:
            raise UsageError(
                "these outcomes were pickled or made by hand, so they have no client: "
                "call get_many with [failed.query for failed in outcomes.failed]"
            )
        return self._collect([failed.query for failed in self.failed], deadline)

    def _with_retried(self, retried: Iterable[Outcome]) -> Self:
        """These outcomes with those *retried* in place of the failed ones."""
        indices = [failed.index for failed in self.failed]
        newer = [attrs.evolve(item, index=indices[item.index]) for item in retried]
        return type(self)([*self.succeeded, *newer], self._collect)


@attrs.frozen(repr=False)
class Outcomes(CollectedOutcomes[FieldsT_contra]):
    """The outcomes of all queries, in their order: ``get_many(…).collect()``.

    Each is a ``Succeeded`` or a ``Failed``. An index is a position or a host name, and
    a slice returns ``Outcomes`` again. A notebook shows them as a table, and they
    become frames, plots and comparisons. They can be pickled, without the client.

    ``to_pandas("pages")`` has a row for each entry of the list, in the order of the
    queries. The columns are ``hostname``, ``page`` and ``filters`` (if a query has
    them), ``timezone``, ``first_day`` and ``last_day`` of the response; an entry's
    values; ``truncated``, whether the limit cut the list (not for a histogram); and
    ``query``, the index of the query. A query that failed has no row, and you get a
    ``SiteStatsWarning``.

    ``to_pandas()`` has a row for each query: the same first columns, the requested
    totals, ``partial``, ``error`` and ``query``. A query that failed has its error, and
    its first and last day if it requested dates.

    Example:
        >>> query = StatsQuery("semicomplete.com").fields("countries").last(days=7)
        >>> query = query.limit(2)
        >>> queries = [query, query.website("blog.semicomplete.com")]
        >>> outcomes = client.stats.get_many(queries).collect()
        >>> outcomes.to_pandas("countries")[["hostname", "value", "pageviews"]]
                        hostname value  pageviews
        0       semicomplete.com    US        535
        1       semicomplete.com    DE        108
        2  blog.semicomplete.com    US        222
        3  blog.semicomplete.com    DE         29
        >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
        >>> queries = [query, query.website("nobody.example")]
        >>> outcomes = client.stats.get_many(queries).collect()
        >>> outcomes[0].result().visitors, len(outcomes.failed)
        (953, 1)
        >>> outcomes[:1].to_dicts()[0]["visitors"]
        953
        >>> failed = Failed(query, 0, NotFoundError("unknown", status_code=404))
        >>> len(Outcomes([failed]).failed)  # made in a unit test
        1
    """

    def retry(
        self, *, deadline: float | NotGiven | None = NOT_GIVEN
    ) -> Outcomes[FieldsT_contra]:
        """Request again what failed, and return all outcomes.

        Each outcome keeps its index. The concurrency, the progress and the deadline
        are as for ``get_many``; the deadline is counted from now.

        Args:
            deadline: Seconds for all requests; None sets no deadline.

        Raises:
            ConfigurationError: *deadline* is wrong.
            UsageError: The outcomes were pickled, or made by hand.

        Example:
            >>> emulator.fail_next(3, status=503)
            >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
            >>> impatient = client.with_options(retries=0)
            >>> outcomes = impatient.stats.get_many([query] * 4).collect()
            >>> len(outcomes.failed), len(outcomes.retry().failed)
            (3, 0)
        """
        if not self.failed:
            return self
        return self._with_retried(self._collect_failed(deadline))


@attrs.frozen(repr=False)
class AsyncOutcomes(CollectedOutcomes[FieldsT_contra]):
    """The outcomes of an ``AsyncClient``. They are ``Outcomes`` with an awaited
    ``retry``.

    Example:
        >>> queries = [StatsQuery("semicomplete.com").fields("pageviews")] * 3
        >>> async def main() -> int:
        ...     async with emulator.async_client() as client:
        ...         outcomes = await client.stats.get_many(queries).collect()
        ...     return len(outcomes.to_pandas())
        >>> asyncio.run(main())
        3
    """

    async def retry(
        self, *, deadline: float | NotGiven | None = NOT_GIVEN
    ) -> AsyncOutcomes[FieldsT_contra]:
        """As ``Outcomes.retry``, awaited."""
        if not self.failed:
            return self
        return self._with_retried(await self._collect_failed(deadline))
