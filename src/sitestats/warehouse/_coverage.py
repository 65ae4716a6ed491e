"""``Coverage``: how far a website is, and the cursor of it as JSON."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Self, TypeAlias

import attrs
import msgspec

from ._held import DAY, Held, Period, Stretch, count_days, days_of, one_by_one, without

Totals: TypeAlias = tuple[int, int]
"""The page views and the visitors of a day."""

NOT_LISTED: Final = "the service does not list this website any more"


@attrs.frozen(kw_only=True)
class Coverage:
    """How far a website is: what a pipeline's state holds for it."""

    first: dt.date
    """The first day that was wanted."""
    held: tuple[Stretch, ...] = ()
    """The days that are there."""
    failed: tuple[dt.date, ...] = ()
    """Days that failed; first those that were not requested for longest."""
    timezone: str
    """The zone of these days."""
    lists: frozenset[str]
    """What was wanted of each."""
    totals: Mapping[dt.date, Totals] = attrs.Factory(dict[dt.date, Totals])
    """Those of the last days, to find out which have changed."""
    old: tuple[Stretch, ...] = ()
    """Days of another zone that are still there."""
    error: str | None = None
    """Why the website is behind, if it is."""
    lasting: bool = False
    """Whether the error is about the website, and not about a day."""
    checked_at: dt.datetime | None = None
    """When this was found."""

    @property
    def reached(self) -> dt.date:
        """The last day that was read or failed; else the day before ``first``."""
        return reached_by(self.first, self.held, self.failed)

    @property
    def missing(self) -> tuple[dt.date, ...]:
        """The days up to ``reached`` of which something is not there; those that
        failed last.
        """
        others = without(self._lacking(self.reached), one_by_one(self.failed))
        return (*(day for period in others for day in days_of(period)), *self.failed)

    @property
    def through(self) -> dt.date | None:
        """The last day up to which nothing is missing; None without any."""
        lacking = [first for first, _ in self._lacking(self.reached)]
        day = min([*lacking[:1], *self.failed], default=self.reached + DAY) - DAY
        return None if day < self.first else day

    @property
    def listed(self) -> bool:
        """Whether the service lists the website, as far as that is known."""
        return self.error != NOT_LISTED

    def behind(self, last: dt.date) -> int:
        """How many days up to *last*, such as ``last_day`` has it, are not there."""
        lacking = [*self._lacking(last)]
        failed = without(one_by_one(self.failed), lacking)
        return count_days(lacking) + sum(day <= last for day, _ in failed)

    def _lacking(self, last: dt.date) -> Iterator[Period]:
        return Held(self.held).lacking(self.first, last, self.lists)

    def to_state(self) -> dict[str, Any]:
        """The cursor as JSON."""
        state: dict[str, Any]
        state = msgspec.to_builtins(self, order="deterministic")
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The inverse of ``to_state``."""
        return msgspec.convert(state, cls)


def reached_by(
    first: dt.date, parts: tuple[Stretch, ...], failed: Iterable[dt.date]
) -> dt.date:
    """The last day of *parts* or *failed*; else the day before *first*."""
    return max([first - DAY, *(part.last for part in parts), *failed])
