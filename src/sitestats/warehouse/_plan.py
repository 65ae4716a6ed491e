"""What an update is going to read: which days of which websites, and its approval."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from sitestats import StatsQuery
from sitestats._common.errors import (
    ConfigurationError,
    QueryError,
    SiteStatsError,
    warn,
)

from ._coverage import Coverage
from ._days import Days, WebsiteDays, error_line, last_day
from ._estimate import Estimate
from ._held import DAY


class Declined(SiteStatsError):  # noqa: N818 - it ends an update, and is not seen
    """An update whose requests were not approved."""


_FARTHEST_EAST: Final = dt.timezone(dt.timedelta(hours=14))
"""Where each day begins first."""


@attrs.frozen(kw_only=True)
class Plan:
    """What the warehouse is to have, as far as the caller says so."""

    first: dt.date | None
    until: dt.date
    hostnames: Sequence[str] | None
    lists: frozenset[str]
    lag: int

    def days(
        self, state: dict[str, Any], zones: Mapping[str, str], now: dt.datetime
    ) -> Days:
        """The days to request, by the cursors in *state*; it remembers the first day.

        Args:
            state: What the updates before have stored.
            zones: The time zone of each listed website.
            now: The moment.
        """
        first, cursors = self._first(state, now), state["cursors"]
        names = zones if self.hostnames is None else self.hostnames
        return Days(
            {
                name: self._website(
                    name, cursors.get(name), zones.get(name), first, now
                )
                for name in names
            }
        )

    def _first(self, state: dict[str, Any], now: dt.datetime) -> dt.date:
        """The first day, which the state has from the updates before."""
        today = now.astimezone(_FARTHEST_EAST).date()
        if self.first is not None and self.first > today:
            raise ConfigurationError(
                f"The first day (--since) {self.first} is in the future. No website "
                "has a day to read yet."
            )
        first = self.first or _remembered(state, today)
        if first is None:
            raise ConfigurationError("the first update needs first_day, where to begin")
        if self.hostnames is None or "since" not in state:
            state["since"] = str(first)
        return first

    def _website(
        self,
        hostname: str,
        state: Mapping[str, Any] | None,
        timezone: str | None,
        first: dt.date,
        now: dt.datetime,
    ) -> WebsiteDays:
        cursor = None if state is None else Coverage.from_state(state)
        if timezone is None:
            # It is not listed, so its zone is what it was, if it was ever known.
            timezone = "UTC" if cursor is None else cursor.timezone
        last = last_day(timezone, now)
        website = WebsiteDays(
            cursor,
            timezone=timezone,
            lists=self.lists,
            first=first,
            last=first - DAY if last is None else min(last, self.until),
            lag=self.lag,
        )
        try:
            StatsQuery(hostname).timezone(timezone)
        except QueryError as error:
            website.end(error_line(error), lasting=True)
        return website


def _remembered(state: Mapping[str, Any], today: dt.date) -> dt.date | None:
    """The first day of the updates before; that of the days that are there where the
    state has one in the future, as earlier versions took.
    """
    since = dt.date.fromisoformat(state.get("since", "9999-12-31"))
    cursors = map(Coverage.from_state, state["cursors"].values())
    there = [site.held[0].first for site in cursors if site.held]
    return since if since <= today else min(there, default=None)


def approve_days(
    days: Days,
    state: Mapping[str, Any],
    concurrency: int,
    approve: Callable[[Estimate], bool] | None,
) -> None:
    """Warn of tables that get no rows any more, and have the requests approved.

    Raises:
        Declined: They are not.
    """
    unfilled = {name for site in days.websites.values() for name in site.unfilled}
    if unfilled:
        warn(
            f"new days get no rows in {', '.join(sorted(unfilled))}, which earlier "
            "ones have: name them in “lists” (--fields) to fill the gap, and the "
            "days that lack them are read"
        )
    last = state.get("requests", 0), state.get("seconds", 0.0)
    estimate = Estimate.of(days.left, *last, concurrency)
    if approve is not None:
        if not approve(estimate):
            raise Declined
    elif estimate.is_large:
        warn(f"this update is large: {estimate}")
