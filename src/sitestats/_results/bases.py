"""Display results: frames, plots, HTML in notebooks, tables in terminals.

The work is done in ``analysis``, which is imported when a method is called: this
module is the only one of the results that does so.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from numbers import Integral
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Never,
    NoReturn,
    Self,
    TypeVar,
    cast,
    overload,
)

import attrs

from sitestats._base.errors import (
    UsageError,
)
from sitestats._base.fields import TABLES, TOTALS
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.text import did_you_mean, shown
from sitestats._public import Public, explained
from sitestats._query.builder import StatsQuery, parameters_of
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import InJson, JsonName, Value, for_json

from . import late
from .tables import Column, beside, column_of, count_rows, to_dicts


def draw(
    result: object, ax: object, others: Mapping[str, object] = {}, **choices: Any
) -> late.Axes:
    """Draw *result* with matplotlib into *ax*, or into new axes; return the axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        TypeError: There are *others*, such as the size that other libraries take.
    """
    for name in others:
        hint = did_you_mean(name, ["ax", *choices])
        raise TypeError(
            f"plot takes no {name}{hint}: change the axes that it returns, or pass "
            "your own, by figure, axes = plt.subplots(figsize=(8, 4)) and "
            ".plot(ax=axes)"
        )
    from sitestats._display.plots import plot

    axes: late.Axes = plot(result, ax, **choices)
    return axes


def check_most(most: object, name: str) -> None:
    """Refuse a number of rows or axes that would show none, or leave out the last."""
    if not isinstance(most, Integral) or most < 1:
        message = f"{name} is a whole number from 1, not {shown(most)}"
        raise UsageError(message)


# --- frames -----------------------------------------------------------------------


FieldT = TypeVar("FieldT", bound=str)
ItemT_co = TypeVar("ItemT_co", covariant=True)


@explained()
class HasRows(Generic[FieldT]):
    """A result with rows. Without rows a frame has the same columns and types.

    The type of a field is ``Never`` where a result has no lists.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _table: Callable[..., Sequence[Column]]
        """The columns, also without rows; with a field, the columns of that list."""
        _tables: Callable[[], Iterable[Table]]
        """The sheets of a workbook."""

    def to_pandas(self, field: FieldT | None = None) -> late.PandasFrame:
        """A pandas data frame (the extra ``pandas``).

        Without a *field*, a result becomes the frame of its totals. If none was
        requested, it becomes the frame of its only list.

        Days are ``datetime64``. Hours of one result are ``datetime64`` in the zone of
        the response, and hours of many results are in UTC. Counts of one result are
        ``int64``. Counts of websites, of many queries and of comparisons are always
        ``float64``, because some may be missing. Shares and medians are ``float64``,
        too. A missing number is NaN. Flags are ``boolean``.

        Raises:
            MissingExtraError: pandas is not installed.
            UsageError: Several lists were requested, and no totals: name one.

        >>> query = StatsQuery("semicomplete.com").fields("pageviews", "countries")
        >>> client.stats.get(query.last(days=30).limit(3)).countries.to_pandas()
          value  pageviews  visitors     share
        0    US        535       265  0.337327
        1    DE        108        78  0.068096
        2    FR         83        55  0.052333
        """
        from sitestats._display.frames import to_pandas

        return to_pandas(self._rows_of(field))

    def to_polars(self, field: FieldT | None = None) -> late.PolarsFrame:
        """A polars data frame (the extra ``polars``).

        Days are ``Date``, hours ``Datetime`` in the zone of ``to_pandas``, counts
        ``Int64``, shares and medians ``Float64``. A missing number is null.

        Raises:
            MissingExtraError: polars is not installed.
            UsageError: See ``to_pandas``.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(3)
        >>> client.stats.get(query.last(days=30)).countries.to_polars().columns
        ['value', 'pageviews', 'visitors', 'share']
        """
        from sitestats._display.frames import to_polars

        return to_polars(self._rows_of(field))

    def to_arrow(self, field: FieldT | None = None) -> late.ArrowTable:
        """A table of Arrow (the extra ``arrow``), with the types of ``to_polars``.

        Raises:
            MissingExtraError: pyarrow is not installed.

        >>> query = StatsQuery("semicomplete.com").fields("countries").limit(3)
        >>> client.stats.get(query.last(days=30)).countries.to_arrow().num_rows
        3
        """
        from sitestats._display.frames import to_arrow

        return to_arrow(self._rows_of(field))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows for any library that reads Arrow, such as DuckDB or polars.

        Readers don't need pyarrow (DuckDB from 1.5 on). pyarrow makes the stream (the
        extra ``arrow``), and polars where pyarrow is missing (the extra ``polars``).

        Raises:
            MissingExtraError: Neither is installed.

        >>> import duckdb
        >>> query = StatsQuery("semicomplete.com").fields("countries").last(days=30)
        >>> countries = client.stats.get(query).countries
        >>> duckdb.sql("SELECT max(pageviews) FROM countries").fetchall()
        [(535,)]
        """
        from sitestats._display.frames import to_stream

        return to_stream(self._rows_of(None), requested_schema)

    def __array__(self, *_args: object, **_options: object) -> NoReturn:
        # numpy and pandas would make an array of opaque objects.
        raise TypeError(
            f"{type(self).__name__} is not an array: call .to_pandas(), .to_polars() "
            "or .to_arrow()"
        )

    if not TYPE_CHECKING:
        # Without it, pandas says nothing of frames, and Python asks for the item 0.
        def __iter__(self) -> NoReturn:
            raise TypeError(
                f"{type(self).__name__} can't be iterated: read a value by its name, "
                "or its rows by .to_dicts() or .to_pandas()"
            )

    def to_dicts(self, field: FieldT | None = None) -> list[dict[str, JsonValue]]:
        """The rows of ``to_pandas`` as dicts, ready for JSON."""
        return to_dicts(self._rows_of(field))

    def to_excel(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write an Excel workbook, with a sheet for each list (the extra ``excel``).

        The last sheet has the code of the queries. Days are dates. Excel has no zones:
        the times of a sheet are in the zone that the column ``zone_of_times`` names.
        Every text stays text, also one that looks like a formula or an address.

        Args:
            file: A path, or a file that is open for writing bytes.

        Raises:
            MissingExtraError: XlsxWriter is not installed.
            UsageError: The path does not end in ``.xlsx``, but in ``.csv``, say;
                or a list has more rows than a sheet.
            OSError: The file can't be written.

        >>> import io
        >>> query = StatsQuery("semicomplete.com").fields("visitors", "pages")
        >>> client.stats.get(query.last(days=30)).to_excel(io.BytesIO())
        """
        from sitestats._display.excel import write_workbook

        write_workbook(file, self._tables())

    def columns(self, field: FieldT | None = None) -> list[str]:
        """The names of the columns of a frame, also of one without rows.

        They are the keys of ``to_dicts``.

        Raises:
            FieldNotRequestedError: The list was not requested, or is not a list.
            UsageError: See ``to_pandas``.

        >>> query = StatsQuery("semicomplete.com").fields("countries").on("yesterday")
        >>> client.stats.get_many([query]).collect().columns("countries")[4:]
        ['value', 'pageviews', 'visitors', 'share', 'truncated', 'query']
        """
        return [column.name for column in self._table(self._chosen(field))]

    def _rows_of(self, field: FieldT | None) -> Sequence[Column]:
        chosen = self._chosen(field)
        columns = self._table(chosen)
        if chosen is not None:
            self._warn(chosen)
        return columns

    def _chosen(self, field: FieldT | None) -> FieldT | None:
        """The list that a frame is made of; None for the totals."""
        return field

    def _warn(self, field: FieldT) -> None:
        """Warn of outcomes without rows in the frame of a list."""


