"""The source for dlt: what the service lists, and the days of each website."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import dlt
from dlt.common.typing import TSecretStrValue
from dlt.extract.items import DataItemWithMeta
from dlt.extract.resource import DltResource

from sitestats import Client, StatsQuery, Website
from sitestats._common.errors import ConfigurationError, QueryError, ResponseError
from sitestats._common.fields import TOTALS
from sitestats._common.problems import Problem
from sitestats._common.progress import Progress, ShowProgress, showing
from sitestats._common.settings import positive_count
from sitestats._common.text import shown

from ._days import DAY, NOT_LISTED, Coverage, Days, WebsiteDays, last_day
from ._interrupts import UPDATE, UnderWay
from ._tables import ALL_LISTS, Rows

if TYPE_CHECKING:
    from sitestats import Entries, Stats, WebsiteList

SOURCE: Final = "sitestats"
DAYS: Final = "days"
"""The resource whose state holds the cursors."""

MOST_ENTRIES: Final = 1000
"""The most entries that the service gives of each list (section 4.3)."""

_READING_BY_LOADING: Final = 10
"""A load reads for at least so many times as long as the last one took to load."""

_OF_A_WEBSITE: Final = tuple(
    field.name for field in attrs.fields(Website) if field.name != "extra"
)


@dlt.source(name=SOURCE, section=SOURCE, max_table_nesting=0)
def sitestats_source(
    *,
    first_day: dt.date = dlt.config.value,
    hostnames: Sequence[str] | None = None,
    lists: Sequence[str] = ALL_LISTS,
    lag: int = 1,
    max_requests: int = 20_000,
    max_seconds: float = 120,
    concurrency: int = 20,
    base_url: str | None = None,
    api_key: TSecretStrValue | None = None,
    user_id: TSecretStrValue | None = None,
    client: Client | None = None,
    progress: Progress = None,
    now: Callable[[], dt.datetime] | None = None,
) -> Sequence[DltResource]:
    """Every day of each website, until yesterday in the website's own zone.

    ``update`` runs it as often as it takes; run once it reads *max_requests* days at
    most. What is left out comes from dlt's configuration, from the section
    ``sources.sitestats``, as with every source.

    Args:
        first_day: Where to begin. A website that was read before goes on from there.
        hostnames: Which websites; all that the key lists when left out.
        lists: Which tables to fill besides ``days``: names of lists of the Stats API,
            and ``"events"``. When one is added, all days are read again.
        lag: How many days are read again, before the new ones.
        max_requests: How many days a load holds at most, which bounds the memory.
        max_seconds: How long a load reads at most, or ten times as long as the last
            load took, if that is longer. What was not loaded when the process is
            killed is read again.
        concurrency: How many requests are under way at once.
        base_url: The service's address. As ``Client`` does, it takes the address and
            the credentials from the environment, where dlt's configuration has none.
        api_key: The API key.
        user_id: The user ID, which the list of websites needs (section 5).
        client: A client of your own, in place of these three.
        progress: True shows a bar in a terminal or a notebook, and a line every ten
            seconds in a log; a function is called with ``(done, total)``, in days.
        now: The clock.

    Raises:
        QueryError: A host name or the name of a list is not valid.
        ConfigurationError: The client can't be made, or a number is not valid.
    """
    given = {"base_url": base_url, "api_key": api_key, "user_id": user_id}
    known = cast("Any", {name: text for name, text in given.items() if text})

    def make_client() -> AbstractContextManager[Client]:
        if client is not None:
            return nullcontext(client)
        return Client(**known, max_connections=concurrency, read_only=True)

    run = _Run(
        make_client=make_client,
        first=dt.date.fromisoformat(str(first_day)),
        hostnames=None if hostnames is None else [*map(_hostname, hostnames)],
        lists=_checked(lists),
        lag=_not_negative(lag),
        max_requests=positive_count("max_requests", max_requests),
        max_seconds=max_seconds,
        concurrency=positive_count("concurrency", concurrency),
        progress=progress,
        now=now or _clock,
    )

    # dlt marks the functions, which methods do not take.
    @dlt.resource(name="websites")
    def websites() -> Iterator[DataItemWithMeta]:
        yield from run.read_list()

    @dlt.resource(name=DAYS)
    def days() -> Iterator[DataItemWithMeta]:
        yield from run.read_days()

    return [websites, days]


@attrs.define(kw_only=True, eq=False)
class _Run:
    """The loads of one source: each of them requests what the ones before did not."""

    make_client: Callable[[], AbstractContextManager[Client]]
    first: dt.date
    hostnames: Sequence[str] | None
    lists: frozenset[str]
    lag: int
    max_requests: int
    max_seconds: float
    concurrency: int
    progress: Progress
    now: Callable[[], dt.datetime]
    _websites: WebsiteList | None = None
    _days: Days | None = None
    _loads: int | None = None
    _requests: int = 0
    _show: ShowProgress | None = None
    _update: UnderWay = attrs.field(factory=UnderWay)
    """The update that shows the progress; one that never began where there is none."""
    _read_until: float | None = None
    """When the reading before ended, and its load began."""

    def _listed(self) -> WebsiteList:
        if self._websites is None:
            with self.make_client() as client:
                self._websites = client.websites.list()
        return self._websites

    def read_list(self) -> Iterator[DataItemWithMeta]:
        """The table of websites, in the first load."""
        if self._days is not None:
            return
        rows = Rows("websites")
        for website in self._listed():
            values = {name: getattr(website, name) for name in _OF_A_WEBSITE}
            rows.add(**values, listed_at=self.now())
        yield from rows.take()

    def read_days(self) -> Iterator[DataItemWithMeta]:
        """The tables of days, and how far each website is."""
        state = dlt.current.resource_state()
        cursors: dict[str, Any] = state.setdefault("cursors", {})
        days = self._continued(state.get("loads"), cursors)
        tables = {name: Rows(name) for name in ("days", *self._tables())}
        with ExitStack() as stack:
            client = stack.enter_context(self.make_client())
            update = UPDATE.get()
            if update is None or update is not self._update:
                self._update = update or UnderWay()
                bar = showing(self.progress, "days")
                self._show = (update or stack).enter_context(bar)
            for hostname, day, stats in self._read(client, days):
                self._update.read += 1
                _add(tables, hostname, day, stats, self.now())
                for rows in tables.values():
                    if rows.are_many:
                        yield from rows.take()
        self._read_until = time.monotonic()
        for rows in tables.values():
            yield from rows.take()
        coverage = Rows("coverage")
        now = self.now()
        self._cover(days, cursors, coverage, now)
        yield from coverage.take()
        self._loads = state["loads"] = (state.get("loads") or 0) + 1
        state["left"] = days.left
        state["requests"] = self._requests
        state["checked_at"] = now.isoformat()
        if not days.left:
            # Run once more, it is about the days of then.
            self._days = self._websites = None

    def _tables(self) -> list[str]:
        return [name for name in ALL_LISTS if name in self.lists]

    def _continued(self, loads: int | None, cursors: Mapping[str, Any]) -> Days:
        """The days where the last load left them, if dlt has kept that one."""
        if self._days is None or self._loads != loads:
            zones = {site.hostname: site.timezone for site in self._listed()}
            names = zones if self.hostnames is None else self.hostnames
            self._requests = 0
            self._days = Days(
                {
                    # The zone of one that is not listed is not known.
                    name: self._website(cursors.get(name), zones.get(name, "UTC"))
                    for name in names
                }
            )
        return self._days

    def _website(self, state: Mapping[str, Any] | None, timezone: str) -> WebsiteDays:
        last = last_day(timezone, self.now())
        website = WebsiteDays(
            None if state is None else Coverage.from_state(state),
            timezone=timezone,
            lists=self.lists,
            first=self.first,
            last=self.first - DAY if last is None else last,
            lag=self.lag,
        )
        if last is None:
            website.end(f"its time zone {timezone!r} is not known here", lasting=True)
        return website

    def _numbers(self) -> Iterator[int]:
        """The numbers of a load's requests, until there are as many as it may have."""
        began = time.monotonic()
        loading = 0.0 if self._read_until is None else began - self._read_until
        end = began + max(self.max_seconds, _READING_BY_LOADING * loading)
        for number in range(self.max_requests):
            if self._update.signal or (number and time.monotonic() >= end):
                return
            yield number

    def _read(self, client: Client, days: Days) -> Iterator[tuple[str, dt.date, Stats]]:
        under_way: dict[int, tuple[str, dt.date]] = {}
        names = [name for name in self._tables() if name != "events"]
        fields = cast("Any", (*TOTALS, *names))
        query = StatsQuery("example.com").fields(*fields).limit(MOST_ENTRIES)
        if "events" in self.lists:
            query = query.all_events()

        def queries() -> Iterator[StatsQuery]:
            for number in self._numbers():
                taken = days.take()
                if taken is None:
                    return
                under_way[number] = hostname, day = taken
                # In the zone of the cursor, whatever the website's is by now.
                zone = days.websites[hostname].timezone
                yield query.website(hostname).timezone(zone).on(day)

        with client.stats.get_many(queries(), concurrency=self.concurrency) as stream:
            for outcome in stream:
                hostname, day = under_way.pop(outcome.index)
                self._requests += 1
                if self._show is not None:
                    left = len(under_way) + days.left
                    self._show(self._requests, self._requests + left)
                if outcome.error is not None:
                    days.failed(hostname, day, outcome.error)
                elif outcome.stats.first_day != day:
                    days.failed(hostname, day, _other_day(outcome.stats))
                else:
                    # By the service's clock: it is requested again when it is over.
                    if not outcome.stats.partial:
                        days.read(hostname, day)
                    yield hostname, day, outcome.stats

    def _cover(
        self,
        days: Days,
        cursors: dict[str, Any],
        coverage: Rows,
        now: dt.datetime,
    ) -> None:
        found = {name: site.cursor(now) for name, site in days.websites.items()}
        behind = {name: found[name].behind(days.websites[name].last) for name in found}
        if self.hostnames is None:
            for name in cursors.keys() - found.keys():
                found[name] = attrs.evolve(
                    Coverage.from_state(cursors[name]),
                    error=NOT_LISTED,
                    lasting=True,
                    checked_at=now,
                )
        for name, cursor in found.items():
            cursors[name] = cursor.to_state()
            coverage.add(
                hostname=name,
                timezone=cursor.timezone,
                through=cursor.through,
                behind=behind.get(name),
                error=cursor.error,
                checked_at=now,
            )


