"""Which days of which website to read next, and the progress of each website.

It is pure: it uses no clock, no request and no dlt.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Self, TypeAlias

import attrs
import msgspec

from sitestats._base.errors import (
    InvalidResponseError,
    RateLimitedError,
    ServerError,
    SiteStatsError,
    TransportError,
)
from sitestats._base.zones import find_zone

DAY: Final = dt.timedelta(days=1)
MONTHS: Final = "months"

WATCHED: Final = 30
"""How many of the last days are read again if their totals have changed, and how many
of those that failed."""
LONGEST: Final = 366
"""The most days of a histogram."""
FAILED_IN_A_ROW: Final = 3
"""After so many failed days in a row, a website waits for the next run."""
FAILED_EVERYWHERE: Final = 100
"""After so many failures in a row, over all websites, the service counts as down."""
NOT_LISTED: Final = "the service does not list this website any more"

_NO_SERVICE: Final = (TransportError, ServerError, RateLimitedError)

Period: TypeAlias = tuple[dt.date, dt.date]
"""The first and the last day."""


class Totals(NamedTuple):
    """The totals of a day, or of a month."""

    pageviews: int
    visitors: int


@attrs.frozen(kw_only=True)
class Coverage:
    """The progress of a website, as the pipeline's state holds it."""

    timezone: str
    """The time zone of the days."""
    lists: frozenset[str]
    """The lists that were read for each day."""
    first: dt.date
    """The first day of the dataset."""
    read_from: dt.date
    """The first day that was read; later than ``first`` until earlier days were."""
    reached: dt.date
    """Every day from ``read_from`` to this one was read, except ``failed`` ones."""
    failed: tuple[dt.date, ...] = ()
    """Days that failed, the least recently requested first."""
    watched: Mapping[dt.date, Totals] = attrs.Factory(dict[dt.date, Totals])
    """The totals of the last days, to find out which have changed."""
    months_from: dt.date | None = None
    """The first day whose month has to be read."""
    error: str | None = None
    """Why the website is behind, if it is."""
    lasting: bool = False
    """Whether the error is about the website, and not about a day."""
    checked_at: dt.datetime | None = None
    """When these values were found."""

    @property
    def through(self) -> dt.date | None:
        """The last day up to which nothing is missing; None without any."""
        day = min([self.reached + DAY, *self.failed]) - DAY
        return None if self.first < self.read_from or day < self.first else day

    @property
    def listed(self) -> bool:
        """Whether the service lists the website, as far as that is known."""
        return self.error != NOT_LISTED

    def behind(self, last: dt.date) -> int:
        """How many days are missing up to *last*, which ``last_day`` gives."""
        unread = max(0, (last - self.reached).days) + (self.read_from - self.first).days
        return unread + sum(day <= last for day in self.failed)

    def to_state(self) -> dict[str, Any]:
        """The progress as JSON."""
        return dict(msgspec.to_builtins(self, order="deterministic"))

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The inverse of ``to_state``."""
        return msgspec.convert(state, cls)


# msgspec 0.22 may crash if threads use a type for the first time at once.
msgspec.json.Decoder(Coverage)


def continued(
    coverage: Coverage | None, *, timezone: str, lists: frozenset[str], first: dt.date
) -> Coverage:
    """*coverage*, if it has days, and they are the wanted ones; else a new one, for
    another list or another zone.
    """
    first = first if coverage is None else min(first, coverage.first)
    if (
        coverage
        and coverage.read_from <= coverage.reached
        and coverage.timezone == timezone
        and lists - {MONTHS} <= coverage.lists
    ):
        return attrs.evolve(coverage, lists=lists, first=first)
    return Coverage(
        timezone=timezone,
        lists=lists,
        first=first,
        read_from=first,
        reached=first - DAY,
    )


def days_between(first: dt.date, last: dt.date) -> list[dt.date]:
    """The days from *first* to *last*; none if that is before it."""
    return [first + number * DAY for number in range((last - first).days + 1)]


class WebsiteDays:
    """What a run requests of one website, and the outcome.

    Histograms come first: without lists they have the days, else they show which days
    are empty, and which have changed. New days come first, then those that have
    changed, those before an earlier first day, the latest first, and those that failed
    before, so that a day that always fails delays no other. The totals of months are
    read last.
    """

    def __init__(
        self,
        coverage: Coverage | None,
        *,
        timezone: str,
        lists: frozenset[str],
        first: dt.date,
        last: dt.date,
        lag: int = 1,
    ) -> None:
        self._before: Final = coverage
        self._start: Final = continued(
            coverage, timezone=timezone, lists=lists, first=first
        )
        self._lists: Final = lists - {MONTHS}
        self.timezone: Final = timezone
        self.last: Final = last
        """The last day to read, which is over."""
        self.ended = False
        """Whether the rest of the run requests nothing of the website."""
        self._error: str | None = None
        self._lasting = False
        self._failed = dict.fromkeys(self._start.failed, "it failed before")
        self._failed_in_a_row = 0
        self._read: set[dt.date] = set()
        self._watched = dict(self._start.watched)
        self._seen: dict[dt.date, Totals] = {}
        self._months_from = self._start.months_from
        self._months_are_left = MONTHS in lists
        self._is_scheduled = False
        start = self._start
        self._begin: Final = max(start.read_from, start.reached + DAY - lag * DAY)
        earlier = days_between(start.first, start.read_from - DAY)
        self._wanted: Final = dict.fromkeys(
            [*days_between(self._begin, last), *earlier, *start.failed[:WATCHED]]
        )
        self.periods: Final = self._histograms()
        """The histograms that are left, the last one first."""

    def _histograms(self) -> list[Period]:
        begin = [day for day in self._watched if day not in self._wanted]
        # A day without page views may have events.
        if "events" not in self._lists:
            has_earlier = self._start.first < self._start.read_from
            begin.append(self._start.first if has_earlier else self._begin)
        first, periods = min(begin, default=dt.date.max), list[Period]()
        while first <= self.last:
            periods.append((first, min(self.last, first + (LONGEST - 1) * DAY)))
            first = periods[-1][1] + DAY
        return periods[::-1]

    @property
    def left(self) -> int:
        """How many requests are left, at most."""
        if self.ended:
            return 0
        # If only totals are wanted, histograms have all days except those that failed.
        by_day = bool(self._lists) or self._is_scheduled
        days = self._wanted if by_day else self._failed
        return len(self.periods) + len(days) + self._months_are_left

    def read_period(
        self, period: Period, histogram: Mapping[dt.date, Totals]
    ) -> list[dt.date]:
        """Record a histogram's past days; a day that it lacks is requested by itself.

        Returns:
            The days that need no request of their own: *histogram* has everything.
        """
        days: list[dt.date] = []
        for day in days_between(*period):
            totals = histogram.get(day)
            if totals is None:
                continue
            self._seen[day] = totals
            if day not in self._wanted and self._watched.get(day, totals) == totals:
                continue
            is_empty = totals == (0, 0) and "events" not in self._lists
            if is_empty or not self._lists:
                self._wanted.pop(day, None)
                self.read(day, totals)
                days.append(day)
            else:
                self._wanted[day] = None
        return days

    def failed_period(self, period: Period, error: SiteStatsError) -> None:
        """Record that a histogram was not read: lists may be, day by day."""
        if is_lasting(error):
            self.failed(period, error)
        else:
            self._error = f"{period[0]}: {error_line(error)}"
            self.ended |= not self._lists

    def schedule(self) -> Iterator[tuple[int, int, dt.date]]:
        """The days to request, once the histograms were read, behind their order."""
        self._is_scheduled = True
        before = {day: place for place, day in enumerate(self._failed)}

        def order(day: dt.date) -> tuple[int, int, dt.date]:
            if day < self._begin and day in before:
                return 3, before[day], day
            if day < self._start.read_from:
                return 2, -day.toordinal(), day
            return int(day < self._begin), day.toordinal(), day

        return map(order, self._wanted)

    def take(self, day: dt.date) -> bool:
        """Whether to request *day* now."""
        self._wanted.pop(day, None)
        return not self.ended

    def read(
        self, day: dt.date, totals: Totals, unread: SiteStatsError | None = None
    ) -> None:
        """Record that *day* was read, except *unread*, and that it was over."""
        self._read.add(day)
        self._failed.pop(day, None)
        if unread is not None:
            self._failed[day] = error_line(unread)
        self._failed_in_a_row = 0
        self._watched[day] = self._seen.get(day, totals)
        self._months_from = min(self._months_from or day, day)

    def failed(self, period: Period, error: SiteStatsError) -> None:
        """Record that the one day of *period* was not read."""
        day, text = period[0], error_line(error)
        if is_lasting(error):
            self.end(text, lasting=True)
            return
        # The day goes behind those that were not requested for longer.
        self._failed.pop(day, None)
        self._failed[day] = text
        self._failed_in_a_row += 1
        self.ended |= self._failed_in_a_row >= FAILED_IN_A_ROW

    def end(self, error: str, *, lasting: bool = False) -> None:
        """Request nothing more in this run, because of *error*."""
        self._error, self._lasting, self.ended = error, lasting, True

    def take_months(self) -> Period | None:
        """The months to request, or None; once the days were read."""
        begin, is_left = self._months_from, self._months_are_left and not self.ended
        self._months_are_left = False
        if begin is None or not is_left:
            return None
        self._months_from = None
        return begin.replace(day=1), self.last

    def failed_months(self, period: Period, error: SiteStatsError) -> None:
        """Record that the totals of months were not read."""
        self._months_from = period[0]
        self._error = f"months: {error_line(error)}"

    def coverage(self, now: dt.datetime | None = None) -> Coverage:
        """The progress of the website, when no request is under way."""
        start, known = self._start, self._read | self._failed.keys()
        reached, read_from = start.reached, start.read_from
        while reached + DAY in known:
            reached += DAY
        while read_from - DAY in known:
            read_from -= DAY
        failed = tuple(day for day in self._failed if read_from <= day <= reached)
        before, error = self._before, self._error
        if error is None and failed:
            error = f"{min(failed)}: {self._failed[min(failed)]}"
        outcome: dict[str, Any] = {
            "error": error,
            "lasting": self._lasting,
            "checked_at": now,
        }
        if before and start.reached < before.reached and not self._read:
            # Its days stay what they were until others replace them.
            return attrs.evolve(before, **outcome)
        watched = {
            day: self._watched[day]
            for day in sorted(self._watched)
            if self.last - WATCHED * DAY < day <= reached and read_from <= day
        }
        return attrs.evolve(
            start,
            read_from=read_from,
            reached=reached,
            failed=failed,
            watched=watched,
            months_from=self._months_from,
            **outcome,
        )


def is_lasting(error: SiteStatsError) -> bool:
    """Whether every other day of the website would get *error* as well."""
    return not (
        error.retryable or isinstance(error, (InvalidResponseError, *_NO_SERVICE))
    )


def error_line(error: SiteStatsError) -> str:
    """The class and the message of *error* on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class Days:
    """The days of all websites, oldest first, so that no website falls far behind."""

    def __init__(self, websites: Mapping[str, WebsiteDays]) -> None:
        self.websites: Final = websites
        self._failed_in_a_row = 0
        self.histograms: Final = self._each_period()
        """The websites and periods of histograms to request."""
        self.days: Final = self._each_day()
        """The websites and days to request, once all histograms were read."""
        self.months: Final = self._each_month()
        """The websites and periods of months to request, once all days were read."""

    @property
    def left(self) -> int:
        """How many requests are left, at most."""
        return sum(website.left for website in self.websites.values())

    def _each_period(self) -> Iterator[tuple[str, Period]]:
        for name, site in self.websites.items():
            while site.periods and not site.ended:
                yield name, site.periods.pop()

    def _each_day(self) -> Iterator[tuple[str, Period]]:
        order = sorted(
            (*place, name)
            for name, site in self.websites.items()
            for place in site.schedule()
        )
        for *_, day, name in order:
            if self.websites[name].take(day):
                yield name, (day, day)

    def _each_month(self) -> Iterator[tuple[str, Period]]:
        for name, site in self.websites.items():
            if period := site.take_months():
                yield name, period

    @contextmanager
    def outcome(
        self, hostname: str, error: SiteStatsError | None = None
    ) -> Generator[WebsiteDays]:
        """Record an outcome of *hostname*, and whether the service is down."""
        yield self.websites[hostname]
        is_down = isinstance(error, _NO_SERVICE)
        self._failed_in_a_row = self._failed_in_a_row + 1 if is_down else 0
        if self._failed_in_a_row >= FAILED_EVERYWHERE:
            for other in self.websites.values():
                if other.left:
                    other.end(f"the service fails: {error}")


def last_day(timezone: str, now: dt.datetime) -> dt.date | None:
    """The last day that is over in *timezone*; None for an unknown zone.

    >>> from datetime import UTC, datetime
    >>> from sitestats.warehouse import last_day
    >>> last_day("Asia/Tokyo", datetime(2026, 3, 1, 16, tzinfo=UTC))
    datetime.date(2026, 3, 1)
    """
    zone = find_zone(timezone)
    return None if zone is None else now.astimezone(zone).date() - DAY
