"""Data frames of the outcomes of ``get_many``, made while they arrive."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from sitestats._results.display import frame_maker
from sitestats._results.many import FramesOfMany, TableBuilder

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sitestats._common.fields import TableName
    from sitestats._results.outcomes import Failed, Outcome
    from sitestats._results.tables import Column


class _KeepsFailed:
    _failed: tuple[Failed, ...] = ()

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, in the order of the queries. It is
        filled when a frame is made, and stays empty for a loop over the outcomes.
        """
        return self._failed


class FramesOfStream(_KeepsFailed, FramesOfMany):
    """Outcomes that are left, all read to make a frame."""

    @abstractmethod
    def __iter__(self) -> Iterator[Outcome]: ...

    @abstractmethod
    def _begin_all(self) -> None:
        """Raise an error if all outcomes were taken already."""

    def _columns(self, field: str | None) -> list[Column]:
        builder = TableBuilder(field)
        self._begin_all()
        for outcome in self:
            builder.add(outcome)
        self._failed = builder.failed
        return builder.columns()


class AsyncFramesOfStream(_KeepsFailed, ABC):
    """Outcomes that are left, all read, asynchronously, to make a frame."""

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[Outcome]: ...

    @abstractmethod
    def _begin_all(self) -> None:
        """Raise an error if all outcomes were taken already."""

    async def to_pandas(self, field: TableName | None = None) -> pd.DataFrame:
        """As ``Outcomes.to_pandas``, awaited."""
        return frame_maker("pandas")(await self._columns(field))

    async def to_polars(self, field: TableName | None = None) -> pl.DataFrame:
        """As ``Outcomes.to_polars``, awaited."""
        return frame_maker("polars")(await self._columns(field))

    async def to_arrow(self, field: TableName | None = None) -> pa.Table:
        """As ``Outcomes.to_arrow``, awaited."""
        return frame_maker("arrow")(await self._columns(field))

    async def _columns(self, field: str | None) -> list[Column]:
        builder = TableBuilder(field)
        self._begin_all()
        async for outcome in self:
            builder.add(outcome)
        self._failed = builder.failed
        return builder.columns()
