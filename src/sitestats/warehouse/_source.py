"""The source for dlt: what the service lists, and the days of each website."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import dlt
from dlt.common.typing import TSecretStrValue
from dlt.extract.items import DataItemWithMeta
from dlt.extract.resource import DltResource

from sitestats import Client, StatsQuery, Website
from sitestats._common.advice import Argument
from sitestats._common.errors import (
    ConfigurationError,
    QueryError,
    ResponseError,
    SiteStatsError,
    warn,
)
from sitestats._common.fields import COUNTS, TOTALS
from sitestats._common.problems import Problem
from sitestats._common.progress import Progress, ShowProgress, showing
from sitestats._common.settings import positive_count
from sitestats._common.text import shown

from ._days import (
    NOT_LISTED,
    Coverage,
    Days,
    Totals,
    WebsiteDays,
    error_text,
    last_day,
)
from ._estimate import Estimate
from ._held import DAY, Period
from ._interrupts import UPDATE, UnderWay
from ._tables import ALL_LISTS, Rows, storable

if TYPE_CHECKING:
    from sitestats import Entries, Outcome, Stats, WebsiteList

SOURCE: Final = "sitestats"
DAYS: Final = "days"
"""The resource whose state holds the cursors."""

_MOST_NAMED: Final = 3
"""The most websites that a warning names."""

_NO_ROWS: Final[dict[str, Any]] = {"rank": 0, "no_rows": True}
"""The row of a table where it has nothing of a day."""

MOST_ENTRIES: Final = 1000
"""The most entries that the service gives of each list (section 4.3)."""

_READING_BY_LOADING: Final = 10
"""A load reads for at least so many times as long as the last one took to load."""

_OF_A_WEBSITE: Final = tuple(
    field.name for field in attrs.fields(Website) if field.name != "extra"
)


class Declined(SiteStatsError):  # noqa: N818 - it ends an update, and is not seen
    """An update whose requests were not approved."""


@dlt.source(name=SOURCE, section=SOURCE, max_table_nesting=0)
def sitestats_source(
    *,
    first_day: dt.date | None = None,
    hostnames: Sequence[str] | None = None,
    until: dt.date | None = None,
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
    approve: Callable[[Estimate], bool] | None = None,
    now: Callable[[], dt.datetime] | None = None,
) -> Sequence[DltResource]:
    """Every day of each website, until yesterday in the website's own zone.

    ``update`` runs it as often as it takes; run once it reads *max_requests* days at
    most. What is left out comes from dlt's configuration, from the section
    ``sources.sitestats``, as with every source.

    Args:
        first_day: Where to begin. Days that are there are not read again, so an
            earlier day reads those before. The first update needs it; later ones
            begin where the last update of all websites did.
        hostnames: Which websites; all that the key lists when left out.
        lists: Which tables to fill besides ``days``: names of lists of the Stats API,
            and ``"events"``. When one is added, the days that lack it are read. With
            none, the totals come from histograms, one for each 366 days of a website:
            new days have no ``seconds_on_page``.
        until: The last day to read; the website's yesterday when left out.
        lag: How many days are read again, before the new ones.
        max_requests: How many requests a load holds at most, which bounds the memory.
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
            seconds in a log; a function is called with ``(done, total)``, in
            requests.
        approve: What is called with an ``Estimate`` before the first request of days.
            An update for which it returns False ends there. Without it a large one
            warns.
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
        first=None if first_day is None else dt.date.fromisoformat(str(first_day)),
        until=until or dt.date.max,
        hostnames=None if hostnames is None else [*map(_hostname, hostnames)],
        lists=_checked(lists),
        lag=_not_negative(lag),
        max_requests=positive_count("max_requests", max_requests),
        max_seconds=max_seconds,
        concurrency=positive_count("concurrency", concurrency),
        progress=progress,
        approve=approve,
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
    first: dt.date | None
    until: dt.date
    hostnames: Sequence[str] | None
    lists: frozenset[str]
    lag: int
    max_requests: int
    max_seconds: float
    concurrency: int
    progress: Progress
    approve: Callable[[Estimate], bool] | None
    now: Callable[[], dt.datetime]
    _since: dt.date = dt.date.max
    """The first day of this load."""
    _websites: WebsiteList | None = None
    _days: Days | None = None
    _loads: int | None = None
    _requests: int = 0
    _of_load: int = 0
    """How many requests of these are the present load's."""
    _unknown: dict[str, Any] = attrs.Factory(dict[str, Any])
    """What would be the cursors of websites that the service does not know."""
    _show: ShowProgress | None = None
    _update: UnderWay = attrs.field(factory=UnderWay)
    """The update that shows the progress; one that never began where there is none."""
    _began: float = 0.0
    _read_by: float = 0.0
    """When the load has to begin."""
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
            while (column := rows.too_large(values)) is not None:
                values[column] = None
            rows.add(**values, listed_at=self.now())
        yield from rows.take()

    def read_days(self) -> Iterator[DataItemWithMeta]:
        """The tables of days, and how far each website is."""
        state = dlt.current.resource_state()
        cursors: dict[str, Any] = state.setdefault("cursors", {})
        self._since = self._remembered(state)
        days = self._continued(state, cursors)
        tables = {name: Rows(name) for name in ("days", *self._tables())}
        with ExitStack() as stack:
            client = stack.enter_context(self.make_client())
            update = UPDATE.get()
            if update is None or update is not self._update:
                self._update = update or UnderWay()
                bar = showing(self.progress, "requests")
                self._show = (update or stack).enter_context(bar)
            for number in self._read(client, days, tables):
                self._update.read += number
                for rows in tables.values():
                    if rows.are_many:
                        yield from rows.take()
        self._read_until = time.monotonic()
        self._remove(days, tables)
        for rows in tables.values():
            yield from rows.take()
        coverage = Rows("coverage")
        now = self.now()
        self._cover(days, cursors, coverage, now)
        yield from coverage.take()
        self._loads = state["loads"] = (state.get("loads") or 0) + 1
        state["left"] = days.left
        state["requests"] = self._requests
        state["seconds"] = time.monotonic() - self._began
        state["unknown"] = self._unknown
        state["checked_at"] = now.isoformat()
        if not days.left:
            # Run once more, it is about the days of then.
            self._days = self._websites = None

    def _remembered(self, state: dict[str, Any]) -> dt.date:
        """The first day, which the state has from the updates before."""
        since: Any = state.get("since")
        if self.first is None and since is None:
            raise ConfigurationError(
                "the first update needs " + Argument("first_day") + ", where to begin"
            )
        if self.first is None:
            return dt.date.fromisoformat(since)
        if since is None or self.hostnames is None:
            state["since"] = str(self.first)
        return self.first

    def _tables(self) -> list[str]:
        return [name for name in ALL_LISTS if name in self.lists]

    def _continued(self, state: Mapping[str, Any], cursors: Mapping[str, Any]) -> Days:
        """The days where the last load left them, if dlt has kept that one."""
        if self._days is None or self._loads != state.get("loads"):
            zones = {
                storable(site.hostname): storable(site.timezone)
                for site in self._listed()
            }
            names = zones if self.hostnames is None else self.hostnames
            self._requests = 0
            days = Days(
                {
                    name: self._website(name, cursors.get(name), zones.get(name))
                    for name in names
                }
            )
            self._began = time.monotonic()
            self._check(days, state)
            self._days = days
        return self._days

    def _check(self, days: Days, state: Mapping[str, Any]) -> None:
        """Warn of tables that get no rows any more, and have the requests approved."""
        unfilled = {name for site in days.websites.values() for name in site.unfilled}
        if unfilled:
            warn(
                f"new days get no rows in {', '.join(sorted(unfilled))}, which earlier "
                "ones have: name them in “lists” (--fields) to fill the gap, and the "
                "days that lack them are read"
            )
        last = state.get("requests", 0), state.get("seconds", 0.0)
        estimate = Estimate.of(days.left, *last, self.concurrency)
        if self.approve is not None:
            if not self.approve(estimate):
                raise Declined
        elif estimate.is_large:
            warn(f"this update is large: {estimate}")

    def _website(
        self, hostname: str, state: Mapping[str, Any] | None, timezone: str | None
    ) -> WebsiteDays:
        cursor = None if state is None else Coverage.from_state(state)
        if timezone is None:
            # It is not listed, so its zone is what it was, if it was ever known.
            timezone = "UTC" if cursor is None else cursor.timezone
        last = last_day(timezone, self.now())
        website = WebsiteDays(
            cursor,
            timezone=timezone,
            lists=self.lists,
            first=self._since,
            last=self._since - DAY if last is None else min(last, self.until),
            lag=self.lag,
        )
        try:
            StatsQuery(hostname).timezone(timezone)
        except QueryError as error:
            website.end(error_text(error), lasting=True)
        if last is None:
            website.end(f"its time zone {timezone!r} is not known here", lasting=True)
        return website

    def _may_request(self) -> bool:
        """Whether the load may have one request more."""
        if self._of_load >= self.max_requests or self._update.signal:
            return False
        return not self._of_load or time.monotonic() < self._read_by

    def _read(
        self, client: Client, days: Days, tables: Mapping[str, Rows]
    ) -> Iterator[int]:
        """Add what is read to the rows of the tables; the values count the days."""
        began, self._of_load = time.monotonic(), 0
        loading = 0.0 if self._read_until is None else began - self._read_until
        self._read_by = began + max(self.max_seconds, _READING_BY_LOADING * loading)
        yield from self._read_histograms(client, days, tables)
        yield from self._read_each_day(client, days, tables)

    def _read_histograms(
        self, client: Client, days: Days, tables: Mapping[str, Rows]
    ) -> Iterator[int]:
        query = StatsQuery("example.com").fields("histogram").limit(MOST_ENTRIES)
        outcomes = self._outcomes(client, days, days.take_period, query)
        for hostname, period, outcome in outcomes:
            if outcome.error is not None:
                days.failed_period(hostname, period, outcome.error)
                continue
            totals = _totals_of(outcome.stats)
            read = days.read_period(hostname, period, totals)
            for day in read:
                pageviews, visitors = totals[day]
                key = _key(hostname, day, outcome.stats, self.now())
                for name, rows in tables.items():
                    if name == DAYS:
                        counts = {"pageviews": pageviews, "visitors": visitors}
                        rows.add(**key, **counts, partial=False)
                    else:
                        rows.add(**key, **_NO_ROWS)
            yield len(read)
        if lacking := days.take_lacking():
            number = "1 website" if len(lacking) == 1 else f"{len(lacking):,} websites"
            warn(
                f"histograms of {number} failed, or lack days: these are requested one "
                "by one, and late changes of other days are not seen: "
                f"{', '.join(lacking[:_MOST_NAMED])}"
            )

    def _read_each_day(
        self, client: Client, days: Days, tables: Mapping[str, Rows]
    ) -> Iterator[int]:
        names = [name for name in self._tables() if name != "events"]
        fields = cast("Any", (*TOTALS, *names))
        query = StatsQuery("example.com").fields(*fields).limit(MOST_ENTRIES)
        if "events" in self.lists:
            query = query.all_events()

        def take() -> tuple[str, Period] | None:
            taken = days.take()
            return None if taken is None else (taken[0], (taken[1], taken[1]))

        outcomes = self._outcomes(client, days, take, query)
        for hostname, (day, _), outcome in outcomes:
            if outcome.error is not None:
                days.failed(hostname, day, outcome.error)
                continue
            stats = outcome.stats
            found = [*_values_of(stats, tables)]
            if why := _why_not(stats, day, found, tables):
                days.failed(hostname, day, ResponseError(why, body=stats.body))
                continue
            # By the service's clock: it is requested again when it is over.
            if not stats.partial:
                days.read(hostname, day, (stats.pageviews, stats.visitors))
            key = _key(hostname, day, stats, self.now())
            for name, number, values in found:
                tables[name].add(number, **key, **values)
            yield 1

    def _outcomes(
        self,
        client: Client,
        days: Days,
        take: Callable[[], tuple[str, Period] | None],
        query: StatsQuery,
    ) -> Iterator[tuple[str, Period, Outcome]]:
        under_way: dict[int, tuple[str, Period]] = {}

        def queries() -> Iterator[StatsQuery]:
            for number in count():
                taken = take() if self._may_request() else None
                if taken is None:
                    return
                self._of_load += 1
                under_way[number] = hostname, period = taken
                # In the zone of the cursor, whatever the website's is by now.
                zone = days.websites[hostname].timezone
                yield query.website(hostname).timezone(zone).between(*period)

        with client.stats.get_many(queries(), concurrency=self.concurrency) as stream:
            for outcome in stream:
                hostname, period = under_way.pop(outcome.index)
                self._requests += 1
                if self._show is not None:
                    left = len(under_way) + days.left
                    self._show(self._requests, self._requests + left)
                yield hostname, period, outcome

    def _remove(self, days: Days, tables: dict[str, Rows]) -> None:
        """Remove the rows of days that a website's zone does not have any more."""
        for hostname, website in days.websites.items():
            for day, lists in website.take_gone():
                key: dict[str, Any] = {
                    "hostname": hostname,
                    "first_day": day,
                    "read_at": self.now(),
                }
                for name in (DAYS, *ALL_LISTS) if lists is None else lists:
                    tables.setdefault(name, Rows(name)).add(**key, **_NO_ROWS)

    def _cover(
        self,
        days: Days,
        cursors: dict[str, Any],
        coverage: Rows,
        now: dt.datetime,
    ) -> None:
        found = {name: site.cursor(now) for name, site in days.websites.items()}
        listed = {site.hostname for site in self._listed()}
        # A mistyped name, most likely: the update reports it, and remembers nothing.
        self._unknown = {
            name: found.pop(name).to_state()
            for name, site in days.websites.items()
            if site.is_unknown and name not in listed
        }
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


