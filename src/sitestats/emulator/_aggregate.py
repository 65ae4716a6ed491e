"""The numbers of an answer, computed from the rows in one pass.

Every value of a request is bound; what is written into the SQL are names of
columns, and numbers that were computed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import attrs

from ._columns import MetadataKey, canonical_number
from ._parameters import LISTS, Filter, Match, Question
from ._periods import EPOCH, Bucket, Stretch
from ._rows import Rows

_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DATE: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?Z"
)
# The lists in which page views without a value have an entry of their own:
# visits that came from nowhere, and from unknown countries.
_WITH_NULL: Final = frozenset({"referrers", "countries"})


@attrs.frozen
class Count:
    """Page views and visitors of one group, and their median time on page."""

    pageviews: int = 0
    visitors: int = 0
    seconds_on_page: float | None = None


@attrs.frozen
class Numbers:
    """Everything that one question needs, not yet in any version's shape."""

    total: Count = Count()
    histogram: dict[Bucket, Count] = attrs.field(factory=dict[Bucket, Count])
    """The buckets that have visits."""
    lists: dict[str, list[tuple[str | None, Count]]] = attrs.field(
        factory=dict[str, list[tuple[str | None, Count]]]
    )
    events: list[tuple[str, int]] = attrs.field(factory=list[tuple[str, int]])
    agents: list[tuple[int, str | None, str | None, str | None]] = attrs.field(
        factory=list[tuple[int, str | None, str | None, str | None]]
    )
    """Page views with browser, operating system and device: versions 1 and 2."""


