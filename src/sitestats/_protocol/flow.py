"""Sans-I/O flows: the steps of an operation, and the type of an operation.

A flow is a generator. It yields a step, is sent the result, and returns a
model. It does no I/O itself, so one flow serves both clients, and a test of it
needs no clock, no socket and no mock.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import datetime
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


@attrs.frozen
class Send:
    """Send *request*, and give up when the monotonic clock shows *until*."""

    request: HttpRequest
    until: float
    attempt: int = 1
    """Which attempt it is, from 1."""


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
    """The time now: words are days by it."""
    seconds: float
    """How long that may take."""


@attrs.frozen
class StoreResponse:
    """Store *response*, which was read as *stats*, where that is right."""

    requested: Requested
    response: HttpResponse
    stats: Stats
    clock: datetime
    """The time now: the period must be over by it."""
    seconds: float
    """How long that may take."""


Step: TypeAlias = Send | Sleep | Now | Note | LookUp | StoreResponse
StepResult: TypeAlias = HttpResponse | Moment | None
Flow: TypeAlias = Generator[Step, StepResult, T]


def sleep(seconds: float) -> Flow[None]:
    """Wait for *seconds*."""
    yield Sleep(seconds)


def now() -> Flow[Moment]:
    """Read both clocks; the value is the moment."""
    outcome = yield Now()
    assert isinstance(outcome, Moment)
    return outcome


def note(event: object) -> Flow[None]:
    """Pass *event* to the runner of the flow."""
    yield Note(event)
