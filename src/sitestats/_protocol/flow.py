"""Sans-I/O flows: the actions of an operation, and how it sends a request.

A flow is a generator. It yields an action, is sent what came of it, and returns a
model. It does no I/O itself, so one flow serves both clients, and a test of it needs no
clock, no socket and no mock.

A GET is retried after a connection failure, a timeout, a 408, a 429 and a 5xx,
whoever sent that; any other request only if it certainly did not leave the machine. No
wait is shorter than ``Retry-After``, and one that would pass the total timeout ends the
call at once.

The requests of a client share ``Pauses``: all wait when the service asks one of them
to. The requests of a ``get_many`` share a ``Deadline`` too: all end when it passes.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from datetime import UTC, datetime
from typing import Final, TypeAlias, TypeVar

import attrs

from sitestats._base.errors import (
    TEMPORARY,
    TOO_MANY_REQUESTS,
    RateLimitedError,
    RequestTimeoutError,
    TransportError,
    is_harmless,
)
from sitestats._configuration.settings import RetryPolicy
from sitestats._query.builder import StatsQuery
from sitestats._query.parameters import PAGE_FILTERS
from sitestats._query.requested import Parameters
from sitestats._query.rules import is_contains
from sitestats._results.stats import Stats
from sitestats._wire.messages import HttpRequest, HttpResponse

from .session import Pause, Session

T = TypeVar("T")

_LONGEST_WAIT: Final = 1.0
"""The most seconds of a wait within a pause, which may be ended meanwhile."""
_EARLY: Final = 0.01
"""Seconds by which a timer may fire early."""

# --- actions ------------------------------------------------------------------------


@attrs.frozen
class Moment:
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
    """Pass *content* to the runner of the flow: for journals and progress."""

    content: object


@attrs.frozen
class LookUp:
    """Look up a stored response to what was requested; None where none can be used."""

    parameters: Parameters
    clock: datetime
    """The time now, by which words are days."""


@attrs.frozen
class StoreResponse:
    """Store *response*, which was read as *stats*, if it may be stored."""

    parameters: Parameters
    response: HttpResponse
    stats: Stats
    clock: datetime
    """The time now, by which the period must be over."""


Action: TypeAlias = Send | Sleep | Now | Note | LookUp | StoreResponse
ActionResult: TypeAlias = HttpResponse | Moment | None
Flow: TypeAlias = Generator[Action, ActionResult, T]


def now() -> Flow[Moment]:
    """Read both clocks."""
    outcome = yield Now()
    assert isinstance(outcome, Moment)
    return outcome


@attrs.define
class Clock:
    """The monotonic clock of one call, which also goes on by what the call waited: a
    test may have stopped the clock of the machine.
    """

    behind: float = 0.0
    """How many seconds of the waits the clock of the machine did not show."""

    def now(self) -> Flow[float]:
        """Read the clock."""
        moment = yield Now()
        assert isinstance(moment, Moment)
        return moment.monotonic + self.behind

    def sleep(self, seconds: float) -> Flow[None]:
        """Wait for *seconds*."""
        before = yield from self.now()
        yield Sleep(seconds)
        after = yield from self.now()
        self.behind += max(before + seconds - after, 0.0)


# --- sending, once or with retries ----------------------------------------------------


def send_once(request: HttpRequest, session: Session) -> Flow[HttpResponse]:
    """The response to *request*, without a retry, and without a wait for a pause.

    Raises:
        TransportError: There is no response.
        RateLimitedError: The service has requested a pause. No request is sent.
    """
    began = yield from now()
    time = began.monotonic
    pause = session.pauses.of(now=time, is_search=is_contains_search(request))
    if pause is not None:
        raise _paused(request, pause.requested_left(time), "and it is not over")
    response = yield Send(request, time + session.settings.total_timeout)
    assert isinstance(response, HttpResponse)
    yield from _begin_pause(request, response, session, Clock(), attempt=1)
    return response


@attrs.frozen
class Retrying:
    """A note of a flow: this request will be retried after a wait."""

    request: HttpRequest
    seconds: float
    attempt: int
    """The attempt that failed, from 1."""
    cause: int | str
    """The status of the response; where none arrived, the name of the error."""


class Pausing(Retrying):
    """A note of a flow: the service asked all requests of a kind to wait."""


@attrs.frozen
class Deadline:
    """When the last request of a block has to end."""

    seconds: float
    """How many seconds after its beginning the block has to end."""
    at: float
    """The time at which the block has to end, by the monotonic clock."""

    def is_over(self, moment: Moment) -> bool:
        """Whether it has passed, or is so close that a timer may have fired."""
        return moment.monotonic > self.at - _EARLY

    def error(
        self, query: StatsQuery, last: TransportError | None = None
    ) -> RequestTimeoutError:
        """The error for *query*; its *last* attempt is None where nothing was sent."""
        return RequestTimeoutError(
            f"no response about {query.hostname} within the deadline of get_many, "
            f"{self.seconds:g} s",
            request=last and last.request,
            maybe_sent=last is not None and last.maybe_sent,
        )


NO_DEADLINE: Final = Deadline(math.inf, math.inf)
"""The deadline of a block without a limit."""


def send_with_retries(
    request: HttpRequest,
    session: Session,
    started: Moment | None = None,
    deadline: Deadline | None = None,
) -> Flow[HttpResponse]:
    """Send *request*, with retries and pauses, within the total timeout.

    The value is the last response, whatever its status.

    Args:
        request: What to send.
        session: The client's settings, and the pauses of its requests.
        started: When the call began; None for now.
        deadline: A block's deadline. The time of a request of a block begins
            after the pause that holds it, so that all of them can wait for it.

    Raises:
        TransportError: The last attempt had no response.
        RateLimitedError: A pause is longer than the time left. No request is sent.
    """
    policy, clock = session.settings.retry, Clock()
    total = session.settings.total_timeout
    end = math.inf if deadline is None else deadline.at
    if deadline is not None and (yield from _wait(request, session, clock, None, end)):
        started = None
    began = (yield from clock.now()) if started is None else started.monotonic
    until = min(began + total, end)
    attempt = 0
    while True:
        yield from _wait(request, session, clock, until, end)
        attempt += 1
        cause: int | str
        asked, pause = 0.0, None
        try:
            response = yield Send(request, until - clock.behind, attempt)
            assert isinstance(response, HttpResponse)
        except TransportError as error:
            does_no_harm = is_harmless(request, maybe_done=error.maybe_sent)
            again = error.temporary and does_no_harm
            seconds = _seconds_before_retry(policy, attempt)
            cause = type(error).__name__
            if not again or (yield from clock.now()) + seconds >= until:
                raise
        else:
            cause = response.status
            if cause not in TEMPORARY:
                return response
            asked = response.retry_after or 0.0
            pause = yield from _begin_pause(request, response, session, clock, attempt)
            seconds = max(_seconds_before_retry(policy, attempt), asked)
            time = yield from clock.now()
            if request.method != "GET" or time + seconds >= until:
                return response
        yield Note(Retrying(request, seconds, attempt, cause))
        yield from clock.sleep(seconds)
        if pause is not None and pause.requested <= seconds:
            session.pauses.end(pause)


def _begin_pause(
    request: HttpRequest,
    response: HttpResponse,
    session: Session,
    clock: Clock,
    attempt: int,
) -> Flow[Pause | None]:
    """Begin the pause that a 429 asks for; None without one."""
    asked = response.retry_after
    if response.status != TOO_MANY_REQUESTS or not asked:
        return None
    time, is_search = (yield from clock.now()), is_contains_search(request)
    pause = session.pauses.begin(now=time, seconds=asked, searches_alone=is_search)
    yield Note(Pausing(request, asked, attempt, response.status))
    return pause


def _seconds_before_retry(policy: RetryPolicy, attempt: int) -> float:
    """Seconds before the next attempt; infinite after the last."""
    return policy.wait(attempt) if attempt <= policy.retries else math.inf


def is_contains_search(request: HttpRequest) -> bool:
    """Whether *request* is a contains search (section 4.3, Wildcards).

    Those have a rate limit of their own (section 7).
    """
    return any(
        name in PAGE_FILTERS and any(map(is_contains, value.split(",")))
        for name, value in request.params
    )


def _wait(
    request: HttpRequest,
    session: Session,
    clock: Clock,
    until: float | None,
    end: float,
) -> Flow[bool]:
    """Wait until no pause applies to *request*; one beyond *until* is an error.

    Where *until* is None the request's time has not begun, and each pause may be as
    long as that. The *end* is the deadline of the block. The value is whether there was
    a pause.
    """
    pauses, has_waited = session.pauses, False
    if not pauses.begun:
        return False
    is_search = is_contains_search(request)
    time, waited_for, left = (yield from clock.now()), None, 0.0
    while pause := pauses.of(now=time, is_search=is_search):
        # It is over by what was waited, whatever the clock shows.
        left = min(pause.left(time), left if pause is waited_for else math.inf)
        latest = until
        if latest is None:
            latest = min(time + session.settings.total_timeout, end)
        if time + left >= latest:
            limit = "total_timeout" if latest < end else "the deadline"
            requested = pause.requested_left(time)
            raise _paused(request, requested, f"that is longer than {limit} allows")
        # It may be ended, or become longer, in the meantime.
        seconds = min(left, _LONGEST_WAIT)
        yield from clock.sleep(seconds)
        waited_for, left, has_waited = pause, left - seconds, True
        if not left:
            pauses.end(pause)
        time = yield from clock.now()
    return has_waited


def _paused(request: HttpRequest, left: float, what: str) -> RateLimitedError:
    return RateLimitedError(
        f"{request} was not sent: the service requested a pause (429, Retry-After) "
        f"{what}",
        status_code=TOO_MANY_REQUESTS,
        request=request,
        retry_after=left,
    )
