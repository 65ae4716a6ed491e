"""Which days of which website to read next, and how far each website is.

It is pure: no clock, no request, and nothing of dlt.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Mapping
from heapq import heapify, heappop, heapreplace
from typing import Any, Final, Self

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

DAY: Final = dt.timedelta(days=1)

FAILED_IN_A_ROW: Final = 3
"""After so many failed days in a row, a website has no further ones in this run."""

FAILED_EVERYWHERE: Final = 100
"""After so many outcomes in a row without a response, over all websites, the service is
taken to be down."""

NOT_LISTED: Final = "the service does not list this website any more"

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


@attrs.frozen(kw_only=True)
class Coverage:
    """How far a website is: what a pipeline's state holds for it.

    The days that were read are those from ``first`` to ``reached`` but ``missing``.
    """

    first: dt.date
    """The first day that was wanted."""
    reached: dt.date
    """The last day that was read or failed; the day before ``first`` without any."""
    missing: tuple[dt.date, ...] = ()
    """Days up to ``reached`` that were not read; first those that were not requested
    for longest."""
    timezone: str
    """The zone of these days."""
    lists: frozenset[str]
    """What was read of each."""
    error: str | None = None
    """Why the website is behind, if it is."""
    lasting: bool = False
    """Whether the error is about the website, and not about a day."""
    checked_at: dt.datetime | None = None
    """When this was found."""

    @property
    def through(self) -> dt.date | None:
        """The last day up to which nothing is missing; None without any."""
        day = min(self.missing) - DAY if self.missing else self.reached
        return None if day < self.first else day

    @property
    def listed(self) -> bool:
        """Whether the service lists the website, as far as that is known."""
        return self.error != NOT_LISTED

    def behind(self, last: dt.date) -> int:
        """How many days up to *last*, such as ``last_day`` has it, are not there."""
        return max(0, (last - self.reached).days) + len(self.missing)

    def to_state(self) -> dict[str, Any]:
        """The cursor as JSON."""
        checked_at = self.checked_at
        return {
            "first": str(self.first),
            "reached": str(self.reached),
            "missing": [*map(str, self.missing)],
            "timezone": self.timezone,
            "lists": ",".join(sorted(self.lists)),
            "error": self.error,
            "lasting": self.lasting,
            "checked_at": None if checked_at is None else checked_at.isoformat(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The inverse of ``to_state``."""
        checked_at = state["checked_at"]
        return cls(
            first=dt.date.fromisoformat(state["first"]),
            reached=dt.date.fromisoformat(state["reached"]),
            missing=tuple(map(dt.date.fromisoformat, state["missing"])),
            timezone=state["timezone"],
            lists=frozenset(filter(None, state["lists"].split(","))),
            error=state["error"],
            lasting=state["lasting"],
            checked_at=checked_at and dt.datetime.fromisoformat(checked_at),
        )