class HasLists(HasRows[FieldT]):
    """A result with a frame of its totals, and one of each of its lists."""

    __slots__ = ()

    if TYPE_CHECKING:
        _lists: Callable[[], Iterable[tuple[str, HasLists[FieldT]]]]
        """The lists that there are, each with the results that have it."""
        _queries: Callable[[], Sequence[StatsQuery]]
        """What was requested."""

    def _chosen(self, field: FieldT | None) -> FieldT | None:
        """The list that a frame is made of; None for the totals.

        Raises:
            UsageError: No list is named, several were requested, and no totals.
        """
        if field is not None:
            return field
        requested = {n for q in self._queries() for n in parameters_of(q).names}
        lists = [cast("FieldT", name) for name in TABLES if name in requested]
        if not lists or not requested.isdisjoint(TOTALS):
            return None
        if len(lists) > 1:
            raise UsageError(
                "no totals were requested, so name one of the lists, as in "
                f".to_pandas({lists[0]!r}): {', '.join(lists)}"
            )
        return lists[0]

    def _tables(self) -> Iterable[Table]:
        yield Table("totals", self._table())
        for name, having in self._lists():
            yield Table(name, having._table(name))  # noqa: SLF001 - of this class
        yield self._code()

    def _code(self) -> Table:
        """The code that makes each query again."""
        return Table("queries", [column_of("code", [*map(repr, self._queries())])])


