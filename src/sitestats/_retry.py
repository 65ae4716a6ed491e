"""When to send again, and how long to wait first.

The rules: a GET is sent again after a connection failure, a timeout, a 429
and a 5xx. Any other method is sent again only when it certainly did not leave
the machine. Nobody waits less than ``Retry-After`` asks, and a wait that would
pass the total timeout ends the call at once.

Requests that share ``Pauses`` wait together when one of them is told to.
"""

from __future__ import annotations

import random
from typing import Any, Final

import attrs

from ._errors import ConfigurationError, TransportError
from ._flow import Flow, Moment, note, now, send, sleep
from ._pause import Pauses, hold
from ._retry_after import parse_retry_after
from ._wire import HttpRequest, HttpResponse

TOO_MANY_REQUESTS: Final = 429


def _not_negative(
    _instance: RetryPolicy, attribute: attrs.Attribute[Any], value: object
) -> None:
    wanted = int if attribute.name == "retries" else (int, float)
    if (
        isinstance(value, bool)
        or not isinstance(value, wanted)
        or not 0 <= value < float("inf")
    ):
        kind = "a whole number" if wanted is int else "a number of seconds"
        raise ConfigurationError(
            f"{attribute.name} is {kind}, 0 or more; got {value!r}"
        )


@attrs.frozen
class RetryPolicy:
    """How often a request is tried again, and how long the pauses are.

    The pause before the n-th retry is drawn between half of and the whole of
    ``wait_initial * 2 ** (n - 1)`` seconds, which never grows above
    ``wait_max``. A ``Retry-After`` that asks for more is honoured in full.

    Example:
        >>> RetryPolicy(retries=5, wait_max=30.0)
        RetryPolicy(retries=5, wait_initial=0.5, wait_max=30.0)
    """

    retries: int = attrs.field(default=2, validator=_not_negative)
    wait_initial: float = attrs.field(default=0.5, validator=_not_negative)
    wait_max: float = attrs.field(default=8.0, validator=_not_negative)

    def longest_wait(self, retry: int) -> float:
        """The most seconds to wait before the *retry*-th retry, from 1."""
        # The exponent is bounded, since 2.0 ** 1024 is an OverflowError.
        return min(self.wait_max, self.wait_initial * 2.0 ** min(retry - 1, 64))

    def wait(self, retry: int) -> float:
        """Seconds to wait before the *retry*-th retry, drawn with jitter."""
        longest = self.longest_wait(retry)
        return random.uniform(longest / 2, longest)  # noqa: S311  no secret


@attrs.frozen
class Retrying:
    """A note of a flow: this request will be sent again after a pause."""

    request: HttpRequest
    seconds: float
    status: int | None
    """The status that made it necessary; None when no answer arrived."""


def send_with_retries(
    request: HttpRequest,
    policy: RetryPolicy,
    total_timeout: float,
    pauses: Pauses | None = None,
) -> Flow[HttpResponse]:
    """Send *request* until it is answered for good, within *total_timeout*.

    The value is the last answer, whatever its status; a failure to get one
    raises the last ``TransportError``. The time begins to count when a pause
    that others of *pauses* were told to make is over.
    """
    pauses = pauses or Pauses()
    yield from hold(request, pauses, patience=total_timeout)
    started = yield from now()
    until = started.monotonic + total_timeout
    retry = 0
    while True:
        retry += 1
        last = retry > policy.retries
        response: HttpResponse | None = None
        try:
            response = yield from send(request, until)
        except TransportError as error:
            if last or not _may_be_sent_again(request, error):
                raise
            moment = yield from now()
            seconds = policy.wait(retry)
            if moment.monotonic + seconds >= until:
                raise
        else:
            if response.status == TOO_MANY_REQUESTS:
                moment = yield from now()
                asked = _asked_for(response, moment)
                pauses.begin(request, now=moment.monotonic, seconds=asked)
            if last or request.method != "GET" or not _is_passing(response.status):
                return response
            moment = yield from now()
            seconds = max(policy.wait(retry), _asked_for(response, moment))
            if moment.monotonic + seconds >= until:
                return response
        status = None if response is None else response.status
        yield from note(Retrying(request, seconds, status))
        yield from sleep(seconds)
        yield from hold(
            request, pauses, patience=total_timeout, since=started.monotonic
        )


def _may_be_sent_again(request: HttpRequest, error: TransportError) -> bool:
    return request.method == "GET" or not error.maybe_sent


def _is_passing(status: int) -> bool:
    return status == TOO_MANY_REQUESTS or 500 <= status <= 599  # noqa: PLR2004  5xx


def _asked_for(response: HttpResponse, moment: Moment) -> float:
    value = response.headers.get("retry-after")
    if value is None:
        return 0.0
    return parse_retry_after(value, unix_now=moment.unix) or 0.0
