"""The source for dlt: the listed websites, and the days of each."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs
import dlt
from dlt.common.runtime.anon_tracker import disable_anon_tracker
from dlt.common.typing import TSecretStrValue
from dlt.extract.items import DataItemWithMeta
from dlt.extract.resource import DltResource

from sitestats import Client, StatsQuery, Website, __version__
from sitestats._base.errors import (
    ConfigurationError,
    InvalidInputError,
    InvalidResponseError,
    Problem,
    SiteStatsError,
    warn,
)
from sitestats._base.fields import HISTOGRAM_COUNTS, TOTALS
from sitestats._base.progress import Progress, ShowProgress, showing
from sitestats._base.text import counted, shown
from sitestats._base.zones import same_zone
from sitestats._configuration.settings import positive_count

from . import _tables
from ._days import (
    DAY,
    DAYS,
    MONTHS,
    NIGHTS,
    NOT_LISTED,
    Coverage,
    Days,
    Period,
    Reading,
    Sums,
    Totals,
    WebsiteDays,
    error_line,
    last_day,
)
from ._report import Update
from ._requested import ALL, Refresh, as_day, check_names, checked_day
from ._tables import (
    ALL_LISTS,
    EMPTY,
    RUNS,
    TABLES,
    ListOfDay,
    Rows,
    storable,
)

if TYPE_CHECKING:
    from sitestats import Stats, WebsiteList

Stored: TypeAlias = Mapping[str, Mapping[dt.date, Reading]]
"""What the destination has of days, by host names."""
_Requests: TypeAlias = Iterator[tuple[str, Period]]
_Fail: TypeAlias = Callable[[WebsiteDays, Period, SiteStatsError], None]
_Add: TypeAlias = "Callable[[WebsiteDays, dict[str, Any], Period, Stats], None]"

SOURCE: Final = "sitestats"
_LARGE: Final = 10_000
_FEW: Final = 2
"""Fewer websites may vanish from the list each night, if they are less than half."""
_SHARE: Final = 0.25
"""The part of the websites that does not vanish in a night."""
_MOST_NAMED: Final = 5
"""The most websites, or entries, that a message names."""
_MOST_ENTRIES: Final = 1000
"""The most entries that the service gives of each list (section 4.3)."""
_QUERY: Final = StatsQuery("example.com")


@attrs.define(eq=False)
class UnderWay:
    """A running update. Its progress bar stays while dlt loads."""

    stack: ExitStack
    """The contexts that it closes at its end."""
    is_dry: bool = False
    """Whether it ends before the first request of days."""
    signal: int | None = None
    """The signal that waits until what was read is loaded."""
    requests: int = 0
    """How many requests were sent."""
    left: int = 1
    """How many are left, as far as it is known now."""
    show: ShowProgress | None = None
    """Shows how many requests have an outcome, and how many there are to be."""
    report: Update = attrs.Factory(Update)
    """Its result up to the last load."""
    began_at: dt.datetime | None = None
    """When it began."""
    stored: Callable[[Mapping[str, list[dt.date]]], Stored] = lambda _: {}
    """Reads from the destination what it has of these days."""


UPDATE: Final[ContextVar[UnderWay | None]] = ContextVar("update", default=None)


class Declined(SiteStatsError):  # noqa: N818 - it ends an update, and is not seen
    """An update whose requests were not approved."""


@attrs.frozen
class Estimate:
    """About how many requests an update makes."""

    requests: int
    """How many it makes, with the empty days that a histogram will show, and without
    the past days that it will find changed."""
    last_requests: int
    """How many the last update made; 0 before the first one."""

    @property
    def is_large(self) -> bool:
        """Whether it needs over 10,000 requests, and twice as many as the last one."""
        return self.requests > max(_LARGE, 2 * self.last_requests)

    def __str__(self) -> str:
        last = f"; the last update made {self.last_requests:,}"
        number = counted(self.requests, "request")
        return f"about {number}{last if self.last_requests else ''}"


def set_default(name: str, *, value: Any) -> None:
    """Set what dlt's configuration does not name, in this process."""
    if name in dlt.config:
        return
    dlt.config[name] = value
    # dlt may have started with its own default. To stop all of its telemetry would also
    # take Sentry away from the program.
    disable_anon_tracker()
    dlt.current.run_context().initialize_runtime()


