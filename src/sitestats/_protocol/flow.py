"""Sans-I/O flows: the steps of an operation, and the type of an operation.

A flow is a generator. It yields a step, is sent the result, and returns a
model. It does no I/O itself, so one flow serves both clients, and a test of it
needs no clock, no socket and no mock.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias, TypeVar

import attrs

from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._query.requested import Requested
from sitestats._results.stats import Stats

T = TypeVar("T")


class Moment(NamedTuple):
    """One instant on two clocks, both in seconds."""

    monotonic: float
    unix: float

    @property
    def utc(self) -> datetime:
        """The date and the time in UTC."""
        return datetime.fromtimestamp(self.unix, UTC)


@attrs.frozen
class Send:
    """Send *request*, and give up when the monotonic clock shows *until*."""

    request: HttpRequest
    until: float
    attempt: int = 1
    """The number of the attempt, from 1."""


@attrs.frozen
class Sleep:
    """Wait for *seconds*."""

    seconds: float


@attrs.frozen
class Now:
    """Read both clocks."""


@attrs.frozen
class Note:
    """Pass *event* to the runner of the flow: for journals and progress."""

    event: object


@attrs.frozen
class LookUp:
    """Look up a stored response to what was requested; None where none can be used."""

    requested: Requested
    clock: datetime
    """The time now, by which words are days."""


@attrs.frozen
class StoreResponse:
    """Store *response*, which was read as *stats*, if it may be stored."""

    requested: Requested
    response: HttpResponse
    stats: Stats
    clock: datetime
    """The time now, by which the period must be over."""


Step: TypeAlias = Send | Sleep | Now | Note | LookUp | StoreResponse
StepResult: TypeAlias = HttpResponse | Moment | None
Flow: TypeAlias = Generator[Step, StepResult, T]


def now() -> Flow[Moment]:
    """Read both clocks."""
    outcome = yield Now()
    assert isinstance(outcome, Moment)
    return outcome
