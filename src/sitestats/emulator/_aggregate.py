"""Compute the numbers of a Stats response with SQL, in one pass over the rows.

Values of a request are always bound parameters. The SQL text itself holds only
column names, and numbers that were computed here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Final, Literal, TypeAlias

import attrs

from ._columns import MetadataKey
from ._parameters import LISTS, Match, Query
from ._periods import Bucket, Stretch
from ._rows import Rows

_FORMS: Final = {
    "text": re.compile(".*", re.DOTALL),
    "int": re.compile(r"-?[0-9]+(\.[0-9]+)?"),
    "bool": re.compile("true|false"),
    "date": re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?Z"
    ),
}
"""The values that may be of each type that metadata is stored as."""
_ORDER: Final = "pageviews DESC, visitors DESC, entry NULLS LAST"
_EVENTS: Final = "total DESC, datapoint"
MOST_EVENTS: Final = 1000
"""The most events of a response (section 4.3)."""
# The lists in which page views without a value may get an entry of their own:
# visits without a referrer, and from unknown countries.
_WITH_NULL: Final = frozenset({"referrers", "countries"})


Agent: TypeAlias = (
    "tuple[int, str | None, str | None, str | None, str | None, str | None]"
)
"""Page views with a browser and its version, a system and its version, and a device."""

_AGENT_COLUMNS: Final = (
    *("browser_name", "browser_version", "os_name", "os_version"),
    "device_type",
)


@attrs.frozen
class Count:
    """Page views and visitors of one group, and their median time on page."""

    pageviews: int = 0
    visitors: int = 0
    seconds_on_page: float | None = None


@attrs.frozen
class Numbers:
    """All numbers that a query requests, before they get the form of a version."""

    total: Count = Count()
    histogram: dict[Bucket, Count] = attrs.field(factory=dict[Bucket, Count])
    """The buckets that have visits."""
    lists: dict[str, list[tuple[str | None, Count]]] = attrs.field(
        factory=dict[str, list[tuple[str | None, Count]]]
    )
    events: list[tuple[str, int]] = attrs.field(factory=list[tuple[str, int]])
    agents: list[Agent] = attrs.field(factory=list[Agent])
    """For versions 1 and 2."""


class Aggregate:
    """The SQL of one query on one website's rows, with a cursor of its own."""

    def __init__(
        self, rows: Rows, hostname: str, query: Query, *, null_entries: bool = False
    ) -> None:
        self._cursor = rows.cursor()
        self._table = rows.table
        self._query = query
        self._with_null = _WITH_NULL if null_entries else frozenset[str]()
        self._stretches = query.period.stretches(
            rows.span[0], max(rows.span) + timedelta(seconds=1)
        )
        self._params: list[Any] = [hostname, query.period.start, query.period.end]
        self._where = "hostname = ? AND ts >= ? AND ts < ?"
        for filter_ in query.filters:
            matches = " OR ".join(map(self._match, filter_.matches))
            self._where += f" AND ({matches})"
        for key, value in query.metadata:
            self._where += f" AND ({self._metadata(rows, key, value)})"

    def close(self) -> None:
        """Close the cursor."""
        self._cursor.close()

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
        """Compare with each stored type that *value* can be read as; text always."""
        found: list[str] = []
        for kind, form in _FORMS.items():
            stored = MetadataKey(key, kind)
            column = rows.metadata.get(stored)
            if column is not None and form.fullmatch(value):
                found.append(f"{column} = {stored.stored('?')}")
                # An older DuckDB (1.3) reads no moment without seconds.
                full = re.sub("(T..:..)Z$", r"\1:00Z", value)
                self._params.append(full if kind == "date" else value)
        return " OR ".join(found) or "false"

    def count(self, lists: Sequence[str], *, histogram: bool, medians: bool) -> Numbers:
        """Count page views: the totals, and what else is requested."""
        keys = [LISTS[name] for name in lists]
        if histogram:
            keys += ["bucket", "shift"]
        names = {_set_id(keys, LISTS[name]): name for name in lists}
        everything = _set_id(keys)
        hourly = self._query.interval == "hour"
        numbers = Numbers(lists={name: [] for name in lists})
        for number, entry, bucket, shift, *counted in self._rows(
            self._grouped(lists, keys, histogram=histogram, medians=medians)
            if keys
            else self._total(medians=medians)
        ):
            found = Count(*counted)
            if number in names:
                numbers.lists[names[number]].append((entry, found))
            elif number == everything:
                numbers = attrs.evolve(numbers, total=found)
            else:
                offset = timedelta(seconds=shift) if hourly else None
                numbers.histogram[Bucket(bucket, offset)] = found
        return numbers

    def _total(self, *, medians: bool) -> str:
        # DuckDB plans it in half the time of the grouped query.
        return (
            f"SELECT 0, NULL, NULL, NULL, {_counts(medians=medians)} "
            f"FROM {self._table} WHERE {self._where} AND datapoint = 'pageview'"
        )

    def _grouped(
        self,
        lists: Sequence[str],
        keys: Sequence[str],
        *,
        histogram: bool,
        medians: bool,
    ) -> str:
        """SQL that reads the rows once, for all lists and the histogram."""
        columns = [LISTS[name] for name in lists]
        sets = ["()", *(f"({column})" for column in columns)]
        inner = "*"
        if histogram:
            sets.append("(bucket, shift)")
            shift = _shift(self._stretches) if self._query.interval == "hour" else "0"
            inner += f", {self._bucket(self._query.interval)}, {shift} AS shift"
        sql = f"""
            SELECT grouping_id({", ".join(keys)}) AS grouped_by,
                {f"coalesce({', '.join(columns)})" if columns else "NULL"} AS entry,
                {"bucket, shift" if histogram else "NULL AS bucket, NULL"},
                {_counts(medians=medians)}
            FROM (SELECT {inner} FROM {self._table}
                  WHERE {self._where} AND datapoint = 'pageview')
            GROUP BY GROUPING SETS ({", ".join(sets)})
            """
        if not columns:
            return sql
        return f"""
            {sql} HAVING {self._is_named(lists, keys)}
            QUALIFY bucket IS NOT NULL OR row_number()
                OVER (PARTITION BY grouped_by ORDER BY {_ORDER}) <= {self._query.limit}
            ORDER BY {_ORDER}
            """

    def _bucket(self, interval: str) -> str:
        shift = _shift(self._stretches)
        return (
            f"date_trunc('{interval}', ts + to_seconds({shift}))::TIMESTAMP AS bucket"
        )

    def _is_named(self, lists: Sequence[str], keys: Sequence[str]) -> str:
        """SQL that leaves out what has no value, where that is no entry."""
        named = [
            f"NOT (grouped_by = {_set_id(keys, LISTS[name])} AND {LISTS[name]} IS NULL)"
            for name in lists
            if name not in self._with_null
        ]
        return " AND ".join(named) or "true"

    def days(self, lists: Sequence[str], *, medians: bool) -> dict[date, Numbers]:
        """Count each day by itself: totals, lists and events."""
        columns = [LISTS[name] for name in lists]
        names = {_set_id(columns, LISTS[name]): name for name in lists}
        found = defaultdict[date, Numbers](
            lambda: Numbers(lists={name: [] for name in lists})
        )
        bucket = self._bucket("day")
        of_day = f"SELECT *, {bucket} FROM {self._table} WHERE {self._where}"
        for day, number, entry, *counted in self._rows(
            f"""
            SELECT bucket::DATE, grouping_id({", ".join(["bucket", *columns])})
                AS grouped_by, {", ".join(["coalesce(NULL", *columns])}) AS entry,
                {_counts(medians=medians)}
            FROM ({of_day} AND datapoint = 'pageview')
            GROUP BY bucket, GROUPING SETS (()
                {"".join(f", ({column})" for column in columns)})
            HAVING {self._is_named(lists, columns)}
            QUALIFY row_number() OVER (PARTITION BY bucket, grouped_by
                ORDER BY {_ORDER}) <= {self._query.limit}
            ORDER BY {_ORDER}
            """
        ):
            if number in names:
                found[day].lists[names[number]].append((entry, Count(*counted)))
            else:
                found[day] = attrs.evolve(found[day], total=Count(*counted))
        for day, name, total in self._rows(
            f"SELECT bucket::DATE, datapoint, count(*) AS total "
            f"FROM ({of_day} AND datapoint <> 'pageview') GROUP BY bucket, datapoint "
            f"QUALIFY row_number() OVER (PARTITION BY bucket ORDER BY {_EVENTS}) "
            f"<= {MOST_EVENTS} ORDER BY {_EVENTS}"
        ):
            found[day].events.append((name, total))
        return found

    def events(self, names: tuple[str, ...] | Literal["*"]) -> list[tuple[str, int]]:
        """Count each event (section 4.3)."""
        counted = self._rows(
            f"SELECT datapoint, count(*) AS total FROM {self._table} "
            f"WHERE {self._where} AND datapoint <> 'pageview' "
            f"GROUP BY datapoint ORDER BY {_EVENTS}"
        )
        if names == "*":
            return counted[:MOST_EVENTS]
        totals = dict(counted)
        return [(name, totals.get(name.lower(), 0)) for name in names]

    def agents(self) -> list[Agent]:
        """Count browsers, systems and devices together, for versions 1 and 2."""
        columns = ", ".join(_AGENT_COLUMNS)
        order = ", ".join(f"{column} NULLS LAST" for column in _AGENT_COLUMNS)
        return self._rows(
            f"SELECT count(*) AS total, {columns} FROM {self._table} "
            f"WHERE {self._where} AND datapoint = 'pageview' "
            f"GROUP BY {columns} ORDER BY total DESC, {order} "
            f"LIMIT {self._query.limit}"
        )

    def _rows(self, sql: str) -> list[Any]:
        return self._cursor.execute(sql, self._params).fetchall()


def _counts(*, medians: bool) -> str:
    median = "median(duration) FILTER (duration >= 5)" if medians else "NULL"
    return (
        "count(*) AS pageviews, count(*) FILTER (is_unique) AS visitors, "
        f"{median} AS seconds"
    )


def _set_id(keys: Sequence[str], grouped: str = "") -> int:
    """DuckDB's ``grouping_id`` of a grouping set: one bit for each key left out."""
    return sum(1 << place for place, key in enumerate(reversed(keys)) if key != grouped)


def _shift(stretches: Sequence[Stretch]) -> str:
    """SQL for the seconds from UTC to local time at ``ts``."""
    seconds = [int(stretch.offset.total_seconds()) for stretch in stretches]
    if not seconds:
        return "0"
    cases = "".join(
        f" WHEN ts < TIMESTAMP '{stretch.end}' THEN {offset}"
        for stretch, offset in zip(stretches[:-1], seconds, strict=False)
    )
    return f"(CASE{cases} ELSE {seconds[-1]} END)" if cases else str(seconds[-1])
