"""Tables of many outcomes: the rows of one list, or totals, one below the other."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitestats._common.errors import warn
from sitestats._common.fields import TABLES, TOTALS
from sitestats._query.builder import requested
from sitestats._query.periods import as_date

from .display import frame_maker
from .entries import Entries, check_list, columns_of_entries, entry_class
from .histogram import entry_type
from .stats import columns_of_totals
from .tables import Column, count_rows, shared, stacked, to_dicts

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sitestats._common.fields import TableName
    from sitestats._common.jsontext import JsonValue
    from sitestats._query.builder import StatsQuery

    from .outcomes import Answered, Failed, Outcome

_MOST_NAMED: Final = 3


class FramesOfMany(ABC):
    """Outcomes of many queries that become one frame."""

    @abstractmethod
    def _columns(self, field: str | None) -> list[Column]:
        """The rows of all outcomes: those of a list, or one of totals each."""

    def to_pandas(self, field: TableName | None = None) -> pd.DataFrame:
        """The outcomes as one pandas data frame (the extra ``pandas``).

        It is tidy. First are the website's ``hostname``, the response's
        ``timezone``, and the ``first_day`` and ``last_day`` of its period there;
        then the columns that an entry of the list has by itself; then whether that
        website's list was ``truncated`` by the limit (a histogram never is), and
        the index of the ``query`` among those given. Rows are in the order of the
        queries, whichever response came first.

        Without a *field* there is a row for each query: the same four columns,
        start, end, the totals that were requested, ``error`` and ``query``. A query
        that failed has its error there, and the days that it requested as dates. In
        a frame of a list such a query can have no rows, so there is a
        ``SiteStatsWarning``, and ``failed`` has the outcome.

        Args:
            field: A list, such as ``"pages"``, ``"histogram"`` or ``"events"``.

        Raises:
            MissingExtraError: pandas is not installed; nothing was sent.
            FieldNotRequestedError: There is no such list, or a query that
                succeeded did not request it.
            ConfigurationError: It is a block of ``get_many`` whose outcomes were
                taken by a loop, or went into a frame: ``collect`` keeps them.

        >>> query = StatsQuery("semicomplete.com").fields("countries").last(days=7)
        >>> query = query.limit(2)
        >>> queries = [query, query.website("blog.semicomplete.com")]
        >>> answers = client.stats.get_many(queries).collect()
        >>> answers.to_pandas("countries")[["hostname", "value", "pageviews"]]
                        hostname value  pageviews
        0       semicomplete.com    US        535
        1       semicomplete.com    DE        108
        2  blog.semicomplete.com    US        222
        3  blog.semicomplete.com    DE         29
        """
        # The maker comes first: without the library nothing is sent.
        return frame_maker("pandas")(self._columns(field))

    def to_polars(self, field: TableName | None = None) -> pl.DataFrame:
        """The outcomes as one polars data frame: see ``to_pandas``.

        Raises:
            MissingExtraError: polars is not installed; nothing was sent.
            FieldNotRequestedError: See ``to_pandas``.
        """
        return frame_maker("polars")(self._columns(field))

    def to_arrow(self, field: TableName | None = None) -> pa.Table:
        """The outcomes as one table of Arrow: see ``to_pandas``.

        Raises:
            MissingExtraError: pyarrow is not installed; nothing was sent.
            FieldNotRequestedError: See ``to_pandas``.
        """
        return frame_maker("arrow")(self._columns(field))


class _Part(NamedTuple):
    """The rows of one outcome, without its response."""

    query: int
    hostname: str
    timezone: str | None
    first_day: dt.date | None
    last_day: dt.date | None
    columns: Sequence[Column]
    truncated: bool = False
    error: str | None = None


class TableBuilder:
    """The rows of many outcomes, which may be added in any order.

    Args:
        field: The list that the rows are of; None for one row of totals for each
            outcome.

    Raises:
        FieldNotRequestedError: There is no such list.
    """

    def __init__(self, field: str | None) -> None:
        if field is not None:
            check_list(field, TABLES)
        self._field = field
        self._parts: list[_Part] = []
        self._failed: list[Failed] = []

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without a response, in the order of the queries."""
        return tuple(sorted(self._failed, key=lambda failed: failed.index))

    def add(self, outcome: Outcome) -> None:
        """Take the rows of *outcome*.

        Raises:
            FieldNotRequestedError: Its query did not request the field.
        """
        truncated, error = False, error_text(outcome)
        if outcome.error is not None:
            self._failed.append(outcome)
        if self._field is None:
            columns = _totals(outcome)
        elif outcome.error is not None:
            columns = _no_rows(self._field, outcome.query)
        else:
            entries: Entries[Any] = getattr(outcome.stats, self._field)
            columns = columns_of_entries(entries)
            truncated = entries.truncated
        hostname = outcome.query.hostname
        self._parts.append(
            _Part(
                outcome.index, hostname, *period_of(outcome), columns, truncated, error
            )
        )

    def columns(self) -> list[Column]:
        """The table; there is a warning about failed queries that have no row in it."""
        parts = sorted(self._parts, key=lambda part: part.query)
        tables = [part.columns for part in parts]
        counts = [*map(count_rows, tables)]

        def of_parts(*names: str) -> list[Column]:
            return shared({n: [getattr(p, n) for p in parts] for n in names}, counts)

        about = of_parts(*_ABOUT)
        if self._field is None:
            names = {column.name for table in tables for column in table}
            # First, for the document's order of columns.
            no_rows = columns_of_totals([], [n for n in TOTALS if n in names])
            _, *columns = stacked([no_rows, *tables])
            return [*about, *columns, *of_parts("error", "query")]
        columns = stacked([_no_rows(self._field, None), *tables])
        if self._failed:
            warn(missing(self.failed, len(parts)))
        truncated = () if self._field == "histogram" else ("truncated",)
        return [*about, *columns, *of_parts(*truncated, "query")]


