"""Which days of which website to read next.

It is pure: no clock, no request, and nothing of dlt.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from heapq import heapify, heappop, heapreplace
from typing import Final

import attrs

from sitestats._common.errors import (
    AuthenticationError,
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServerError,
    SiteStatsError,
    TransportError,
    WebsiteLockedError,
)
from sitestats._common.zones import find_zone

from ._coverage import Coverage, Totals, reached_by
from ._held import (
    DAY,
    NO_LISTS,
    Held,
    Period,
    Stretch,
    count_days,
    covering,
    days_of,
    one_by_one,
    without,
)

MEDIAN: Final = "seconds_on_page"
"""What a day has beside its lists where it was read by itself: no histogram has it."""
MEDIANS: Final = frozenset({MEDIAN})

WATCHED: Final = 30
"""How many of the last days are read again when their totals differ."""
_FEW: Final = 2
"""The days for which there is no histogram, unless others may have changed."""
LONGEST: Final = 366
"""The most days of a histogram."""
_OVERLAP: Final = (0, -1, 1, -2, 2)
"""A day has hours in common with these, in whatever other zone: they are up to 26 hours
apart."""

FAILED_IN_A_ROW: Final = 3
"""The failed days in a row after which a website has no further ones in this run."""

FAILED_EVERYWHERE: Final = 100
"""The outcomes in a row without a response, over all websites, after which the service
is taken to be down."""

_OF_THE_WEBSITE: Final = (
    NotFoundError,
    WebsiteLockedError,
    AuthenticationError,
    PermissionDeniedError,
    ConfigurationError,
    InvalidInputError,
)
"""What each other day of the website would get as well."""

_NO_SERVICE: Final = (TransportError, ServerError, RateLimitedError)


class WebsiteDays:
    """What a run requests of one website, and what came of it.

    Histograms come first: where no lists are wanted they have the days, else they tell
    which days are empty, and which have changed. Of the days, new ones come first,
    after the *lag* days before them that are read again. Then come older ones that are
    not there, or have changed, and at last those that failed before, so that one that
    always fails holds no other back.
    """

    def __init__(
        self,
        cursor: Coverage | None,
        *,
        timezone: str,
        lists: frozenset[str],
        first: dt.date,
        last: dt.date,
        lag: int = 1,
    ) -> None:
        moved = cursor is not None and cursor.timezone != timezone
        self._old: Final = Held(cursor.old if cursor else ())
        if cursor is not None and moved:
            for part in cursor.held:
                for day in days_of(part[:2]):
                    self._old.put(
                        day, part.lists | (self._old.lists_of(day) or NO_LISTS)
                    )
        cursor = None if moved else cursor
        self._held: Final = Held(cursor.held if cursor else ())
        days = [day for day in cursor.failed if day >= first] if cursor else []
        self._failed = dict.fromkeys(days)
        self._error_before: Final = (cursor.error if cursor else None) or ""
        self._totals = dict(cursor.totals) if cursor else {}
        self._seen: dict[dt.date, Totals] = {}
        self._first: Final = first
        self._lists: Final = lists
        self.timezone: Final = timezone
        self.last: Final = last
        """The last day to read, which is over."""
        self.ended = False
        """Whether the rest of the run requests nothing of the website."""
        self.is_unknown = False
        """Whether the service does not know the website, and never did."""
        self.histograms_lack = 0
        """How many histograms failed, and how many wanted days the others lack."""
        self._error: str | None = None
        self._lasting = False
        self._began_at: Final = reached_by(first, self._held.parts, self._failed)
        self._reached = self._began_at
        # With the days of the lag, which are read again.
        self._new_from: Final = max(first, self._began_at + DAY - lag * DAY)
        again = days_of((self._new_from, min(self._began_at, last)))
        self._again = {day for day in again if self._held.lists_of(day) is not None}
        self._stale: set[dt.date] = set()
        self._errors: dict[dt.date, str] = {}
        self._failed_in_a_row = 0
        self._failed_periods: list[Period] = []
        """What histograms failed to have, where nothing else is to be read of it."""
        self._gone: dict[dt.date, frozenset[str] | None] = {}
        self.periods: Final = deque(self._histograms())
        """The histograms that are left."""
        self._queues: list[deque[Period]] | None = None

    def _wanted(self) -> list[Period]:
        """The days to read, as far as is known."""
        lacking = [*self._held.lacking(self._first, self.last, self._lists)]
        others = {*self._again, *self._failed}
        alone = [day for day in others if self._first <= day <= self.last]
        return [*lacking, *without(one_by_one(alone), lacking)]

    def _histograms(self) -> list[Period]:
        wanted = self._wanted()
        # Where events are wanted, a day without page views is read all the same.
        # Of few days, a histogram seldom saves a request.
        if "events" in self._lists or (self._lists and count_days(wanted) <= _FEW):
            wanted = []
        watched = [day for day in self._totals if self._first <= day < self._new_from]
        if watched:
            wanted.append((watched[0], self.last))
        return covering(wanted, LONGEST)

    @property
    def unfilled(self) -> frozenset[str]:
        """Lists that the last days have, and new ones are not to have."""
        has_new = not self.ended and self.last > self._began_at
        had = self._held.parts[-1].lists if self._held.parts and has_new else NO_LISTS
        return had - self._lists - MEDIANS

    @property
    def left(self) -> int:
        """How many requests it would still make, at most."""
        if self.ended:
            return 0
        if self._queues is not None:
            return sum(map(count_days, self._queues))
        if self._lists:
            return len(self.periods) + count_days(self._wanted())
        return len(self.periods) + sum(map(self._has_median, self._again))

    def take_period(self) -> Period | None:
        """The period of the histogram to request now, or None."""
        return None if self.ended or not self.periods else self.periods.popleft()

    def read_period(
        self, period: Period, found: Mapping[dt.date, Totals]
    ) -> list[dt.date]:
        """Record what a histogram has of days that are over.

        Returns:
            The days that need no request of their own: *found* has all there is.
        """
        days: list[dt.date] = []
        lacking = Held(Stretch(*part) for part in sorted(self._wanted()))
        for day in days_of(period):
            is_wanted = lacking.lists_of(day) is not None
            totals = found.get(day)
            if totals is None:
                self.histograms_lack += is_wanted and "events" not in self._lists
                continue
            if day > self.last - WATCHED * DAY:
                self._seen[day] = totals
            has_changed = self._totals.get(day, totals) != totals
            if not (is_wanted or has_changed):
                continue
            is_empty = totals == (0, 0) and "events" not in self._lists
            if is_empty or not (self._lists or self._has_median(day)):
                self.read(day, lists=self._lists | MEDIANS if is_empty else NO_LISTS)
                days.append(day)
            elif has_changed:
                self._again.add(day)
        return days

    def _has_median(self, day: dt.date) -> bool:
        return MEDIAN in (self._held.lists_of(day) or NO_LISTS)

    def failed_period(self, period: Period, error: SiteStatsError) -> None:
        """Record that a histogram could not be read: its days may be, one by one, if
        they were to be anyway.
        """
        if isinstance(error, _OF_THE_WEBSITE):
            self.failed(period[0], error)
            return
        if not self._lists:
            lacking = self._held.lacking(*period)
            self._failed_periods.append(period)
            self._errors |= {
                first: f"{first}: {error_line(error)}" for first, _ in lacking
            }
        else:
            self.histograms_lack += 1

    def plan(self) -> None:
        """Decide which days to request, once the histograms were read."""
        wanted = sorted(without(self._wanted(), self._failed_periods))
        before = self._new_from - DAY
        failed = [day for day in self._failed if day <= min(before, self.last)]
        failed = [day for day in failed if without([(day, day)], self._failed_periods)]
        new = without(wanted, [(self._first, before)])
        older = without(wanted, [*new, *one_by_one(failed)])
        self._queues = [deque(new), deque(older), deque(one_by_one(failed))]

    @property
    def order(self) -> tuple[int, dt.date]:
        """The next day to request, behind what it is: new, older, or failed before."""
        queues = enumerate(self._queues or ())
        days = ((place, queue[0][0]) for place, queue in queues if queue)
        return next(days, (0, dt.date.max))

    def take(self) -> dt.date | None:
        """The day to request now, or None."""
        if self._queues is None:
            self.plan()
        for queue in self._queues or ():
            if queue and not self.ended:
                day, last = queue.popleft()
                if day < last:
                    queue.appendleft((day + DAY, last))
                if day in self._again:
                    self._stale.add(day)
                return day
        return None

    def read(
        self,
        day: dt.date,
        totals: Totals | None = None,
        *,
        lists: frozenset[str] | None = None,
    ) -> None:
        """Record that *day* was read, and that it was over.

        Without *lists* it was requested by itself, with all that are wanted.
        """
        lists = self._lists | MEDIANS if lists is None else lists
        self._held.put(day, (self._held.lists_of(day) or NO_LISTS) | lists)
        totals = self._seen.get(day, totals)
        if totals is not None and day > self.last - WATCHED * DAY:
            self._totals[day] = totals
        if (old := self._old.lists_of(day)) is not None:
            self._old.put(day, None)
            self._gone[day] = old - lists - MEDIANS
        self._reached = max(self._reached, day)
        self._failed.pop(day, None)
        self._stale.discard(day)
        self._again.discard(day)
        self._failed_in_a_row = 0

    def failed(self, day: dt.date, error: SiteStatsError) -> None:
        """Record that *day* was not read."""
        text = error_line(error)
        if isinstance(error, _OF_THE_WEBSITE):
            self.is_unknown = isinstance(error, NotFoundError) and not self._held.parts
            self.end(text, lasting=True)
            return
        self._reached = max(self._reached, day)
        # Behind those that were not requested for longer.
        self._failed.pop(day, None)
        self._failed[day] = None
        self._errors[day] = f"{day}: {text}"
        self._failed_in_a_row += 1
        self.ended |= self._failed_in_a_row >= FAILED_IN_A_ROW

    def end(self, error: str, *, lasting: bool) -> None:
        """Request nothing more in this run, because of *error*."""
        self._error, self._lasting = error, lasting
        self.ended = True

    def take_gone(self) -> Iterator[tuple[dt.date, frozenset[str] | None]]:
        """The days of another zone whose rows have to go, and of which lists; None
        means all there is.

        Those that share no hour with a day of the present zone may stay.
        """
        for part in self._old.parts:
            for day in days_of(part[:2]):
                if any(
                    self._held.lists_of(day + n * DAY) is not None for n in _OVERLAP
                ):
                    self._old.put(day, None)
                    self._gone[day] = None
        gone, self._gone = self._gone, {}
        yield from gone.items()

    def cursor(self, now: dt.datetime | None = None) -> Coverage:
        """How far the website is; nothing may be under way.

        A day that was to be read again and was not has failed, if later ones were
        read: the next run would not request it.
        """
        failed = dict(self._failed)
        if self._reached > self._began_at:
            failed |= dict.fromkeys(sorted(self._stale))
        found = Coverage(
            first=self._first,
            held=self._held.parts,
            failed=tuple(failed),
            timezone=self.timezone,
            lists=self._lists,
            totals={
                day: self._totals[day]
                for day in sorted(self._totals)
                if day > self.last - WATCHED * DAY
            },
            old=self._old.parts,
            lasting=self._lasting,
            checked_at=now,
        )
        why = self._error
        if why is None and (failed or self._errors):
            through = found.through
            why = self._why_missing(through + DAY if through else self._first)
        return attrs.evolve(found, error=why)

    def _why_missing(self, day: dt.date) -> str:
        before = self._error_before
        if day in self._errors or not before.startswith(str(day)):
            return self._errors.get(day, f"{day}: it was not read")
        return before


def error_line(error: SiteStatsError) -> str:
    """The class and the message of *error* on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class Days:
    """The days of all websites: the oldest first, so that none is left far behind."""

    def __init__(self, websites: Mapping[str, WebsiteDays]) -> None:
        self.websites: Final = websites
        self.left = sum(website.left for website in websites.values())
        """How many requests there would still be, at most."""
        self._failed_in_a_row = 0
        self._with_periods = deque(websites)
        self._queue: list[tuple[tuple[int, dt.date], int, str]] | None = None

    def take_period(self) -> tuple[str, Period] | None:
        """The next website and period of a histogram to request, or None."""
        while self._with_periods:
            hostname = self._with_periods[0]
            period = self.websites[hostname].take_period()
            if period is not None:
                self.left -= 1
                return hostname, period
            self._with_periods.popleft()
        return None

    def read_period(
        self, hostname: str, period: Period, found: Mapping[dt.date, Totals]
    ) -> list[dt.date]:
        """Record what a histogram has, and return the days of which that is all."""
        self._failed_in_a_row = 0
        with self._counted(hostname) as website:
            return website.read_period(period, found)

    def failed_period(
        self, hostname: str, period: Period, error: SiteStatsError
    ) -> None:
        """Record that a histogram was not read."""
        with self._counted(hostname) as website:
            website.failed_period(period, error)
        self._check_service(error)

    def take_lacking(self) -> list[str]:
        """The websites whose histograms failed, or lacked days, since the last call."""
        found = [name for name, site in self.websites.items() if site.histograms_lack]
        for name in found:
            self.websites[name].histograms_lack = 0
        return found

    def take(self) -> tuple[str, dt.date] | None:
        """The next website and day to request, or None; all histograms were read."""
        if self._queue is None:
            self._queue = self._plan()
        while self._queue:
            _, number, hostname = self._queue[0]
            website = self.websites[hostname]
            day = website.take()
            if day is not None:
                self.left -= 1
                heapreplace(self._queue, (website.order, number, hostname))
                return hostname, day
            heappop(self._queue)
        return None

    def _plan(self) -> list[tuple[tuple[int, dt.date], int, str]]:
        for website in self.websites.values():
            website.plan()
        self.left = sum(website.left for website in self.websites.values())
        queue = [
            (website.order, number, hostname)
            for number, (hostname, website) in enumerate(self.websites.items())
        ]
        heapify(queue)
        return queue

    def read(self, hostname: str, day: dt.date, totals: Totals | None = None) -> None:
        """Record that it was read."""
        self._failed_in_a_row = 0
        self.websites[hostname].read(day, totals)

    def failed(self, hostname: str, day: dt.date, error: SiteStatsError) -> None:
        """Record that it was not read."""
        with self._counted(hostname) as website:
            website.failed(day, error)
        self._check_service(error)

    @contextmanager
    def _counted(self, hostname: str) -> Generator[WebsiteDays]:
        website = self.websites[hostname]
        before = website.left
        yield website
        self.left += website.left - before

    def _check_service(self, error: SiteStatsError) -> None:
        if not isinstance(error, _NO_SERVICE):
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= FAILED_EVERYWHERE:
            self.left = 0
            for other in self.websites.values():
                if other.left:
                    other.end(f"the service fails: {error}", lasting=False)


def last_day(timezone: str, now: dt.datetime) -> dt.date | None:
    """The last day that is over in *timezone*; None where the zone is not known.

    >>> from datetime import UTC, datetime
    >>> from sitestats.warehouse import last_day
    >>> last_day("Asia/Tokyo", datetime(2026, 3, 1, 16, tzinfo=UTC))
    datetime.date(2026, 3, 1)
    """
    zone = find_zone(timezone)
    return None if zone is None else now.astimezone(zone).date() - DAY
