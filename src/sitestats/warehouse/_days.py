"""Which days of which website to read next, and the progress of each website.

It is pure: it uses no clock, no request and no dlt.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
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
from sitestats._base.text import counted
from sitestats._base.zones import find_zone

DAY: Final = dt.timedelta(days=1)
DAYS: Final = "days"
"""The table of the totals. The resource of this name has the coverage in its state."""
MONTHS: Final = "months"
"""The table of the totals of months."""

WATCHED: Final = 30
"""How many of the last days are read again if their totals have changed, and how many
of those that failed."""
MUCH: Final = 100
"""From so many stored page views on, a fall of a day to nothing is not believed."""
NIGHTS: Final = 3
"""On how many nights a fall to nothing, or a short list, is seen until it is taken."""
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
Sums: TypeAlias = tuple[int, ...]
"""How many rows of a table a website's day has, and the sums of their counts."""
Reading: TypeAlias = Mapping[str, Sums]
"""What was read of a website's day, by tables."""


class Totals(NamedTuple):
    """The totals of a day, or of a month: a tuple, as the sums of databases are."""

    pageviews: int
    visitors: int


@attrs.frozen
class Change:
    """The totals of a day that an update found changed."""

    before: Totals
    now: Totals

    @property
    def is_fall(self) -> bool:
        """Whether there are fewer page views, or fewer visitors: late data add some."""
        before, now = self.before, self.now
        return now.pageviews < before.pageviews or now.visitors < before.visitors


class Held(NamedTuple):
    """A day whose fall to nothing is not believed yet. Its rows stay."""

    nights: tuple[dt.date, ...]
    """For each night that showed the fall, the last day that was over."""
    tables: tuple[str, ...]
    """The tables that would have nothing of it any more."""


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
    changed: Mapping[dt.date, dt.date] = attrs.Factory(dict[dt.date, dt.date])
    """The watched days whose totals have changed, and the last day that was over then.
    They are watched for as long as if they had been new then."""
    held: Mapping[dt.date, Held] = attrs.Factory(dict[dt.date, Held])
    """The days whose fall to nothing is not believed yet."""
    events: Mapping[dt.date, int] = attrs.Factory(dict[dt.date, int])
    """How many events the watched days had."""
    events_add_up: bool = True
    """Whether the events of days are the events of a longer period, as far as known."""
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

    @property
    def doubt(self) -> str | None:
        """What is not believed yet; None if nothing."""
        if not self.held:
            return None
        stored = sum(self.watched[day].pageviews for day in self.held)
        tables = sorted({name for held in self.held.values() for name in held.tables})
        what = f"lost all of {', '.join(tables)}"
        if DAYS in tables:
            what = f"fell from {stored:,} page views to nothing"
        number = counted(len(self.held), "day")
        return (
            f"{number} from {min(self.held)} to {max(self.held)} {what}: the stored "
            f"rows stay until {NIGHTS} nights have shown it, or until you pass "
            "--accept-changes"
        )

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