class WebsiteDays:
    """The days of one website that a run requests, and what came of them.

    New days come first, after the *lag* days before them that are read again. Missing
    ones follow, so that one that always fails holds no other back.
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
        cursor = _usable(cursor, timezone, lists, first) or Coverage(
            first=first, reached=first - DAY, timezone=timezone, lists=lists
        )
        self._old: Final = cursor
        self._lists: Final = lists
        self.timezone: Final = timezone
        self.last: Final = last
        """The last day that is over."""
        self.ended = False
        """Whether the rest of the run requests nothing of the website."""
        self._error: str | None = None
        self._lasting = False
        self._reached = cursor.reached
        self._missing = dict.fromkeys(cursor.missing)
        self._next = max(cursor.first, cursor.reached + DAY - lag * DAY)
        # Days that this run finds missing are for the next one.
        before = min(self._next, last + DAY)
        self._old_missing = deque(day for day in cursor.missing if day < before)
        self._stale: set[dt.date] = set()
        self._errors: dict[dt.date, str] = {}
        self._failed_in_a_row = 0

    @property
    def left(self) -> int:
        """How many days it would still request."""
        return 0 if self.ended else self._new + len(self._old_missing)

    @property
    def _new(self) -> int:
        return max(0, (self.last - self._next).days + 1)

    @property
    def order(self) -> dt.date:
        """The next day to request; the calendar's last for one that was missing."""
        return self._next if self._new else dt.date.max

    def take(self) -> dt.date | None:
        """The day to request now, or None."""
        if not self.left:
            return None
        if not self._new:
            return self._old_missing.popleft()
        day, self._next = self._next, self._next + DAY
        if day <= self._reached:
            self._stale.add(day)
        return day

    def read(self, day: dt.date) -> None:
        """Record that *day* was read, and that it was over."""
        self._reach(day)
        self._missing.pop(day, None)
        self._stale.discard(day)
        self._failed_in_a_row = 0

    def failed(self, day: dt.date, error: SiteStatsError) -> None:
        """Record that *day* was not read."""
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if isinstance(error, _OF_THE_WEBSITE):
            self.end(text, lasting=True)
            return
        self._reach(day)
        # Behind those that were not requested for longer.
        self._missing.pop(day, None)
        self._missing[day] = None
        self._errors[day] = f"{day}: {text}"
        self._failed_in_a_row += 1
        self.ended |= self._failed_in_a_row >= FAILED_IN_A_ROW

    def end(self, error: str, *, lasting: bool) -> None:
        """Request nothing more in this run, because of *error*."""
        if self._error is None:
            self._error, self._lasting = error, lasting
        self.ended = True

    def _reach(self, day: dt.date) -> None:
        while self._reached < day:
            self._reached += DAY
            self._missing[self._reached] = None

    def cursor(self, now: dt.datetime | None = None) -> Coverage:
        """How far the website is; nothing may be under way.

        A day that was to be read again and was not is missing, if later ones were read:
        the next run would not request it.
        """
        missing = dict(self._missing)
        if self._reached > self._old.reached:
            missing |= dict.fromkeys(sorted(self._stale))
        why = self._why_missing(min(missing)) if missing else None
        return Coverage(
            first=self._old.first,
            reached=self._reached,
            missing=tuple(missing),
            timezone=self.timezone,
            lists=self._lists,
            error=self._error or why,
            lasting=self._lasting,
            checked_at=now,
        )

    def _why_missing(self, day: dt.date) -> str:
        before = self._old.error or ""
        if day in self._errors or not before.startswith(str(day)):
            return self._errors.get(day, f"{day}: it was not read")
        return before


def _usable(
    cursor: Coverage | None, timezone: str, lists: frozenset[str], first: dt.date
) -> Coverage | None:
    """*cursor*, or None when all days have to be read anew."""
    if (
        cursor is None
        # Its days were others.
        or cursor.timezone != timezone
        # Days that lack a list, or were never wanted, are read with all others: what
        # is there is one run of days that are alike.
        or not lists <= cursor.lists
        or not cursor.first <= first <= cursor.reached + DAY
    ):
        return None
    wanted = tuple(day for day in cursor.missing if day >= first)
    if len(wanted) == len(cursor.missing):
        return cursor
    # A later first day gives up what is missing before it.
    return attrs.evolve(cursor, first=first, missing=wanted)


class Days:
    """The days of all websites: the oldest first, so that none is left far behind."""

    def __init__(self, websites: Mapping[str, WebsiteDays]) -> None:
        self.websites: Final = websites
        self.left = sum(website.left for website in websites.values())
        """How many days would still be requested."""
        self._failed_in_a_row = 0
        self._queue: list[tuple[dt.date, int, str]] = [
            (website.order, number, hostname)
            for number, (hostname, website) in enumerate(websites.items())
        ]
        heapify(self._queue)

    def take(self) -> tuple[str, dt.date] | None:
        """The next website and day to request, or None."""
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

    def read(self, hostname: str, day: dt.date) -> None:
        """Record that it was read."""
        self._failed_in_a_row = 0
        self.websites[hostname].read(day)

    def failed(self, hostname: str, day: dt.date, error: SiteStatsError) -> None:
        """Record that it was not read."""
        website = self.websites[hostname]
        self.left -= website.left
        website.failed(day, error)
        self.left += website.left
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
