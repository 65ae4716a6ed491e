"""Compute the numbers of a Stats response with SQL: one query for each part of it.

Values of a request are always bound parameters. The SQL text itself holds only
column names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import attrs

from ._loading import MetadataKey
from ._parameters import LISTS, WITH_FIELDS, WITH_PAGES, Match, Query
from ._periods import Bucket, buckets
from ._rows import Rows

if TYPE_CHECKING:
    import duckdb

_FORMS: Final = {
    "text": re.compile(".*", re.DOTALL),
    "int": re.compile(r"-?[0-9]+(\.[0-9]+)?"),
    "bool": re.compile("true|false"),
    "date": re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z"
    ),
}
"""The texts that can be values of each stored type of metadata."""
_MOST_EVENTS: Final = 1000
"""The most events of a response (section 4.3)."""
_WITH_NULL: Final = frozenset({"referrers", "countries"})
"""The lists that can have an entry for page views without a value."""

_AGENT: Final = "browser_name, browser_version, os_name, os_version, device_type"
_COUNTS: Final = "count(*) AS pageviews, count(*) FILTER (is_unique) AS visitors"
_MEDIAN: Final = "median(duration) FILTER (duration >= 5)"


@attrs.frozen
class Count:
    """Page views and visitors of one group, and their median time on page."""

    pageviews: int = 0
    visitors: int = 0
    seconds_on_page: float | None = None


@attrs.define
class Numbers:
    """All numbers that a query requests, in no version's form."""

    total: Count = Count()
    histogram: list[tuple[Bucket, Count]] = attrs.field(
        factory=list[tuple[Bucket, Count]]
    )
    lists: dict[str, list[tuple[str | None, Count]]] = attrs.field(
        factory=dict[str, list[tuple[str | None, Count]]]
    )
    events: list[tuple[str, int]] = attrs.field(factory=list[tuple[str, int]])
    agents: list[tuple[Any, ...]] = attrs.field(factory=list[tuple[Any, ...]])
    """For versions 1 and 2: a count, and the columns of ``_AGENT``."""


def count(
    rows: Rows, hostname: str, query: Query, *, null_entries: bool = False
) -> Numbers:
    """Count what *query* requests about a website."""
    numbers = Numbers()
    with rows.cursor() as cursor:
        counting = _Counting(cursor, rows, hostname, query)
        if query.fields or query.version < WITH_FIELDS:
            numbers.total = counting.total()
        if query.has_histogram:
            numbers.histogram = counting.histogram()
        for name in LISTS:
            if name in query.fields or query.version == WITH_PAGES:
                with_null = null_entries and name in _WITH_NULL
                numbers.lists[name] = counting.entries(LISTS[name], null=with_null)
        if query.version < WITH_FIELDS:
            numbers.agents = counting.agents()
        if query.events is not None:
            numbers.events = counting.events(query.events)
    return numbers


class _Counting:
    """The SQL of one query on one website's rows."""

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, rows: Rows, hostname: str, query: Query
    ) -> None:
        self._cursor = cursor
        self._query = query
        medians = "seconds_on_page" in query.fields
        self._counts = f"{_COUNTS}, {_MEDIAN if medians else 'NULL'}"
        self._params: list[Any] = [hostname, query.period.start, query.period.end]
        where = "hostname = ? AND ts >= ? AND ts < ?"
        for matches in query.filters:
            where += f" AND ({' OR '.join(map(self._match, matches))})"
        for key, value in query.metadata.items():
            where += f" AND ({self._metadata(rows, key, value)})"
        self._events = f"FROM {rows.table} WHERE {where} AND datapoint <> 'pageview'"
        self._views = f"FROM {rows.table} WHERE {where} AND datapoint = 'pageview'"

    def _match(self, match: Match) -> str:
        self._params.append(match.text)
        column, value = match.column, "?"
        if column == "country":
            column, value = f"upper({column})", "upper(?)"
        if match.kind == "exact":
            return f"{column} = {value}"
        function = "starts_with" if match.kind == "prefix" else "contains"
        return f"{function}({column}, {value})"

    def _metadata(self, rows: Rows, key: str, value: str) -> str:
        """Compare with each stored type that *value* can be, always with text."""
        found: list[str] = []
        for kind, form in _FORMS.items():
            stored = MetadataKey(key, kind)
            column = rows.metadata.get(stored)
            if column is not None and form.fullmatch(value):
                found.append(f"{column} = {stored.typed('?')}")
                self._params.append(value)
        return " OR ".join(found) or "false"

    def total(self) -> Count:
        """The totals."""
        return Count(*self._rows(f"SELECT {self._counts} {self._views}")[0])

    def histogram(self) -> list[tuple[Bucket, Count]]:
        """Every entry, including those without visits."""
        found = [*buckets(self._query.period, self._query.interval)]
        counted = self._rows(
            f"SELECT number, {_COUNTS} FROM (SELECT ts, is_unique {self._views}) "
            "ASOF JOIN (SELECT unnest(?::TIMESTAMP[]) AS start, "
            "unnest(range(?)) AS number) ON ts >= start GROUP BY number",
            [bucket.start for bucket in found],
            len(found),
        )
        counts = {number: Count(*counts) for number, *counts in counted}
        return [(bucket, counts.get(n, Count())) for n, bucket in enumerate(found)]

    def entries(self, column: str, *, null: bool) -> list[tuple[str | None, Count]]:
        """A list, ordered by page views, visitors and value."""
        named = "" if null else f" AND {column} IS NOT NULL"
        counted = self._rows(
            f"SELECT {column}, {self._counts} {self._views}{named} GROUP BY {column} "
            f"ORDER BY pageviews DESC, visitors DESC, {column} NULLS LAST "
            f"LIMIT {self._query.limit}"
        )
        return [(value, Count(*counts)) for value, *counts in counted]

    def events(self, names: list[str]) -> list[tuple[str, int]]:
        """Count each event (section 4.3)."""
        counted = self._rows(
            f"SELECT datapoint, count(*) AS total {self._events} "
            "GROUP BY datapoint ORDER BY total DESC, datapoint"
        )
        if names == ["*"]:
            return counted[:_MOST_EVENTS]
        totals = dict(counted)
        return [(name, totals.get(name.lower(), 0)) for name in names]

    def agents(self) -> list[tuple[Any, ...]]:
        """Count browsers, systems and devices together, for versions 1 and 2."""
        return self._rows(
            f"SELECT count(*) AS total, {_AGENT} {self._views} GROUP BY ALL "
            f"ORDER BY total DESC, {_AGENT.replace(',', ' NULLS LAST,')} NULLS LAST "
            f"LIMIT {self._query.limit}"
        )

    def _rows(self, sql: str, *more: object) -> list[Any]:
        return self._cursor.execute(sql, [*self._params, *more]).fetchall()
