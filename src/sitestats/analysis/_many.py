"""What came of many queries as one table, in the order of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

import attrs

from sitestats._entries import Entries
from sitestats._errors import FieldNotRequestedError, warn
from sitestats._fields import FIELDS
from sitestats._histogram import entry_type
from sitestats._query import requested
from sitestats._shape import shape
from sitestats._wording import did_you_mean, shown

from ._columns import (
    TOTALS,
    Column,
    Kind,
    columns_of_entries,
    columns_of_totals,
    stacked,
)

if TYPE_CHECKING:
    from sitestats._outcomes import Failed, Outcome
    from sitestats._query import StatsQuery

_LISTS: Final = (*(name for name in FIELDS if name not in TOTALS), "events")
_MOST_NAMED: Final = 3


@attrs.frozen
class _Part:
    """What is kept of one outcome: its rows, and not the answer."""

    index: int
    columns: Sequence[Column]
    truncated: bool = False
    error: str | None = None

    @property
    def rows(self) -> int:
        return len(self.columns[0].cells)


class Gathering:
    """The rows of many outcomes, which may be added in any order.

    Args:
        field: The list that the rows are of; None for one row of totals for each
            outcome.

    Raises:
        FieldNotRequestedError: There is no such list.
    """

    def __init__(self, field: str | None) -> None:
        if field is not None and field not in _LISTS:
            hint = did_you_mean(field, _LISTS)
            if field in TOTALS:
                hint = ": it is a total, which are a row each when no field is given"
            raise FieldNotRequestedError(
                f"{shown(field)} is no list of an answer{hint}", name=field
            )
        self._field = field
        self._parts: list[_Part] = []
        self._failed: list[Failed] = []

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The outcomes without an answer, in the order of the queries."""
        return tuple(sorted(self._failed, key=lambda failed: failed.index))

    def add(self, outcome: Outcome) -> None:
        """Take the rows of *outcome*.

        Raises:
            FieldNotRequestedError: Its query did not ask for the field.
        """
        error = None
        if outcome.error is not None:
            self._failed.append(outcome)
            error = f"{type(outcome.error).__name__}: {outcome.error}"
        if self._field is None:
            columns = _totals(outcome)
        elif outcome.error is not None:
            columns = _no_rows(self._field, outcome.query)
        else:
            entries: Entries[Any] = getattr(outcome.stats, self._field)
            columns = columns_of_entries(entries, outcome.query.hostname)
            part = _Part(outcome.index, columns, entries.truncated)
            self._parts.append(part)
            return
        self._parts.append(_Part(outcome.index, columns, error=error))

    def columns(self) -> list[Column]:
        """The table; a warning tells of failed queries that have no row in it."""
        parts = sorted(self._parts, key=lambda part: part.index)
        tables = [part.columns for part in parts]
        if self._field is None:
            columns = stacked([columns_of_totals([], TOTALS), *tables])
            asked_for = {column.name for table in tables for column in table}
            columns = [
                column
                for column in columns
                if column.name in asked_for or column.name not in TOTALS
            ]
            columns.append(Column("error", Kind.TEXT, _repeated(parts, "error")))
        else:
            columns = stacked([_no_rows(self._field, None), *tables])
            if self._field != "histogram":
                cut = _repeated(parts, "truncated")
                columns.append(Column("truncated", Kind.FLAG, cut))
            if self._failed:
                warn(_missing(self.failed, len(parts)))
        index = Column("query", Kind.COUNT, _repeated(parts, "index"))
        return [*columns, index]


def _repeated(parts: Iterable[_Part], name: str) -> list[Any]:
    return [getattr(part, name) for part in parts for _ in range(part.rows)]


def _totals(outcome: Outcome) -> list[Column]:
    if outcome.error is None:
        return columns_of_totals([outcome.stats])
    fields = requested(outcome.query).fields
    cells: dict[str, Any] = {"hostname": outcome.query.hostname}
    return [
        attrs.evolve(column, cells=[cells.get(column.name)])
        for column in columns_of_totals([], fields)
    ]


def _no_rows(field: str, query: StatsQuery | None) -> list[Column]:
    """The columns that an answer to *query* would have, None: to the plainest."""
    wanted = None if query is None else requested(query)
    if field == "histogram":
        kind: Any = entry_type(None if wanted is None else wanted.interval)
    else:
        fields = () if wanted is None else wanted.fields
        (kind,) = get_args(shape((*fields, field), events=True).types[field])
    empty: Entries[Any] = Entries([], name=field, entry_type=kind)
    return columns_of_entries(empty, "")


def _missing(failed: Sequence[Failed], total: int) -> str:
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
