"""The source for dlt: what the service lists, and the days of each website."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import dlt
from dlt.common.typing import TSecretStrValue
from dlt.extract.items import DataItemWithMeta
from dlt.extract.resource import DltResource

from sitestats import Client, StatsQuery, Website
from sitestats._common.errors import ConfigurationError, QueryError
from sitestats._common.fields import TOTALS
from sitestats._common.problems import Problem
from sitestats._common.progress import Progress, ShowProgress, showing
from sitestats._common.settings import positive_count
from sitestats._common.text import shown

from ._coverage import NOT_LISTED, Coverage
from ._day_rows import NO_ROWS
from ._days import Days
from ._estimate import Estimate
from ._interrupts import UPDATE, UnderWay
from ._plan import Plan, approve_days
from ._reading import Reading
from ._tables import ALL_LISTS, DAYS, Rows, storable

if TYPE_CHECKING:
    from sitestats import WebsiteList

SOURCE: Final = "sitestats"

_READING_BY_LOADING: Final = 10
"""How many times as long as the last load took a load may read at least."""

_OF_A_WEBSITE: Final = tuple(
    field.name for field in attrs.fields(Website) if field.name != "extra"
)


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
        now: Returns the present moment, with a time zone; the clock when left out.

    Returns:
        The resources ``websites`` and ``days``, for ``update`` or a pipeline of dlt.

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

    if lag < 0:
        raise ConfigurationError(f"lag is 0 days or more, not {lag}")
    run = _Run(
        make_client=make_client,
        plan=Plan(
            first=first_day and dt.date.fromisoformat(str(first_day)),
            until=until or dt.date.max,
            hostnames=hostnames and [StatsQuery(name).hostname for name in hostnames],
            lists=_checked(lists),
            lag=lag,
        ),
        max_requests=positive_count("max_requests", max_requests),
        max_seconds=max_seconds,
        concurrency=positive_count("concurrency", concurrency),
        progress=progress,
        approve=approve,
        now=now or partial(dt.datetime.now, dt.UTC),
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
    plan: Plan
    max_requests: int
    max_seconds: float
    concurrency: int
    progress: Progress
    approve: Callable[[Estimate], bool] | None
    now: Callable[[], dt.datetime]
    _websites: WebsiteList | None = None
    _days: Days | None = None
    _loads: int | None = None
    _requests: int = 0
    """How many requests the loads before have made."""
    _show: ShowProgress | None = None
    _update: UnderWay = attrs.field(factory=UnderWay)
    """The update that shows the progress; one that never began where there is none."""
    _began: float = 0.0
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
        days = self._continued(state)
        lists = [name for name in ALL_LISTS if name in self.plan.lists]
        tables = {name: Rows(name) for name in (DAYS, *lists)}
        with ExitStack() as stack:
            client = stack.enter_context(self.make_client())
            update = UPDATE.get()
            if update is None or update is not self._update:
                self._update = update or UnderWay()
                bar = showing(self.progress, "requests")
                self._show = (update or stack).enter_context(bar)
            reading = Reading(
                client=client,
                days=days,
                tables=tables,
                concurrency=self.concurrency,
                now=self.now,
                may_request=self._limits(),
                show=self._shown,
            )
            for number in reading.read():
                self._update.read += number
                for rows in tables.values():
                    if rows.are_many:
                        yield from rows.take()
        self._read_until = time.monotonic()
        self._requests += reading.requests
        self._remove(days, tables)
        for rows in tables.values():
            yield from rows.take()
        coverage = Rows("coverage")
        now = self.now()
        state["unknown"] = self._cover(days, cursors, coverage, now)
        yield from coverage.take()
        self._loads = state["loads"] = (state.get("loads") or 0) + 1
        state["left"] = days.left
        state["requests"] = self._requests
        state["seconds"] = time.monotonic() - self._began
        state["checked_at"] = now.isoformat()
        if not days.left:
            # Run once more, it is about the days of then.
            self._days = self._websites = None

    def _continued(self, state: dict[str, Any]) -> Days:
        """The days where the last load left them, if dlt has stored that one."""
        if self._days is None or self._loads != state.get("loads"):
            zones = {
                storable(site.hostname): storable(site.timezone)
                for site in self._listed()
            }
            self._requests, self._began = 0, time.monotonic()
            days = self.plan.days(state, zones, self.now())
            approve_days(days, state, self.concurrency, self.approve)
            self._days = days
        return self._days

    def _limits(self) -> Callable[[int], bool]:
        """Whether this load may have one request more, after so many."""
        began = time.monotonic()
        loading = 0.0 if self._read_until is None else began - self._read_until
        read_by = began + max(self.max_seconds, _READING_BY_LOADING * loading)

        def may_request(requests: int) -> bool:
            if requests >= self.max_requests or self._update.signal:
                return False
            return not requests or time.monotonic() < read_by

        return may_request

    def _shown(self, done: int, total: int) -> None:
        if self._show is not None:
            self._show(self._requests + done, self._requests + total)

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
                    tables.setdefault(name, Rows(name)).add(**key, **NO_ROWS)

    def _cover(
        self,
        days: Days,
        cursors: dict[str, Any],
        coverage: Rows,
        now: dt.datetime,
    ) -> dict[str, Any]:
        """Add how far each website is; the value is that of those nobody knows."""
        found = {name: site.cursor(now) for name, site in days.websites.items()}
        listed = {site.hostname for site in self._listed()}
        # A mistyped name, most likely: the update reports it, and remembers nothing.
        unknown = {
            name: found.pop(name).to_state()
            for name, site in days.websites.items()
            if site.is_unknown and name not in listed
        }
        behind = {name: found[name].behind(days.websites[name].last) for name in found}
        if self.plan.hostnames is None:
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
        return unknown


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