def names_of_rows(query: StatsQuery, field: str | None) -> list[str]:
    """The names of the columns that ``rows_of`` gives for *query*.

    Raises:
        FieldNotRequestedError: There is no such list.
    """
    if field is None:
        columns = columns_of_totals([], requested(query).fields)
    else:
        check_list(field, TABLES)
        columns = _no_rows(field, query)
    names = [column.name for column in columns if column.name not in _OF_FRAMES]
    return [*_ABOUT, *names, *(() if field in {None, "histogram"} else ("truncated",))]


def rows_of(outcome: Answered, field: str | None) -> list[dict[str, JsonValue]]:
    """The rows of one outcome, as a frame of many has them: for a stream.

    Raises:
        FieldNotRequestedError: The query did not request the list.
    """
    builder = TableBuilder(field)
    builder.add(outcome)
    return to_dicts(builder.columns())


def object_of(outcome: Answered) -> dict[str, JsonValue]:
    """One outcome as an object for JSON, with the host name that was requested."""
    zone, *_ = period_of(outcome)
    about: dict[str, JsonValue] = {"hostname": outcome.query.hostname, "timezone": zone}
    return outcome.stats.to_dict() | about


def requested_lists(query: StatsQuery) -> list[str]:
    """The fields of *query* that have rows of their own, in the document's order."""
    wanted = requested(query)
    events = () if wanted.events is None else ("events",)
    return [*(name for name in wanted.fields if name not in TOTALS), *events]


_ABOUT: Final = ("hostname", "timezone", "first_day", "last_day")
_OF_FRAMES: Final = frozenset(("hostname", "start", "end"))
"""Columns of a result alone whose meaning is in the first four."""


def error_text(outcome: Outcome | None) -> str | None:
    """The class and the message of an outcome's error, None where there is none."""
    error = None if outcome is None else outcome.error
    return None if error is None else f"{type(error).__name__}: {error}"


def period_of(
    outcome: Outcome,
) -> tuple[str | None, dt.date | None, dt.date | None]:
    """The time zone, the first and the last day of *outcome*.

    Where there is no response they are those that were requested, None for words,
    which each website's zone makes another day of.
    """
    stats, wanted = outcome.stats, requested(outcome.query)
    if stats is not None:
        return stats.timezone or wanted.timezone, stats.first_day, stats.last_day
    first, last = (as_date(wanted.checked(name)) for name in ("start", "end"))
    return wanted.timezone, first, last


def _totals(outcome: Outcome) -> list[Column]:
    if outcome.error is None:
        return columns_of_totals([outcome.stats])
    fields = requested(outcome.query).fields
    return [column._replace(cells=[None]) for column in columns_of_totals([], fields)]


def _no_rows(field: str, query: StatsQuery | None) -> list[Column]:
    """The columns of a response to *query*, or of one to the simplest query."""
    wanted = None if query is None else requested(query)
    kind: type[Any]
    if field == "histogram":
        kind = entry_type(wanted.interval if wanted else None)
    else:
        fields = wanted.fields if wanted else ()
        kind = entry_class(field, timed="seconds_on_page" in fields)
    empty: Entries[Any] = Entries([], name=field, entry_type=kind)
    return columns_of_entries(empty)


def missing(failed: Sequence[Failed], total: int) -> str:
    """The warning about *failed* queries, of so many in all, that have no rows."""
    named = [
        f"{one.query.hostname} ({type(one.error).__name__}: {one.error})"
        for one in failed[:_MOST_NAMED]
    ]
    if len(failed) > _MOST_NAMED:
        named.append(f"{len(failed) - _MOST_NAMED} more")
    were = "query failed and has" if len(failed) == 1 else "queries failed and have"
    return (
        f"{len(failed)} {were} no rows here, of {total} in all; .failed has them: "
        f"{', '.join(named)}"
    )
