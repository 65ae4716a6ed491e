"""Collected outcomes of ``get_many``: ``Outcomes``, with frames, plots and retries."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, Self, TypeAlias, TypeVar

import attrs

from sitestats._common.errors import ConfigurationError, warn
from sitestats._common.fields import TABLES
from sitestats._common.settings import NOT_GIVEN, NotGiven
from sitestats._common.text import shown

from .display import draw_each
from .many_results import ManyResults
from .outcome_frames import columns_of_outcomes, failed_warning
from .outcomes import Failed, Outcome, Succeeded

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from sitestats._common.fields import TableName
    from sitestats._query.builder import StatsQuery

    from .outcome_comparison import Comparisons
    from .tables import Column

CollectedT_co = TypeVar("CollectedT_co", covariant=True)


Collect: TypeAlias = (
    "Callable[[Sequence[StatsQuery], float | NotGiven | None], CollectedT_co]"
)
"""Runs other queries, with the client and the options that the outcomes are of, until a
deadline."""


class CollectedOutcomes(ManyResults[Outcome, "TableName"], Generic[CollectedT_co]):
    """The outcomes of all queries, in the order of the queries."""

    def __init__(
        self,
        outcomes: Iterable[Outcome],
        collect: Collect[CollectedT_co] | None = None,
        *,
        has_store: bool = False,
    ) -> None:
        self._has_store = has_store
        self._items = tuple(sorted(outcomes, key=lambda outcome: outcome.index))
        self._collect = collect

    @property
    def succeeded(self) -> tuple[Succeeded, ...]:
        """The outcomes with statistics, in the order of the queries."""
        return tuple(one for one in self._items if isinstance(one, Succeeded))

    @property
    def never_stored(self) -> tuple[Succeeded, ...]:
        """The outcomes that the client's store never holds, since words name their
        days: a word means other days tomorrow. ``.pinned()`` makes dates of them. None
        are where the client has no store.
        """
        relative = (one for one in self.succeeded if one.query.is_relative)
        return tuple(relative) if self._has_store else ()

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, in the order of the queries."""
        return tuple(one for one in self._items if isinstance(one, Failed))

    # --- frames, comparisons and plots --------------------------------------------

    def to_pandas(self, field: TableName | None = None) -> pd.DataFrame:
        """The outcomes as one pandas data frame (the extra ``pandas``).

        It is tidy. First are the website's ``hostname``, the response's
        ``timezone``, and the ``first_day`` and ``last_day`` of its period there;
        then the columns that an entry of the list has by itself; then whether that
        website's list was ``truncated`` by the limit (a histogram never is), and
        the index of the ``query`` among those given. Rows are in the order of the
        queries.

        Without a *field* there is a row for each query: the same four columns,
        start, end, the totals that were requested, ``error`` and ``query``. A query
        that failed has its error there, and the days that it requested as dates. In
        a frame of a list such a query can have no rows, so there is a
        ``SiteStatsWarning``, and ``failed`` has the outcome.

        Args:
            field: A list, such as ``"pages"``, ``"histogram"`` or ``"events"``.

        Raises:
            MissingExtraError: pandas is not installed.
            FieldNotRequestedError: There is no such list, or a query that
                succeeded did not request it.

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
        """
        return super().to_pandas(field)

    def compare_to(self, before: Outcomes | AsyncOutcomes) -> Comparisons:
        """Compare these outcomes with those *before*, website by website.

        A query is compared with the one before that is about the same website, page
        and filters. Of several such ones, the first is compared with the first, the
        second with the second.

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
        0       semicomplete.com       244              295              -51
        1  blog.semicomplete.com        72              103              -31
        """
        from .outcome_comparison import Comparisons, pairs_of

        return Comparisons(pairs_of(self, before))

    def plot(
        self,
        ax: Axes | Sequence[Axes] | NDArray[np.object_] | None = None,
        *,
        most: int = 24,
        sharey: bool = False,
    ) -> NDArray[np.object_]:
        """Draw the histogram of each website, side by side (the extra ``plot``).

        All have the same time axis. Outcomes about one website, page and filters are
        drawn into the same axes if their days follow each other. A note says how many
        more there are, and how many queries failed. See ``Entries.plot``.

        Args:
            ax: The axes to draw into, in the order of the queries; when None a new
                figure of pyplot has as many as are needed.
            most: The most axes of a new figure.
            sharey: Whether all have the same scale.

        Returns:
            The axes, as an array without rows: ``axes[0].figure`` is the figure.

        Raises:
            MissingExtraError: matplotlib is not installed.
            FieldNotRequestedError: A query did not request the histogram.

        >>> query = StatsQuery("semicomplete.com").fields("histogram").last(days=4)
        >>> queries = query.each(websites=client.websites.list())
        >>> axes = client.stats.get_many(queries).collect().plot(sharey=True)
        >>> [one.get_title(loc="left") for one in axes][:2]
        ['semicomplete.com', 'blog.semicomplete.com']
        """
        if isinstance(ax, str):
            raise TypeError(
                "outcomes.plot() draws the histogram of each website; for a list of "
                f"one of them call outcomes['example.com'].stats.plot({shown(ax)})"
            )
        return draw_each(self, ax, most=most, sharey=sharey)

    def _table(self, field: str | None = None) -> list[Column]:
        return columns_of_outcomes(self._items, field)

    def _warn(self) -> None:
        if self.failed:
            warn(failed_warning(self.failed, len(self)))

    def _tables(self) -> Iterator[tuple[str, Sequence[Column]]]:
        yield "totals", self._table()
        for name in TABLES:
            having = [one for one in self.succeeded if name in one.stats]
            if having:
                yield name, columns_of_outcomes(having, name)

    # --- a sequence ---------------------------------------------------------------

    def _part(self, part: slice) -> Self:
        return type(self)(self._items[part], self._collect, has_store=self._has_store)

    @staticmethod
    def _hostname(item: Outcome) -> str:
        return item.query.hostname

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Outcome, ...]]]:
        # Without the client, which may hold a credential.
        return type(self), (self._items,)

    # --- retries ------------------------------------------------------------------

    def _collect_failed(self, deadline: float | NotGiven | None) -> CollectedT_co:
        """Run the queries that failed."""
        if self._collect is None:
            raise ConfigurationError(
                "these outcomes were pickled or made by hand, and have no client: "
                "call get_many with [failed.query for failed in outcomes.failed]"
            )
        return self._collect([failed.query for failed in self.failed], deadline)

    def _with_retried(self, retried: Iterable[Outcome]) -> Self:
        """These outcomes with those *retried* in place of the failed ones."""
        indices = [failed.index for failed in self.failed]
        newer = [attrs.evolve(one, index=indices[one.index]) for one in retried]
        return type(self)(
            [*self.succeeded, *newer], self._collect, has_store=self._has_store
        )


