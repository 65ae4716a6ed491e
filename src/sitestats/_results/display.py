"""Display results: frames, plots, HTML in notebooks, tables in terminals.

The work is done in ``analysis``, which is imported when a method is called: this
module is the only one of the results that does so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from .tables import to_dicts

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from typing import IO

    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions, RenderResult

    from sitestats._common.jsontext import JsonValue

    from .tables import Column, Sheet


# --- frames and plots -------------------------------------------------------------


def pandas_frame(columns: Sequence[Column]) -> pd.DataFrame:
    """A pandas data frame of *columns*."""
    from sitestats.analysis._frames import to_pandas

    return to_pandas(columns)


def polars_frame(columns: Sequence[Column]) -> pl.DataFrame:
    """A polars data frame of *columns*."""
    from sitestats.analysis._frames import to_polars

    return to_polars(columns)


def arrow_table(columns: Sequence[Column]) -> pa.Table:
    """A table of Arrow of *columns*."""
    from sitestats.analysis._frames import to_arrow

    return to_arrow(columns)


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

    @abstractmethod
    def _tables(self) -> Iterable[tuple[str, Sequence[Column]]]:
        """The name and the columns of each sheet of a workbook."""

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
        return pandas_frame(self._table())

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
        return polars_frame(self._table())

    def to_arrow(self) -> pa.Table:
        """A table of Arrow (the extra ``arrow``), with the types of ``to_polars``.

        Raises:
            MissingExtraError: pyarrow is not installed.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(3)
        >>> client.stats.get(query.last(days=30)).countries.to_arrow().num_rows
        3
        """
        return arrow_table(self._table())

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

    def __array__(self, *_args: object, **_options: object) -> NoReturn:
        # numpy and pandas would make an array of opaque objects.
        raise TypeError(
            f"{type(self).__name__} is no array: call .to_pandas(), .to_polars() or "
            ".to_arrow()"
        )

    def to_excel(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write an Excel workbook, with a sheet for each list (the extra ``excel``).

        Days are dates. Excel knows no zones: the times of a sheet are those of one
        zone, which the column ``zone_of_times`` names. Every text is text, also one
        that looks like a formula or an address.

        Args:
            file: A path, or a file that is open for writing bytes.

        Raises:
            MissingExtraError: XlsxWriter is not installed.
            OSError: The file can't be written.

        >>> import io
        >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages")
        >>> client.stats.get(query.last(days=30)).to_excel(io.BytesIO())
        """
        from sitestats.analysis._excel import write_workbook

        write_workbook(file, self._tables())


FieldT = TypeVar("FieldT", bound=str)


class HasFrames(HasFrame, Generic[FieldT]):
    """A result with a frame of its totals, and one of each of its lists."""

    __slots__ = ()

    @abstractmethod
    def _table(self, field: str | None = None) -> Sequence[Column]:
        """The columns of the totals, or of a list."""

    def to_pandas(self, field: FieldT | None = None) -> pd.DataFrame:
        """A pandas data frame of the totals, or of a list (the extra ``pandas``).

        Raises:
            MissingExtraError: pandas is not installed.
            FieldNotRequestedError: There is no such list, or it was not requested.

        >>> query = StatsQuery("semicomplete.com").fields("visitors", "countries")
        >>> stats = client.stats.get(query.last(days=30).limit(1))
        >>> stats.to_pandas("countries")
          value  pageviews  visitors
        0    US        535       265
        """
        return pandas_frame(self._rows_of(field))

    def to_polars(self, field: FieldT | None = None) -> pl.DataFrame:
        """A polars data frame: see ``to_pandas`` (the extra ``polars``).

        Raises:
            MissingExtraError: polars is not installed.
            FieldNotRequestedError: See ``to_pandas``.
        """
        return polars_frame(self._rows_of(field))

    def to_arrow(self, field: FieldT | None = None) -> pa.Table:
        """A table of Arrow: see ``to_pandas`` (the extra ``arrow``).

        Raises:
            MissingExtraError: pyarrow is not installed.
            FieldNotRequestedError: See ``to_pandas``.
        """
        return arrow_table(self._rows_of(field))

    def to_dicts(self, field: FieldT | None = None) -> list[dict[str, JsonValue]]:
        """The rows of ``to_pandas`` as dicts, ready for JSON.

        Raises:
            FieldNotRequestedError: See ``to_pandas``.
        """
        return to_dicts(self._rows_of(field))

    def columns(self, field: FieldT | None = None) -> list[str]:
        """The names of the columns of a frame, which are the keys of ``to_dicts``.

        There are columns without rows too, as the head of a file needs them.

        Raises:
            FieldNotRequestedError: See ``to_pandas``.

        >>> query = StatsQuery("semicomplete.com").fields("countries").on("yesterday")
        >>> client.stats.get_many([query]).collect().columns("countries")[4:]
        ['value', 'pageviews', 'visitors', 'truncated', 'query']
        """
        return [column.name for column in self._table(field)]

    def _rows_of(self, field: str | None) -> Sequence[Column]:
        columns = self._table(field)
        if field is not None:
            self._warn()
        return columns

    def _warn(self) -> None:
        """Warn of what has no rows in the frame of a list."""


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