def covering(days: Iterable[dt.date], *, with_gaps: bool) -> list[Period]:
    """The fewest periods for histograms that have all of *days*; without gaps, no
    period has another day.

    >>> from datetime import date
    >>> from sitestats.warehouse._days import covering
    >>> days = [date(2026, 1, 1), date(2026, 1, 3)]
    >>> [len(covering(days, with_gaps=gaps)) for gaps in (True, False)]
    [1, 2]
    """
    periods = list[Period]()
    for day in sorted(days):
        first, last = periods[-1] if periods else (day, dt.date.min)
        is_near = day - first < LONGEST * DAY
        if periods and is_near and (with_gaps or day == last + DAY):
            periods[-1] = first, day
        else:
            periods.append((day, day))
    return periods


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
        refresh: Sequence[Period] = (),
        accept_changes: bool = False,
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
        self._changed = dict(self._start.changed)
        self._held = dict(self._start.held)
        self._held_now: set[dt.date] = set()
        self._events = dict(self._start.events)
        self._uncounted: set[dt.date] = set()
        self._was_recounted = self._has_other_events = False
        self._seen: dict[dt.date, Totals] = {}
        self._accept_changes: Final = accept_changes
        self.stored: Mapping[dt.date, Reading] = {}
        """What the warehouse has of the days of ``to_compare``."""
        self.changes: Final = dict[dt.date, Change]()
        """The days that were found changed, and read again."""
        self._months_from = self._start.months_from
        self._months_are_left = MONTHS in lists
        self._is_scheduled = False
        start = self._start
        self._begin: Final = max(start.read_from, start.reached + DAY - lag * DAY)
        earlier = days_between(start.first, start.read_from - DAY)
        again = [day for period in refresh for day in days_between(*period)]
        self._wanted: Final = dict.fromkeys(
            [*days_between(self._begin, last), *earlier, *again]
        )
        self._by_themselves: Final = {*start.failed[:WATCHED]} - self._wanted.keys()
        self._wanted.update(dict.fromkeys(start.failed[:WATCHED]))
        self.periods: Final = self._histograms()
        """The histograms that are left, the last one first."""

    def _histograms(self) -> list[Period]:
        days = self._watched.keys() - self._wanted.keys()
        # A day without page views may have events.
        if "events" not in self._lists:
            days |= self._wanted.keys() - self._by_themselves
        # The sum of their events tells only of days that were read before.
        return covering(days, with_gaps=not self.counts_events)[::-1]

    @property
    def counts_events(self) -> bool:
        """Whether a histogram's request is for the events of its days, too."""
        return "events" in self._lists and self._start.events_add_up

    @property
    def to_compare(self) -> list[dt.date]:
        """The days that are, or may be, read again."""
        if self._before is None:
            return []
        had = days_between(self._before.read_from, self._before.reached)
        return sorted((self._wanted.keys() | self._watched.keys()) & {*had})

    def _known(self, day: dt.date) -> Totals | None:
        if day in self._watched or day not in self.stored:
            return self._watched.get(day)
        return Totals(*self.stored[day][DAYS][1:])

    @property
    def left(self) -> int:
        """How many requests are left, as far as it is known now."""
        if self.ended:
            return 0
        # If only totals are wanted, histograms have all days except those that failed.
        by_day = bool(self._lists) or self._is_scheduled
        days = self._wanted if by_day else self._failed
        return len(self.periods) + len(days) + self._months_are_left

    def read_period(
        self,
        period: Period,
        histogram: Mapping[dt.date, Totals],
        events: int | None = None,
    ) -> list[dt.date]:
        """Record a histogram's past days, and how many *events* they had if that is
        known; a day that it lacks is requested by itself.

        Returns:
            The days that need no request of their own: *histogram* has everything.
        """
        days: list[dt.date] = []
        in_period = days_between(*period)
        there = [day for day in in_period if day in histogram]
        self._hold_fallen({day: histogram[day] for day in there})
        changed = False
        for day in in_period:
            totals = histogram.get(day)
            if totals is None or day in self._held_now:
                continue
            self._seen[day] = totals
            is_changed = self._known(day) not in {None, totals}
            changed |= is_changed
            # What a held day has lost may be back, in lists as well.
            if not is_changed and day not in self._wanted | self._held.keys():
                continue
            is_empty = totals == (0, 0) and "events" not in self._lists
            if is_empty or not self._lists:
                self._wanted.pop(day, None)
                self.read(day, totals)
                days.append(day)
            else:
                self._wanted[day] = None
        # A day that is read again anyway may be the reason.
        if events is not None and not changed:
            self._recount(in_period, events)
        return days

    def _hold_fallen(self, totals: Mapping[dt.date, Totals]) -> None:
        """Hold the days without page views, if one of them had many."""
        known = {day: self._known(day) for day in totals if not totals[day].pageviews}
        fallen = {day: had for day, had in known.items() if had and had.pageviews}
        is_deep = any(had.pageviews >= MUCH for had in fallen.values())
        if is_deep or self._held_now:
            for day in fallen:
                self._hold(day, [DAYS])

    def _hold(self, day: dt.date, tables: Sequence[str]) -> None:
        """Hold *day*, of which *tables* have nothing any more, until enough nights."""
        before, had = self._held.get(day), self._known(day)
        # Several updates of a night count once.
        nights = dict.fromkeys([*(before.nights if before else ()), self.last])
        if had is None or self._accept_changes or len(nights) >= NIGHTS:
            return
        self._held[day] = Held(tuple(nights), tuple(tables))
        self._held_now.add(day)
        self._watched[day] = had
        self._wanted.pop(day, None)

    def _recount(self, days: Sequence[dt.date], events: int) -> None:
        """Read *days* again if they have other *events* than were stored: which of them
        has, nobody says.
        """
        known = [self._events.get(day) for day in days]
        counts = [count for count in known if count is not None]
        if len(counts) == len(known) and sum(counts) != events:
            self._was_recounted = True
            self._uncounted.update(days)
            self._wanted.update(dict.fromkeys(days))

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

    @property
    def read_days(self) -> Collection[dt.date]:
        """The days that this run has read."""
        return self._read

    def take(self, day: dt.date) -> bool:
        """Whether to request *day* now."""
        self._wanted.pop(day, None)
        return not self.ended

    def falls(self, day: dt.date, reading: Reading) -> bool:
        """Whether *reading* of *day* has a fall to nothing that is not believed yet: of
        its page views, or of a list while they stay.
        """
        totals = Totals(*reading[DAYS][1:])
        self._hold_fallen({day: totals})
        had = self.stored.get(day, {})
        lost = [name for name in had if had[name][0] and reading.get(name) == (0, 0)]
        if lost and totals.pageviews:
            self._hold(day, lost)
        return day in self._held_now

    def read(
        self,
        day: dt.date,
        totals: Totals,
        unread: SiteStatsError | None = None,
        events: int | None = None,
    ) -> None:
        """Record that *day* was read, except *unread*, and that it was over; with so
        many *events*, if that is known.
        """
        before, now = self._known(day), self._seen.get(day, totals)
        counted_before = self._events.pop(day, events)
        has_other_events = counted_before != events
        self._read.add(day)
        self._failed.pop(day, None)
        self._held.pop(day, None)
        if unread is not None:
            self._failed[day] = error_line(unread)
        self._failed_in_a_row = 0
        self._watched[day] = now
        if before is not None and before != now:
            self.changes[day] = Change(before, now)
        if day in self.changes or has_other_events:
            self._changed[day] = self.last
        if events is not None:
            self._events[day] = events
        if day in self._uncounted:
            self._uncounted.discard(day)
            self._has_other_events |= has_other_events
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
        # A month has the days whose fall is not believed.
        is_left &= not self._held_now
        self._months_are_left = False
        if begin is None or not is_left:
            return None
        self._months_from = None
        return begin.replace(day=1), self.last

    def lacks_days(self, month: dt.date, totals: Totals) -> bool:
        """Whether *totals* of *month* are nothing, though a day has page views."""
        days = [day for day, had in self._watched.items() if had.pageviews]
        return not totals.pageviews and month in {day.replace(day=1) for day in days}

    def failed_months(self, period: Period, error: SiteStatsError) -> None:
        """Record that the totals of months were not read."""
        self._months_from = period[0]
        self._error = f"months: {error_line(error)}"

    def coverage(self, now: dt.datetime | None = None) -> Coverage:
        """The progress of the website, when no request is under way."""
        start = self._start
        known = self._read | self._failed.keys() | self._held.keys()
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
        begin = self.last - WATCHED * DAY
        # All days were read again for their events, and none had others.
        is_counted = self._was_recounted and not self._uncounted
        is_in_vain = is_counted and not self._has_other_events
        watched = {
            day: self._watched[day]
            for day in sorted(self._watched)
            if read_from <= day <= reached
            and (max(day, self._changed.get(day, day)) > begin or day in self._held)
        }
        return attrs.evolve(
            start,
            read_from=read_from,
            reached=reached,
            failed=failed,
            watched=watched,
            changed={d: n for d, n in self._changed.items() if d in watched},
            held={day: nights for day, nights in self._held.items() if day in watched},
            events={day: n for day, n in self._events.items() if day in watched},
            events_add_up=start.events_add_up and not is_in_vain,
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
        """How many requests are left, as far as it is known now."""
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