def _add(
    tables: Mapping[str, Rows],
    hostname: str,
    day: dt.date,
    stats: Stats,
    moment: dt.datetime,
) -> None:
    key: dict[str, Any] = {
        "hostname": hostname,
        "first_day": day,
        "timezone": stats.timezone,
        "read_at": moment,
    }
    for name, table in tables.items():
        if name == "days":
            values = {total: getattr(stats, total) for total in TOTALS}
            table.add(**key, **values, partial=stats.partial)
            continue
        entries: Entries[Any] = getattr(stats, name)
        if not entries:
            table.add(**key, rank=0, no_rows=True)
            continue
        columns = {column: entries.column(column) for column in entries.columns}
        ranks = [*range(1, len(entries) + 1)]
        more = entries.truncated
        table.add(len(entries), **key, **columns, rank=ranks, truncated=more)


def _other_day(stats: Stats) -> ResponseError:
    return ResponseError(
        f"the response is about another day: {stats.first_day}", body=stats.body
    )


def _clock() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _hostname(text: str) -> str:
    return StatsQuery(text).hostname


def _checked(lists: Sequence[str]) -> frozenset[str]:
    problems = [
        Problem(
            f"there is no table {shown(name)}; there are {', '.join(ALL_LISTS)}",
            where="lists",
        )
        for name in lists
        if name not in ALL_LISTS and name not in TOTALS
    ]
    if problems:
        raise QueryError(problems)
    return frozenset(lists).difference(TOTALS)


def _not_negative(lag: int) -> int:
    if lag < 0:
        raise ConfigurationError(f"lag is 0 days or more, not {lag}")
    return lag
