"""Statistics of single days, which are counted for many days of a website at once.

A warehouse requests each day by itself, and to count one day takes DuckDB half as long
as to count sixty.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Final

import attrs

from sitestats._common.thread_locks import ForkSafeLock

from ._aggregate import Aggregate, Numbers
from ._parameters import Query
from ._periods import DAY, FIRST, LAST, Bucket, Period, truncate
from ._rows import Rows

_DAYS: Final = 60
_MOST_BLOCKS: Final = 100
"""The most blocks that are stored, each with some 2,000 entries of lists."""


class DailyNumbers:
    """The numbers of days, until a row is added."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._lock = ForkSafeLock()
        self._blocks: dict[tuple[object, ...], dict[date, Numbers]] = {}

    def find(
        self,
        hostname: str,
        query: Query,
        lists: Sequence[str],
        *,
        null_entries: bool,
    ) -> Numbers | None:
        """The numbers of *query*, None where it is not of a single day as a whole."""
        day, period = query.period.first, query.period
        medians = "seconds_on_page" in query.fields
        if (
            day != period.last
            or query.filters
            or query.metadata
            or query.interval == "hour"
            or isinstance(query.events, tuple)
            or not FIRST + _DAYS * DAY < day < LAST - _DAYS * DAY
        ):
            return None
        first = day - day.toordinal() % _DAYS * DAY
        key = (
            *(hostname, first, period.zone, query.limit, *lists),
            *(medians, null_entries, self._rows.changes),
        )

        def count() -> dict[date, Numbers]:
            if key not in self._blocks:
                if len(self._blocks) >= _MOST_BLOCKS:
                    self._blocks.pop(next(iter(self._blocks)))
                block = Period(first, first + (_DAYS - 1) * DAY, period.zone)
                whole = attrs.evolve(query, period=block)
                aggregate = Aggregate(
                    self._rows, hostname, whole, null_entries=null_entries
                )
                self._blocks[key] = aggregate.days(lists, medians=medians)
                aggregate.close()
            return self._blocks[key]

        # One after the other: a warehouse requests many days of a block at once.
        days = self._lock.run(count)
        nothing = Numbers(lists={name: [] for name in lists})
        numbers = days.get(day, nothing)
        wall = truncate(datetime.combine(day, time.min), query.interval)
        return attrs.evolve(numbers, histogram={Bucket(wall): numbers.total})