@dlt.source(name=SOURCE, section=SOURCE, max_table_nesting=0)
def sitestats_source(
    *,
    first_day: dt.date | str | None = None,
    hostnames: Sequence[str] | None = None,
    lists: Sequence[str] | None = None,
    lag: int = 1,
    refresh: Sequence[str] = (),
    accept_changes: bool = False,
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
    """A source of dlt: each day of each website, until yesterday in the website's zone.

    ``update`` runs it until everything is loaded; a single run reads for at most
    *max_seconds*. Missing arguments come from the section ``sources.sitestats`` of
    dlt's configuration, as with every source.

    Args:
        first_day: The first day of the dataset, which the first update needs: a date,
            a datetime at midnight, or a text such as ``"2026-03-01"`` or
            ``"today-30d"``, in UTC. With an earlier one, the days before are read; a
            later one changes nothing.
        hostnames: The websites; by default all of the account.
        lists: The tables to fill besides ``days``: names of lists of the Stats API,
            ``"events"``, and ``"months"``. A dataset keeps its lists, and after a new
            one all days are read again. The default is all of them, or those that
            earlier updates named. If empty, the totals come from histograms, one for
            each 366 days of a website, and days have no ``seconds_on_page``.
        lag: How many days to read again, before the new ones.
        refresh: Days to read again, too: ``"example.com:2026-01-10..2026-01-20"``, a
            website with one day, or a website alone for all of its days; ``"all"``
            stands for every website.
        accept_changes: Whether to take at once what is not believed on the first night:
            past days that fall to nothing, and a much shorter list of websites.
        max_seconds: How many seconds a load reads at most. If the process is killed,
            days that were not loaded are read again.
        concurrency: How many requests are in progress at once.
        base_url: The service's address. Without it in dlt's configuration, the address
            and the credentials come from the environment, as for ``Client``.
        api_key: The API key.
        user_id: The user ID, which the list of websites needs (section 5).
        client: Your own client, in place of these three.
        progress: True shows a bar in a terminal or a notebook, and a line every ten
            seconds in a log; a function is called with ``(done, total)``, in
            requests.
        approve: A function that is called with an ``Estimate`` before the first request
            of days. If it returns False, the update ends. Without it, a large update
            causes a ``SiteStatsWarning``.
        now: A function that returns the present, with a time zone; by default, days end
            by the service's clock.

    Returns:
        The resources ``websites`` and ``days``, for ``update`` or a pipeline of dlt.

    Raises:
        InvalidInputError: A host name, a day or the name of a list is not valid.
        ConfigurationError: The client can't be made, or a number is not valid.
    """
    set_default("runtime.dlthub_telemetry", value=False)
    given = {"base_url": base_url, "api_key": api_key, "user_id": user_id}
    known = cast("Any", {name: text for name, text in given.items() if text})

    def make_client() -> AbstractContextManager[Client]:
        if client is not None:
            return nullcontext(client)
        return Client(**known, max_connections=concurrency, read_only=True)

    for name in lists or ():
        if name not in {*TABLES, *TOTALS}:
            there = f"{shown(name)} is not a table; the tables are {', '.join(TABLES)}"
            raise InvalidInputError([Problem(there, where="lists")])
    run = _Run(
        make_client=make_client,
        first_day=None if first_day is None else checked_day(first_day, "first_day"),
        hostnames=hostnames and [StatsQuery(name).hostname for name in hostnames],
        lists=None if lists is None else frozenset(lists).difference(TOTALS),
        lag=positive_count("lag", lag, 0),
        refresh=[Refresh.parse(text) for text in refresh],
        accept_changes=accept_changes,
        max_seconds=max_seconds,
        concurrency=positive_count("concurrency", concurrency),
        progress=progress,
        approve=approve,
        now=now,
    )

    # dlt sets attributes of the functions, which methods do not allow.
    @dlt.resource(name="websites")
    def websites() -> Iterator[DataItemWithMeta]:
        yield from run.read_list()

    @dlt.resource(name=DAYS)
    def days() -> Iterator[DataItemWithMeta]:
        yield from run.read_days()

    return [websites, days]


@attrs.define(kw_only=True, eq=False)
class _Run:
    """The loads of one source. Each requests what the earlier ones did not."""

    make_client: Callable[[], AbstractContextManager[Client]]
    first_day: str | None
    hostnames: Sequence[str] | None
    lists: frozenset[str] | None
    lag: int
    refresh: Sequence[Refresh]
    accept_changes: bool
    max_seconds: float
    concurrency: int
    progress: Progress
    approve: Callable[[Estimate], bool] | None
    now: Callable[[], dt.datetime] | None
    _websites: WebsiteList | None = None
    _days: Days | None = None
    _loads: int | None = None
    _doubt: str | None = None
    _rows: dict[str, Rows] = attrs.field(factory=dict[str, Rows])

    def read_list(self) -> Iterator[DataItemWithMeta]:
        """The table of websites, for the first load."""
        if self._days is not None:
            return
        rows, sites = Rows("websites"), self._sites()
        for name, website in sites.items():
            values: Any = {**website.to_dict(), "hostname": name}
            del values["problems"]
            rows.add(**values, listed_at=self._moment())
        if len(sites) < len(self._listed()):
            names = Counter(map(_hostname_of, self._listed()))
            twice = [name for name, number in names.items() if number > 1]
            named = ", ".join(twice[:_MOST_NAMED])
            warn(f"the list of websites has {named} twice: the first entry counts")
        yield from rows.take()

    def read_days(self) -> Iterator[DataItemWithMeta]:
        """The tables of days and months, and the progress of each website."""
        state = dlt.current.resource_state()
        with ExitStack() as stack:
            update = UPDATE.get() or UnderWay(stack)
            update.began_at = update.began_at or self._moment()
            days = self._continued(state, update)
            lists = state["lists"]
            self._rows = {name: Rows(name) for name in (DAYS, *lists)}
            client = stack.enter_context(self.make_client())
            if update.show is None:
                bar = showing(self.progress, "requests")
                update.show = update.stack.enter_context(bar)
            for _ in self._read(client, days, update):
                for rows in self._rows.values():
                    yield from rows.take(_tables.MOST_HELD)
        sites = days.websites.items()
        websites = {name: site.coverage(self._moment()) for name, site in sites}
        self._rows["coverage"] = self._cover(days, websites, state)
        had = Counter(update.report.rows)
        update.report = report = Update(
            requests=update.requests,
            websites=dict(sorted(websites.items())),
            rows=had + Counter({name: each.total for name, each in self._rows.items()}),
            changes={name: site.changes for name, site in sites if site.changes},
            doubt=self._doubt,
        )
        self._rows[RUNS] = self._run_of(report, update.began_at)
        # A reader finds every table after the first load, even without a row.
        fewest = 1 if state.get("loads") else 0
        for rows in self._rows.values():
            yield from rows.take(fewest)
        self._loads = state["loads"] = (state.get("loads") or 0) + 1
        update.left, state["requests"] = days.left, update.requests
        state["doubt"] = self._doubt
        if not days.left:
            # A source that is run once more starts anew, with the days up to then.
            self._days = self._websites = None

    def _run_of(self, report: Update, began_at: dt.datetime) -> Rows:
        """The row of this update, which its next load replaces."""
        rows = Rows(RUNS)
        rows.add(
            began_at=began_at,
            ended_at=self._moment(),
            requests=report.requests,
            websites=len(report.websites),
            failed=len(report.failed),
            rows=json.dumps(report.rows),
            days_changed=report.days_changed,
            problems="\n".join(report.problems) or None,
            version=__version__,
        )
        return rows

    def _moment(self) -> dt.datetime:
        return self.now() if self.now else dt.datetime.now(dt.UTC)

    def _listed(self) -> WebsiteList:
        if self._websites is None:
            with self.make_client() as client:
                self._websites = client.websites.list()
        return self._websites

    def _sites(self) -> dict[str, Website]:
        """The listed websites, by their names; of two entries, the first one."""
        sites = dict[str, Website]()
        for website in self._listed():
            sites.setdefault(_hostname_of(website), website)
        return sites

    def _continued(self, state: dict[str, Any], update: UnderWay) -> Days:
        """The days where the last load left them, if dlt has stored that one."""
        if self._days is not None and self._loads == state.get("loads"):
            return self._days
        listed = self._listed()
        # Days end by the service's clock: this machine's clock may be ahead.
        now = self.now() if self.now else listed.responded_at or self._moment()
        sites = self._sites().items()
        zones = {name: storable(site.timezone or "") for name, site in sites}
        first = self._first_of(state, now)
        state["lists"] = self._lists_of(state)
        state["listed"] = sorted(self._believed(state, zones, now))
        names = [*zones] if self.hostnames is None else self.hostnames
        check_names(self.refresh, names)
        websites = {
            name: self._website(name, zones, state, first, now) for name in names
        }
        again = {name: site.to_compare for name, site in websites.items()}
        again = {name: days for name, days in again.items() if days}
        for name, stored in update.stored(again).items() if again else ():
            websites[name].stored = stored
        self._days = Days(websites)
        estimate = Estimate(self._days.left, state.get("requests", 0))
        if self.approve is not None:
            if not self.approve(estimate) or update.is_dry:
                raise Declined
        elif update.is_dry:
            raise Declined
        elif estimate.is_large:
            warn(f"this update is large: {estimate}")
        return self._days

    def _website(
        self,
        name: str,
        zones: Mapping[str, str],
        state: Mapping[str, Any],
        first: dt.date,
        now: dt.datetime,
    ) -> WebsiteDays:
        """What to request of the website *name*."""
        stored = state.get("coverage", {}).get(name)
        coverage = None if stored is None else Coverage.from_state(stored)
        # A website without a listed or known zone keeps its last known one.
        zone = zones.get(name, "UTC") or ""
        if coverage and not zones.get(name):
            zone = coverage.timezone
        last = last_day(zone, now) or now.astimezone(dt.UTC).date() - DAY
        begin = min(first, coverage.first) if coverage else first
        website = WebsiteDays(
            coverage,
            timezone=zone,
            lists=frozenset(state["lists"]),
            first=first,
            last=last,
            lag=self.lag,
            refresh=[
                each.period(begin, last, now.astimezone(dt.UTC).date())
                for each in self.refresh
                if each.hostname in {ALL, name}
            ],
            accept_changes=self.accept_changes,
        )
        try:
            StatsQuery(name).timezone(zone)
        except InvalidInputError as error:
            website.end(error_line(error), lasting=True)
        return website

    def _believed(
        self, state: dict[str, Any], zones: Collection[str], now: dt.datetime
    ) -> set[str]:
        """The websites that count as listed: a list that is empty, or much shorter than
        the one before, is not believed at once.
        """
        had = {*state.get("listed", ())}
        listed, lost = {*zones}, sorted(had - {*zones})
        is_half = 0 < len(had) <= 2 * len(lost)
        is_short = not zones or is_half or len(lost) >= max(_FEW, len(had) * _SHARE)
        if self._listed().incomplete or (is_short and self.hostnames is not None):
            return had | listed
        if not is_short:
            state.pop("short", None)
            return listed
        nights = dict.fromkeys([*state.get("short", ()), str(now.date())])
        state["short"] = [*nights]
        if not lost:
            self._doubt = "the service lists no website: is it the right account?"
        elif self.accept_changes or len(nights) >= NIGHTS:
            del state["short"]
            self._doubt = None if zones else "the service lists no website any more"
            return listed
        else:
            self._doubt = (
                f"the service lists {counted(len(zones), 'website')}, and not "
                f"{len(lost):,} of the {len(had):,} that it listed before, such as "
                f"{', '.join(lost[:_MOST_NAMED])}: they count as listed until {NIGHTS} "
                "nights have shown it, or until you pass --accept-changes"
            )
        return had | listed

    def _first_of(self, state: dict[str, Any], now: dt.datetime) -> dt.date:
        """The first day of the dataset, which *state* has from the updates before."""
        today = now.astimezone(dt.UTC).date()
        days = [as_day(self.first_day, today)] if self.first_day else []
        # In the farthest east, tomorrow has begun.
        if days and days[0] > today + DAY:
            raise ConfigurationError(
                f"The first day (--since) {days[0]} is in the future. No website has a "
                "day to read yet."
            )
        if "since" in state:
            days.append(dt.date.fromisoformat(state["since"]))
        first = min(days, default=None)
        if first is None:
            raise ConfigurationError("The first update needs a first day (--since).")
        if self.hostnames is None or "since" not in state:
            state["since"] = str(first)
        return first

    def _lists_of(self, state: Mapping[str, Any]) -> list[str]:
        """The lists of the dataset, which only grow."""
        had = frozenset(state.get("lists", TABLES if self.lists is None else ()))
        lists = had | (self.lists or had)
        if "lists" in state and self.hostnames is not None and lists > had:
            names = ", ".join(sorted(lists - had))
            raise ConfigurationError(
                f"This dataset has no {names}. An update of all websites can add "
                "that, and reads all of their days anew. One that names websites "
                "can't."
            )
        return sorted(lists)

    def _read(self, client: Client, days: Days, update: UnderWay) -> Iterator[None]:
        """Add each response to the rows of the tables."""
        until, before = time.monotonic() + self.max_seconds, update.requests

        def may_request() -> bool:
            # A load has at least one request.
            number = update.requests - before
            return not (update.signal or (number and time.monotonic() > until))

        def responses(
            requests: _Requests, query: StatsQuery, failed: _Fail, add: _Add
        ) -> Iterator[None]:
            taken: list[tuple[str, Period]] = []

            def queries() -> Iterator[StatsQuery]:
                while may_request() and (following := next(requests, None)):
                    taken.append(following)
                    update.requests += 1
                    # The zone of its coverage: the website's own may have changed.
                    name, period = following
                    zone = days.websites[name].timezone
                    yield query.website(name).timezone(zone).between(*period)

            stream = client.stats.get_many(queries(), concurrency=self.concurrency)
            stream._warns = False  # noqa: SLF001 - ``_warn`` names website and day
            with stream:
                for done, outcome in enumerate(stream, 1):
                    name, period = taken[outcome.index]
                    if update.show is not None:
                        number = update.requests - len(taken) + done
                        update.show(number, update.requests + days.left)
                    with days.outcome(name, outcome.error) as website:
                        key = {
                            "hostname": name,
                            "timezone": website.timezone,
                            "read_at": self._moment(),
                        }
                        try:
                            stats = outcome.result()
                            _check_zone(stats, website.timezone)
                            _warn(name, period, stats)
                            add(website, key, period, stats)
                        except SiteStatsError as error:
                            failed(website, period, error)
                    yield

        histogram, failed = _QUERY.fields("histogram"), WebsiteDays.failed_period
        # One request shows which days have changed, and whether events came late.
        query = histogram.all_events() if "events" in self._lists else histogram
        yield from responses(days.histograms, query, failed, self._add_totals)
        lists = [name for name in self._lists if name != "events"]
        query = _QUERY.fields(*cast("Any", [*self._totals, *lists]))
        query = query.limit(_MOST_ENTRIES) if lists else query
        query = query.all_events() if "events" in self._lists else query
        yield from responses(days.days, query, WebsiteDays.failed, self._add_day)
        months, failed = histogram.interval("month"), WebsiteDays.failed_months
        yield from responses(days.months, months, failed, self._add_months)

    @property
    def _lists(self) -> list[str]:
        return [name for name in ALL_LISTS if name in self._rows]

    @property
    def _totals(self) -> Sequence[str]:
        return TOTALS if self._lists else HISTOGRAM_COUNTS

    def _add_totals(
        self, website: WebsiteDays, key: dict[str, Any], period: Period, stats: Stats
    ) -> None:
        totals = _totals_of(stats)
        events = _events_of(stats) if website.counts_events else None
        for day in website.read_period(period, totals, events):
            counts = totals[day]
            reading = {DAYS: (1, *counts), **dict.fromkeys(self._lists, (0, 0))}
            self._rows[DAYS].add(
                **key, first_day=day, **counts._asdict(), as_read=json.dumps(reading)
            )
            for name in self._lists:
                self._rows[name].add(**key, first_day=day, rank=EMPTY)

    def _add_day(
        self, website: WebsiteDays, key: dict[str, Any], period: Period, stats: Stats
    ) -> None:
        day = key["first_day"] = period[0]
        if stats.first_day != day:
            why = f"the response is about another day: {stats.first_day}"
            website.failed(period, InvalidResponseError(why, body=stats.body))
            return
        # The service's clock decides; a day is requested again when it is over.
        if stats.partial:
            return
        totals = Totals(stats.pageviews, stats.visitors)
        reading: dict[str, Sums] = {DAYS: (1, *totals)}
        lists = dict[str, ListOfDay]()
        problems = [*stats.problems]
        for name in self._lists:
            # It is a problem of the response.
            with suppress(InvalidResponseError):
                each = lists[name] = ListOfDay(getattr(stats, name))
                reading[name] = each.sums
                problems += [_twice(name, value) for value in each.twice[:_MOST_NAMED]]
        if website.falls(day, reading):
            return
        for name, each in lists.items():
            self._rows[name].add_list(each, key)
        values = {total: getattr(stats, total) for total in self._totals}
        self._rows[DAYS].add(**key, **values, as_read=json.dumps(reading))
        website.read(day, totals, _unread(problems), _events_of(stats))

    def _add_months(
        self, website: WebsiteDays, key: dict[str, Any], period: Period, stats: Stats
    ) -> None:
        problems = [*stats.problems]
        for month, totals in _totals_of(stats, over=False).items():
            if website.lacks_days(month, totals):
                why = f"{month:%Y-%m} has no page views, but its days have some"
                problems.append(Problem(why, where="$.histogram"))
                continue
            end = (month + 31 * DAY).replace(day=1) - DAY
            key |= {"first_day": month, "partial": end > period[1]}
            self._rows[MONTHS].add(**key, **totals._asdict())
        if unread := _unread(problems):
            website.failed_months(period, unread)

    def _cover(
        self, days: Days, websites: Mapping[str, Coverage], state: dict[str, Any]
    ) -> Rows:
        """The rows of the progress of each website, which *state* has as well."""
        stored: dict[str, Any] = state.setdefault("coverage", {})
        now, rows = self._moment(), Rows("coverage")
        # Another name without a day is probably mistyped: it is reported, not stored.
        sites = {
            name: site
            for name, site in websites.items()
            if name in state["listed"] or site.read_from <= site.reached
        }
        behind = {name: sites[name].behind(days.websites[name].last) for name in sites}
        lost = stored.keys() - sites.keys() - {*state["listed"]}
        gone: Any = {"error": NOT_LISTED, "lasting": True, "checked_at": now}
        sites |= {
            name: attrs.evolve(Coverage.from_state(stored[name]), **gone)
            for name in sorted(lost if self.hostnames is None else ())
        }
        damaged = state.get("verified", {}).get("days", {})
        for name, website in days.websites.items():
            again = {str(day) for day in website.read_days}
            left = [day for day in damaged.pop(name, ()) if day not in again]
            if left:
                damaged[name] = left
        for name, coverage in sites.items():
            stored[name] = coverage.to_state()
            rows.add(
                hostname=name,
                timezone=coverage.timezone,
                through=coverage.through,
                behind=behind.get(name),
                held=len(coverage.held),
                listed=coverage.listed,
                error=coverage.error,
                checked_at=now,
            )
        return rows


def _hostname_of(website: Website) -> str:
    """The website's name as it is requested, so that one website has one name."""
    try:
        return StatsQuery(website).hostname
    except InvalidInputError:
        return str(storable(website.hostname))


def _warn(hostname: str, period: Period, stats: Stats) -> None:
    """Issue the warnings of a response, of which there are many: one is meant."""
    days = "..".join(dict.fromkeys(map(str, period)))
    for sentence in stats._warnings:  # noqa: SLF001 - ``get_many`` issues them as well
        warn(f"{hostname}: {days}: {sentence}")


def _check_zone(stats: Stats, timezone: str) -> None:
    """Check that the days of a response are those that were requested.

    Raises:
        InvalidResponseError: They are days of another zone.
    """
    if not same_zone(stats.timezone or timezone, timezone):
        raise InvalidResponseError(
            f"the response is in the time zone {shown(stats.timezone)}, but "
            f"{timezone} was requested",
            body=stats.body,
        )


def _twice(name: str, value: object) -> Problem:
    message = f"has {shown(value)} twice: the first entry is stored"
    return Problem(message, section="4.3", where=f"$.{name}")


def _unread(problems: Sequence[Problem]) -> InvalidResponseError | None:
    """What is wrong in a response, the rest of which is loaded."""
    error = InvalidResponseError("not as documented", problems=problems)
    return error if problems else None


def _events_of(stats: Stats) -> int | None:
    """How many events a response has; None if that is unknown."""
    if "events" not in stats.requested:
        return None
    with suppress(InvalidResponseError):
        totals: list[int] = stats.events.column("total")
        return None if stats.events.truncated else sum(totals)
    return None


def _totals_of(stats: Stats, *, over: bool = True) -> dict[dt.date, Totals]:
    """A histogram's past days, without those that are twice in it or lack a number."""
    days: dict[dt.date, Totals | None] = {}
    for entry in stats.histogram:
        day, *totals = (getattr(entry, name) for name in ("date", *HISTOGRAM_COUNTS))
        if day is None or (over and entry.partial):
            continue
        days[day] = None if None in totals or day in days else Totals(*totals)
    return {day: totals for day, totals in days.items() if totals is not None}
