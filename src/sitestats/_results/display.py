"""Display results: frames, plots, HTML in notebooks, tables in terminals.

The work is done in ``analysis``, which is imported when a method is called: this
module is the only one of the results that does so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions, RenderResult

    from .tables import Column, Sheet


# --- frames and plots -------------------------------------------------------------


@overload
def frame_maker(
    library: Literal["pandas"],
) -> Callable[[Sequence[Column]], pd.DataFrame]: ...
@overload
def frame_maker(
    library: Literal["polars"],
) -> Callable[[Sequence[Column]], pl.DataFrame]: ...
@overload
def frame_maker(
    library: Literal["arrow"],
) -> Callable[[Sequence[Column]], pa.Table]: ...
def frame_maker(
    library: Literal["pandas", "polars", "arrow"],
) -> Callable[[Sequence[Column]], Any]:
    """The function that makes a frame of columns.

    Raises:
        MissingExtraError: The library is not installed.
    """
    from sitestats.analysis._frames import maker

    return maker(library)


def draw(result: object, ax: Axes | None, **choices: str) -> Axes:
    """Draw *result* with matplotlib into *ax*, or into new axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    from sitestats.analysis._plots import plot

    axes: Axes = plot(result, ax, **choices)
    return axes


def draw_each(
    outcomes: Any, ax: object, *, most: int, sharey: bool
) -> NDArray[np.object_]:
    """Draw each of *outcomes* into axes of its own.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    from sitestats.analysis._small_multiples import plot_each

    axes: NDArray[np.object_] = plot_each(outcomes, ax, most=most, sharey=sharey)
    return axes


class HasFrame(ABC):
    """A result with rows. Without rows a frame has the same columns and types."""

    __slots__ = ()

    @abstractmethod
    def _table(self) -> Sequence[Column]:
        """The columns, also where there are no rows."""

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame (the extra ``pandas``).

        Days are ``datetime64``, hours ``datetime64`` in the zone of the response,
        counts ``int64``, medians ``float64`` with NaN where there is none.

        Raises:
            MissingExtraError: pandas is not installed.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(3)
        >>> client.stats.get(query.last(days=30)).countries.to_pandas()
          value  pageviews  visitors
        0    US        535       265
        1    DE        108        78
        2    FR         83        55
        """
        return frame_maker("pandas")(self._table())

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame (the extra ``polars``).

        Days are ``Date``, hours ``Datetime`` in the zone of the response, counts
        ``Int64``, medians ``Float64`` with null where there is none.

        Raises:
            MissingExtraError: polars is not installed.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(3)
        >>> client.stats.get(query.last(days=30)).countries.to_polars().columns
        ['value', 'pageviews', 'visitors']
        """
        return frame_maker("polars")(self._table())

    def to_arrow(self) -> pa.Table:
        """A table of Arrow (the extra ``arrow``), with the types of ``to_polars``.

        Raises:
            MissingExtraError: pyarrow is not installed.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(3)
        >>> client.stats.get(query.last(days=30)).countries.to_arrow().num_rows
        3
        """
        return frame_maker("arrow")(self._table())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows for any library that reads Arrow, such as DuckDB or polars.

        They read it without pyarrow (DuckDB from 1.5 on). It is made by pyarrow
        (the extra ``arrow``) where that is installed, else by polars (the extra
        ``polars``).

        Raises:
            MissingExtraError: Neither is installed.

        >>> import duckdb
        >>> query = StatsQuery("semicomplete.com").fields("countries").last(days=30)
        >>> countries = client.stats.get(query).countries
        >>> duckdb.sql("SELECT max(pageviews) FROM countries").fetchall()
        [(535,)]
        """
        from sitestats.analysis._frames import to_stream

        return to_stream(self._table(), requested_schema)


# --- notebooks and terminals ------------------------------------------------------


class Displayed:
    """A value that notebooks and rich show as tables. Its repr stays as it is."""

    __slots__ = ()

    def _displayed(self) -> object:
        """What is shown: the value itself, or another one in its place."""
        return self

    def _repr_html_(self) -> str:
        from sitestats.analysis._html import to_html

        return to_html(self._displayed())

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        from sitestats.analysis._console import to_console

        return to_console(self._displayed(), options)

    def _as_text(self) -> str:
        """The table as plain text, for a repr."""
        from sitestats.analysis._text import to_text

        return to_text(self._displayed())


class HasSheet(Displayed, ABC):
    """A value that is shown as one sheet."""

    __slots__ = ()

    @abstractmethod
    def _sheet(self) -> Sheet:
        """The table to show."""

    def _displayed(self) -> Sheet:
        return self._sheet()