def _key(
    hostname: str, day: dt.date, stats: Stats, moment: dt.datetime
) -> dict[str, Any]:
    return {
        "hostname": hostname,
        "first_day": day,
        "timezone": stats.timezone,
        "read_at": moment,
    }


def _totals_of(stats: Stats) -> dict[dt.date, Totals]:
    """What a histogram has of days that are over; nothing of one that is twice in it,
    lacks a number, or has one that no table stores.
    """
    found: dict[dt.date, Totals] = {}
    twice: set[dt.date] = set()
    for entry in stats.histogram:
        day, *totals = map(entry.get, ("date", *COUNTS))
        if day in found:
            twice.add(day)
        elif not entry.partial and None not in (day, *totals):
            found[day] = (totals[0], totals[1])
    days = Rows(DAYS)
    return {
        day: totals
        for day, totals in found.items()
        if day not in twice
        and not days.too_large({"pageviews": max(totals), "visitors": min(totals)})
    }


def _values_of(
    stats: Stats, tables: Iterable[str]
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """For each table how many rows a day has there, and their values."""
    for name in tables:
        if name == DAYS:
            totals = {total: getattr(stats, total) for total in TOTALS}
            yield name, 1, {**totals, "partial": stats.partial}
            continue
        entries: Entries[Any] = getattr(stats, name)
        if not entries:
            yield name, 1, _NO_ROWS
            continue
        columns = {column: entries.column(column) for column in entries.columns}
        ranks = [*range(1, len(entries) + 1)]
        more = entries.truncated
        yield name, len(entries), {**columns, "rank": ranks, "truncated": more}


def _why_not(
    stats: Stats,
    day: dt.date,
    found: Iterable[tuple[str, int, dict[str, Any]]],
    tables: Mapping[str, Rows],
) -> str | None:
    """Why the response can't be stored as that of *day*."""
    if stats.first_day != day:
        return f"the response is about another day: {stats.first_day}"
    for name, _, values in found:
        if (column := tables[name].too_large(values)) is not None:
            return f"a number does not fit into 64 bits: {name}.{column}"
    return None


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
