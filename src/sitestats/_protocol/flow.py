"""What an operation may ask for, and the type of an operation.

A flow is a generator. It yields a step, is sent the outcome, and returns a
model. It never does I/O itself, so one flow serves both clients, and a test
of it needs no clock, no socket and no mock.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

import attrs

from sitestats._common.wire import HttpRequest, HttpResponse

T = TypeVar("T")


@attrs.frozen
class Moment:
    """One instant on two clocks, both in seconds."""

    monotonic: float
    unix: float


@attrs.frozen
class Send:
    """Send *request*, and give up when the monotonic clock shows *until*."""

    request: HttpRequest
    until: float


@attrs.frozen
class Sleep:
    """Wait for *seconds*."""

    seconds: float


@attrs.frozen
class Now:
    """Tell the time."""


@attrs.frozen
class Note:
    """Let whoever runs the flow know of *event*: for journals and progress."""

    event: object


Step: TypeAlias = Send | Sleep | Now | Note
StepResult: TypeAlias = HttpResponse | Moment | None
Flow: TypeAlias = Generator[Step, StepResult, T]


def send(request: HttpRequest, until: float) -> Flow[HttpResponse]:
    """Ask for *request* to be sent; the value is the response."""
    outcome = yield Send(request, until)
    assert isinstance(outcome, HttpResponse)
    return outcome


def sleep(seconds: float) -> Flow[None]:
    """Ask for a pause."""
    yield Sleep(seconds)


def now() -> Flow[Moment]:
    """Ask for the time."""
    outcome = yield Now()
    assert isinstance(outcome, Moment)
    return outcome


def note(event: object) -> Flow[None]:
    """Tell whoever runs the flow about *event*."""
    yield Note(event)
