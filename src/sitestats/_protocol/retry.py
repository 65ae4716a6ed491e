"""Retry requests: which ones, when, and after which wait.

A GET is retried after a connection failure, a timeout, a 429 and a 5xx. Any
other method is retried only when it certainly did not leave the machine. No
wait is shorter than ``Retry-After``, and one that would pass the total timeout
ends the call at once.

Requests that share ``Pauses``, those of a client, all wait when the service asks one of
them to. Those that share a ``Deadline``, in a block of many, all end when it passes.
"""

from __future__ import annotations

import math
from typing import Final

import attrs

from sitestats._common.errors import (
    RateLimitedError,
    RequestTimeoutError,
    TransportError,
)
from sitestats._common.pauses import Pauses
from sitestats._common.retryable import TOO_MANY_REQUESTS, is_temporary, may_repeat
from sitestats._common.settings import RetryPolicy
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._query.builder import StatsQuery
from sitestats._query.rules import PAGE_FILTERS, is_contains

from .flow import Flow, Moment, Note, Send, Sleep, now

_EARLY: Final = 0.01
"""Seconds by which a timer may fire early."""


@attrs.frozen
class Retrying:
    """A note of a flow: this request will be retried after a pause."""

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
    """From the beginning of the block."""
    at: float
    """By the monotonic clock."""

    def is_over(self, moment: Moment) -> bool:
        """Whether it has passed, or is so close that a timer may have fired."""
        return moment.monotonic > self.at - _EARLY

    def left(self, moment: Moment) -> float:
        """The seconds until it passes."""
        return self.at - moment.monotonic

    def error(
        self, query: StatsQuery, last: TransportError | None = None
    ) -> RequestTimeoutError:
        """The error for *query*, whose *last* attempt it cut short; None for none."""
        why = "it was not sent before" if last is None else "it was under way"
        return RequestTimeoutError(
            f"no response about {query.hostname} within the deadline of get_many, "
            f"{self.seconds:g} s: {why}",
            request=None if last is None else last.request,
            maybe_sent=last is not None and last.maybe_sent,
        )


NO_DEADLINE: Final = Deadline(math.inf, math.inf)
"""That of a block without one."""


def send_with_retries(  # noqa: PLR0917  passed on by operations alone
    request: HttpRequest,
    policy: RetryPolicy,
    total_timeout: float,
    pauses: Pauses,
    started: Moment | None = None,
    deadline: Deadline | None = None,
) -> Flow[HttpResponse]:
    """Send *request*, with retries and pauses, within *total_timeout*.

    The value is the last response, whatever its status; without one the last
    ``TransportError`` is raised.

    Args:
        request: What to send.
        policy: How often, and how long to wait.
        total_timeout: Seconds from when it *started*.
        pauses: Those of a client's requests.
        started: When the call began; None for now.
        deadline: That of a block of many, before which it ends. Its time counts from
            the end of a pause then: what waits for its turn can wait for that too.

    Raises:
        RateLimitedError: A pause is longer than that, so nothing was sent.
    """
    before = math.inf if deadline is None else deadline.at
    if pauses and deadline is not None:
        yield from _wait(request, pauses, total_timeout, None, before)
        started = None
    since = (started or (yield from now())).monotonic
    until = min(since + total_timeout, before)
    attempt = 0
    while True:
        if pauses:
            yield from _wait(request, pauses, total_timeout, since, before)
        attempt += 1
        cause: int | str
        try:
            response = yield Send(request, until, attempt)
            assert isinstance(response, HttpResponse)
        except TransportError as error:
            again = error.temporary and may_repeat(request, maybe_done=error.maybe_sent)
            seconds = _wait_before_retry(policy, attempt, again=again)
            if (yield from now()).monotonic + seconds >= until:
                raise
            cause = type(error).__name__
        else:
            cause = response.status
            if cause < TOO_MANY_REQUESTS:
                return response
            if cause == TOO_MANY_REQUESTS and (asked := response.retry_after):
                time, is_search = (
                    (yield from now()).monotonic,
                    is_contains_search(request),
                )
                pauses.begin(now=time, seconds=asked, searches_alone=is_search)
                yield Note(Pausing(request, asked, attempt, cause))
            again = request.method == "GET" and is_temporary(cause)
            seconds = _wait_before_retry(policy, attempt, again=again)
            seconds = max(seconds, response.retry_after or 0.0)
            if (yield from now()).monotonic + seconds >= until:
                return response
        yield Note(Retrying(request, seconds, attempt, cause))
        yield Sleep(seconds)


def _wait_before_retry(policy: RetryPolicy, attempt: int, *, again: bool) -> float:
    """Seconds before the next attempt; infinite where there is none."""
    return policy.wait(attempt) if again and attempt <= policy.retries else math.inf


# --- pauses that requests share ---------------------------------------------------


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
    pauses: Pauses,
    patience: float,
    since: float | None,
    before: float,
) -> Flow[None]:
    """Wait until no pause applies to *request*.

    Its *patience* in seconds counts *since* its call began; without that it counts anew
    with each pause. It ends *before* that moment of the clock.
    """
    is_search = is_contains_search(request)
    while True:
        time = (yield from now()).monotonic
        left = pauses.left(now=time, is_search=is_search)
        if not left:
            return
        patient_until = (time if since is None else since) + patience
        if time + left >= min(patient_until, before):
            limit = "total_timeout" if before >= patient_until else "the deadline"
            raise RateLimitedError(
                f"{request} was not sent: the service requested a pause (429, "
                f"Retry-After), which is longer than {limit} allows; give a longer one "
                "to wait for it",
                status=TOO_MANY_REQUESTS,
                request=request,
                retry_after=left,
            )
        # Another response may have made the pause longer in the meantime.
        yield Sleep(left)
