"""Retries, and pauses that requests share after a 429: no clock, no socket."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st

from inside import (
    BaseAddress,
    HttpResponse,
    Moment,
    Note,
    Now,
    Send,
    Session,
    Settings,
    Sleep,
)
from protocol.inside import (
    NO_DEADLINE,
    Deadline,
    Pausing,
    Retrying,
    is_contains_search,
    send_with_retries,
)
from sitestats import (
    ConfigurationError,
    ConnectionFailedError,
    RateLimitedError,
    RetryPolicy,
    SiteStatsError,
)
from sitestats.types import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from protocol.inside import ActionResult, Flow

PLAIN = HttpRequest("GET", "/example.com.json", (("pages", "/blog*"),))
SEARCH = HttpRequest("GET", "/example.com.json", (("pages", "*a-long-pattern*"),))
POST = HttpRequest("POST", "/api/websites/add")
OK = HttpResponse(200)
NEVER_LEFT = ConnectionFailedError("refused", maybe_sent=False)
MAYBE_SENT = ConnectionFailedError("reset", maybe_sent=True)
Outcome = HttpResponse | ConnectionFailedError
POLICY = RetryPolicy(retries=3, wait_initial=0.0)


def refusal(seconds: float) -> HttpResponse:
    """A 429 with a Retry-After."""
    return HttpResponse(429, {"retry-after": f"{seconds:.3f}"})


@define
class ConcurrentFlows:
    """Runs flows side by side on one clock, with one list of responses."""

    responses: list[Any]
    time: float = 1_000.0
    speed: float = 1.0
    """How many seconds the clock shows for each that passes."""
    at_sleep: Callable[[float], object] | None = None
    """Called before each wait with the seconds since the beginning."""
    sent: list[tuple[float, HttpRequest]] = field(factory=list[Any])
    limits: list[float] = field(factory=list[float])
    sleeps: list[float] = field(factory=list[float])
    notes: list[object] = field(factory=list[object])
    ended: dict[int, HttpResponse | SiteStatsError] = field(factory=dict[int, Any])

    def run(self, *flows: Flow[HttpResponse]) -> None:
        """Run the steps of all flows, always the one that is due first."""
        due = [(self.time, place, flow) for place, flow in enumerate(flows)]
        while due:
            due.sort(key=lambda entry: entry[:2])
            when, place, flow = due.pop(0)
            self.time = max(self.time, when)
            wakes = self.advance(place, flow)
            if wakes is not None:
                due.append((wakes, place, flow))

    @property
    def shown(self) -> float:
        """What the clock shows."""
        return 1_000 + (self.time - 1_000) * self.speed

    def times(self) -> list[float]:
        """The seconds at which requests were sent."""
        return [when - 1_000 for when, _ in self.sent]

    def advance(self, place: int, flow: Flow[HttpResponse]) -> float | None:
        """Run one flow up to its next sleep; the value is when that ends."""
        outcome: ActionResult = None
        error: ConnectionFailedError | None = None
        while True:
            try:
                step = flow.send(outcome) if error is None else flow.throw(error)
            except StopIteration as done:
                self.ended[place] = done.value
                return None
            except SiteStatsError as failure:
                self.ended[place] = failure
                return None
            outcome = error = None
            match step:
                case Now():
                    outcome = Moment(self.shown, unix=0.0)
                case Sleep(seconds):
                    self.sleeps.append(seconds)
                    if self.at_sleep is not None:
                        self.at_sleep(self.time - 1_000)
                    return self.time + seconds
                case Send(request, until):
                    assert until > self.shown
                    self.sent.append((self.time, request))
                    self.limits.append(until)
                    outcome = self.responses.pop(0) if self.responses else OK
                    if isinstance(outcome, ConnectionFailedError):
                        outcome, error = None, outcome
                case Note(event):
                    self.notes.append(event)
                case _:
                    raise AssertionError(step)


def run(
    *responses: Outcome, request: HttpRequest = PLAIN, total_timeout: float = 60.0
) -> ConcurrentFlows:
    """Run one call to its end, which gets these *responses*."""
    client = session(RetryPolicy(), total_timeout)
    return send_all([*responses], request, of=client)


def session(policy: RetryPolicy = POLICY, total_timeout: float = 60.0) -> Session:
    """What the calls of a client share."""
    base = BaseAddress.parse("https://x.example")
    return Session(Settings(base, retry=policy, total_timeout=total_timeout))


def send_all(
    responses: list[Any],
    *requests: HttpRequest,
    of: Session | None = None,
    deadline: Deadline | None = None,
    speed: float = 1.0,
    at_sleep: Callable[[float], object] | None = None,
) -> ConcurrentFlows:
    """Send *requests* of one client at once; those of a block have a *deadline*."""
    client = of or session()
    flows = ConcurrentFlows([*responses], speed=speed, at_sleep=at_sleep)
    started = Moment(flows.time, 0.0)
    flows.run(*(send_with_retries(r, client, started, deadline) for r in requests))
    return flows


# -- retries


@pytest.mark.parametrize(
    "passing",
    [
        *(NEVER_LEFT, MAYBE_SENT),
        *(HttpResponse(s) for s in (408, 429, 500, 502, 503, 599)),
    ],
    ids=str,
)
def test_a_get_is_retried(passing: Outcome) -> None:
    """A GET is retried after a failed connection, a 408, a 429 and a 5xx."""
    flows = run(passing, passing)
    assert flows.ended[0] == OK
    assert (len(flows.sent), {*flows.limits}) == (3, {1_060.0})
    first, second = flows.sleeps
    assert 0.25 <= first <= 0.5 <= second <= 1.0
    assert [type(note) for note in flows.notes] == [Retrying, Retrying]


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 407, 423, 499, 600])
def test_other_statuses_are_final(status: int) -> None:
    """No other status is retried."""
    flows = run(HttpResponse(status))
    assert (flows.ended[0], len(flows.sent)) == (HttpResponse(status), 1)


def test_the_last_failure_is_that_of_the_call() -> None:
    """When every attempt fails, the last error is raised, or response returned."""
    for last in (ConnectionFailedError("the last"), HttpResponse(503)):
        assert run(MAYBE_SENT, NEVER_LEFT, last).ended[0] == last


@pytest.mark.parametrize(
    "outcome",
    [MAYBE_SENT, HttpResponse(408), HttpResponse(503), HttpResponse(429)],
    ids=str,
)
def test_a_post_that_may_have_arrived_is_never_sent_again(outcome: Outcome) -> None:
    """A write is not retried once it may have reached the service."""
    flows = run(outcome, request=POST)
    assert (flows.ended[0], len(flows.sent)) == (outcome, 1)
    assert run(NEVER_LEFT, request=POST).ended[0] == OK


def test_retry_after_is_never_cut_short() -> None:
    """A pause is never shorter than Retry-After."""
    flows = run(refusal(37))
    assert flows.sleeps == [37.0]
    assert flows.notes == [
        Pausing(PLAIN, 37.0, attempt=1, cause=429),
        Retrying(PLAIN, 37.0, attempt=1, cause=429),
    ]


@pytest.mark.parametrize("retry_after", ["60", "61.5", "9" * 300])
def test_a_pause_beyond_the_timeout_ends_the_call_at_once(retry_after: str) -> None:
    """A Retry-After beyond the total timeout ends the call without a pause."""
    last = HttpResponse(429, {"retry-after": retry_after})
    flows = run(last)
    assert (flows.ended[0], flows.sleeps) == (last, [])


def test_a_failure_near_the_end_is_not_retried() -> None:
    """A failure is raised when the pause would end after the total timeout."""
    flows = run(MAYBE_SENT, total_timeout=0.1)
    assert (flows.ended[0], flows.sleeps) == (MAYBE_SENT, [])


@given(retry=st.integers(1, 10_000), wait_max=st.floats(0, 1e9))
def test_waits_stay_within_their_bounds(retry: int, wait_max: float) -> None:
    """A wait lies between half the longest and the longest, below the maximum."""
    longest = min(wait_max, 0.5 * 2 ** (min(retry, 40) - 1))
    assert longest / 2 <= RetryPolicy(wait_max=wait_max).wait(retry) <= longest


@pytest.mark.parametrize("name", ["retries", "wait_initial", "wait_max"])
@pytest.mark.parametrize("value", [-1, True, "2", None, float("nan"), float("inf")])
def test_a_policy_refuses_what_it_can_not_do(name: str, value: object) -> None:
    """A wrong number in a policy is refused, and the message names it."""
    if name == "retries":
        with pytest.raises(ConfigurationError, match="a whole number"):
            RetryPolicy(retries=1.5)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ConfigurationError, match=name):
        RetryPolicy(**{name: value})  # type: ignore[arg-type]  # wrong on purpose


# -- pauses


@pytest.mark.parametrize("deadline", [None, NO_DEADLINE])
def test_a_refusal_holds_what_it_concerns(deadline: Deadline | None) -> None:
    """After a 429 with Retry-After no request is sent before the pause is over. That of
    a contains search, which has its own limit, holds contains searches alone.
    """
    flows = send_all([refusal(7)], PLAIN, PLAIN, SEARCH, deadline=deadline)
    assert flows.times() == [0, 7, 7, 7]
    flows = send_all([refusal(7)], SEARCH, PLAIN, SEARCH, PLAIN, deadline=deadline)
    assert [request for _, request in flows.sent] == [
        *(SEARCH, PLAIN, PLAIN),
        *(SEARCH, SEARCH),
    ]
    assert flows.times() == [0, 0, 0, 7, 7]


def test_a_refusal_without_a_pause_holds_its_own_request_alone() -> None:
    """A 429 without Retry-After delays its own retry only."""
    client = session(RetryPolicy(wait_initial=2.0))
    first, second, retry = send_all(
        [HttpResponse(429)], PLAIN, PLAIN, of=client
    ).times()
    assert first == second == 0 < retry


def test_the_last_attempt_holds_the_others_too() -> None:
    """A 429 that ends its own request still delays those that follow."""
    client = session(RetryPolicy(retries=0))
    flows = send_all([refusal(7)], PLAIN, PLAIN, of=client)
    assert flows.times() == [0, 7]
    assert flows.ended[0] == refusal(7)


def test_a_pause_changes_while_it_is_waited_for() -> None:
    """A request that waits for a pause that becomes longer is not sent too soon. If the
    pause is ended, the request is sent within a second.
    """

    def change(seconds: float) -> None:
        if not changes:
            return
        when, call = changes[0]
        if seconds >= when:
            changes.pop(0)
            call()

    client = session(total_timeout=100.0)
    client.pauses.begin(now=1_000.0, seconds=5.0, searches_alone=False)
    longer = partial(client.pauses.begin, now=1_003.0, seconds=10.0)
    changes = [
        (3.0, partial(longer, searches_alone=False)),
        (7.0, client.pauses.end),
    ]
    flows = send_all([], PLAIN, of=client, at_sleep=change)
    assert flows.times() == [8.0]


@pytest.mark.parametrize("deadline", [None, NO_DEADLINE])
@pytest.mark.parametrize("speed", [0.0, 0.5, -1.0])
def test_a_clock_that_stands_still(deadline: Deadline | None, speed: float) -> None:
    """Waits end by what was waited, if a test stops the clock, or sets it back; and
    nobody waits for the same pause again.
    """
    client = session(total_timeout=60.0)
    flows = send_all([refusal(7)], PLAIN, of=client, deadline=deadline, speed=speed)
    assert (flows.ended[0], flows.sleeps) == (OK, [7.0])
    # What was waited is gone of the total timeout, too.
    assert flows.limits == [1_060, 1_053 + 7 * speed]
    client.pauses.begin(now=1_000.0, seconds=2.0, searches_alone=False)
    flows = send_all([], PLAIN, PLAIN, of=client, deadline=deadline, speed=speed)
    assert sum(flows.sleeps) <= 4.0
    assert not client.pauses.begun
    flows = send_all([MAYBE_SENT] * 99, PLAIN, of=session(RetryPolicy(99)), speed=speed)
    assert sum(flows.sleeps) < 60


def test_a_clock_that_was_set_back() -> None:
    """A pause that began by a clock far ahead is waited for once, and no longer."""
    client = session()
    client.pauses.begin(now=1e9, seconds=5.0, searches_alone=False)
    assert send_all([], PLAIN, PLAIN, of=client).times() == [5.0, 5.0]


def test_the_pause_of_an_error_is_what_the_service_requested() -> None:
    """Also where the client keeps a shorter one: an hour, if the clock is right."""
    client = session()
    flows = send_all([refusal(86_400)], PLAIN, PLAIN, of=client)
    error = flows.ended[1]
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 86_400
    assert client.pauses.of(now=1_000.0 + 3_599, is_search=False)
    assert not client.pauses.of(now=1_000.0 + 3_600, is_search=False)
    pause = client.pauses.of(now=-5.0, is_search=True)
    assert pause is not None
    assert pause.left(-5.0) == 3_600


@pytest.mark.parametrize("seconds", [60, 600])
def test_a_pause_that_is_too_long_is_raised_at_once(seconds: int) -> None:
    """A pause as long as the total timeout raises an error with its length."""
    flows = send_all([refusal(seconds)], PLAIN, PLAIN, deadline=NO_DEADLINE)
    assert flows.times() == [0]
    error = flows.ended[1]
    assert isinstance(error, RateLimitedError)
    assert (error.retry_after, error.request) == (seconds, PLAIN)
    assert error.retryable
    assert flows.time == 1_000


def test_the_time_of_a_request_of_a_block_begins_after_the_pause() -> None:
    """Waiting for a shared pause does not use up a request's own total timeout."""
    flows = send_all([refusal(50), refusal(50)], PLAIN, PLAIN, deadline=NO_DEADLINE)
    # The second was held for 50 seconds, and its Retry-After is 50 more, of 60.
    assert flows.times() == [0, 50, 100]
    assert flows.ended[1] == OK