class Aggregate:
    """Answers questions about one website's rows, with a connection of its own."""

    def __init__(self, rows: Rows, hostname: str, question: Question) -> None:
        self._cursor = rows.cursor()
        self._question = question
        self._stretches = question.period.stretches(
            rows.span[0], max(rows.span) + timedelta(seconds=1)
        )
        self._params: list[Any] = [
            hostname,
            question.period.start,
            question.period.end,
        ]
        self._where = "hostname = ? AND ts >= ? AND ts < ?"
        for filter_ in question.filters:
            self._where += f" AND ({self._filter(filter_)})"
        for key, value in question.metadata:
            self._where += f" AND ({self._metadata(rows, key, value)})"

    def close(self) -> None:
        """Give the connection back."""
        self._cursor.close()

    def _filter(self, filter_: Filter) -> str:
        return " OR ".join(map(self._match, filter_.matches))

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
        """Every stored type that *value* may stand for; text always."""
        candidates: list[tuple[str, object]] = [("text", value)]
        if _NUMBER.fullmatch(value):
            candidates.append(("int", canonical_number(value)))
        if value in {"true", "false"}:
            candidates.append(("bool", value == "true"))
        if (instant := _instant(value)) is not None:
            candidates.append(("date", instant))
        found: list[str] = []
        for kind, wanted in candidates:
            column = rows.metadata.get(MetadataKey(key, kind))
            if column is not None:
                found.append(f"{column} = ?")
                self._params.append(wanted)
        return " OR ".join(found) or "false"

    def count(
        self,
        lists: Sequence[str],
        *,
        histogram: bool,
        medians: bool,
    ) -> Numbers:
        """Totals, and what else is asked for, of the page views."""
        question = self._question
        columns = [LISTS[name] for name in lists]
        hourly = question.interval == "hour"
        keys = [*columns, *(["bucket", "shift"] if histogram else [])]
        sets = ["()", *(f"({column})" for column in columns)]
        if histogram:
            sets.append("(bucket, shift)")
        shift = _shift(self._stretches)
        inner = "*"
        if histogram:
            inner += (
                f", date_trunc('{question.interval}', ts + to_seconds({shift}))"
                f"::TIMESTAMP AS bucket, {shift if hourly else '0'} AS shift"
            )
        value = f"coalesce({', '.join(columns)})" if columns else "NULL::VARCHAR"
        group = f"grouping_id({', '.join(keys)})" if keys else "0"
        median = "median(duration) FILTER (duration >= 5)" if medians else "NULL"
        rank = (
            "QUALIFY row_number() OVER (PARTITION BY set_number "
            "ORDER BY pageviews DESC, visitors DESC, entry NULLS LAST) <= "
            f"{question.limit}"
        )
        if histogram:
            rank += " OR bucket IS NOT NULL"
        present = [
            f"(NOT (set_number = {_set(keys, [column])} AND {column} IS NULL))"
            for name, column in zip(lists, columns, strict=True)
            if name not in _WITH_NULL
        ]
        having = f"HAVING {' AND '.join(present)}" if present else ""
        query = f"""
            SELECT {group} AS set_number, {value} AS entry,
                {"bucket, shift" if histogram else "NULL, NULL"},
                count(*) AS pageviews, count(*) FILTER (is_unique) AS visitors,
                {median} AS seconds
            FROM (SELECT {inner} FROM rows
                  WHERE {self._where} AND datapoint = 'pageview')
            GROUP BY GROUPING SETS ({", ".join(sets)})
            {having}
            {rank if columns else ""}
            ORDER BY set_number, pageviews DESC, visitors DESC, entry NULLS LAST
        """
        numbers = Numbers(lists={name: [] for name in lists})
        names = {_set(keys, [LISTS[name]]): name for name in lists}
        all_keys = _set(keys, [])
        for number, entry, bucket, offset, *counted in self._rows(query):
            found = Count(*counted)
            if number in names:
                numbers.lists[names[number]].append((entry, found))
            elif number == all_keys:
                numbers = attrs.evolve(numbers, total=found)
            else:
                numbers.histogram[
                    Bucket(bucket, timedelta(seconds=offset) if hourly else None)
                ] = found
        return numbers

    def events(self, names: tuple[str, ...] | Literal["*"]) -> list[tuple[str, int]]:
        """How often each event happened (section 4.3)."""
        where = f"{self._where} AND datapoint <> 'pageview'"
        if names == "*":
            return self._rows(
                f"SELECT datapoint, count(*) AS total FROM rows WHERE {where} "
                "GROUP BY datapoint ORDER BY total DESC, datapoint LIMIT 1000"
            )
        counted = dict(
            self._rows(
                "SELECT name, count(ts) FROM (SELECT unnest(?::VARCHAR[]) AS name) "
                f"LEFT JOIN (SELECT ts, datapoint FROM rows WHERE {where}) "
                "ON datapoint = lower(name) GROUP BY name",
                [list(names), *self._params],
            )
        )
        return [(name, counted[name]) for name in names]

    def agents(self) -> list[tuple[int, str | None, str | None, str | None]]:
        """What visitors came with, as versions 1 and 2 tell it."""
        return self._rows(
            "SELECT count(*) AS total, browser_name, os_name, device_type FROM rows "
            f"WHERE {self._where} AND datapoint = 'pageview' "
            "GROUP BY browser_name, os_name, device_type ORDER BY total DESC, "
            "browser_name NULLS LAST, os_name NULLS LAST, device_type NULLS LAST "
            f"LIMIT {self._question.limit}"
        )

    def _rows(self, query: str, params: list[Any] | None = None) -> list[Any]:
        return self._cursor.execute(
            query, self._params if params is None else params
        ).fetchall()


def _set(keys: Sequence[str], grouped: Sequence[str]) -> int:
    """The number that DuckDB gives a grouping set: a bit for each key left out."""
    return sum(
        1 << place for place, key in enumerate(reversed(keys)) if key not in grouped
    )


def _shift(stretches: Sequence[Stretch]) -> str:
    """SQL for the seconds from UTC to local time at ``ts``."""
    seconds = [int(stretch.offset.total_seconds()) for stretch in stretches]
    if not seconds:
        return "0"
    cases = "".join(
        f" WHEN ts < make_timestamp({_microseconds(stretch.end)}) THEN {offset}"
        for stretch, offset in zip(stretches[:-1], seconds, strict=False)
    )
    return f"(CASE{cases} ELSE {seconds[-1]} END)" if cases else str(seconds[-1])


def _microseconds(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(microseconds=1)


def _instant(text: str) -> datetime | None:
    """The instant of an ISO 8601 date-time in UTC, naive, or None."""
    if not _DATE.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC).replace(tzinfo=None)
