"""Events of a provisioning run, for its journal and its progress."""

from __future__ import annotations

import attrs

from sitestats._protocol.flow import Moment

from ._report import ProvisionedWebsite, State


@attrs.frozen
class Began:
    """A run began, with this many websites."""

    websites: int
    unix: float


@attrs.frozen
class Sending:
    """An add is sent as soon as this event is recorded."""

    hostname: str
    moment: Moment
    timeout: float
    """Seconds after which it is no longer under way, whatever happens."""

    @property
    def unix(self) -> float:
        """The time of the system clock."""
        return self.moment.unix


@attrs.frozen
class Settled:
    """An add that was announced has this outcome."""

    hostname: str
    state: State
    message: str | None
    unix: float


@attrs.frozen
class Ended:
    """The run ended, and its caller got the report."""

    unix: float


@attrs.frozen
class Waiting:
    """The run waits, as adds of an interrupted one may still be under way."""

    hostnames: tuple[str, ...]
    seconds: float


@attrs.frozen
class WebsiteDone:
    """One more website is done: *done* of *total*."""

    item: ProvisionedWebsite
    done: int
    total: int


@attrs.frozen
class History:
    """What earlier runs left in a journal."""

    pending: dict[str, float] = attrs.field(factory=dict[str, float])
    """Host names of adds that were announced and have no outcome, each with the
    time of the monotonic clock until which it may be under way."""
    added: frozenset[str] = frozenset()
    """Host names that an interrupted run added."""
