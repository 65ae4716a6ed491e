"""Retries, as a sans-I/O flow: no clock, no socket."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.errors import ConfigurationError, ConnectionFailedError
from sitestats._common.pauses import Pauses
from sitestats._common.settings import RetryPolicy
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.flow import Moment, Note, Now, Send, Sleep
from sitestats._protocol.retry import Pausing, Retrying, send_with_retries

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitestats._protocol.flow import Flow, Step, StepResult

GET = HttpRequest("GET", "/example.com.json")
POST = HttpRequest("POST", "/api/websites/add")
OK = HttpResponse(200)
NEVER_LEFT = ConnectionFailedError("refused", maybe_sent=False)
MAYBE_SENT = ConnectionFailedError("reset", maybe_sent=True)

Outcome = HttpResponse | ConnectionFailedError


class FlowRunner:
    """Runs a flow with scripted outcomes, on a clock of its own."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.time = 1_000.0
        self.sent: list[Send] = []
        self.pauses: list[float] = []
        self.notes: list[object] = []

    def run(self, flow: Flow[HttpResponse]) -> HttpResponse:
        go_on: Callable[[], Step] = partial(next, flow)
        while True:
            try:
                step = go_on()
            except StopIteration as done:
                response: HttpResponse = done.value
                return response
            try:
                go_on = partial(flow.send, self.outcome(step))
            except ConnectionFailedError as error:
                go_on = partial(flow.throw, error)

    def outcome(self, step: Step) -> StepResult:
        match step:
            case Now():
                return Moment(self.time, unix=0.0)
            case Sleep(seconds):
                self.pauses.append(seconds)
                self.time += seconds
            case Note(event):
                self.notes.append(event)
            case Send():
                self.sent.append(step)
                outcome = self.outcomes.pop(0)
                if isinstance(outcome, ConnectionFailedError):
                    raise outcome
                return outcome
        return None


def run(
    runner: FlowRunner, request: HttpRequest = GET, retries: int = 2
) -> HttpResponse:
    """Send *request* with so many *retries*."""
    policy = RetryPolicy(retries=retries)
    return runner.run(send_with_retries(request, policy, 60.0, Pauses()))


def test_a_good_response_ends_the_call() -> None:
    """A request that succeeds is sent once, without a pause."""
    runner = FlowRunner(OK)
    assert run(runner) == OK
    assert runner.sent == [Send(GET, until=1_060.0)]
    assert runner.pauses == []


@pytest.mark.parametrize(
    "passing",
    [NEVER_LEFT, MAYBE_SENT, *(HttpResponse(s) for s in (429, 500, 502, 503, 599))],
    ids=str,
)
def test_a_get_is_retried(passing: Outcome) -> None:
    """A GET is retried after a failed connection, a 429 and a 5xx."""
    runner = FlowRunner(passing, passing, OK)
    assert run(runner) == OK
    assert len(runner.sent) == 3
    first, second = runner.pauses
    assert 0.25 <= first <= 0.5 <= second <= 1.0
    assert len(runner.notes) == 2


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 408, 423, 499, 600])
def test_other_statuses_are_final(status: int) -> None:
    """No other status is retried."""
    runner = FlowRunner(HttpResponse(status))
    assert run(runner).status == status
    assert len(runner.sent) == 1


def test_the_last_failure_is_raised() -> None:
    """When every attempt fails, the last failure is raised."""
    last = ConnectionFailedError("the last")
    runner = FlowRunner(MAYBE_SENT, NEVER_LEFT, last)
    with pytest.raises(ConnectionFailedError) as caught:
        run(runner)
    assert caught.value is last


def test_the_last_error_response_is_returned() -> None:
    """When every attempt gets an error response, the last one is returned."""
    runner = FlowRunner(HttpResponse(500), HttpResponse(502), HttpResponse(503))
    assert run(runner).status == 503


@pytest.mark.parametrize(
    "outcome", [MAYBE_SENT, HttpResponse(503), HttpResponse(429)], ids=str
)
def test_a_post_that_may_have_arrived_is_never_sent_again(outcome: Outcome) -> None:
    """A write is not retried once it may have reached the service."""
    runner = FlowRunner(outcome, OK)
    if isinstance(outcome, HttpResponse):
        assert run(runner, POST) == outcome
    else:
        with pytest.raises(ConnectionFailedError):
            run(runner, POST)
    assert len(runner.sent) == 1


def test_a_post_that_never_left_is_sent_again() -> None:
    """A write that certainly was not sent is retried."""
    runner = FlowRunner(NEVER_LEFT, OK)
    assert run(runner, POST) == OK


def test_retry_after_is_never_cut_short() -> None:
    """A pause is never shorter than Retry-After."""
    runner = FlowRunner(HttpResponse(429, {"retry-after": "37"}), OK)
    assert run(runner) == OK
    assert runner.pauses == [37.0]
    assert runner.notes[1] == Retrying(GET, 37.0, attempt=1, cause=429)


@pytest.mark.parametrize(
    ("headers", "kinds"),
    [({}, [Retrying]), ({"retry-after": "7"}, [Pausing, Retrying])],
)
def test_a_pause_that_others_share_is_noted(
    headers: dict[str, str], kinds: list[type]
) -> None:
    """A 429 without Retry-After holds no other request, and is no pause of theirs."""
    runner = FlowRunner(HttpResponse(429, headers), OK)
    flow = send_with_retries(GET, RetryPolicy(), 60.0, Pauses())
    assert runner.run(flow) == OK
    assert [type(note) for note in runner.notes] == kinds


@pytest.mark.parametrize("retry_after", ["60", "61.5", "9" * 300])
def test_a_pause_beyond_the_timeout_ends_the_call_at_once(retry_after: str) -> None:
    """A Retry-After beyond the total timeout ends the call without a pause."""
    refusal = HttpResponse(429, {"retry-after": retry_after})
    runner = FlowRunner(refusal)
    assert run(runner) == refusal
    assert runner.pauses == []


def test_a_failure_near_the_end_is_not_retried() -> None:
    """A failure is raised when the pause would end after the total timeout."""
    runner = FlowRunner(MAYBE_SENT)
    flow = send_with_retries(GET, RetryPolicy(), 0.1, Pauses())
    with pytest.raises(ConnectionFailedError):
        runner.run(flow)
    assert runner.pauses == []


@given(retry=st.integers(1, 10_000), wait_max=st.floats(0, 1e9))
def test_waits_stay_within_their_bounds(retry: int, wait_max: float) -> None:
    """A wait lies between half the longest and the longest, below the maximum."""
    policy = RetryPolicy(wait_max=wait_max)
    longest = policy.longest_wait(retry)
    assert longest / 2 <= policy.wait(retry) <= longest <= wait_max


@pytest.mark.parametrize("name", ["retries", "wait_initial", "wait_max"])
@pytest.mark.parametrize("value", [-1, True, "2", None, float("nan"), float("inf")])
def test_a_policy_refuses_what_it_can_not_do(name: str, value: object) -> None:
    """A wrong number in a policy is refused, and the message names it."""
    if name == "retries":
        with pytest.raises(ConfigurationError, match="a whole number"):
            RetryPolicy(retries=1.5)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ConfigurationError, match=name):
        RetryPolicy(**{name: value})  # type: ignore[arg-type]  # wrong on purpose