# --- notebooks and terminals ------------------------------------------------------


@explained("to_html", "to_markdown")
class Displayed(Public):
    """A value that notebooks and rich show as tables. Its repr stays as it is."""

    __slots__ = ()

    if TYPE_CHECKING:
        _displayed: Callable[[], Displayed]
        """The parts to show of a value whose class ``describe`` does not know."""

    def to_html(self, *, rows: int = 10) -> str:
        """The result as a piece of HTML, as a notebook shows it: for a mail, or to put
        into a page.

        It is complete: every style is an attribute, and it has no script, style sheet
        or picture. Text from visitors is escaped. ``sitestats.analysis.Page`` makes a
        whole document of several results.

        Args:
            rows: The most rows of a table.

        >>> query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
        >>> "visitors" in client.stats.get(query).to_html()
        True
        """
        from sitestats._display.display import Display

        return Display(self, rows).to_html()

    def to_markdown(self, *, rows: int = 10) -> str:
        """The result as a text in Markdown, with tables as GitHub has them.

        Text from visitors is escaped, and becomes no link, mention or HTML.

        Args:
            rows: The most rows of a table.

        >>> query = StatsQuery("semicomplete.com").fields("pages").on("yesterday")
        >>> print(client.stats.get(query).pages.to_markdown(rows=1))
        | pages | page views | visitors |
        | :--- | ---: | ---: |
        | /projects/xdotool/ | 62 | 47 |
        <BLANKLINE>
        … 49 more; others may be beyond the limit
        <BLANKLINE>
        """
        from sitestats._display.display import Display

        return Display(self, rows).to_markdown()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich_console__(
        self, console: late.Console, options: late.ConsoleOptions
    ) -> late.RenderResult:
        from sitestats._display.display import Display

        return Display(self).__rich_console__(console, options)

    def _as_text(self) -> str:
        """The table as plain text, for a repr."""
        from sitestats._display.display import to_text

        return to_text(self)


@attrs.frozen(repr=False)
class Table(HasRows[Never], Displayed, InJson):
    """Columns below a title: what is displayed, a frame, and a sheet of a workbook.

    >>> query = StatsQuery("semicomplete.com").fields("pages").last(days=2)
    >>> client.stats.compare(query).largest(1).to_dicts()[0]["change"]
    22
    """

    title: str
    """The text above the table."""
    body: Sequence[Column]
    """Its columns, each with a name and as many cells."""
    note: str = ""
    """The text below the last row."""
    same: Mapping[str, Any] = attrs.field(default={}, kw_only=True)
    """What is the same in every row, by name, such as the days of a comparison. It has
    columns in frames and sheets; a display has it in the note."""

    def head(self, most: int) -> Table:
        """The first rows; the note says how many there are beyond."""
        check_most(most, "rows")
        if (more := count_rows(self.body) - most) <= 0:
            return self
        columns = [
            attrs.evolve(column, cells=column.cells[:most]) for column in self.body
        ]
        notes = filter(None, [f"… {more:,} more", self.note])
        return attrs.evolve(self, body=columns, note="; ".join(notes))

    def _table(self, _field: None = None) -> Sequence[Column]:
        return [*self.body, *beside(self.same, self.body)[: len(self.same)]]

    def _tables(self) -> Iterable[Table]:
        return [Table(self.title, self._table())]

    def __repr__(self) -> str:
        return self._as_text()


# --- rows of values ------------------------------------------------------------------


