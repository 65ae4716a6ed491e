"""The requests of one load: histograms first, then days, and the rows they give."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from sitestats import StatsQuery
from sitestats._common.errors import ResponseError, warn
from sitestats._common.fields import TOTALS
from sitestats._common.text import counted

from ._day_rows import NO_ROWS, key_of, totals_of, values_of, why_not
from ._days import Days
from ._held import Period
from ._tables import DAYS, Rows

if TYPE_CHECKING:
    from sitestats import Client, Outcome

_MOST_NAMED: Final = 3
"""The most websites that a warning names."""

MOST_ENTRIES: Final = 1000
"""The most entries that the service gives of each list (section 4.3)."""


@attrs.define(kw_only=True, eq=False)
class Reading:
    """The requests of one load."""

    client: Client
    days: Days
    tables: Mapping[str, Rows]
    """The rows of each table to fill."""
    concurrency: int
    now: Callable[[], dt.datetime]
    may_request: Callable[[int], bool]
    """Whether one more may be sent, after so many."""
    show: Callable[[int, int], object]
    """Shows how many requests have an outcome, and how many there are to be."""
    requests: int = 0
    """How many requests were sent."""

    def read(self) -> Iterator[int]:
        """Add what is read to the rows of the tables; the values count the days."""
        yield from self._histograms()
        yield from self._each_day()

    def _histograms(self) -> Iterator[int]:
        query = StatsQuery("example.com").fields("histogram").limit(MOST_ENTRIES)
        outcomes = self._outcomes(self.days.take_period, query)
        for hostname, period, outcome in outcomes:
            if outcome.error is not None:
                self.days.failed_period(hostname, period, outcome.error)
                continue
            totals = totals_of(outcome.stats)
            read = self.days.read_period(hostname, period, totals)
            for day in read:
                pageviews, visitors = totals[day]
                key = key_of(hostname, day, outcome.stats, self.now())
                for name, rows in self.tables.items():
                    if name == DAYS:
                        counts = {"pageviews": pageviews, "visitors": visitors}
                        rows.add(**key, **counts, partial=False)
                    else:
                        rows.add(**key, **NO_ROWS)
            yield len(read)
        if lacking := self.days.take_lacking():
            number = counted(len(lacking), "website")
            warn(
                f"histograms of {number} failed, or lack days: these are requested one "
                "by one, and late changes of other days are not seen: "
                f"{', '.join(lacking[:_MOST_NAMED])}"
            )

    def _each_day(self) -> Iterator[int]:
        names = [name for name in self.tables if name not in {DAYS, "events"}]
        fields = cast("Any", (*TOTALS, *names))
        query = StatsQuery("example.com").fields(*fields).limit(MOST_ENTRIES)
        if "events" in self.tables:
            query = query.all_events()

        def take() -> tuple[str, Period] | None:
            taken = self.days.take()
            return None if taken is None else (taken[0], (taken[1], taken[1]))

        outcomes = self._outcomes(take, query)
        for hostname, (day, _), outcome in outcomes:
            if outcome.error is not None:
                self.days.failed(hostname, day, outcome.error)
                continue
            stats = outcome.stats
            if stats.problems:
                error = ResponseError("not as documented", problems=stats.problems)
                self.days.failed(hostname, day, error)
                continue
            found = [*values_of(stats, self.tables)]
            if why := why_not(stats, day, found, self.tables):
                self.days.failed(hostname, day, ResponseError(why, body=stats.body))
                continue
            # By the service's clock: it is requested again when it is over.
            if not stats.partial:
                self.days.read(hostname, day, (stats.pageviews, stats.visitors))
            key = key_of(hostname, day, stats, self.now())
            for name, number, values in found:
                self.tables[name].add(number, **key, **values)
            yield 1

    def _outcomes(
        self, take: Callable[[], tuple[str, Period] | None], query: StatsQuery
    ) -> Iterator[tuple[str, Period, Outcome]]:
        under_way: dict[int, tuple[str, Period]] = {}

        def queries() -> Iterator[StatsQuery]:
            for number in count():
                taken = take() if self.may_request(self.requests) else None
                if taken is None:
                    return
                self.requests += 1
                under_way[number] = hostname, period = taken
                # In the zone of the cursor, whatever the website's is by now.
                zone = self.days.websites[hostname].timezone
                yield query.website(hostname).timezone(zone).between(*period)

        stream = self.client.stats.get_many(queries(), concurrency=self.concurrency)
        with stream:
            for outcome in stream:
                hostname, period = under_way.pop(outcome.index)
                self.show(
                    self.requests - len(under_way), self.requests + self.days.left
                )
                yield hostname, period, outcome
