"""Compute the numbers of a Stats response with SQL: one query for each part of it.

Values of a request are always bound parameters. The SQL text itself holds only
column names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import attrs

from ._loading import MetadataKey
from ._parameters import LISTS, Match, Query
from ._periods import Bucket, buckets
from ._rows import Rows

if TYPE_CHECKING:
    import duckdb

_FORMS: Final = {
    "text": ".*",
    "int": "[-.0-9]+",
    "bool": "true|false",
    "date": r".*(Z|\+00:00)",
}
"""What is compared with each stored type of metadata, if it is a value of that type."""
_MOST_EVENTS: Final = 1000
"""The most events of a response (section 4.3)."""
_WITH_NULL: Final = frozenset({"referrers", "countries"})
"""The lists that can have an entry for page views without a value."""

AGENT: Final = {
    "browser_name": "browser_name",
    "browser_version": "browser_version",
    "os_name": "os_name",
    "os_version": "os_version",
    "device_type": "type",
}
"""The columns of an agent in versions 1 and 2, with their names in a response."""
_COUNTS: Final = "count(*) AS pageviews, count(*) FILTER (is_unique) AS visitors"
_MEDIAN: Final = "median(duration) FILTER (duration >= 5)"


@attrs.frozen
class Count:
    """Page views and visitors of one group, and their median time on page."""

    pageviews: int = 0
    visitors: int = 0
    seconds_on_page: float | None = None


class Numbers:
    """The numbers that a query requests about a website, in no version's form."""

    def __init__(
        self,
        cursor: duckdb.DuckDBPyConnection,
        rows: Rows,
        hostname: str,
        query: Query,
        *,
        null_entries: bool,
    ) -> None:
        self._cursor = cursor
        self._query = query
        self._null_entries = null_entries
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
            if column is not None and re.fullmatch(form, value, re.DOTALL):
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

    def entries(self, name: str) -> list[tuple[str | None, Count]]:
        """A list, ordered by page views, visitors and value."""
        column, with_null = LISTS[name], self._null_entries and name in _WITH_NULL
        named = "" if with_null else f" AND {column} IS NOT NULL"
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
        """For versions 1 and 2: each count, and the columns of ``AGENT``."""
        columns = ", ".join(AGENT)
        return self._rows(
            f"SELECT count(*) AS total, {columns} {self._views} GROUP BY ALL "
            f"ORDER BY total DESC, {columns.replace(',', ' NULLS LAST,')} NULLS LAST "
            f"LIMIT {self._query.limit}"
        )

    def _rows(self, sql: str, *more: object) -> list[Any]:
        return self._cursor.execute(sql, [*self._params, *more]).fetchall()