class Row(Value):
    """An entry or a website.

    Other libraries know it as a dataclass: ``dataclasses.asdict`` makes a dict of it,
    so FastAPI and Flask make JSON, and pandas and polars read lists of them.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]
        __dataclass_params__: ClassVar[Any]


def read_as_dataclass(kind: type[Row], fields: Iterable[Any]) -> None:
    """Let other libraries read *fields* of *kind*: what ``make_dataclass`` takes.

    They are in the order of the annotations, by which polars finds the types.
    """
    known: Any = dataclasses.make_dataclass(
        kind.__name__, fields, kw_only=True, repr=False, frozen=True
    )
    kind.__dataclass_fields__ = known.__dataclass_fields__
    kind.__dataclass_params__ = known.__dataclass_params__


# --- results with items -------------------------------------------------------------


if TYPE_CHECKING:

    def as_tuple(items: Iterable[Any]) -> tuple[Any, ...]:
        """The *items* as a tuple."""
        ...

else:
    # mypy does not take it for a converter.
    as_tuple = tuple


@attrs.frozen(repr=False)
class Items(HasRows[FieldT], Displayed, Value, Generic[ItemT_co, FieldT]):
    """Results in their order.

    It has a length and can be iterated. An item is found by its place or by its name,
    and a slice has the same class. It is not a ``Sequence``, so that libraries of data
    frames take its frame, and do not mistake it for a list of opaque objects.
    """

    _items: tuple[ItemT_co, ...] = attrs.field(default=(), converter=as_tuple)

    @functools.cached_property
    def _places(self) -> Mapping[Any, list[int]]:
        """The places of the items by their names: a scan of thousands for each of them
        would take seconds.
        """
        places: defaultdict[Any, list[int]] = defaultdict(list)
        for place, name in enumerate(self._names()):
            places[name].append(place)
        return dict(places)

    @abstractmethod
    def _names(self) -> Sequence[Any]:
        """The name that each item is found by."""

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[ItemT_co]:
        return iter(self._items)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str | date | None):
            return self._as_named(item) in self._places
        return item in self._items

    def get(self, name: str | date | None) -> ItemT_co | None:
        """The item of this name, or None if there is no such item.

        Raises:
            KeyError: Several have this name.

        >>> client.websites.list().get("nobody.example") is None
        True
        """
        return self[name] if name in self else None  # noqa: SIM401 - in itself

    @overload
    def __getitem__(self, index: int | str | date | None) -> ItemT_co: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | str | date | slice | None) -> ItemT_co | Self:
        if isinstance(index, slice):
            return self._part(index)
        if isinstance(index, JsonName):
            return cast("ItemT_co", index.value)
        place = self._place_of(index) if isinstance(index, str | date | None) else index
        return self._items[place]

    def index(self, item: object, start: int = 0, stop: int = sys.maxsize) -> int:
        """The place of *item*, as of a list.

        Raises:
            ValueError: It is not there.
        """
        return self._items.index(item, start, stop)

    def count(self, item: object) -> int:
        """How often *item* is there, as of a list."""
        return self._items.count(item)

    def _tables(self) -> Iterable[Table]:
        return [Table(getattr(self, "name", "websites"), self._table())]

    def _ipython_key_completions_(self) -> list[Any]:
        return [*filter(None, self._places)]

    def _part(self, part: slice) -> Self:
        itself: Any = self
        return cast("Self", attrs.evolve(itself, items=self._items[part]))

    def _as_named(self, name: Any) -> Any:
        """*name* as items have it: a host name as it is sent, a day as ISO 8601."""
        is_day = isinstance(name, date)
        name = for_json(name)
        if is_day:
            # A midnight stands for its day, as in a frame of pandas.
            name = name.removesuffix("T00:00:00")
        with suppress(ValueError):
            return name if name in self._places else normalise_hostname(name)
        return name

    def _place_of(self, given: str | date | None) -> int:
        name = self._as_named(given)
        places = self._places.get(name, [])
        if len(places) > 1:
            raise KeyError(f"{len(places)} are {shown(name)}: take one by its place")
        if not places:
            hint = did_you_mean(str(name), filter(None, self._places))
            raise KeyError(f"none of {len(self)} is {shown(name)}{hint}")
        return places[0]

    def __repr__(self) -> str:
        return self._as_text()


@attrs.frozen(repr=False)
class Rows(Items[ItemT_co, FieldT], Sequence[ItemT_co], Generic[ItemT_co, FieldT]):
    """Entries or websites in their order, each a ``Row``. It is a ``Sequence``."""
