"""What many outcomes can become: one frame of all of them.

As with one result, the work is done in ``analysis``, which is imported when a
method is called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sitestats.analysis._columns import Column

    from ._fields import FieldName
    from ._outcomes import Failed, Outcome

ListName: TypeAlias = "FieldName | Literal['events']"


class _KeepsFailed:
    _failed: tuple[Failed, ...] = ()

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without an answer that a frame was made of, in the order of
        the queries. Before that, and for a loop over the outcomes, it is empty.
        """
        return self._failed


class FramedOutcomes(_KeepsFailed, ABC):
    """Outcomes that are read to their end to become a frame."""

    @abstractmethod
    def __iter__(self) -> Iterator[Outcome]: ...

    def to_pandas(self, field: ListName | None = None) -> pd.DataFrame:
        """All outcomes that are left as one pandas data frame (the extra ``pandas``).

        It is tidy: the website's host name, then the columns that an entry of the
        list has by itself, then whether that website's list was ``truncated`` by
        the limit (a histogram never is), and the place of the ``query`` among
        those given, from 0, which tells two queries of one website apart. Rows are
        in the order of the queries, whichever was answered first.

        Without a *field* there is a row for each query: host name, start, end, the
        totals that were asked for, ``error`` and ``query``. A query that failed
        has its error there. In a frame of a list such a query can have no rows,
        so a ``SiteStatsWarning`` tells, and ``failed`` has the outcome.

        Args:
            field: A list, such as ``"pages"``, ``"histogram"`` or ``"events"``.

        Raises:
            MissingExtraError: pandas is not installed; nothing was sent.
            FieldNotRequestedError: There is no such list, or a query that was
                answered did not ask for it.

        >>> query = StatsQuery("semicomplete.com").fields("countries").last(days=7)
        >>> query = query.limit(2)
        >>> queries = [query, query.website("blog.semicomplete.com")]
        >>> with client.stats.get_many(queries) as outcomes:
        ...     countries = outcomes.to_pandas("countries")
        >>> countries[["hostname", "value", "pageviews"]]
                        hostname value  pageviews
        0       semicomplete.com    US        535
        1       semicomplete.com    DE        108
        2  blog.semicomplete.com    US        222
        3  blog.semicomplete.com    DE         29
        """
        from sitestats.analysis._frames import load, to_pandas

        load("pandas", extra="pandas")
        return to_pandas(self._columns(field))

    def to_polars(self, field: ListName | None = None) -> pl.DataFrame:
        """All outcomes that are left as one polars data frame: see ``to_pandas``.

        Raises:
            MissingExtraError: polars is not installed; nothing was sent.
            FieldNotRequestedError: See ``to_pandas``.
        """
        from sitestats.analysis._frames import load, to_polars

        load("polars", extra="polars")
        return to_polars(self._columns(field))

    def to_arrow(self, field: ListName | None = None) -> pa.Table:
        """All outcomes that are left as one table of Arrow: see ``to_pandas``.

        Raises:
            MissingExtraError: pyarrow is not installed; nothing was sent.
            FieldNotRequestedError: See ``to_pandas``.
        """
        from sitestats.analysis._frames import load, to_arrow

        load("pyarrow", extra="arrow")
        return to_arrow(self._columns(field))

    def _columns(self, field: str | None) -> list[Column]:
        from sitestats.analysis._many import Gathering

        gathering = Gathering(field)
        for outcome in self:
            gathering.add(outcome)
        self._failed = gathering.failed
        return gathering.columns()


class AsyncFramedOutcomes(_KeepsFailed, ABC):
    """Outcomes that are read to their end, asynchronously, to become a frame."""

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[Outcome]: ...

    async def to_pandas(self, field: ListName | None = None) -> pd.DataFrame:
        """As ``Outcomes.to_pandas``, awaited."""
        from sitestats.analysis._frames import load, to_pandas

        load("pandas", extra="pandas")
        return to_pandas(await self._columns(field))

    async def to_polars(self, field: ListName | None = None) -> pl.DataFrame:
        """As ``Outcomes.to_polars``, awaited."""
        from sitestats.analysis._frames import load, to_polars

        load("polars", extra="polars")
        return to_polars(await self._columns(field))

    async def to_arrow(self, field: ListName | None = None) -> pa.Table:
        """As ``Outcomes.to_arrow``, awaited."""
        from sitestats.analysis._frames import load, to_arrow

        load("pyarrow", extra="arrow")
        return to_arrow(await self._columns(field))

    async def _columns(self, field: str | None) -> list[Column]:
        from sitestats.analysis._many import Gathering

        gathering = Gathering(field)
        async for outcome in self:
            gathering.add(outcome)
        self._failed = gathering.failed
        return gathering.columns()
