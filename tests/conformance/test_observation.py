"""What is requested of the service: in which order, with which pauses, about what."""

from __future__ import annotations

from typing import Final

from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.flow import Moment, Now, Sleep
from sitestats.conformance._observation import Observation, observe
from sitestats.emulator import Emulator

HOST: Final = "shop.example"
DATA: Final = HttpResponse(200, {}, b'{"ok": true, "pageviews": 1}')


def observed(
    *responses: HttpResponse,
) -> tuple[Observation, list[HttpRequest], list[float]]:
    """Run the flow without a clock: with these first responses, and 404 after them."""
    waiting, sent, pauses = [*responses], list[HttpRequest](), list[float]()
    outcome: HttpResponse | Moment | None = None
    with Emulator().client() as client:
        flow = observe(client._settings, HOST, 0.25)
    while True:
        try:
            step = flow.send(outcome)
        except StopIteration as done:
            return done.value, sent, pauses
        outcome = None
        if isinstance(step, Now):
            outcome = Moment(0.0, 1_770_000_000.0)
        elif isinstance(step, Sleep):
            pauses.append(step.seconds)
        else:
            sent.append(step.request)
            outcome = waiting.pop(0) if waiting else HttpResponse(404, {}, b"{}")


def test_a_pause_is_before_each_request_but_the_first() -> None:
    """No request is sent twice, and one at a time."""
    found, sent, pauses = observed(DATA)
    assert pauses == [0.25] * (len(sent) - 1)
    assert len(sent) == len({*sent}) == len(found.responses)
    assert {(request.method, request.body) for request in sent} == {("GET", b"")}
    # Without a key it has no data, so it is private.
    assert found.hosts["private"] == found.hosts["site"] == HOST


def test_a_429_of_the_second_request_is_the_end() -> None:
    """The list is not requested either."""
    found, sent, _ = observed(DATA, HttpResponse(429))
    assert len(sent) == 2
    assert len(found.responses) == 2
    assert "(429)" in found.ended
