"""What an update came to: what failed, in one line, as plain data, and as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from sitestats._common.errors import SiteStatsError

from ._coverage import Coverage

if TYPE_CHECKING:
    from dlt.common.pipeline import LoadInfo

_MOST_NAMED: Final = 5
"""The most failed websites that the text of an error has."""


@attrs.frozen(repr=False)
class Update:
    """What an update came to."""

    loads: tuple[LoadInfo, ...]
    """What dlt reports of each load."""
    requests: int
    """How many requests it took, without that of the list of websites."""
    websites: Mapping[str, Coverage]
    """How far each website of this update is, by its host name. Those that the service
    does not list any more are not among them."""

    @property
    def failed(self) -> dict[str, Coverage]:
        """The websites with an error, by their host names."""
        return {name: site for name, site in self.websites.items() if site.error}

    def raise_for_failures(self) -> None:
        """Raise an error if a website failed, so that a task of an orchestrator fails.

        All others are loaded. A retry of the task requests what is missing.

        Raises:
            SiteStatsError: Its text has the first failed websites, and their number.
        """
        failed = self.failed
        if failed:
            named = [
                f"{name}: {failed[name].error}" for name in [*failed][:_MOST_NAMED]
            ]
            raise SiteStatsError(
                f"{len(failed):,} of {len(self.websites):,} websites failed: "
                + "; ".join(named)
                + ("; …" if len(failed) > _MOST_NAMED else "")
            )

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can have it, such as for Airflow's XCom."""
        through = [site.through for site in self.websites.values()]
        return {
            "requests": self.requests,
            "loads": len(self.loads),
            "websites": len(self.websites),
            "oldest": str(min(filter(None, through))) if all(through) else None,
            "failed": {name: site.error for name, site in self.failed.items()},
        }

    def __repr__(self) -> str:
        good = len(self.websites) - len(self.failed)
        return (
            f"<Update: {self.requests:,} requests, {len(self.loads):,} loads, "
            f"{good:,} of {len(self.websites):,} websites up to date>"
        )