class Outcomes(CollectedOutcomes["Outcomes"]):
    """The outcomes of all queries, in their order: ``get_many(…).collect()``.

    It is a sequence of ``Succeeded`` and ``Failed``, a slice of which is one again.
    It shows itself as a table, and makes frames and comparisons as often as you like.
    A pickle of it has no client.

    Example:
        >>> query = StatsQuery("semicomplete.com").fields("visitors").last(days=4)
        >>> queries = [query, query.website("nobody.example")]
        >>> outcomes = client.stats.get_many(queries).collect()
        >>> outcomes[0].result().visitors, len(outcomes.failed)
        (953, 1)
        >>> outcomes[:1].to_dicts()[0]["visitors"]
        953
        >>> failed = Failed(query, 0, NotFoundError("unknown", status=404))
        >>> len(Outcomes([failed]).failed)  # made in a unit test
        1
    """

    def retry(self, *, deadline: float | NotGiven | None = NOT_GIVEN) -> Outcomes:
        """Request again what failed, and return all outcomes anew.

        Each outcome keeps its index. The concurrency and the progress are those of
        ``get_many``, and so is the deadline, counted anew.

        Args:
            deadline: Seconds for all of it; None is without.

        Raises:
            ConfigurationError: *deadline* is wrong, or these were pickled.

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


class AsyncOutcomes(CollectedOutcomes[Awaitable["AsyncOutcomes"]]):
    """The outcomes of an ``AsyncClient``, as ``Outcomes``: only ``retry`` is awaited.

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
    ) -> AsyncOutcomes:
        """As ``Outcomes.retry``, awaited."""
        if not self.failed:
            return self
        return self._with_retried(await self._collect_failed(deadline))
