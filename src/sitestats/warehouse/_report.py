"""The result of an update: what it read, what failed, changed, or is not believed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from sitestats._base.errors import SiteStatsError
from sitestats._base.text import counted

from ._days import Change, Coverage, Totals

if TYPE_CHECKING:
    from dlt.common.pipeline import LoadInfo

_MOST_NAMED: Final = 5
"""The most failed websites that the text of an error has."""


@attrs.frozen(repr=False)
class Update:
    """The result of an update."""

    loads: tuple[LoadInfo, ...] = ()
    """What dlt reports of each load."""
    requests: int = 0
    """How many requests it made, without the request for the list of websites."""
    websites: Mapping[str, Coverage] = attrs.field(factory=dict[str, Coverage])
    """The progress of each website of this update, by its host name. Websites that the
    service does not list any more are left out."""
    rows: Mapping[str, int] = attrs.field(factory=dict[str, int], kw_only=True)
    """How many rows of each table were read."""
    changes: Mapping[str, Mapping[dt.date, Change]] = attrs.field(
        factory=dict[str, Mapping[dt.date, Change]], kw_only=True
    )
    """The stored days that have other totals now, by host names: the totals before, and
    now."""
    doubt: str | None = attrs.field(default=None, kw_only=True)
    """Why the list of websites is not believed: it is empty, or much shorter than it
    was. None if it is believed."""

    @property
    def failed(self) -> dict[str, Coverage]:
        """The websites with an error, by their host names."""
        return {name: site for name, site in self.websites.items() if site.error}

    @property
    def held(self) -> dict[str, Coverage]:
        """The websites with past days that fell to nothing, which is not believed yet:
        ``Coverage.doubt`` names the days.
        """
        return {name: site for name, site in self.websites.items() if site.held}

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is not believed, a sentence each: somebody has to look."""
        first = [self.doubt] if self.doubt else []
        sites = [f"{name}: {site.doubt}" for name, site in self.held.items()]
        return (*first, *sites)

    @property
    def problems(self) -> tuple[str, ...]:
        """What somebody has to look at, a line each: failures, and what is not
        believed.
        """
        failed = [f"{name}: {site.error}" for name, site in self.failed.items()]
        return (*failed, *self.doubts)

    @property
    def days_changed(self) -> int:
        """How many stored days have other totals now."""
        return sum(map(len, self.changes.values()))

    @property
    def changed(self) -> str | None:
        """A sentence on the past days that have other totals now; None without any."""
        return _changed(
            change for days in self.changes.values() for change in days.values()
        )

    @property
    def fallen(self) -> dict[str, str]:
        """A sentence for each website with past days that have fewer page views, or
        fewer visitors, than were stored. Late data can only add some.
        """
        texts = {
            name: _changed(change for change in days.values() if change.is_fall)
            for name, days in self.changes.items()
        }
        return {name: text for name, text in texts.items() if text}

    def raise_for_failures(self) -> None:
        """Raise an error if a website failed, or if something is not believed, so that
        a task of an orchestrator fails.

        All others are loaded. A retry of the task requests what is missing.

        Raises:
            SiteStatsError: Its text has the first failed websites, and their number, or
                what is not believed.
        """
        if not self.problems:
            return
        text = "; ".join(self.problems[:_MOST_NAMED])
        if self.failed:
            number = f"{len(self.failed):,} of {len(self.websites):,}"
            text = f"{number} websites failed: {text}"
        raise SiteStatsError(text)

    def to_dict(self) -> dict[str, Any]:
        """The report as values of JSON, for example for Airflow's XCom."""
        through = [site.through for site in self.websites.values()]
        known, oldest = [day for day in through if day], None
        if known and len(known) == len(through):
            oldest = str(min(known))
        return {
            "requests": self.requests,
            "loads": len(self.loads),
            "websites": len(self.websites),
            "oldest": oldest,
            "failed": {name: site.error for name, site in self.failed.items()},
            "rows": dict(self.rows),
            "days_changed": self.days_changed,
            "fallen": self.fallen,
            "doubts": [*self.doubts],
        }

    def __repr__(self) -> str:
        good = len(self.websites) - len(self.failed)
        return (
            f"<Update: {self.requests:,} requests, {len(self.loads):,} loads, "
            f"{good:,} of {len(self.websites):,} websites up to date>"
        )


def _changed(changes: Iterable[Change]) -> str | None:
    """What *changes* are together; None without any."""
    all_changes = [*changes]
    if not all_changes:
        return None
    before = _sum(change.before for change in all_changes)
    now = _sum(change.now for change in all_changes)
    return (
        f"{counted(len(all_changes), 'past day')} changed: page views "
        f"{before.pageviews:,} → {now.pageviews:,}, visitors "
        f"{before.visitors:,} → {now.visitors:,}"
    )


def _sum(totals: Iterable[Totals]) -> Totals:
    return Totals(*map(sum, zip(*totals, strict=True)))