def test_a_call_waits_within_its_own_time() -> None:
    """A call waits for a pause of another call as long as its total timeout allows, and
    what it waited counts.
    """
    flows = send_all([refusal(20)], PLAIN, PLAIN)
    assert flows.times() == [0, 20, 20]
    assert {*flows.limits} == {1_060}
    flows = send_all([refusal(40), refusal(40)], PLAIN, PLAIN, PLAIN)
    assert flows.times() == [0, 40]
    assert flows.time == 1_040


@given(
    st.lists(st.sampled_from([PLAIN, SEARCH]), min_size=1, max_size=8),
    st.lists(
        st.sampled_from([OK, HttpResponse(503)]) | st.floats(0.001, 20).map(refusal),
        max_size=12,
    ),
    st.floats(0.1, 100),
    st.sampled_from(["call", "block", "deadline"]),
)
def test_nothing_is_sent_within_a_pause_or_after_its_time(
    requests: list[HttpRequest], responses: list[Any], seconds: float, kind: str
) -> None:
    """Whatever is refused, no request that it concerns is sent within the pause, a call
    ends within its total timeout, and a block by its deadline.
    """
    client = session(total_timeout=seconds if kind == "call" else 60.0)
    deadline = {
        "call": None,
        "block": NO_DEADLINE,
        "deadline": Deadline(seconds, 1_000 + seconds),
    }[kind]
    flows = send_all(responses, *requests, of=client, deadline=deadline)
    assert len(flows.ended) == len(requests)
    if kind != "block":
        assert flows.time <= 1_000 + seconds
        assert all(until <= 1_000 + seconds for until in flows.limits)
    for (began, refused), response in zip(flows.sent, responses, strict=False):
        over = began + float(response.headers.get("retry-after", 0)) - 1e-6
        for when, request in flows.sent:
            if request == SEARCH or refused == PLAIN:
                assert not began < when < over


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("pages", "*a-long-pattern*", True),
        ("page", "*a-long-pattern*", True),
        ("pages", "/blog*,*a-long-pattern*", True),
        ("pages", "*a,b*", False),
        ("pages", "*", False),
        ("page", "/a*b", False),
        ("metadata.page", "*x*", False),
    ],
)
def test_contains_searches_are_known(name: str, value: str, *, expected: bool) -> None:
    """A pattern of pages that begins with a star counts as a contains search."""
    request = HttpRequest("GET", "/example.com.json", (("version", "6"), (name, value)))
    assert is_contains_search(request) is expected
